//! `maquette cast`: files to any number of machines at once.

mod key;
mod meeting;
mod receive;
mod send;

use clap::{Args, Subcommand};

use super::CommandOutput;
use super::failure::Failure;

/// Send files and folders to any number of machines at once, by multicast
///
/// Each byte goes over the network once, however many receive it. Lost packets are sent again, late receivers get what
/// they missed, and a receiver that was stopped resumes with what it had.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Example, on the machines that receive and then on the one that sends:
  maquette cast receive --into /srv/images --interface eth0
  maquette cast send disk.img --receivers 7 --interface eth0

With a key that all share, others can neither read nor change anything:
  maquette cast key our.key")]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Send(send::Arguments),
    Receive(receive::Arguments),
    Key(key::Arguments),
}

impl Arguments {
    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        match self.action {
            Action::Send(arguments) => arguments.execute(json),
            Action::Receive(arguments) => arguments.execute(json),
            Action::Key(arguments) => arguments.execute(json),
        }
    }
}
