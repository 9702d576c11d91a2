//! `maquette run`: a program on a machine.

mod all_reduce;
mod all_to_all;
mod applications;
mod broadcast;
mod collective;
mod goal;
mod linear_hash;
mod programs;
mod progress;
mod schedule;
mod simulation;
mod summary;
mod traffic;
mod world;

use clap::{Args, Subcommand};

use super::CommandOutput;
use super::failure::Failure;

/// Run a program on a model of a machine.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Example:\n  maquette run equal-dist --machine moc-3-2 --bytes 2KiB --set buffers=1")]
pub(super) struct Arguments {
    #[command(subcommand)]
    program: Program,
}

#[derive(Debug, Subcommand)]
enum Program {
    PingPong(programs::PingPong),
    AllPairs(programs::AllPairs),
    EqualDist(programs::EqualDist),
    UnequalDist(programs::UnequalDist),
    #[command(visible_alias = "exchange")]
    AllToAll(all_to_all::Arguments),
    Fft(applications::Fft),
    ConjugateGradient(applications::ConjugateGradient),
    Euler(applications::Euler),
    Broadcast(broadcast::Arguments),
    #[command(visible_alias = "combine")]
    AllReduce(all_reduce::Arguments),
    LinearHash(linear_hash::Arguments),
    Schedule(schedule::Arguments),
    Goal(goal::Arguments),
    Traffic(traffic::Arguments),
}

impl Arguments {
    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        match self.program {
            Program::PingPong(arguments) => arguments.execute(json),
            Program::AllPairs(arguments) => arguments.execute(json),
            Program::EqualDist(arguments) => arguments.execute(json),
            Program::UnequalDist(arguments) => arguments.execute(json),
            Program::AllToAll(arguments) => arguments.execute(json),
            Program::Fft(arguments) => arguments.execute(json),
            Program::ConjugateGradient(arguments) => arguments.execute(json),
            Program::Euler(arguments) => arguments.execute(json),
            Program::Broadcast(arguments) => arguments.execute(json),
            Program::AllReduce(arguments) => arguments.execute(json),
            Program::LinearHash(arguments) => arguments.execute(json),
            Program::Schedule(arguments) => arguments.execute(json),
            Program::Goal(arguments) => arguments.execute(json),
            Program::Traffic(arguments) => arguments.execute(json),
        }
    }
}
