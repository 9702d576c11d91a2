//! A switched Ethernet, what can go wrong on it, and how messages are sent over it.

use std::ops::RangeInclusive;

use quantities::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

/// A switched Ethernet: a wire to and from a switch for each node.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ethernet {
    /// How many nodes.
    pub nodes: u32,
    /// Of each wire, in either direction.
    pub rate: Rate,
    /// The size of the token bucket that models each wire, as those of `tc`: while it has tokens, frames pass at once.
    /// By default frames take their time on a wire.
    #[serde(default)]
    pub bucket: Option<Bytes>,
    /// How late a frame passes that had to wait for tokens of a bucket, that of the trunk too: the lateness of the
    /// timer that was set for it. None by default.
    #[serde(default)]
    pub bucket_delay: Duration,
    /// How long the interrupt of that timer takes to carry the frame on, on one of the `processors` if nodes share
    /// them. None by default.
    #[serde(default)]
    pub bucket_carry: Duration,
    /// Of each wire; none by default.
    #[serde(default)]
    pub wire_latency: Duration,
    /// From a frame's last bit at the switch to its place in an output queue; none by default.
    #[serde(default)]
    pub switch_latency: Duration,
    /// How long the switch takes to copy a broadcast frame for each receiver but the first, one after another, where it
    /// is a program on the computer of the nodes. The source's processor is occupied until all receivers have their
    /// copies, except those for which the frame has to wait for a wire. None by default.
    #[serde(default)]
    pub switch_copy: Duration,
    /// What an output queue of the switch holds. A frame that does not fit is dropped.
    pub queue: Bytes,
    /// The longest payload of a frame; 1,500 B by default.
    #[serde(default = "default_payload")]
    pub payload: Bytes,
    /// How many frames to be sent a node holds.
    pub transmit_ring: u32,
    /// How many received frames a node holds. A frame that arrives when it is full is dropped.
    pub receive_ring: u32,
    /// The processor's cost to send a frame; none by default.
    #[serde(default)]
    pub send: Duration,
    /// The processor's cost to receive a frame; none by default.
    #[serde(default)]
    pub receive: Duration,
    /// The processor's cost to hand over frames to be sent, however many at once (`messaging.batch`): that of a system
    /// call. None by default.
    #[serde(default)]
    pub handover: Duration,
    /// How long it takes until a node that has waited for a frame runs again on an idle processor, which is occupied
    /// meanwhile. A node that waits for a processor, too, runs as soon as it gets one. None by default.
    #[serde(default)]
    pub wake: Duration,
    /// For how long a node's processor is busy when a time comes for which the node has waited: that of a timer's
    /// interrupt, until the node goes on. None by default.
    #[serde(default)]
    pub timer: Duration,
    /// How long a node that begins to wait for a frame keeps its processor; if a frame arrives meanwhile, it need not
    /// wake. None by default.
    #[serde(default)]
    pub block: Duration,
    /// What it costs the processor that sends a frame to interrupt another, which is idle, so that a node that waits
    /// for the frame runs on it. Only where nodes share `processors`; none by default.
    #[serde(default)]
    pub interrupt: Duration,
    /// The extra cost to the processor of the first frame that a node sends, and of the first that it receives, when
    /// nothing is in a cache yet; and again of the next ones after it has waited for 300 us. None by default.
    #[serde(default)]
    pub cold: Duration,
    /// The same after such a wait, for each other node that has run on the same processor meanwhile. Only where nodes
    /// share `processors`; none by default.
    #[serde(default)]
    pub cold_each: Duration,
    /// How many processors all nodes share, where they are processes of one computer: the work for frames waits for a
    /// processor; programs' computing and calls do not. By default each node has its own.
    #[serde(default)]
    pub processors: Option<u32>,
    /// The processor's cost for each byte of payload, to send it and to receive it; none by default.
    #[serde(default)]
    pub copy: Duration,
    /// The processor's cost of each send or broadcast that a program calls, in addition to that of frames; none by
    /// default.
    #[serde(default)]
    pub call_send: Duration,
    /// The processor's cost of each receive, when the message has arrived; none by default.
    #[serde(default)]
    pub call_receive: Duration,
    /// The source's cost, for each receiver, of each frame that it broadcasts; none by default.
    #[serde(default)]
    pub broadcast_each: Duration,
    /// A second switch, with a trunk to it; there is one switch by default.
    #[serde(default)]
    pub trunk: Option<Trunk>,
    /// The processes of each node, and what messages between them cost; one process by default.
    #[serde(default)]
    pub memory: Option<Memory>,
    /// The faults; none by default.
    #[serde(default)]
    pub faults: Faults,
    /// How messages are sent.
    #[serde(default)]
    pub messaging: Messaging,
}

/// Several processes on each node, each with a processor of its own: a message between them goes through the node's
/// memory, not over the wire. Ranks are numbered node by node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    /// How many processes a node has; 1 by default.
    pub processes: u32,
    /// The sender's cost for each part of a message: that which is pushed, as much as the pushed buffer holds, and that
    /// which is pulled, in parts of up to 64 KB. None by default.
    pub send: Duration,
    /// The receiver's cost for each such part; none by default.
    pub receive: Duration,
    /// The cost for each byte that is copied: by the sender, straight to its destination if the receive has been
    /// posted, and else into the pushed buffer, out of which the receiver copies it again. None by default.
    pub copy: Duration,
    /// How much of a part that is copied a cache holds; all of it by default.
    pub cache: Option<Bytes>,
    /// The cost for each byte that the `cache` does not hold, instead of `copy`.
    pub copy_uncached: Duration,
}

impl Default for Memory {
    fn default() -> Memory {
        let (send, receive, copy, copy_uncached) = (Duration::ZERO, Duration::ZERO, Duration::ZERO, Duration::ZERO);
        Memory { processes: 1, send, receive, copy, cache: None, copy_uncached }
    }
}

/// Two switches, and the wire between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trunk {
    /// How many nodes are on the first switch, from node 0 on; the others are on the second.
    pub first_switch: u32,
    /// Of the trunk, in either direction.
    pub rate: Rate,
    /// The token bucket that models it in either direction, like the `bucket` of the wires; none by default.
    #[serde(default)]
    pub bucket: Option<Bytes>,
    /// Of the trunk; none by default.
    #[serde(default)]
    pub latency: Duration,
    /// The size of the queue before it at either switch; that of any output queue by default.
    #[serde(default)]
    pub queue: Option<Bytes>,
}

/// What can go wrong with a frame on the way to each receiver, independently at each. Chances, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// The chance that it is lost.
    pub loss: f64,
    /// The chance that a burst begins with it, in which all frames are lost.
    pub burst_begins: f64,
    /// The chance that the burst has ended with the frame before.
    pub burst_ends: f64,
    /// The chance that it arrives twice, the second time by up to `delay` later.
    pub duplicated: f64,
    /// The chance that it is late, by up to `delay`.
    pub delayed: f64,
    /// The longest delay.
    pub delay: Duration,
}

impl Faults {
    /// Nothing goes wrong.
    pub const NONE: Faults =
        Faults { loss: 0.0, burst_begins: 0.0, burst_ends: 1.0, duplicated: 0.0, delayed: 0.0, delay: Duration::ZERO };
}

impl Default for Faults {
    fn default() -> Faults {
        Faults::NONE
    }
}

/// How messages are sent over an Ethernet; what is left out is as the messaging has it by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Messaging {
    /// The header of each packet on the wire; if left out, as the messaging encodes it.
    pub header: Option<Bytes>,
    /// What layers below add to each packet, in each frame: 20 B of IP, 8 B of UDP, and 32 B of the seal that launched
    /// ranks put on it. None by default.
    pub envelope: Option<Bytes>,
    /// The longest datagram of UDP, with the seal that is in the envelope, as `maquette launch --datagram`. IP splits
    /// one that is longer than a frame carries into fragments, and all of it is lost with any of them. Needs an
    /// `envelope`; as long as a frame carries by default.
    pub datagram: Option<Bytes>,
    /// How many packets of a stream are under way at most.
    pub window: Option<u32>,
    /// Which packets are sent again when one is lost.
    pub repeat: Option<Repeat>,
    /// What a sender sends that has heard nothing for a retransmission time.
    pub probe: Option<Probe>,
    /// How many packets are handed over at once to be sent. Packets are late by the time when the transmit ring took
    /// them, and all that has come meanwhile is taken between two batches; if left out, one frame is taken at a time.
    pub batch: Option<u32>,
    /// BTP1: how much of a message is in its first packet.
    pub push_first: Option<Bytes>,
    /// BTP2: how much of it is pushed after that; the rest is pulled.
    pub push_second: Option<Bytes>,
    /// How much of the messages of one rank waits for a receive.
    pub pushed_buffer: Option<Bytes>,
    /// How many messages to one rank are under way before a send waits.
    pub send_queue: Option<u32>,
    /// How broadcasts are sent.
    pub broadcast: Option<BroadcastProtocol>,
    /// The retransmission timeout before any round trip was measured.
    pub first_timeout: Option<Duration>,
    /// The shortest retransmission timeout.
    pub least_timeout: Option<Duration>,
    /// The longest retransmission timeout.
    pub most_timeout: Option<Duration>,
    /// After how many packets a receiver reports.
    pub report_packets: Option<u64>,
    /// After how many packets a receiver of broadcasts reports; as `report_packets` by default.
    pub broadcast_report_packets: Option<u64>,
    /// How long after the first packet that it has not reported a receiver reports, however few there are.
    pub report_delay: Option<Duration>,
    /// How long a rank may be silent before it is considered gone.
    pub patience: Option<Duration>,
}

/// What IP and UDP add to a datagram, 20 and 8 B (RFC 791, RFC 768).
pub const IP_AND_UDP: Bytes = Bytes(28);
/// The shortest datagram that is worth its packets' headers (chosen), and the longest: an IP packet has 65,535 B at
/// most.
pub const DATAGRAM: RangeInclusive<Bytes> = Bytes(512)..=Bytes(65_507);

impl Messaging {
    /// The fields that are not left out, by name, as they would be written.
    pub fn chosen(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("header", self.header.map(|it| it.to_string())),
            ("envelope", self.envelope.map(|it| it.to_string())),
            ("datagram", self.datagram.map(|it| it.to_string())),
            ("window", self.window.map(|it| it.to_string())),
            ("repeat", self.repeat.map(|it| it.name().to_owned())),
            ("probe", self.probe.map(|it| it.name().to_owned())),
            ("batch", self.batch.map(|it| it.to_string())),
            ("push_first", self.push_first.map(|it| it.to_string())),
            ("push_second", self.push_second.map(|it| it.to_string())),
            ("pushed_buffer", self.pushed_buffer.map(|it| it.to_string())),
            ("send_queue", self.send_queue.map(|it| it.to_string())),
            ("broadcast", self.broadcast.map(|it| it.name().to_owned())),
            ("first_timeout", self.first_timeout.map(|it| it.to_string())),
            ("least_timeout", self.least_timeout.map(|it| it.to_string())),
            ("most_timeout", self.most_timeout.map(|it| it.to_string())),
            ("report_packets", self.report_packets.map(|it| it.to_string())),
            ("broadcast_report_packets", self.broadcast_report_packets.map(|it| it.to_string())),
            ("report_delay", self.report_delay.map(|it| it.to_string())),
            ("patience", self.patience.map(|it| it.to_string())),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

impl Repeat {
    /// Its name in descriptions.
    pub const fn name(self) -> &'static str {
        match self {
            Repeat::GoBackN => "go-back-n",
            Repeat::Selective => "selective",
            Repeat::Parity => "parity",
        }
    }
}

impl Probe {
    /// Its name in descriptions.
    pub const fn name(self) -> &'static str {
        match self {
            Probe::WithPacket => "with-packet",
            Probe::Alone => "alone",
        }
    }
}

impl BroadcastProtocol {
    /// Its name in descriptions.
    pub const fn name(self) -> &'static str {
        match self {
            BroadcastProtocol::Simple => "simple",
            BroadcastProtocol::PushPull => "push-pull",
        }
    }
}

/// Which packets are sent again when one is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// The lost packet and all after it.
    GoBackN,
    /// Only the lost packet.
    Selective,
    /// For broadcasts, parity packets, each of which can repair a different loss at every receiver; otherwise only the
    /// lost packet.
    Parity,
}

/// What a sender sends that has heard nothing for a retransmission time; the answer says what is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// The first packet not known to have arrived, once more: if it is lost, that saves a round trip.
    WithPacket,
    /// A probe without data: if nothing was lost, little is sent in vain.
    Alone,
}

/// How broadcasts are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BroadcastProtocol {
    /// Packet after packet, whether receivers have room or not.
    Simple,
    /// The first bytes are pushed; one receiver pulls the rest for all.
    PushPull,
}

fn default_payload() -> Bytes {
    Bytes(1_500)
}
