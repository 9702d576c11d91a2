//! What holds for all commands.

mod experiment;
mod options;

use super::{CommandLine, CommandOutput, Failure};
use clap::{Command, CommandFactory, Parser};

/// The output of a command line, whose words are separated by single spaces.
fn output(line: &str, json: bool) -> Result<CommandOutput, Failure> {
    let words = std::iter::once("maquette").chain(line.split(' '));
    let parsed = CommandLine::try_parse_from(words).map_err(|error| Failure::Usage(Box::new(error)))?;
    parsed.command.expect("every line has a command").execute(json, None)
}

/// Where help is wrapped, however wide the terminal is. [columns]
const HELP_WIDTH: usize = 100;

/// A command that was wrapped can't be pasted into a shell.
#[test]
fn no_example_in_any_help_is_wrapped() {
    fn examples(command: &Command, found: &mut Vec<String>) {
        let help = [command.get_after_help(), command.get_after_long_help()].into_iter().flatten();
        let lines: Vec<String> =
            help.flat_map(|help| help.to_string().lines().map(str::to_owned).collect::<Vec<_>>()).collect();
        found.extend(lines.into_iter().filter(|line| line.starts_with("  ")));
        command.get_subcommands().for_each(|command| examples(command, found));
    }
    let mut found = Vec::new();
    examples(&CommandLine::command(), &mut found);
    assert!(found.iter().any(|line| line.contains("maquette sweep")), "{found:?}");
    let long: Vec<&String> = found.iter().filter(|line| line.chars().count() > HELP_WIDTH).collect();
    assert!(long.is_empty(), "{long:#?}");
}
