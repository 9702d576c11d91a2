//! What a run on a model returns.

use std::collections::BTreeMap;

pub use endpoint::timeline::{Activity, MessageRecord, Span, Timeline};
use machines::model::{ChannelId, NodeId};
use messaging::Parameters;
use quantities::{Bytes, Duration, Rank, Time};
use serde::{Deserialize, Serialize};

use crate::sparse::Sparse;

/// The result of each rank, and what the machine did.
pub type Run<T> = endpoint::Run<T, Answer>;

/// What a run on a model returns.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// When each rank finished. [ps]
    pub finish: Vec<Time>,
    /// The node of each rank; none where rank n is on node n.
    pub nodes: Vec<NodeId>,
    /// Messages that programs sent.
    pub messages: u64,
    /// Packets that the network carried, system packets and those of background traffic included.
    pub packets: u64,
    /// Flits times channels crossed.
    pub flit_hops: u64,
    /// What each channel did.
    pub channels: Sparse<ChannelStatistics>,
    /// How headers fared at each router.
    pub routers: Sparse<RouterStatistics>,
    /// What each rank waited for.
    pub ranks: Vec<RankStatistics>,
    /// Every packet, if a log was asked for.
    pub packet_log: Option<Vec<PacketRecord>>,
    /// The timeline of every rank, if one was asked for.
    pub timeline: Option<Timeline>,
    /// What became of frames, on an Ethernet.
    pub ethernet: Option<EthernetStatistics>,
    /// Every frame, on an Ethernet, if a log was asked for.
    pub frame_log: Option<Vec<FrameRecord>>,
    /// What it took to deliver messages, on an Ethernet.
    pub messaging: Option<MessagingStatistics>,
    /// What became of background traffic, if there was any.
    pub background: Option<BackgroundStatistics>,
    /// Messages that no receive took, by sender and receiver: nothing waits for them, but something is amiss.
    pub unreceived: Vec<Unreceived>,
}

/// What became of background traffic until the last program had ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackgroundStatistics {
    /// Packets that were born.
    pub offered: u64,
    /// Packets that arrived.
    pub delivered: u64,
    /// The mean time of delivered packets from birth to the arrival of the tail, if there are any.
    pub mean_latency: Option<Duration>,
    /// When the last program had ended. [ps]
    pub until: Time,
}

/// Messages from one rank to another that no receive took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreceived {
    /// The sender.
    pub from: Rank,
    /// The receiver; a broadcast counts for each rank that has not received it.
    pub to: Rank,
    /// How many messages.
    pub messages: u64,
}

impl Unreceived {
    /// Counts the messages that no receive took, by sender and receiver.
    pub(crate) fn counted(messages: impl Iterator<Item = (Rank, Rank)>) -> Vec<Unreceived> {
        let mut counts: BTreeMap<(Rank, Rank), u64> = BTreeMap::new();
        messages.for_each(|ends| *counts.entry(ends).or_default() += 1);
        counts.into_iter().map(|((from, to), messages)| Unreceived { from, to, messages }).collect()
    }
}

impl Answer {
    /// When the last rank finished. [ps]
    pub fn makespan(&self) -> Time {
        self.finish.iter().copied().max().unwrap_or(Time::ZERO)
    }

    /// The node of a rank.
    pub fn node_of(&self, rank: Rank) -> NodeId {
        self.nodes.get(rank.0 as usize).copied().unwrap_or(NodeId(rank.0))
    }

    /// Mean time that the headers of a packet were blocked at routers, summed over its path.
    pub fn mean_blocking(&self) -> Duration {
        let total: u128 = self.routers.iter().map(|router| u128::from(router.blocking.picoseconds())).sum();
        let mean = total / u128::from(self.packets.max(1));
        Duration::from_picoseconds(u64::try_from(mean).unwrap_or(u64::MAX))
    }
}

/// What became of frames in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EthernetStatistics {
    /// Frames that nodes sent.
    pub sent: u64,
    /// Frames that arrived in receive rings; a broadcast counts once per ring.
    pub received: u64,
    /// Frames that were dropped.
    pub dropped: Dropped,
    /// For each node, how many of the dropped frames were for it.
    pub dropped_for: Vec<u64>,
    /// For each node, how long frames occupied the wire to the switch and the wire from it. [ps]
    pub busy: Vec<[Duration; 2]>,
    /// The same for the trunk between two switches, if there are two: from the first to the second, and back. [ps]
    pub trunk_busy: Option<[Duration; 2]>,
    /// The most that any output queue held. [B]
    pub most_queued: Bytes,
}

/// Frames that were dropped, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// At a full output queue of the switch.
    pub at_switch: u64,
    /// On the way from the switch to the receiver.
    pub lost: u64,
    /// At a full receive ring.
    pub at_ring: u64,
}

/// What became of a frame on the way to one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// The rank it came from.
    pub source: Rank,
    /// The rank it was for. A broadcast has a record for each.
    pub destination: Rank,
    /// Whether it was broadcast.
    pub broadcast: bool,
    /// Its payload. [B]
    pub bytes: Bytes,
    /// When it was put into its source's transmit ring. [ps]
    pub sent: Time,
    /// When it was in its receiver's ring, or was dropped. [ps]
    pub ended: Time,
    /// How and where its way ended.
    pub fate: FrameFate,
}

/// How a frame's way ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFate {
    /// It reached the receiver's ring.
    Received,
    /// Dropped at a full output queue of the switch.
    AtSwitch,
    /// Lost on the way from the switch.
    Lost,
    /// Dropped at a full receive ring.
    AtRing,
}

impl FrameFate {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            FrameFate::Received => "received",
            FrameFate::AtSwitch => "dropped-at-switch",
            FrameFate::Lost => "lost",
            FrameFate::AtRing => "dropped-at-ring",
        }
    }
}

/// What it took to deliver messages on an Ethernet.
#[derive(Clone, Debug)]
pub struct MessagingStatistics {
    /// How they were sent.
    pub parameters: Parameters,
    /// For each rank, the most memory that its broadcasts took at once: queue, buffer and what is kept for each
    /// receiver. [B]
    pub broadcast_memory: Vec<Bytes>,
    /// The sender and receiver of packets that were sent again, and how many.
    pub repeated: Vec<(Rank, Rank, u64)>,
    /// How often nothing arrived in time at a sender, so that it asked its receiver what it has.
    pub timeouts: u64,
}

/// What a channel did in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelStatistics {
    /// How long flits occupied it. [ps]
    pub busy: Duration,
    /// How long it belonged to a packet without moving a flit. [ps]
    pub blocked: Duration,
    /// Message bytes it carried. [B]
    pub bytes: Bytes,
    /// Packets it carried.
    pub packets: u64,
    /// Slots of the buffer at its far end that were taken, integrated over time. [flit ps]
    pub occupancy: u128,
}

/// How the headers that requested an output at a router fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouterStatistics {
    /// Headers that requested one.
    pub headers: u64,
    /// Grant time minus request time, summed over them. [ps]
    pub blocking: Duration,
}

/// What a rank did and waited for in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankStatistics {
    /// Packets its node injected.
    pub packets: u64,
    /// From when a packet was ready until its tail had left the node, summed. [ps]
    pub send_away: Duration,
    /// Time that the program waited in `receive` for messages that had not arrived, summed over its receives; those of
    /// a schedule may wait at the same time. [ps]
    pub receive_idle: Duration,
}

/// A packet's way through the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// The node it came from.
    pub source: NodeId,
    /// The node it went to.
    pub destination: NodeId,
    /// Message bytes it carried. [B]
    pub bytes: Bytes,
    /// Its length, header included. [flits]
    pub flits: u32,
    /// When it was put into the source's injection queue. [ps]
    pub injected: Time,
    /// The channels it crossed, in order.
    pub hops: Vec<HopRecord>,
    /// When its tail reached the destination. [ps]
    pub delivered: Time,
}

impl PacketRecord {
    /// How long its header was blocked, summed over its channels. [ps]
    pub fn blocking(&self) -> Duration {
        self.hops.iter().map(|hop| hop.granted.since(hop.requested)).sum()
    }
}

/// One channel on a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopRecord {
    /// The channel.
    pub channel: ChannelId,
    /// Which of its virtual channels, from 0.
    pub virtual_channel: u32,
    /// When the header requested it. [ps]
    pub requested: Time,
    /// When the packet was granted it. [ps]
    pub granted: Time,
    /// When the tail had crossed and the channel was free again. [ps]
    pub released: Time,
}
