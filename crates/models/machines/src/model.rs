//! The resolved model of a machine: every channel, router and cost as numbers, ready to be simulated.

use std::sync::Arc;

use quantities::{Bytes, Duration, Rate};

pub use crate::description::fields::{
    BroadcastProtocol, DATAGRAM, Faults, IP_AND_UDP, Memory, Messaging, Probe, Repeat,
};
use crate::routing::{AtRest, IdleWhen, RouteState, Routing, Selection, WaitsFor};

/// A machine as a world simulates it: a resolved description.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its name: the preset's, or the description's own.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// How many nodes; rank r of a program is on node r, unless it is placed elsewhere. If nodes of an Ethernet have
    /// several processes, each process counts as a node here.
    pub nodes: u32,
    /// What lies between the nodes.
    pub interconnect: Interconnect,
    /// What messages cost the nodes.
    pub node: NodeCosts,
    /// The network for broadcasts, if there is one.
    pub control_network: Option<ControlNetwork>,
    /// What it was resolved from.
    pub source: Source,
}

impl Machine {
    /// Its name, and its description if it has one.
    pub fn title(&self) -> String {
        if self.about.is_empty() { self.name.clone() } else { format!("{}: {}", self.name, self.about) }
    }
}

/// The description that a machine was resolved from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The preset or file, as it was named; if nobody described the machine, how it was made.
    pub description: String,
    /// The BLAKE3 digest of its text, in hexadecimal; empty if there is no text.
    pub blake3: String,
    /// The fields set to other values, `field=value`, in the order in which they were set.
    pub settings: Vec<String>,
}

/// What lies between the nodes.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // a machine has one
pub enum Interconnect {
    /// A network of routers, simulated to the flit.
    Flits(Arc<FlitNetwork>),
    /// No contention: a message costs what the LogGP model says.
    LogGp(LogGp),
    /// A switched Ethernet, which may lose frames.
    Ethernet(Ethernet),
}

/// A network of routers and channels that moves packets in flits.
#[derive(Clone, Debug)]
pub struct FlitNetwork {
    /// Channels; a [`ChannelId`] is an index into them.
    pub channels: Vec<Channel>,
    /// Routers; a [`RouterId`] is an index into them.
    pub routers: Vec<Router>,
    /// For each node, the one channel that leads from it into the network.
    pub injection: Vec<ChannelId>,
    /// For each node, the one channel that leads from the network to it.
    pub ejection: Vec<ChannelId>,
    /// The sides of a mesh or torus, where node and router n are at position n mod s1 of the first side, n / s1 mod s2
    /// of the second, and so on; empty for other networks.
    pub sides: Vec<u32>,
    /// How many nodes each group of the topology has, in order of their numbers. A group is a group of a dragonfly, a
    /// pod of a fat tree or of a Clos network (everything below one channel of its root), or a module of a mesh of Clos
    /// networks. None if the topology has no groups.
    pub group: Option<u32>,
    /// What a drawing shows in place of the routers, where they are too many.
    pub regions: Regions,
    /// The output channels that a header may ask for.
    pub routing: Routing,
    /// Which of several allowed output channels it takes.
    pub selection: Selection,
    /// What a header waits for if none of several is idle.
    pub waits_for: WaitsFor,
    /// Which of several allowed output channels count as idle.
    pub idle_when: IdleWhen,
    /// When a packet may move on.
    pub switching: Switching,
    /// Which of several headers gets a free channel.
    pub arbitration: Arbitration,
    /// How messages are divided into packets.
    pub packet: PacketFormat,
}

impl FlitNetwork {
    /// The name of a channel in messages and reports: `from node 3 to mesh (0, 0)`.
    pub fn channel_name(&self, channel: ChannelId) -> String {
        let end = |place: ChannelEnd| match place {
            ChannelEnd::Node(node) => format!("node {}", node.0),
            ChannelEnd::Router(router) => self.routers[router.0 as usize].name.clone(),
        };
        let channel = &self.channels[channel.0 as usize];
        format!("from {} to {}", end(channel.from), end(channel.to))
    }

    /// How many nodes each branch below the root of the tree has, in order of their numbers; none if the network is not
    /// a tree, or if packets do not only go up and down it.
    pub fn branch(&self) -> Option<u32> {
        self.routing.branch()
    }

    /// The router to which `node` is attached.
    pub fn home(&self, node: NodeId) -> RouterId {
        match self.channels[self.injection[node.0 as usize].0 as usize].to {
            ChannelEnd::Router(router) => router,
            ChannelEnd::Node(other) => unreachable!("node {} is joined to node {}, not to a router", node.0, other.0),
        }
    }

    /// How many sets the virtual channels between routers form. The routing says which virtual channel of a set a
    /// packet takes; the set follows from the packet's destination, modulo the number of sets.
    pub fn sets(&self) -> u32 {
        (self.virtual_channels() / self.routing.virtual_channels()).max(1)
    }

    /// The most virtual channels that share one physical channel.
    pub fn virtual_channels(&self) -> u32 {
        self.channels.iter().map(|channel| channel.virtual_channels).max().unwrap_or(1)
    }

    /// The channels from `source` to `destination`, in order, always choosing the channel that belongs to the source,
    /// and one of the paths if the rule draws one; empty if they are the same node.
    pub fn route(&self, source: NodeId, destination: NodeId) -> Vec<ChannelId> {
        if source == destination { Vec::new() } else { self.way(source, destination).collect() }
    }

    /// The same for any two nodes, even if they are the same.
    pub fn way(&self, source: NodeId, destination: NodeId) -> impl Iterator<Item = ChannelId> {
        let (rest, mut state) = (AtRest::between(source, destination), RouteState::default());
        let after = move |channel: &ChannelId| match self.channels[channel.0 as usize].to {
            ChannelEnd::Router(at) => Some(self.routing.step(&rest.view(at, source, destination), &mut state).fixed()),
            ChannelEnd::Node(_) => None,
        };
        std::iter::successors(Some(self.injection[source.0 as usize]), after)
    }
}

/// A one-directional channel and the buffers at its far end, one for each of its virtual channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Where it begins.
    pub from: ChannelEnd,
    /// Where it ends.
    pub to: ChannelEnd,
    /// Its number among the inputs of the router where it ends, from 0; 0 at a node.
    pub input_port: u32,
    /// How long a flit occupies it. More than zero. [ps]
    pub flit_time: Duration,
    /// How much longer the flit takes on the wire. [ps]
    pub wire_latency: Duration,
    /// How long after a flit leaves the far buffer its slot can be reused. More than zero if several virtual channels
    /// share the wire. [ps]
    pub credit_latency: Duration,
    /// Slots of each buffer at the far end. At least one. [flits]
    pub buffer: u32,
    /// How many virtual channels share the wire. At least one; exactly one to and from nodes, and with wormhole
    /// switching.
    pub virtual_channels: u32,
}

/// An end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChannelEnd {
    /// A node: a source or a sink of packets.
    Node(NodeId),
    /// A router.
    Router(RouterId),
}

/// Index of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Index of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouterId(pub u32);

/// Index of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub u32);

/// A router.
#[derive(Clone, Debug)]
pub struct Router {
    /// Its name in reports: `mesh (1, 2)`, `cluster 3 level 2 router 0`.
    pub name: String,
    /// How long a header at the front of an input buffer waits before it asks for its output. More than zero. [ps]
    pub routing_delay: Duration,
    /// Its position in drawings, in units of one router's box.
    pub position: (f32, f32),
    /// Row-wise number within the mesh structure, for routers of a mesh.
    pub mesh_index: Option<u32>,
}

/// The parts into which a drawing divides the routers of a network: tiles of a mesh, groups, stretches of a level. They
/// are at most [`Regions::MOST`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Regions {
    /// The regions.
    pub list: Vec<Region>,
    /// For each router the index of its region.
    pub of_router: Vec<u32>,
}

/// A part of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Its name: `group 3`, `level 1: 0-7`.
    pub name: String,
    /// Its position in drawings. Neighbours are about one apart.
    pub position: (f32, f32),
}

/// When a packet may move on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// Each flit as soon as there is a slot for it.
    Wormhole,
    /// The header only when the far buffer has room for the whole packet.
    VirtualCutThrough,
    /// The header only when its whole packet has arrived and the far buffer has room for all of it.
    StoreAndForward,
    /// Like store-and-forward, but the node's own processor routes: router r is node r, and each packet it forwards
    /// takes `per_packet` of that processor's time, one after the other, before the header asks for its output (the
    /// routing delay is then not counted).
    Software {
        /// The processor's time to forward one packet. [ps]
        per_packet: Duration,
    },
}

/// Which of several headers gets a free channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// The earliest request; ties go to the lowest input port.
    FirstCome,
    /// The next input port, round-robin from the one served last.
    RoundRobin,
}

/// How a message becomes packets and flits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketFormat {
    /// The most message bytes that a packet carries. [B]
    pub payload: Bytes,
    /// Bytes of header before them. More than zero. [B]
    pub header: Bytes,
    /// Bytes in a flit. [B]
    pub flit: Bytes,
}

impl PacketFormat {
    /// Flits of a packet that carries `payload` bytes: header flits, then payload flits, each rounded up. [flits]
    pub fn flits(&self, payload: Bytes) -> u32 {
        (self.header.0.div_ceil(self.flit.0) + payload.0.div_ceil(self.flit.0)) as u32
    }
}

/// What messages cost a node. A node has a processor, which runs the program, and a communication processor, which
/// works beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeCosts {
    /// The processor's set-up of a message to be sent. [ps]
    pub processor_send: Duration,
    /// The processor's set-up of a message to be received, counted once it has arrived. [ps]
    pub processor_receive: Duration,
    /// The communication processor's cost for each message sent. [ps]
    pub message_send: Duration,
    /// The communication processor's cost for each message received. [ps]
    pub message_receive: Duration,
    /// The communication processor's cost for each packet sent. [ps]
    pub packet_send: Duration,
    /// The communication processor's cost for each packet received. [ps]
    pub packet_receive: Duration,
    /// The rate at which the communication processor moves a packet's message bytes between memory and network, if that
    /// takes time. [bit/s]
    pub packet_rate: Option<Rate>,
    /// The communication processor's cost to send or to receive a system message. [ps]
    pub system_message: Duration,
    /// How long a rank's first send keeps the processor busy before anything else. [ps]
    pub cold_send: Duration,
    /// How long its first receive does, from when it is posted. [ps]
    pub cold_receive: Duration,
    /// The rate at which the processor copies a message that it sends, if it does. [bit/s]
    pub copy_rate: Option<Rate>,
    /// The rate at which it copies a message that it receives, if it does. [bit/s]
    pub copy_out_rate: Option<Rate>,
    /// Extra cost of each received message whose packets may arrive out of order. [ps]
    pub reconstruction: Duration,
    /// Whether the communication processor begins the next packet of a message only when the one before has completely
    /// left the node; otherwise it prepares packets while others leave.
    pub waits_for_departure: bool,
    /// When a send is over.
    pub send: SendMode,
    /// How a message gets across.
    pub protocol: Protocol,
}

/// When a send is complete for the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendMode {
    /// When a system message reports that the message was received.
    Synchronous {
        /// What the system message waits for.
        acknowledged: Acknowledged,
    },
    /// When its last packet has left the node.
    Blocking,
    /// When the processor has prepared it.
    NonBlocking,
}

/// What the acknowledgement of a synchronous send waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    /// The arrival of the whole message at the node.
    OnArrival,
    /// The receiving program, which has asked for the message and got it.
    OnReceive,
}

/// How a message gets across.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Data packets at once.
    Eager,
    /// A set-up packet, which carries a message of at most `piggyback` bytes itself; a longer one follows in data
    /// packets when the receiver's communication processor has answered the set-up.
    SetUp {
        /// The longest message that the set-up packet carries. [B]
        piggyback: Bytes,
    },
    /// A message of at most `eager` bytes goes in data packets at once. A longer one (or any, if there is no `eager`)
    /// is announced by a system message; its data packets follow when the receiving program has asked for it and a
    /// second system message has said so.
    Rendezvous {
        /// The longest message that goes at once. [B]
        eager: Option<Bytes>,
    },
}

/// A network besides the one that carries messages, on which a node broadcasts to all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlNetwork {
    /// From the last byte that a node hands over to its arrival everywhere. [ps]
    pub latency: Duration,
    /// Bytes per second of the whole network, which carries one broadcast after the other. [bit/s]
    pub rate: Rate,
    /// The processor's cost to begin a broadcast, and to receive one. [ps]
    pub overhead: Duration,
}

/// The LogGP model, with LogGOPSim's S: the cost of a message of s bytes without contention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogGp {
    /// L, the end-to-end latency. [ps]
    pub latency: Duration,
    /// o, the processor's overhead to send and to receive a message. [ps]
    pub overhead: Duration,
    /// g, the gap between messages at a network interface. [ps]
    pub gap: Duration,
    /// G, the gap between bytes at a network interface. [ps/B]
    pub gap_per_byte: Duration,
    /// O, the processor's overhead per byte. [ps/B]
    pub overhead_per_byte: Duration,
    /// S, the size from which a send waits for its receiver. [B]
    pub rendezvous: Option<Bytes>,
}

/// A switched Ethernet: a wire to and from a store-and-forward switch for each node, and optionally a second switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ethernet {
    /// Of each wire, in either direction. [bit/s]
    pub rate: Rate,
    /// The size of a token bucket in place of each wire, if there is one. [B]
    pub bucket: Option<Bytes>,
    /// How late a frame passes that had to wait for tokens. [ps]
    pub bucket_delay: Duration,
    /// How long an interrupt takes to carry such a frame on. [ps]
    pub bucket_carry: Duration,
    /// Of each wire. [ps]
    pub wire_latency: Duration,
    /// From a frame's last bit to its place in an output queue. [ps]
    pub switch_latency: Duration,
    /// How long the switch takes to copy a broadcast frame for each receiver but the first, while the source's
    /// processor is occupied. [ps]
    pub switch_copy: Duration,
    /// The size of an output queue of the switch. [B]
    pub queue: Bytes,
    /// The longest payload of a frame. [B]
    pub payload: Bytes,
    /// How many frames a node's network interface holds for sending.
    pub transmit_ring: u32,
    /// How many received frames it holds.
    pub receive_ring: u32,
    /// The processor's cost to send a frame. [ps]
    pub send: Duration,
    /// The processor's cost to receive a frame. [ps]
    pub receive: Duration,
    /// The processor's additional cost to hand over a batch of frames to be sent at once. [ps]
    pub handover: Duration,
    /// How long a node that has waited for a frame takes until it runs again on an idle processor, which is occupied
    /// meanwhile. [ps]
    pub wake: Duration,
    /// For how long a node's processor is busy when a time comes for which the node has waited. [ps]
    pub timer: Duration,
    /// How long a node that begins to wait for a frame keeps its processor. [ps]
    pub block: Duration,
    /// The sender's cost to interrupt an idle processor for such a node, where nodes share processors. [ps]
    pub interrupt: Duration,
    /// The processor's additional cost of the first frame that a node sends and of the first that it receives, also
    /// after a wait of 300 us. [ps]
    pub cold: Duration,
    /// The same after such a wait, for each other node that has run on the same processor meanwhile. [ps]
    pub cold_each: Duration,
    /// How many processors all nodes share, if not one each.
    pub processors: Option<u32>,
    /// The processor's cost for each byte of payload, to send it and to receive it. [ps/B]
    pub copy: Duration,
    /// The processor's cost of each send or broadcast that a program calls, in addition to those of frames. [ps]
    pub call_send: Duration,
    /// The same for each receive, when the message has arrived. [ps]
    pub call_receive: Duration,
    /// The source's cost, for each receiver, of each frame that it broadcasts. [ps]
    pub broadcast_each: Duration,
    /// The wire to a second switch, if there is one.
    pub trunk: Option<Trunk>,
    /// The processes of each node, and what messages between them cost, if nodes have more than one process.
    pub memory: Option<Memory>,
    /// What can go wrong on the way to each receiver.
    pub faults: Faults,
    /// How messages are sent.
    pub messaging: Messaging,
}

impl Ethernet {
    /// How many processes a node has. The ranks of a machine are numbered node by node.
    pub fn processes(&self) -> u32 {
        self.memory.map_or(1, |memory| memory.processes.max(1))
    }
}

/// Two switches of an Ethernet, and the wire between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trunk {
    /// How many nodes are on the first switch, from node 0 on; the others are on the second.
    pub first_switch: u32,
    /// Of the trunk, in either direction. [bit/s]
    pub rate: Rate,
    /// The size of a token bucket in place of it, if there is one. [B]
    pub bucket: Option<Bytes>,
    /// Of the trunk. [ps]
    pub latency: Duration,
    /// The size of the queue before it, at either switch. [B]
    pub queue: Bytes,
}
