//! `maquette schedule`: the schedules of an exchange of messages.

mod text;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::machines::model::Machine;
use clap::{ArgGroup, Args};
use collectives::schedule::{MOST_RANKS, Pacing, Schedule, SendReceiveOrder};
use quantities::Bytes;
use serde_json::json;

use super::choice::choice;
use super::failure::Failure;
use super::progress::Spinner;
use super::quantity::whole;
use super::schedule_file::{self, Format, ScheduleFile};
use super::settings::Settings;
use super::sizes::size;
use super::{CommandOutput, unless_interrupted, working};
use experiment::Provenance;
use experiment::catalogue::Exchange;
use formats::input::InputFile;
use formats::traffic_matrix;
use tuning::exchange::{
    CheckResult, DEFAULT_SIZE, Messages, Name, ScheduleSummary, branch_of, check, root_branch, usual_branch,
};

/// Make the schedule of an exchange: which rank sends to which in each step.
///
/// Without `--algorithm` the schedules of all algorithms are compared. `--read` reads one that was made before.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
#[command(group(ArgGroup::new("what").args(["traffic", "complete", "random"])))]
#[command(group(ArgGroup::new("given").required(true).multiple(true).args(["traffic", "complete", "random", "read"])))]
#[command(group(ArgGroup::new("one").args(["algorithm", "read"])))]
#[command(after_help = "Examples:\n  maquette schedule --complete 8 --algorithm balanced --print\n  \
                        maquette schedule --traffic halo.csv\n  \
                        maquette schedule --traffic halo.csv --algorithm greedy --write halo.json --write halo.xml\n  \
                        maquette schedule --read halo.json --traffic halo.csv --check --machine cm5-32")]
pub(super) struct Arguments {
    /// Schedule the messages of a matrix: row r, column c of FILE.csv, FILE.mtx or FILE.npy is what rank r sends rank
    /// c, in bytes.
    #[arg(long, value_name = "FILE")]
    traffic: Option<PathBuf>,
    /// Schedule an all-to-all among N ranks: each has a message for each other.
    #[arg(long, value_name = "N", value_parser = whole(1..=MOST_RANKS))]
    complete: Option<u32>,
    /// Schedule random messages among N ranks: this percentage of those of an all-to-all.
    #[arg(long, value_name = "N,PERCENT", value_parser = random)]
    random: Option<Random>,
    /// Take the schedule in FILE.json or FILE.xml, as `--write` writes them.
    #[arg(long, value_name = "FILE")]
    read: Option<PathBuf>,
    /// Size of a message of an all-to-all, of a random one, or of each entry of a matrix without values; 256 B, if left
    /// out.
    #[arg(long, value_name = "B", value_parser = size)]
    bytes: Option<Bytes>,
    /// The seed of random messages; 1, if left out.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// The scheduling algorithm.
    #[arg(long, value_name = "NAME", value_parser = choice::<Exchange>())]
    algorithm: Option<Exchange>,
    /// Print the schedule: one column per step, `0 <-> 4` for two that exchange, `0 -> 5` for one that sends, `0 <- 5`
    /// for one of many that send to the same.
    #[arg(long, requires = "one")]
    print: bool,
    /// Check that every message is sent once, and that no rank sends twice or receives twice in a step. Exit status 1
    /// if not.
    #[arg(long, requires = "one")]
    check: bool,
    /// Write the schedule to FILE.json (for `maquette run schedule`), FILE.goal (for `maquette run goal` and LogGOPSim)
    /// or FILE.xml (for MSCCL). May be given more than once.
    #[arg(long, value_name = "FILE", requires = "one")]
    write: Vec<PathBuf>,
    /// How the ranks are kept in step, in GOAL text; free-running, if left out.
    #[arg(long, value_name = "PACING", value_parser = choice::<Pacing>())]
    pacing: Option<Pacing>,
    /// What a rank that both sends and receives in a step does first, in GOAL text; alternating, if left out.
    #[arg(long, value_name = "ORDER", value_parser = choice::<SendReceiveOrder>())]
    order: Option<SendReceiveOrder>,
    /// Count the messages through the root of this machine's tree: a preset (`maquette machines` lists them) or a
    /// description.
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<OsString>,
    #[command(flatten)]
    settings: Settings,
    /// Count the messages through the root of a tree whose branches have this many ranks; if left out, those of
    /// --machine, or of a tree with four branches a router as the CM-5's: 4 of 8 ranks, 16 of 32, 64 of 256.
    #[arg(long, value_name = "RANKS", conflicts_with = "machine", value_parser = whole(1..=u32::MAX))]
    branch: Option<u32>,
}

/// Random messages.
#[derive(Clone, Copy, Debug)]
struct Random {
    ranks: u32,
    /// Their number, in millionths of that of an all-to-all.
    millionths: u64,
}

impl Random {
    fn to_text(self) -> String {
        format!("{},{}", self.ranks, self.millionths as f64 / 10_000.0)
    }
}

/// Reads a number of ranks and a density in percent: `32,12.5`.
fn random(text: &str) -> Result<Random, String> {
    let allowed = || format!("allowed are 1 to {MOST_RANKS} ranks and 0 to 100 percent, such as `32,12.5`");
    let (ranks, percent) = text.split_once(',').ok_or_else(allowed)?;
    let ranks = ranks.trim().parse().ok().filter(|ranks| (1..=MOST_RANKS).contains(ranks)).ok_or_else(allowed)?;
    let percent: f64 =
        percent.trim().parse().ok().filter(|percent| (0.0..=100.0).contains(percent)).ok_or_else(allowed)?;
    Ok(Random { ranks, millionths: (percent * 10_000.0).round() as u64 })
}

/// What to do with one schedule.
struct Actions {
    branch: Branch,
    print: bool,
    check: bool,
    formats: Vec<Format>,
    pacing: Pacing,
    order: SendReceiveOrder,
}

/// The result for one schedule.
struct Made {
    traffic: Messages,
    /// The file that the schedule is from.
    file: Option<InputFile>,
    summary: ScheduleSummary,
    table: Option<String>,
    checked: Option<CheckResult>,
    contents: Vec<String>,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let algorithm = self.algorithm;
        let forwards = matches!(algorithm, Some(Exchange::Forwarding(_)));
        let paths = self.write.iter();
        let files = paths.map(|path| ScheduleFile::create(path, forwards)).collect::<Result<Vec<_>, Failure>>()?;
        self.check_messages()?;
        self.check_goal(&files)?;
        let branch = self.branch()?;
        let (source, bytes, experiment) = (self.source(), self.bytes, self.experiment(&branch));
        if self.read.is_none() && algorithm.is_none() {
            let Some(source) = source else { return Err(nothing()) };
            let traffic = Arc::new(working("making the messages", move || source.traffic(bytes))?);
            let summary = compared(&traffic, branch.of(traffic.pattern.ranks())?)?;
            let experiment = traffic.read_by(experiment);
            return Ok(text::comparison(&traffic, &summary, &experiment, as_json).into());
        }
        let formats = files.iter().map(|file| file.format).collect();
        let Arguments { print, check, read, .. } = self;
        let (pacing, order) =
            (self.pacing.unwrap_or(Pacing::FreeRunning), self.order.unwrap_or(SendReceiveOrder::Alternating));
        let wanted = Actions { branch, print, check, formats, pacing, order };
        let made = working("making the schedule", move || {
            let traffic = source.map(|source| source.traffic(bytes)).transpose()?;
            match (read, algorithm, traffic) {
                (Some(path), _, traffic) => wanted.of_file(&path, traffic),
                (None, Some(algorithm), Some(traffic)) => wanted.of_algorithm(algorithm, traffic),
                (None, _, _) => Err(nothing()),
            }
        })?;
        for (file, content) in files.into_iter().zip(&made.contents) {
            file.fill(content)?;
        }
        let wrong = made.checked.as_ref().is_some_and(|checked| checked.wrong.is_some());
        let mut experiment = made.traffic.read_by(experiment);
        made.file.iter().for_each(|file| experiment.read(file.clone()));
        Ok(CommandOutput { text: text::one(&made, &experiment, as_json), status: i32::from(wrong) })
    }

    /// Checks that options about messages come with messages.
    fn check_messages(&self) -> Result<(), Failure> {
        if let Some(seed) = self.seed.filter(|_| self.random.is_none()) {
            return Err(Failure::argument("--seed", seed, "none but with --random: nothing else is random"));
        }
        if let Some(bytes) = self.bytes.filter(|_| self.source().is_none()) {
            return Err(Failure::argument("--bytes", bytes, "none but with --traffic, --complete or --random"));
        }
        Ok(())
    }

    /// Checks that options of GOAL text come with a GOAL file.
    fn check_goal(&self, files: &[ScheduleFile]) -> Result<(), Failure> {
        let allowed = "none but with --write FILE.goal: it is a matter of GOAL text";
        if files.iter().any(|file| file.format == Format::Goal) {
            let without_effect = self.order.filter(|_| self.pacing.is_some_and(|pacing| !pacing.is_in_step()));
            let allowed = "none with --pacing overlapped: its sends and receives do not wait for each other";
            return without_effect.map_or(Ok(()), |order| Err(Failure::argument("--order", order.name(), allowed)));
        }
        if let Some(pacing) = self.pacing {
            return Err(Failure::argument("--pacing", pacing.name(), allowed));
        }
        self.order.map_or(Ok(()), |order| Err(Failure::argument("--order", order.name(), allowed)))
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// What is scheduled, except for the input files.
    fn experiment(&self, branch: &Branch) -> Provenance {
        let mut parameters = json!({
            "algorithm": self.algorithm.map(Exchange::name),
            "traffic": self.traffic,
            "complete": self.complete,
            "random": self.random.map(|random| random.to_text()),
            "read": self.read,
            "branch": self.branch,
            "check": self.check,
        });
        if self.complete.is_some() || self.random.is_some() || self.bytes.is_some() {
            parameters["bytes"] = json!(self.bytes.unwrap_or(DEFAULT_SIZE).0);
        }
        if let Some(pacing) = self.pacing {
            parameters["pacing"] = json!(pacing.name());
        }
        if let Some(order) = self.order {
            parameters["order"] = json!(order.name());
        }
        let experiment = Provenance::of("schedule").given(parameters);
        let experiment = branch.machine().into_iter().fold(experiment, |experiment, machine| experiment.on(machine));
        // The first line of the text says it.
        if self.random.is_some() { experiment.seeded(self.seed(), false) } else { experiment }
    }

    /// The source of the messages, if given.
    fn source(&self) -> Option<Source> {
        match (&self.traffic, self.complete, self.random) {
            (Some(path), ..) => Some(Source::File(path.clone())),
            (None, Some(ranks), _) => Some(Source::Complete(ranks)),
            (None, None, Some(random)) => Some(Source::Random(random, self.seed())),
            (None, None, None) => None,
        }
    }

    /// The branches below the root of the chosen tree.
    fn branch(&self) -> Result<Branch, Failure> {
        let Some(name) = &self.machine else {
            if let Some(setting) = self.settings.first() {
                return Err(Failure::argument("--set", setting, "only together with --machine"));
            }
            return Ok(self.branch.map_or(Branch::Usual, Branch::Ranks));
        };
        let machine = self.settings.load(name)?;
        root_branch(&machine)?;
        Ok(Branch::Machine(Box::new(machine)))
    }
}

/// The error that nothing says what to schedule; the groups of arguments exclude it.
fn nothing() -> Failure {
    Failure::argument("--traffic", "nothing", "a matrix, or --complete, --random or --read")
}

/// How many ranks each branch below the root of a tree has.
enum Branch {
    /// As in a tree like the CM-5's.
    Usual,
    /// As given on the command line.
    Ranks(u32),
    /// As in this machine.
    Machine(Box<Machine>),
}

impl Branch {
    /// How many that is among `all` ranks.
    fn of(&self, all: u32) -> Result<u32, Failure> {
        match self {
            Branch::Usual => Ok(usual_branch(all)),
            Branch::Ranks(ranks) => Ok(*ranks),
            Branch::Machine(machine) => Ok(branch_of(machine, all)?),
        }
    }

    /// The machine, if one was named.
    fn machine(&self) -> Option<&Machine> {
        match self {
            Branch::Machine(machine) => Some(machine),
            Branch::Usual | Branch::Ranks(_) => None,
        }
    }
}

impl Actions {
    /// The schedule in the file `path`, for `traffic` or the messages of the schedule itself.
    fn of_file(self, path: &Path, traffic: Option<Messages>) -> Result<Made, Failure> {
        let (schedule, file) = schedule_file::read(path)?;
        let title = path.display().to_string();
        let name = Name::File(title.clone());
        let traffic = match traffic {
            Some(traffic) => traffic,
            None => Messages { title, pattern: schedule.pattern()?, complete: None, file: None },
        };
        Ok(Made { file: Some(file), ..self.of(&schedule, name, traffic, false)? })
    }

    /// The schedule that `algorithm` makes for `traffic`.
    fn of_algorithm(self, algorithm: Exchange, traffic: Messages) -> Result<Made, Failure> {
        let schedule = traffic.schedule(algorithm)?;
        let name = Name::Algorithm(algorithm.name());
        self.of(&schedule, name, traffic, matches!(algorithm, Exchange::Forwarding(_)))
    }

    fn of(self, schedule: &Schedule, name: Name, traffic: Messages, forwards: bool) -> Result<Made, Failure> {
        let (pacing, order) = (self.pacing, self.order);
        let content = |format: &Format| format.content(schedule, name.text(), pacing, order);
        Ok(Made {
            contents: self.formats.iter().map(content).collect::<Result<Vec<String>, Failure>>()?,
            summary: ScheduleSummary::new(name, schedule, self.branch.of(schedule.ranks)?).on(self.branch.machine()),
            table: self.print.then(|| schedule.table(text::WIDTH)),
            checked: self.check.then(|| check(schedule, (!forwards).then_some(&traffic.pattern))),
            traffic,
            file: None,
        })
    }
}

/// Where the messages come from.
enum Source {
    File(PathBuf),
    Complete(u32),
    Random(Random, u64),
}

impl Source {
    fn traffic(self, requested: Option<Bytes>) -> Result<Messages, Failure> {
        let bytes = requested.unwrap_or(DEFAULT_SIZE);
        match self {
            Source::File(path) => {
                let matrix = traffic_matrix::read(&path, bytes)?;
                Ok(Messages::of_matrix(path.display().to_string(), matrix, requested)?)
            }
            Source::Complete(ranks) => Ok(Messages::complete(ranks, bytes)?),
            Source::Random(Random { ranks, millionths }, seed) => Ok(Messages::random(ranks, millionths, bytes, seed)?),
        }
    }
}

/// The figures of the schedules of all algorithms that work for any messages.
fn compared(traffic: &Arc<Messages>, branch: u32) -> Result<Vec<ScheduleSummary>, Failure> {
    let spinner = Spinner::new();
    let summary = traffic.algorithms().map(|algorithm| {
        spinner.show(algorithm.name().to_owned());
        let traffic = Arc::clone(traffic);
        let name = Name::Algorithm(algorithm.name());
        unless_interrupted(move || Ok(ScheduleSummary::new(name, &traffic.schedule(algorithm)?, branch)))
    });
    summary.collect()
}
