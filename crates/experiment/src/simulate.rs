//! Programs on machines, whatever lies between the nodes: a network of flits, the costs of the LogGP model, or an Ethernet.

use endpoint::{Program, World};
use machines::model::{Acknowledged, Interconnect, Machine, SendMode};
use virtual_worlds::Simulated;
use virtual_worlds::answer::Run;
use virtual_worlds::flit::world::Options;

use formats::interrupt;

/// Runs `program` on `ranks` ranks of `machine`.
///
/// # Errors
/// What keeps the machine from running it: more ranks than nodes, a deadlock; that it was asked to end.
pub fn simulate<P: Program>(machine: &Machine, options: Options, ranks: u32, program: &P) -> Run<P::Output> {
    simulated(machine, options).run(ranks, program)
}

/// The world of `machine`, whose runs a person can end.
pub fn simulated(machine: &Machine, options: Options) -> Simulated<'_> {
    Simulated::new(machine, Options { stop: options.stop.or_at(interrupt::flag()), ..options })
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
