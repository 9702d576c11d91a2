//! A machine of any kind as a world: a network of flits, an Ethernet, or the costs of the LogGP model.

use endpoint::{Program, World};
use machines::model::{Interconnect, Machine};

use crate::answer::{Answer, Run};
use crate::clock::Clock;
use crate::ethernet_world::EthernetWorld;
use crate::network_world::{NetworkWorld, Options};

/// A machine, and how it is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Simulated<'a> {
    machine: &'a Machine,
    options: Options,
}

impl<'a> Simulated<'a> {
    /// A world on `machine`. Which engine moves the flits matters only where there are flits.
    pub const fn new(machine: &'a Machine, options: Options) -> Simulated<'a> {
        Simulated { machine, options }
    }

    /// The world of a machine that is an Ethernet.
    pub const fn ethernet(&self) -> EthernetWorld<'a> {
        let world = EthernetWorld::new(self.machine, self.options.seed).with_stop(self.options.stop);
        let world = if self.options.packet_log { world.with_frames() } else { world };
        if self.options.timeline { world.with_timeline() } else { world }
    }
}

impl World for Simulated<'_> {
    type Answer = Answer;

    fn run<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output> {
        match &self.machine.interconnect {
            Interconnect::Flits(_) => NetworkWorld::new(self.machine, self.options).run(ranks, program),
            Interconnect::Ethernet(_) => self.ethernet().run(ranks, program),
            Interconnect::LogGp(model) => {
                let clock = Clock::new(*model).with_stop(self.options.stop);
                let clock = if self.options.timeline { clock.with_timeline() } else { clock };
                clock.run(ranks, program)
            }
        }
    }
}
