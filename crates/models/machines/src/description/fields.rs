//! Every field that a description can have.
//!
//! ```toml
//! about = "16 nodes on a 4x4 mesh"
//!
//! [topology.mesh]
//! columns = 4
//! rows = 4
//!
//! [channels]
//! rate = "10 MB/s"
//! buffers = 2
//!
//! [routers]
//! routing_delay = "100 ns"
//!
//! [packet]
//! payload = "128 B"
//! header = "2 B"
//! flit = "1 B"
//! ```

mod ethernet;
mod letters;

pub use crate::topology::Topology;
pub use ethernet::{
    BroadcastProtocol, DATAGRAM, Ethernet, Faults, IP_AND_UDP, Memory, Messaging, Probe, Repeat, Trunk,
};

use crate::routing::{IdleWhen, Rule, Selection, WaitsFor};
use quantities::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

/// A whole description.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fields {
    /// The machine's name; the file's name if left out.
    pub name: Option<String>,
    /// A description in one line.
    #[serde(default)]
    pub about: String,
    /// How its routers and nodes are connected. Either this, `loggp` or `ethernet`.
    pub topology: Option<Topology>,
    /// Its channels.
    pub channels: Option<Channels>,
    /// Its routers.
    pub routers: Option<Routers>,
    /// How headers find their way.
    #[serde(default)]
    pub routing: Routing,
    /// When packets may move on.
    #[serde(default)]
    pub switching: Switching,
    /// How messages become packets and flits.
    pub packet: Option<Packet>,
    /// What messages cost the nodes.
    #[serde(default)]
    pub node: Node,
    /// A network for broadcasts, in addition to the one for messages.
    pub control_network: Option<ControlNetwork>,
    /// The costs of the LogGP model, instead of a network.
    pub loggp: Option<LogGp>,
    /// A switched Ethernet, instead of a network of flits.
    pub ethernet: Option<Ethernet>,
}

/// A network by which a node broadcasts to all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlNetwork {
    /// From the last byte that a node hands over to its arrival everywhere.
    pub latency: Duration,
    /// Bytes per second of the whole network.
    pub rate: Rate,
    /// The processor's cost to begin a broadcast, and to receive one; none by default.
    #[serde(default)]
    pub overhead: Duration,
}

/// The channels; those to and from nodes can differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Channels {
    /// Bytes per second; this or `flit_time`.
    pub rate: Option<Rate>,
    /// How long a flit occupies a channel; this or `rate`.
    pub flit_time: Option<Duration>,
    /// The propagation delay of the wire, in addition to the flit time; none by default.
    pub wire_latency: Option<Duration>,
    /// How long after a flit leaves a buffer its slot can be taken again; at once by default.
    pub credit_latency: Option<Duration>,
    /// Slots for flits in the buffer at the far end; 1 by default. Each virtual channel has a buffer of that size.
    pub buffers: Option<u32>,
    /// How many virtual channels share each channel between routers; 1 by default. More need virtual cut-through or
    /// store-and-forward, and a credit latency of more than zero.
    pub virtual_channels: Option<u32>,
    /// How the channels between nodes and routers differ.
    #[serde(default)]
    pub nodes: Line,
    /// Further differences of the channels from nodes to routers.
    #[serde(default)]
    pub injection: Line,
    /// Further differences of the channels from routers to nodes.
    #[serde(default)]
    pub ejection: Line,
    /// How the channels between the groups of a dragonfly differ.
    #[serde(default)]
    pub global: Line,
}

/// In what some channels differ from the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Bytes per second.
    pub rate: Option<Rate>,
    /// How long a flit occupies a channel.
    pub flit_time: Option<Duration>,
    /// How much longer a flit is on the wire.
    pub wire_latency: Option<Duration>,
    /// How long after a flit leaves a buffer its slot can be taken again.
    pub credit_latency: Option<Duration>,
    /// Slots for flits in the buffer at the far end.
    pub buffers: Option<u32>,
}

/// The routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Routers {
    /// How long a header at the front of a buffer waits before it asks for its output.
    pub routing_delay: Duration,
    /// Which header gets a free channel that several ask for.
    #[serde(default)]
    pub arbitration: Arbitration,
}

/// Which header gets a free channel that several ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// The earliest request; ties go to the lowest input port.
    #[default]
    FirstCome,
    /// The next input port, counted round from the one served last.
    RoundRobin,
}

/// How headers find their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Routing {
    /// The rule; the topology's own if left out.
    pub rule: Option<Rule>,
    /// Which of several allowed channels a header takes.
    #[serde(default)]
    pub selection: Selection,
    /// What a header that finds none of several allowed channels idle waits for; `any` only where it looks for an idle
    /// one.
    #[serde(default)]
    pub waits_for: WaitsFor,
    /// Which of several allowed channels count as idle; `empty` only where a header looks for an idle one.
    #[serde(default)]
    pub idle_when: IdleWhen,
}

/// When packets may move on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switching {
    /// By flits or by whole packets.
    #[serde(default)]
    pub mode: Mode,
    /// The processor's time to forward a packet; for `software` only.
    pub per_packet: Option<Duration>,
}

/// By flits or by whole packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Each flit as soon as there is a slot for it.
    #[default]
    Wormhole,
    /// The header when the far buffer has room for the whole packet.
    VirtualCutThrough,
    /// The header when the whole packet has arrived and the far buffer has room for it.
    StoreAndForward,
    /// As store-and-forward, by the processors of the nodes.
    Software,
}

/// How messages become packets and flits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    /// The most message bytes that a packet carries.
    pub payload: Bytes,
    /// Bytes of header before them.
    pub header: Bytes,
    /// Bytes in a flit.
    #[serde(default = "one_byte")]
    pub flit: Bytes,
}

/// What messages cost a node. Every cost is nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Node {
    /// The processor's set-up of a message to be sent.
    pub processor_send: Duration,
    /// The processor's set-up of a message to be received.
    pub processor_receive: Duration,
    /// The communication processor's cost for each message sent.
    pub message_send: Duration,
    /// The communication processor's cost for each message received.
    pub message_receive: Duration,
    /// The communication processor's cost for each packet sent.
    pub packet_send: Duration,
    /// The communication processor's cost for each packet received.
    pub packet_receive: Duration,
    /// The rate at which the communication processor moves a packet's message bytes between memory and network, if that
    /// takes time.
    pub packet_rate: Option<Rate>,
    /// The communication processor's cost to send or to receive a system message.
    pub system_message: Duration,
    /// For how long a rank's first send keeps the processor busy before anything else: nothing of what it needs is in a
    /// cache yet.
    pub cold_send: Duration,
    /// For how long a rank's first receive keeps the processor busy, from when it begins to wait for the message.
    pub cold_receive: Duration,
    /// The rate at which the processor copies a message that it sends or receives, if it copies.
    pub copy_rate: Option<Rate>,
    /// The rate at which it copies a message that it receives, if that differs.
    pub copy_out_rate: Option<Rate>,
    /// Extra cost of each message received whose packets may arrive out of order.
    pub reconstruction: Duration,
    /// Whether the next packet of a message is begun only when the one before has left the node completely.
    pub waits_for_departure: bool,
    /// When a send is over.
    pub send: Send,
    /// What the acknowledgement of a synchronous send waits for.
    pub acknowledged: Option<Acknowledged>,
    /// How a message gets across; `set-up` if there is a `piggyback`, else `eager`.
    pub protocol: Option<Protocol>,
    /// The longest message that rides on its set-up packet; for the protocol `set-up`.
    pub piggyback: Option<Bytes>,
    /// The longest message that is not announced; for the protocol `rendezvous`, where all are if it is left out.
    pub eager: Option<Bytes>,
}

/// How a message gets across.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Data packets at once.
    Eager,
    /// A packet of its own sets the message up; the receiver's communication processor answers it, and the data follow.
    SetUp,
    /// A system message announces it; the data follow when the receiving program has asked for the message.
    Rendezvous,
}

/// When a send is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Send {
    /// When a system message says that the message was received.
    Synchronous,
    /// When its last packet has left the node.
    #[default]
    Blocking,
    /// When the processor has set it up.
    NonBlocking,
}

/// What the acknowledgement of a synchronous send waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Acknowledged {
    /// The arrival of the whole message at the node.
    OnArrival,
    /// The receiving program's receipt of the message that it has asked for.
    #[default]
    OnReceive,
}

/// The costs of the LogGP model with LogGOPSim's O and S; its letters can stand for the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = letters::added)]
pub struct LogGp {
    /// How many nodes.
    pub nodes: u32,
    /// L, the latency from end to end.
    #[serde(alias = "L")]
    pub latency: Duration,
    /// o, the processor's overhead to send and to receive a message.
    #[serde(alias = "o")]
    pub overhead: Duration,
    /// g, the gap between messages at a network interface.
    #[serde(alias = "g")]
    pub gap: Duration,
    /// G, the gap between bytes at a network interface.
    #[serde(alias = "G", default)]
    pub gap_per_byte: Duration,
    /// O, the processor's overhead per byte.
    #[serde(alias = "O", default)]
    pub overhead_per_byte: Duration,
    /// S, the size from which a send waits for its receiver; never if left out.
    #[serde(alias = "S")]
    pub rendezvous: Option<Bytes>,
}

fn one_byte() -> Bytes {
    Bytes(1)
}
