//! Programs on machines, whatever lies between the nodes: a network of flits, the costs of the LogGP model, or an Ethernet.

use endpoint::{AnySourceProgram, MulticastProgram, Program};
use machines::model::{Acknowledged, Interconnect, LogGp, Machine, Protocol, SendMode};
use quantities::Bytes;
use virtual_worlds::answer::Run;
use virtual_worlds::clock::Clock;
use virtual_worlds::ethernet_world::EthernetWorld;
use virtual_worlds::network_world::{NetworkWorld, Options};
use virtual_worlds::stop::Stop;

use crate::interrupt;

/// Runs `program` on `ranks` ranks of `machine`.
///
/// # Errors
/// What keeps the machine from running it: more ranks than nodes, a deadlock; that it was asked to end.
pub fn simulate<P: Program>(machine: &Machine, options: Options, ranks: u32, program: &P) -> Run<P::Output> {
    match &machine.interconnect {
        Interconnect::Flits(_) => network(machine, options).run_with_answer(ranks, program),
        Interconnect::Ethernet(_) => ethernet(machine, options).run_with_answer(ranks, program),
        Interconnect::LogGp(model) => clock(*model, options).run_with_answer(ranks, program),
    }
}

/// Runs a program that receives from anyone on `ranks` ranks of `machine`.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_any<P: AnySourceProgram>(
    machine: &Machine,
    options: Options,
    ranks: u32,
    program: &P,
) -> Run<P::Output> {
    match &machine.interconnect {
        Interconnect::Flits(_) => network(machine, options).run_any_with_answer(ranks, program),
        Interconnect::Ethernet(_) => ethernet(machine, options).run_any_with_answer(ranks, program),
        Interconnect::LogGp(model) => clock(*model, options).run_any_with_answer(ranks, program),
    }
}

/// Runs a program that broadcasts in hardware on `ranks` ranks of `machine`.
///
/// # Errors
/// As [`simulate`], and that the machine has no network for broadcasts.
pub fn simulate_multicast<P: MulticastProgram>(
    machine: &Machine,
    options: Options,
    ranks: u32,
    program: &P,
) -> Run<P::Output> {
    match &machine.interconnect {
        Interconnect::Ethernet(_) => ethernet(machine, options).run_multicast_with_answer(ranks, program),
        Interconnect::Flits(_) | Interconnect::LogGp(_) => {
            network(machine, options).run_multicast_with_answer(ranks, program)
        }
    }
}

/// What ends every run: a person who asks this process to end.
fn stop(options: &Options) -> Stop {
    options.stop.or_at(interrupt::flag())
}

/// The world of `machine` where it is a network of flits.
pub fn network(machine: &Machine, options: Options) -> NetworkWorld<'_> {
    NetworkWorld::new(machine, Options { stop: stop(&options), ..options })
}

/// The world of `machine` where it is an Ethernet.
pub fn ethernet(machine: &Machine, options: Options) -> EthernetWorld<'_> {
    let world = EthernetWorld::new(machine, options.seed).with_stop(stop(&options));
    let world = if options.packet_log { world.with_frames() } else { world };
    if options.timeline { world.with_timeline() } else { world }
}

/// The world without contention where messages cost what `model` says.
pub fn clock(model: LogGp, options: Options) -> Clock {
    let clock = Clock::new(model).with_stop(stop(&options));
    if options.timeline { clock.with_timeline() } else { clock }
}

/// Lets sends on `machine` be over when the message has arrived, if they were to wait until the receiver asks for it, and says
/// whether they were. Messages that a network announces to the receiver stay as they are.
pub fn send_without_waiting(machine: &mut Machine) -> bool {
    match &mut machine.interconnect {
        Interconnect::Flits(_) => {
            let waits = SendMode::Synchronous { acknowledged: Acknowledged::OnReceive };
            let arrives = SendMode::Synchronous { acknowledged: Acknowledged::OnArrival };
            let waited = machine.node.send == waits;
            if waited {
                machine.node.send = arrives;
            }
            waited
        }
        Interconnect::LogGp(model) => model.rendezvous.take().is_some(),
        Interconnect::Ethernet(_) => false,
    }
}

/// Whether a send of `size` on `machine` is over only when the receiving program has asked for the message.
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
        // It is over when the message is in the send queue, unless many are before it.
        Interconnect::Ethernet(_) => false,
    }
}
