//! `maquette store`: a hash table for clients of Redis.

mod serve;

use clap::{Args, Subcommand};

use super::CommandOutput;
use super::failure::Failure;

/// A hash table that clients of Redis can use, in any language
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Example, in one terminal and then in another:
  maquette store serve
  redis-cli set greeting hello")]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Serve(serve::Arguments),
}

impl Arguments {
    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        match self.action {
            Action::Serve(arguments) => arguments.execute(json),
        }
    }
}
