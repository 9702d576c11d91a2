//! What holds for all commands.

mod experiment;
mod options;

use super::{CommandLine, CommandOutput, Failure};
use clap::Parser;

/// The output of a command line, whose words are separated by single spaces.
fn output(line: &str, json: bool) -> Result<CommandOutput, Failure> {
    let words = std::iter::once("maquette").chain(line.split(' '));
    let parsed = CommandLine::try_parse_from(words).map_err(|error| Failure::Usage(Box::new(error)))?;
    parsed.command.expect("every line has a command").execute(json, None)
}
