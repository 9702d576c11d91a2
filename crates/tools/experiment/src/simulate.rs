//! Programs on machines, whatever connects the nodes: a network of flits, the costs of the LogGP model, or an Ethernet.

use endpoint::{Program, World};
use machines::model::{Acknowledged, Interconnect, Machine, SendMode};
use virtual_worlds::Simulated;
use virtual_worlds::answer::Run;
use virtual_worlds::flit::world::Options;

use formats::interrupt;

/// Runs `program` on `ranks` ranks of `machine`.
///
/// # Errors
/// If the machine can't run it: more ranks than nodes, a deadlock; if it was interrupted.
pub fn simulate<P: Program>(machine: &Machine, options: Options, ranks: u32, program: &P) -> Run<P::Output> {
    simulated(machine, options).run(ranks, program)
}

/// The world of `machine`, whose runs can be interrupted.
pub fn simulated(machine: &Machine, options: Options) -> Simulated<'_> {
    Simulated::new(machine, Options { stop: options.stop.or_at(interrupt::flag()), ..options })
}

/// Makes sends on `machine` complete when the message has arrived, if they would wait until the receiver asks for it,
/// and returns whether they would. Messages that a network announces to the receiver are unchanged.
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
