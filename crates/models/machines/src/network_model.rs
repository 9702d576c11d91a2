//! What every model of networks answers about what lies between the nodes of a machine: a file each, and one place that
//! tells them apart.

mod ethernet;
mod flits;
mod loggp;

use std::sync::Arc;

use quantities::{Bytes, Duration, Rate};
use serde_json::Value;

use crate::facts::Facts;
use crate::model::{Ethernet, FlitNetwork, Interconnect, LogGp, Machine, NodeCosts, NodeId};

/// The messages that a rank sends, or receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankTraffic {
    /// How many there are at least.
    pub messages: u64,
    /// All that is in them. [B]
    pub bytes: u64,
}

/// The least times of an empty message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastTimes {
    /// From the start of one message of a rank to the start of the next.
    pub gap: Duration,
    /// From the start of sending to the end of receiving.
    pub latency: Duration,
}

/// The wire that the processes of a node share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedWire {
    /// How many processes.
    pub processes: u32,
    /// What it carries each way.
    pub rate: Rate,
    /// What passes at once, before the rate holds.
    pub at_once: Bytes,
}

/// What lies between the nodes, as a model of networks has it. Costs that depend on the nodes are given theirs.
pub trait NetworkModel {
    /// The network of routers, if the model has one.
    fn flits(&self) -> Option<&Arc<FlitNetwork>> {
        None
    }

    /// The switched Ethernet, if the model is one.
    fn ethernet(&self) -> Option<&Ethernet> {
        None
    }

    /// Whether anything depends on the seed of a run.
    fn is_random(&self) -> bool {
        false
    }

    /// Whether no message meets another between the nodes, and none of them is nearer than another. A machine has as
    /// many nodes as are asked for then, up to a limit.
    fn is_without_contention(&self) -> bool {
        false
    }

    /// What a packet or a frame carries of a message at most, if messages are cut into such.
    fn payload(&self) -> Option<Bytes>;

    /// How many processes run on a node, each of which counts as one.
    fn processes(&self) -> u32 {
        1
    }

    /// The switch that a node is at, if there are any.
    fn switch_of(&self, _node: NodeId) -> Option<u32> {
        None
    }

    /// How many nodes, by number, a group of them has, if there are groups.
    fn nodes_per_group(&self) -> Option<u32> {
        None
    }

    /// How long a processor copies a message that it sends.
    fn copy_time(&self, node: &NodeCosts, size: Bytes) -> Duration;

    /// What the processors at the two ends of a message of `size` do for it: to send it, and to receive it.
    fn processor_work(&self, node: &NodeCosts, size: Bytes) -> [Duration; 2];

    /// Whether a send of `size` completes only after the receiving program has asked for the message.
    fn waits_for_receivers(&self, node: &NodeCosts, size: Bytes) -> bool;

    /// Whether a send, of `size` if that is known, has its processor until it completes: some wait for the network or
    /// for their receiver meanwhile.
    fn holds_processor(&self, node: &NodeCosts, size: Option<Bytes>) -> bool;

    /// Makes sends complete when the message has arrived, if they would wait until the receiver asks for it, and
    /// returns whether they would. Messages that are announced to the receiver are unchanged.
    fn send_without_waiting(&mut self, node: &mut NodeCosts) -> bool;

    /// The least that the processors of a rank have to do, each of which does one thing after another.
    fn least_work(&self, node: &NodeCosts, sent: RankTraffic, received: RankTraffic) -> Duration;

    /// The least times of an empty message.
    fn least_times(&self, node: &NodeCosts) -> LeastTimes;

    /// The least time in which this much comes to a node, or leaves it, in the largest possible messages and packets.
    fn least_transfer(&self, node: &NodeCosts, bytes: Bytes) -> Duration;

    /// The wire that the processes of a node share, if several run on one.
    fn shared_wire(&self) -> Option<SharedWire> {
        None
    }

    /// Facts about it between so many nodes, before anything runs.
    fn facts(&self, nodes: u32) -> Facts;

    /// What it is and costs, by name and in words.
    fn in_words(&self, node: &NodeCosts) -> Vec<(&'static str, String)>;

    /// What it is called in JSON, and all of it there. All times in picoseconds.
    fn json(&self) -> (&'static str, Value);
}

impl Interconnect {
    /// Its model.
    pub fn model(&self) -> &dyn NetworkModel {
        match self {
            Interconnect::Flits(network) => network,
            Interconnect::LogGp(loggp) => loggp,
            Interconnect::Ethernet(ethernet) => ethernet,
        }
    }

    /// Its model, to be changed.
    fn model_mut(&mut self) -> &mut dyn NetworkModel {
        match self {
            Interconnect::Flits(network) => network,
            Interconnect::LogGp(loggp) => loggp,
            Interconnect::Ethernet(ethernet) => ethernet,
        }
    }
}

impl From<LogGp> for Interconnect {
    fn from(model: LogGp) -> Interconnect {
        Interconnect::LogGp(model)
    }
}

impl Machine {
    /// The model of its network.
    pub fn model(&self) -> &dyn NetworkModel {
        self.interconnect.model()
    }

    /// Its network of routers, if it has one.
    pub fn network(&self) -> Option<&Arc<FlitNetwork>> {
        self.model().flits()
    }

    /// Whether anything in it depends on the seed of a run: the paths of packets, or the fate of frames.
    pub fn is_random(&self) -> bool {
        self.model().is_random()
    }

    /// What the processors at the two ends of a message of `size` do for it: to send it, and to receive it.
    pub fn processor_work(&self, size: Bytes) -> [Duration; 2] {
        self.model().processor_work(&self.node, size)
    }

    /// Whether a send of `size` completes only after the receiving program has asked for the message.
    pub fn waits_for_receivers(&self, size: Bytes) -> bool {
        self.model().waits_for_receivers(&self.node, size)
    }

    /// Makes sends complete when the message has arrived, if they would wait until the receiver asks for it, and
    /// returns whether they would. Messages that a network announces to the receiver are unchanged.
    pub fn send_without_waiting(&mut self) -> bool {
        self.interconnect.model_mut().send_without_waiting(&mut self.node)
    }
}
