//! `maquette run`: a program on a machine, or the experiment in a file.

pub(super) mod program;
mod progress;
mod simulation;
mod summary;
mod traffic;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, CommandFactory, FromArgMatches, arg, value_parser};
use experiment::catalogue::{Description, descriptions};
use experiment::{Experiment, FigureName, Outputs};

use super::CommandOutput;
use super::choice::choice;
use super::failure::Failure;
use program::{RunOptions, commands};

/// What to run.
#[derive(Debug)]
pub(super) enum Arguments {
    /// A program of the catalogue; with a path, its experiment is written there instead of being run.
    Program(Box<Experiment>, Option<PathBuf>),
    /// The experiment in a file, with further options.
    File(simulation::FileOptions),
    /// Open-loop traffic.
    Traffic(Box<traffic::Arguments>),
}

/// The description of the command in the help.
const ABOUT: &str = "Run a program on a model of a machine";

impl Args for Arguments {
    fn augment_args(command: Command) -> Command {
        let traffic = traffic::Arguments::augment_args(Command::new("traffic"));
        let file = arg!([FILE] "Run the experiment in this file, TOML or JSON: `--write-experiment` writes one")
            .value_parser(value_parser!(PathBuf));
        let alone = arg!(--alone "Run each job of the file alone, too, and show how much the others slow it down");
        let report = arg!(--report <FILE> "Write a page with charts of the file's run to FILE.html, for a browser")
            .required(false)
            .value_parser(value_parser!(PathBuf));
        let svg = arg!(--svg <FILE> "Write a figure of the file's run for a slide to FILE.svg")
            .required(false)
            .value_parser(value_parser!(PathBuf));
        let png = arg!(--png <FILE> "The same to FILE.png").required(false).value_parser(value_parser!(PathBuf));
        let figure =
            arg!(--figure <FIGURE> "Which figure that is: map, timeline or path; the one that says most, if left out")
                .required(false)
                .value_parser(choice::<FigureName>())
                .hide_possible_values(true);
        let critical_path = arg!(--"critical-path" "Show the critical path of the file's run");
        command
            .about(ABOUT)
            .arg_required_else_help(true)
            .disable_help_subcommand(true)
            .subcommand_negates_reqs(true)
            .args_conflicts_with_subcommands(true)
            .override_usage("maquette run <PROGRAM> [OPTIONS]\n       maquette run <FILE>")
            .subcommand_help_heading("Programs")
            .after_help(
                "Examples:\n  maquette run equal-dist --machine moc-3-2 --bytes 2KiB --set buffers=1\n  \
                 maquette run experiment.toml",
            )
            .arg(file)
            .arg(alone.requires("FILE"))
            .arg(report.requires("FILE"))
            .arg(svg.requires("FILE"))
            .arg(png.requires("FILE"))
            .arg(figure.requires("FILE"))
            .arg(critical_path.requires("FILE"))
            .subcommands(commands(RunOptions::augment))
            .subcommand(traffic)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Arguments::augment_args(command)
    }
}

impl FromArgMatches for Arguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Arguments, clap::Error> {
        match matches.subcommand() {
            Some(("traffic", matches)) => {
                Ok(Arguments::Traffic(Box::new(traffic::Arguments::from_arg_matches(matches)?)))
            }
            Some((name, matches)) => {
                let (experiment, write) = RunOptions::from_arg_matches(matches)?.experiment(name, matches)?;
                Ok(Arguments::Program(Box::new(experiment), write))
            }
            None => match matches.get_one::<PathBuf>("FILE") {
                Some(path) => Ok(Arguments::File(simulation::FileOptions {
                    path: path.clone(),
                    alone: matches.get_flag("alone"),
                    write: Outputs {
                        report: matches.get_one::<PathBuf>("report").cloned(),
                        svg: matches.get_one::<PathBuf>("svg").cloned(),
                        png: matches.get_one::<PathBuf>("png").cloned(),
                        figure: matches.get_one::<FigureName>("figure").copied(),
                        critical_path: matches.get_flag("critical-path"),
                        ..Outputs::default()
                    },
                })),
                None => {
                    let problem = "name a program (`maquette programs` lists them) or the file of an experiment: \
                                   `maquette run <PROGRAM> [OPTIONS]` or `maquette run <FILE>`\n";
                    Err(clap::Error::raw(ErrorKind::MissingSubcommand, problem))
                }
            },
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Arguments::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Options of programs that an experiment file has as fields, and what these are called there.
const FIELDS_OF_FILES: [(&str, &str); 9] = [
    ("--machine", "machine.name"),
    ("--set", "machine.set"),
    ("--nodes", "ranks of a job"),
    ("--ranks", "ranks of a job"),
    ("--placement", "placement of a job"),
    ("--engine", "engine"),
    ("--seed", "seed"),
    ("--packets", "write.packets"),
    ("--timeline", "write.timeline"),
];

/// The error of a line with unknown options: for `run WORD --machine M`, that WORD is not a program, if it is not,
/// since then WORD is read as the name of a file; or that the file itself says what the option would.
pub(super) fn unknown_program(line: &[OsString]) -> Option<Failure> {
    let [_, run, argument, ..] = line else { return None };
    let is_program = |program: &Description| *argument == *program.name;
    if run != "run"
        || argument == "traffic"
        || argument.as_encoded_bytes().starts_with(b"-")
        || descriptions().iter().any(is_program)
    {
        return None;
    }
    let path = Path::new(argument);
    simulation::check_name(path).err().or_else(|| field_of_file(path, line.get(3..).unwrap_or_default()))
}

/// The error of a line whose command is the name of a program, or nearly: it is run by `maquette run`. None if a
/// command is at least as near.
pub(super) fn program_as_command(line: &[OsString]) -> Option<Failure> {
    let found = line.iter().skip(1).find(|argument| !argument.as_encoded_bytes().starts_with(b"-"))?.to_str()?;
    let programs: Vec<&str> = descriptions().into_iter().map(|program| program.name).chain(["traffic"]).collect();
    if programs.contains(&found) {
        return Some(Failure::argument("COMMAND", format!("{found}, a program"), format!("`maquette run {found}`")));
    }
    let command = crate::CommandLine::command();
    let commands: Vec<&str> = command.get_subcommands().map(|command| command.get_name()).collect();
    let nearest = quantities::nearest(found, programs.iter().chain(&commands).copied())?;
    if commands.contains(&nearest) {
        return None;
    }
    let allowed = format!("a command, which `maquette --help` lists; did you mean `maquette run {nearest}`?");
    Some(Failure::argument("COMMAND", found, allowed))
}

/// The error for the first of the `options` that the experiment file at `path` has as a field.
fn field_of_file(path: &Path, options: &[OsString]) -> Option<Failure> {
    let name = |option: &OsString| option.to_str().map(|text| text.split('=').next().unwrap_or(text).to_owned());
    let known = |option: String| FIELDS_OF_FILES.iter().find(|(name, _)| *name == option);
    let (option, field) = options.iter().filter_map(name).find_map(known)?;
    let allowed = format!("none: `{field}` is set in {}", path.display());
    Some(Failure::argument(*option, "it with the file of an experiment", allowed))
}

impl Arguments {
    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        match self {
            Arguments::Program(experiment, None) => simulation::run(*experiment, json),
            Arguments::Program(experiment, Some(file)) => simulation::write(&experiment, &file),
            Arguments::File(options) => simulation::run_file(options, json),
            Arguments::Traffic(arguments) => arguments.execute(json),
        }
    }
}
