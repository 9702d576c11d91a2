//! Programs on machines, whatever connects the nodes: a network of flits, the costs of the LogGP model, or an Ethernet.

use endpoint::{Program, World};
use machines::model::Machine;
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
