//! The world on a switched Ethernet: frames may be lost, but every message arrives.
//!
//! ```text
//!    program      of each rank
//!    Messenger    push-pull messages and broadcasts, sent again until they have arrived: the code that also runs over UDP
//!    Port         what frames cost the rank's processor, and what messages through the memory of its node do
//!    Network      wires and switch, rings and memories of nodes
//! ```

mod executor;
mod parameters;
mod port;
mod record;
mod setting;

use endpoint::{Error, Program, Result, World};
use machines::model::{Ethernet, Interconnect, Machine};

use crate::answer::{Answer, Run};
use crate::stop::Stop;

pub use parameters::parameters;

/// A machine whose nodes are on an Ethernet.
#[derive(Clone, Copy, Debug)]
pub struct EthernetWorld<'a> {
    machine: &'a Machine,
    seed: u64,
    with_timeline: bool,
    with_frames: bool,
    stop: Stop,
}

impl<'a> EthernetWorld<'a> {
    /// A world on `machine`, with faults that follow from `seed`.
    pub const fn new(machine: &'a Machine, seed: u64) -> EthernetWorld<'a> {
        EthernetWorld { machine, seed, with_timeline: false, with_frames: false, stop: Stop::NEVER }
    }

    /// The same world, which also records the timeline of every rank.
    pub const fn with_timeline(self) -> EthernetWorld<'a> {
        EthernetWorld { with_timeline: true, ..self }
    }

    /// The same world, which also records what becomes of every frame.
    pub const fn with_frames(self) -> EthernetWorld<'a> {
        EthernetWorld { with_frames: true, ..self }
    }

    /// The same world, which stops a run when asked to.
    pub const fn with_stop(self, stop: Stop) -> EthernetWorld<'a> {
        EthernetWorld { stop, ..self }
    }

    /// The setting of a run on `ranks` ranks.
    fn setting(&self, ranks: u32) -> Result<setting::Setting<'a>> {
        let ethernet = self.ethernet(ranks)?;
        let parameters = parameters::parameters(ethernet);
        let EthernetWorld { seed, with_timeline, with_frames, stop, .. } = *self;
        Ok(setting::Setting { ethernet, parameters, ranks, seed, with_timeline, with_frames, stop })
    }

    fn ethernet(&self, ranks: u32) -> Result<&'a Ethernet> {
        let Machine { name, nodes, .. } = self.machine;
        if ranks > *nodes {
            return Err(Error::Unfit(format!("{ranks} ranks do not fit on {name}, which has {nodes} nodes")));
        }
        match &self.machine.interconnect {
            Interconnect::Ethernet(ethernet) => Ok(ethernet),
            Interconnect::Flits(_) | Interconnect::LogGp(_) => Err(Error::Unfit(format!("{name} is no Ethernet"))),
        }
    }
}

impl World for EthernetWorld<'_> {
    type Answer = Answer;

    fn run<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output> {
        executor::run(&self.setting(ranks)?, program)
    }
}
