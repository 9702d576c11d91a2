//! The world whose network is simulated to the flit.

mod executor;

use endpoint::{Error, Program, Result, World};
use std::sync::Arc;

use machines::model::{FlitNetwork, Interconnect, Machine, NodeId};
use quantities::Bytes;

use crate::answer::{Answer, Run};
use crate::flit::network::fast::Fast;
use crate::flit::network::reference::Reference;
use crate::flit::traffic::{BackgroundTraffic, Load, Unfit};
use crate::stop::Stop;

/// Which engine moves the flits. Both give the same times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// The fast engine: two events per packet and channel.
    #[default]
    Fast,
    /// The reference engine: moves every flit.
    Reference,
}

/// How a machine is simulated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Which engine moves the flits.
    pub engine: EngineKind,
    /// The seed of random choices.
    pub seed: u64,
    /// Whether to keep a record of every packet.
    pub packet_log: bool,
    /// Whether to record the timeline of every rank.
    pub timeline: bool,
    /// A request to stop the run before it is done.
    pub stop: Stop,
}

/// A machine whose network is simulated to the flit.
#[derive(Clone, Copy, Debug)]
pub struct NetworkWorld<'a> {
    machine: &'a Machine,
    options: Options,
}

impl<'a> NetworkWorld<'a> {
    /// A world on `machine`.
    pub fn new(machine: &'a Machine, options: Options) -> NetworkWorld<'a> {
        NetworkWorld { machine, options }
    }

    fn network(&self, ranks: u32) -> Result<&'a Arc<FlitNetwork>> {
        if ranks > self.machine.nodes {
            let Machine { name, nodes, .. } = self.machine;
            return Err(Error::Unfit(format!("{ranks} ranks do not fit on {name}, which has {nodes} nodes")));
        }
        match &self.machine.interconnect {
            Interconnect::Flits(network) => Ok(network),
            Interconnect::LogGp(_) => {
                Err(Error::Unfit(format!("{} is a LogGP machine: it has no network of flits", self.machine.name)))
            }
            Interconnect::Ethernet(_) => {
                Err(Error::Unfit(format!("{} is an Ethernet: it has no network of flits", self.machine.name)))
            }
        }
    }
}

/// The longest message that is cut into packets.
const LONGEST_MESSAGE: Bytes = Bytes(1 << 31);

fn fits(size: Bytes) -> Result<()> {
    if size > LONGEST_MESSAGE {
        return Err(Error::Unfit(format!("a message of {size}: the network carries at most {LONGEST_MESSAGE}")));
    }
    Ok(())
}

impl NetworkWorld<'_> {
    /// Runs `program` beside the traffic of `load`, sent by the nodes for which `sends` holds. The traffic ends with
    /// the last rank.
    ///
    /// # Errors
    /// As for a program; [`Error::Unfit`] for a load that can't be offered to the network.
    pub fn run_with_background<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        load: &Load,
        sends: impl Fn(NodeId) -> bool,
    ) -> Run<P::Output> {
        let traffic = BackgroundTraffic::new(self.network(ranks)?, load, sends);
        self.run_with(ranks, program, Some(traffic.map_err(unfit_traffic)?))
    }

    fn run_with<P: Program>(&self, ranks: u32, program: &P, traffic: Option<BackgroundTraffic>) -> Run<P::Output> {
        executor::run(self.nodes(ranks, traffic)?, ranks, program, self.options.timeline)
    }

    /// The nodes, of which `ranks` run programs.
    fn nodes(&self, ranks: u32, traffic: Option<BackgroundTraffic>) -> Result<Box<dyn executor::Nodal + '_>> {
        let (machine, options) = ((self.machine, self.network(ranks)?), self.options);
        Ok(match options.engine {
            EngineKind::Fast => executor::nodes::<Fast>(machine, options, ranks, traffic),
            EngineKind::Reference => executor::nodes::<Reference>(machine, options, ranks, traffic),
        })
    }
}

impl World for NetworkWorld<'_> {
    type Answer = Answer;

    fn run<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output> {
        self.run_with(ranks, program, None)
    }
}

/// The error of background traffic that can't be offered to the network.
pub(crate) fn unfit_traffic(unfit: Unfit) -> Error {
    Error::Unfit(format!("background traffic: {unfit}"))
}
