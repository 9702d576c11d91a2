//! A machine of any kind as a world: a network of flits, an Ethernet, or the costs of the LogGP model.

use endpoint::{Program, World};
use machines::model::{Acknowledged, Interconnect, LogGp, Machine, Protocol, SendMode};
use quantities::Bytes;

use crate::answer::{Answer, Run};
use crate::ethernet::world::EthernetWorld;
use crate::flit::world::{NetworkWorld, Options};
use crate::loggp::Clock;

/// A machine, and how it is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Simulated<'a> {
    pub(crate) machine: &'a Machine,
    options: Options,
    /// Whether processors of a LogGP machine take messages in when they arrive.
    on_arrival: bool,
}

impl<'a> Simulated<'a> {
    /// A world on `machine`. The choice of engine matters only on a network of flits.
    pub const fn new(machine: &'a Machine, options: Options) -> Simulated<'a> {
        Simulated { machine, options, on_arrival: false }
    }

    /// The same world, in which processors of a LogGP machine take messages in when they arrive, as with
    /// [`Clock::on_arrival`].
    pub const fn on_arrival(self) -> Simulated<'a> {
        Simulated { on_arrival: true, ..self }
    }

    pub(crate) fn network(&self) -> NetworkWorld<'a> {
        NetworkWorld::new(self.machine, self.options)
    }

    fn ethernet(&self) -> EthernetWorld<'a> {
        let world = EthernetWorld::new(self.machine, self.options.seed).with_stop(self.options.stop);
        let world = if self.options.packet_log { world.with_frames() } else { world };
        if self.options.timeline { world.with_timeline() } else { world }
    }

    fn clock(&self, model: LogGp) -> Clock {
        let clock = Clock::new(model).with_stop(self.options.stop);
        if self.options.timeline { clock.with_timeline() } else { clock }
    }
}

impl World for Simulated<'_> {
    type Answer = Answer;

    fn run<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output> {
        match &self.machine.interconnect {
            Interconnect::Flits(_) => self.network().run(ranks, program),
            Interconnect::Ethernet(_) => self.ethernet().run(ranks, program),
            Interconnect::LogGp(model) if self.on_arrival => self.clock(*model).on_arrival().run(ranks, program),
            Interconnect::LogGp(model) => self.clock(*model).run(ranks, program),
        }
    }
}

/// Whether a send of `size` on `machine` completes only after the receiving program has asked for the message.
pub fn waits_for_receivers(machine: &Machine, size: Bytes) -> bool {
    match &machine.interconnect {
        Interconnect::Flits(_) => {
            let announced = match machine.node.protocol {
                Protocol::Rendezvous { eager } => eager.is_none_or(|most| size > most),
                Protocol::Eager | Protocol::SetUp { .. } => false,
            };
            match machine.node.send {
                SendMode::Synchronous { acknowledged: Acknowledged::OnReceive } => true,
                SendMode::Synchronous { acknowledged: Acknowledged::OnArrival } | SendMode::Blocking => announced,
                SendMode::NonBlocking => false,
            }
        }
        Interconnect::LogGp(model) => model.rendezvous.is_some_and(|from| size >= from),
        // It completes when the message is in the send queue, unless many are before it.
        Interconnect::Ethernet(_) => false,
    }
}
