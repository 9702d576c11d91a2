//! The command `maquette`: one file per command.
//!
//! A command reads its arguments, checks everything that a user can get wrong before it runs anything, and returns
//! its whole output. Printing, errors and exit statuses are handled once, in this file.

mod calibrate;
mod cast;
mod choice;
mod collectives;
mod compare;
mod failure;
mod launch;
mod machine;
mod machines;
mod measure;
mod pattern;
mod plan;
mod postal;
mod preloaded;
mod programs;
mod progress;
mod quantity;
mod rehearse;
mod reproduce;
mod run;
mod saturate;
mod schedule;
mod schedule_file;
mod schema;
mod settings;
mod shell;
mod sizes;
mod store;
mod sweep;
mod trace;
mod traffic;
mod usage_error;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write};

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

pub use self::launch::{OwnProgram, OwnProgramFailure, OwnPrograms};
use failure::Failure;
pub use sweep::SweepToRun;

use formats::interrupt;
use formats::output::files;

/// Message-passing programs on models of machines, simulated to the flit.
#[derive(Debug, Parser)]
#[command(name = "maquette", version = env!("MAQUETTE_VERSION"), disable_help_subcommand = true)]
#[command(after_help = "Examples:\n  maquette run broadcast --machine infiniband-128 --bytes 4KiB\n  \
                        maquette plan all-reduce --machine fat-tree-1024 --bytes 1MiB\n\n\
                        Exit status: 0 when it went well, 1 when it ran and the answer is no (a claim missed, a deadlock), \
                        2 when the input is bad, 128 and the signal's number when one ended it: 130 after Ctrl-C.")]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON, for programs to read.
    // Without an explicit order its place in each help text would depend on the number of commands.
    #[arg(long, global = true, display_order = 500)]
    json: bool,
}

/// What is printed when no command is given.
const WELCOME: &str = "\
Maquette runs message-passing programs on models of machines, simulated to the flit. Three things to try:

  maquette run broadcast --machine infiniband-128 --bytes 4KiB    how long does a broadcast take on 128 nodes?
  maquette plan all-reduce --machine fat-tree-1024 --bytes 1MiB   which algorithm is the quickest there, and by how much?
  maquette launch broadcast --local 4 --bytes 4KiB                the same program for real: four processes, over UDP

All commands: `maquette --help`. Programs to run: `maquette programs`. Machines: `maquette machines`.
";

#[derive(Debug, Subcommand)]
enum Command {
    Machines(machines::Arguments),
    Machine(machine::Arguments),
    Programs(programs::Arguments),
    Run(run::Arguments),
    Compare(compare::Arguments),
    Launch(Box<launch::Arguments>),
    #[command(hide = true)]
    LaunchRank(launch::RankArguments),
    Trace(trace::Arguments),
    Collectives(collectives::Arguments),
    Sweep(sweep::Arguments),
    Saturate(saturate::Arguments),
    Pattern(pattern::Arguments),
    Schedule(schedule::Arguments),
    Measure(measure::Arguments),
    Postal(postal::Arguments),
    Calibrate(calibrate::Arguments),
    Plan(plan::Arguments),
    Rehearse(Box<rehearse::Arguments>),
    Reproduce(reproduce::Arguments),
    Cast(cast::Arguments),
    Store(store::Arguments),
    Schema(schema::Arguments),
    Completions(shell::Completions),
    Manual(shell::Manual),
}

/// The output of a command.
#[derive(Debug, Default)]
struct CommandOutput {
    /// What goes to standard output.
    text: String,
    /// The exit status.
    status: i32,
}

impl From<String> for CommandOutput {
    fn from(text: String) -> CommandOutput {
        CommandOutput { text, status: 0 }
    }
}

/// Tells what results say about the build that has made them. Whoever calls this crate's dependencies directly calls
/// this first.
pub fn name_build() {
    experiment::name_build(env!("MAQUETTE_COMMIT"));
}

/// Runs a command line, with the program's name first, and returns the exit status. A caller that runs several calls
/// [`interrupt::forget`] between them, but not before the first, so that no early signal is lost.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    run_with(arguments, None)
}

/// The same, called from a language in which users write programs.
pub fn run_with(arguments: impl IntoIterator<Item = OsString>, own: Option<&dyn OwnPrograms>) -> i32 {
    name_build();
    files::forget();
    let line: Vec<OsString> = arguments.into_iter().collect();
    let output = match parse(&line) {
        Ok(CommandLine { command: Some(command), json }) => command.execute(json, own),
        Ok(CommandLine { command: None, .. }) => Ok(WELCOME.to_owned().into()),
        Err(status) => return status,
    };
    match output {
        Ok(output) => print(&output.text).unwrap_or(output.status),
        Err(failure) => {
            failure.print();
            if !interrupt::requested() {
                return failure.status();
            }
            interrupt::remove_unfinished();
            interrupt::status()
        }
    }
}

/// The sweep that a command line asks for.
///
/// # Errors
/// The exit status, if the line is wrong or asks for something else; the error has been printed.
pub fn sweep_to_run(arguments: impl IntoIterator<Item = OsString>) -> Result<SweepToRun, i32> {
    name_build();
    files::forget();
    let line: Vec<OsString> = arguments.into_iter().collect();
    let report_failure = |failure: Failure| {
        failure.print();
        failure.status()
    };
    match parse(&line)?.command {
        Some(Command::Sweep(arguments)) => arguments.to_run().map_err(report_failure),
        _ => Err(report_failure(Failure::argument("command", "another one", "sweep"))),
    }
}

/// Reads a command line; returns the exit status if it asks for help or is wrong, after printing the help or the error.
fn parse(line: &[OsString]) -> Result<CommandLine, i32> {
    let (line, configuration) = match store::configured(line) {
        Ok(Some((line, configuration))) => (Cow::Owned(line), Some(configuration)),
        Ok(None) => (Cow::Borrowed(line), None),
        Err(failure) => {
            failure.print();
            return Err(failure.status());
        }
    };
    let mut parsed = parse_words(&line)?;
    if let (Some(Command::Store(arguments)), Some(configuration)) = (&mut parsed.command, configuration) {
        arguments.configured_by(configuration);
    }
    Ok(parsed)
}

/// As [`parse`], where all options are among the words.
fn parse_words(line: &[OsString]) -> Result<CommandLine, i32> {
    CommandLine::try_parse_from(line).map_err(|error| {
        let unknown = match error.kind() {
            ErrorKind::UnknownArgument | ErrorKind::ArgumentConflict => run::unknown_program(line),
            ErrorKind::InvalidSubcommand => run::program_as_command(line),
            _ => None,
        };
        if let Some(failure) = unknown.or_else(|| usage_error::about_a_value(&error, line)) {
            failure.print();
            return failure.status();
        }
        // Help or an error. If it cannot be printed, there is nobody to tell.
        let _ = error.print();
        error.exit_code()
    })
}

impl Command {
    fn execute(self, json: bool, own: Option<&dyn OwnPrograms>) -> Result<CommandOutput, Failure> {
        match self {
            Command::Machines(arguments) => arguments.execute(json),
            Command::Machine(arguments) => arguments.execute(json),
            Command::Programs(arguments) => arguments.execute(json),
            Command::Run(arguments) => arguments.execute(json),
            Command::Compare(arguments) => arguments.execute(json),
            Command::Launch(arguments) => arguments.execute(json, own),
            Command::LaunchRank(arguments) => arguments.execute(own),
            Command::Trace(arguments) => arguments.execute(json),
            Command::Collectives(arguments) => arguments.execute(json),
            Command::Sweep(arguments) => arguments.execute(json),
            Command::Saturate(arguments) => arguments.execute(json),
            Command::Pattern(arguments) => arguments.execute(json),
            Command::Schedule(arguments) => arguments.execute(json),
            Command::Measure(arguments) => arguments.execute(json),
            Command::Postal(arguments) => arguments.execute(json),
            Command::Calibrate(arguments) => arguments.execute(json),
            Command::Plan(arguments) => arguments.execute(json),
            Command::Rehearse(arguments) => arguments.execute(json),
            Command::Reproduce(arguments) => arguments.execute(json),
            Command::Cast(arguments) => arguments.execute(json),
            Command::Store(arguments) => arguments.execute(json),
            Command::Schema(arguments) => arguments.execute(json),
            Command::Completions(arguments) => arguments.execute(json),
            Command::Manual(arguments) => arguments.execute(json),
        }
    }
}

/// Prints to standard output; returns an exit status if that fails.
fn print(text: &str) -> Option<i32> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => None,
        // The reader has seen enough, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
        Err(error) => {
            Failure::from(formats::output::Unwritable { path: "standard output".into(), cause: error }).print();
            Some(2)
        }
    }
}

/// Does `work`, which may take long, and returns its result unless interrupted.
fn unless_interrupted<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    interrupt::unless_requested(work).ok_or(Failure::Interrupted)?
}

/// Like [`unless_interrupted`]; after a while it shows on the terminal what it `does`.
fn working<T: Send + 'static>(
    does: &str,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let _spinner = progress::Spinner::with_message(does);
    unless_interrupted(work)
}

/// Refuses `--json` where the output is `what`, for other readers.
fn refuse_json(json: bool, what: &str) -> Result<(), Failure> {
    if json { Err(Failure::argument("--json", "it", format!("none: the output is {what}"))) } else { Ok(()) }
}

/// A value as JSON on one line.
fn json(value: &impl serde::Serialize) -> String {
    // Only maps with keys other than strings cannot be written, and there are none.
    let mut text = serde_json::to_string(value).unwrap_or_default();
    text.push('\n');
    text
}

/// How many runs this computer can do in parallel.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests;
