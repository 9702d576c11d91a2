//! `maquette plan`: which algorithm is the fastest on this machine?

mod check;
mod collectives;
mod measured;
mod place;
mod text;
mod written;

use std::path::PathBuf;

use ::collectives::Collective as ListedCollective;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use quantities::Bytes;

use self::place::Place;
use self::text::Report;
use self::written::ScheduleOutput;
use super::CommandOutput;
use super::failure::Failure;
use super::progress::Bar;
use super::sizes::{check_size, size};
use formats::input::InputFile;
use formats::interrupt;
use formats::traffic_matrix;
use tuning::benchmark::Site;
use tuning::planner::{Effort, Question, plan};

/// Find the quickest algorithm on a machine, by how much it wins, and how far it is from a lower bound.
///
/// Small runs measure t0 and lambda; with these all algorithms are estimated: without contention, but no less than the
/// channels that their messages share are busy. The promising ones are run on the machine's model, those with the least
/// estimates first, each until it has taken longer than the best. Where that exceeds a budget of work, parts of them
/// are run first, some steps or shorter messages, which says which of them are worth more: twenty seconds at most for
/// 1,024 ranks. The table says how each time is known. Ctrl-C ends it early, with what is known by then.
/// `maquette plan check` says how good the picks are.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Example:\n  maquette plan broadcast --machine delta --ranks 64 --bytes 512")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: PlanCommand,
}

#[derive(Debug, Subcommand)]
enum PlanCommand {
    #[command(flatten)]
    Listed(Listed),
    Collectives(Box<collectives::Arguments>),
    Check(check::Arguments),
}

/// A collective of the list: a command for each, whose options depend on its shape.
#[derive(Debug)]
struct Listed {
    collective: ListedCollective,
    options: Exchange,
}

/// How the schedules of an exchange are tried.
const PACING: &str = "Each schedule is tried with several kinds of pacing: ranks run ahead freely, wait for a \
                      confirmation by the receiver, or for a barrier after each step.";

impl Subcommand for Listed {
    fn augment_subcommands(command: Command) -> Command {
        ListedCollective::ALL.iter().fold(command, |command, collective| {
            let (name, about) = (collective.name(), collective.about().trim_end_matches('.'));
            let place =
                if is_exchange(*collective) { "cm5-32 --traffic halo.csv" } else { "infiniband-128 --ranks 64" };
            let example = format!("Example:\n  maquette plan {name} --machine {place}");
            let of_it = Command::new(name).about(about).after_help(example);
            command.subcommand(match (is_exchange(*collective), has_sizes(*collective)) {
                (true, _) => Exchange::augment_args(of_it.long_about(format!("{about}.\n\n{PACING}"))),
                (false, true) => Collective::augment_args(of_it),
                (false, false) => WithoutSize::augment_args(of_it),
            })
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Listed::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        ListedCollective::named(name).is_some()
    }
}

impl FromArgMatches for Listed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Listed, clap::Error> {
        let chosen = matches
            .subcommand()
            .and_then(|(name, options)| ListedCollective::named(name).map(|collective| (collective, options)));
        let (collective, options) = chosen.ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
        let options = match (is_exchange(collective), has_sizes(collective)) {
            (true, _) => Exchange::from_arg_matches(options)?,
            (false, true) => {
                let Collective { place, bytes, write } = Collective::from_arg_matches(options)?;
                Exchange { place, bytes: Some(bytes), traffic: None, write }
            }
            (false, false) => {
                let WithoutSize { place, write } = WithoutSize::from_arg_matches(options)?;
                Exchange { place, bytes: Some(Bytes(0)), traffic: None, write }
            }
        };
        Ok(Listed { collective, options })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Listed::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Whether it has data, whose size is an option.
fn has_sizes(collective: ListedCollective) -> bool {
    collective.shape().blocks(1) > 0
}

/// Whether every rank has a message for every other, or for those that a matrix says.
fn is_exchange(collective: ListedCollective) -> bool {
    collective.shape().is_exchange()
}

/// A collective in which ranks only wait for each other.
#[derive(Args, Debug)]
struct WithoutSize {
    #[command(flatten)]
    place: Place,
    /// Write the messages of the quickest, in steps, to FILE.json (for `maquette run schedule`) or FILE.goal (for
    /// `maquette run goal` and LogGOPSim).
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// A collective without a matrix.
#[derive(Args, Debug)]
struct Collective {
    #[command(flatten)]
    place: Place,
    /// Size of the message, or of what a rank has, or of the block of each rank.
    #[arg(long, value_name = "B", default_value = "1024", value_parser = size)]
    bytes: Bytes,
    /// Write the messages of the quickest, in steps, to FILE.json (for `maquette run schedule`) or FILE.goal (for
    /// `maquette run goal` and LogGOPSim).
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// An exchange.
#[derive(Args, Debug)]
struct Exchange {
    #[command(flatten)]
    place: Place,
    /// Size of the message that every rank has for every other, 1 KiB if left out; with --traffic, that of each entry
    /// of a matrix that says only where something is sent, 1 if left out.
    #[arg(long, value_name = "B", value_parser = size)]
    bytes: Option<Bytes>,
    /// What each rank has for each other, a square matrix of bytes: FILE.csv, FILE.mtx (Matrix Market) or FILE.npy
    /// (NumPy).
    #[arg(long, value_name = "FILE")]
    traffic: Option<PathBuf>,
    /// Write the messages of the quickest, in steps, to FILE.json (for `maquette run schedule`), FILE.goal (for
    /// `maquette run goal` and LogGOPSim) or FILE.xml (for MSCCL: of the quickest that forwards nothing).
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        match self.command {
            PlanCommand::Listed(Listed { options: Exchange { place, bytes, traffic: Some(path), write }, .. }) => {
                let (matrix, file) = traffic_matrix::read(&path, bytes.unwrap_or(DEFAULT_ENTRY))?;
                check_size(bytes, &matrix)?;
                let (ranks, description) = (matrix.pattern.ranks(), text::traffic(&path, &matrix));
                let traffic = Traffic { ranks, description, has_sizes: matrix.has_sizes, file };
                output(&place, Some(traffic), |_| Question::Irregular(matrix.pattern), write, as_json)
            }
            PlanCommand::Listed(Listed { collective, options: Exchange { place, bytes, traffic: None, write } }) => {
                let bytes = bytes.unwrap_or(DEFAULT_MESSAGE);
                output(&place, None, |ranks| Question::Listed { collective, ranks, bytes }, write, as_json)
            }
            PlanCommand::Collectives(arguments) => arguments.execute(as_json),
            PlanCommand::Check(arguments) => arguments.execute(as_json),
        }
    }
}

/// The default size of a message of a complete exchange, as of the other collectives.
const DEFAULT_MESSAGE: Bytes = Bytes(1024);

/// The default size of a message that a matrix marks without a size.
const DEFAULT_ENTRY: Bytes = Bytes(1);

/// Facts about a traffic matrix, without its contents.
struct Traffic {
    ranks: u32,
    /// What is printed about it.
    description: String,
    has_sizes: bool,
    file: InputFile,
}

/// Plans the operation for the ranks that take part, with the messages of `traffic`, if that is given.
fn output(
    place: &Place,
    traffic: Option<Traffic>,
    question: impl FnOnce(u32) -> Question,
    write: Option<PathBuf>,
    as_json: bool,
) -> Result<CommandOutput, Failure> {
    let (machine, ranks) = place.machine(traffic.as_ref().map(|traffic| traffic.ranks))?;
    let question = question(ranks);
    question.check_on(&machine)?;
    let (file, has_sizes) = traffic.as_ref().map(|traffic| (&traffic.file, traffic.has_sizes)).unzip();
    let experiment = question.provenance(&machine, place.budget(), file, has_sizes.unwrap_or(false));
    let (nodes, experiment) = place.placed(&machine, ranks, experiment)?;
    let write = write.as_deref().map(|path| ScheduleOutput::create(path, &question)).transpose()?;
    let bar = Bar::new();
    bar.show(0.0, "measuring t0 and lambda".to_owned());
    let progress = |share: f64, what: &str| bar.show(share, what.to_owned());
    let effort = Effort {
        budget: place.budget(),
        exhaustive: place.exhaustive(),
        lambda: place.lambda(),
        progress: &progress,
        interrupted: interrupt::flag(),
        threads: place.threads(),
    };
    let plan = plan(&question, &Site { machine: &machine, ranks, nodes: &nodes }, &effort)?;
    drop(bar);
    let written = write.map(|file| file.fill(&plan, &question, &machine)).transpose()?;
    let traffic = traffic.map(|traffic| traffic.description);
    let text = if as_json {
        crate::json(&plan.json(&question, &machine, &experiment)?)
    } else {
        Report { machine: &machine, experiment: &experiment, question: &question, plan: &plan, traffic, written }
            .text()?
    };
    Ok(CommandOutput { text, status: if plan.interrupted { interrupt::status() } else { 0 } })
}
