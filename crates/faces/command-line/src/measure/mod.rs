//! `maquette measure`: parameters of a model of a machine, from experiments on it.

mod lambda;
mod text;

use clap::{Args, Subcommand};

use super::CommandOutput;
use super::failure::Failure;

/// Measure the parameters of a simpler model of a machine, as on the machine itself.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Example:\n  maquette measure lambda --machine parsytec-cc-64 --bytes 8..65536")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: MeasureCommand,
}

#[derive(Debug, Subcommand)]
enum MeasureCommand {
    Lambda(lambda::Arguments),
}

impl Arguments {
    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        match self.command {
            MeasureCommand::Lambda(arguments) => arguments.execute(json),
        }
    }
}
