//! Programs on machines, whatever lies between the nodes: a network of flits or the costs of the LogGP model.

use endpoint::Program;
use machines::model::{Interconnect, Machine};
use virtual_worlds::clock::Clock;
use virtual_worlds::network_world::{NetworkWorld, Options, Run};

/// Runs `program` on `ranks` ranks of `machine`.
///
/// # Errors
/// What keeps the machine from running it: more ranks than nodes, a deadlock.
pub fn simulate<P: Program>(machine: &Machine, options: Options, ranks: u32, program: &P) -> Run<P::Output> {
    match &machine.interconnect {
        Interconnect::Flits(_) => NetworkWorld::new(machine, options).run_with_answer(ranks, program),
        Interconnect::LogGp(model) => {
            let clock = Clock::new(*model);
            let clock = if options.timeline { clock.with_timeline() } else { clock };
            clock.run_with_answer(ranks, program)
        }
    }
}
