//! What every model of networks answers about what lies between the nodes of a machine: a file each, and one place that
//! tells them apart.

mod ethernet;
mod flits;
mod loggp;

use serde_json::Value;

use crate::facts::Facts;
use crate::model::{FlitNetwork, Interconnect, Machine};

/// What lies between the nodes, as a model of networks has it.
pub trait NetworkModel {
    /// The network of routers, if the model has one.
    fn flits(&self) -> Option<&FlitNetwork> {
        None
    }

    /// Whether anything depends on the seed of a run.
    fn is_random(&self) -> bool {
        false
    }

    /// Facts about it between so many nodes, before anything runs.
    fn facts(&self, nodes: u32) -> Facts;

    /// What it is called in JSON, and all of it there. All times in picoseconds.
    fn json(&self) -> (&'static str, Value);
}

impl Interconnect {
    /// Its model.
    pub fn model(&self) -> &dyn NetworkModel {
        match self {
            Interconnect::Flits(network) => &**network,
            Interconnect::LogGp(loggp) => loggp,
            Interconnect::Ethernet(ethernet) => ethernet,
        }
    }
}

impl Machine {
    /// Its network of routers, if it has one.
    pub fn network(&self) -> Option<&FlitNetwork> {
        self.interconnect.model().flits()
    }

    /// Whether anything in it depends on the seed of a run: the paths of packets, or the fate of frames.
    pub fn is_random(&self) -> bool {
        self.interconnect.model().is_random()
    }
}
