//! What is run, as a user or another program writes it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use formats::input;
use formats::input::InputFile;
use machines::text_error::{field_error, read_json, read_toml};
use quantities::{Bytes, Duration, FileFormat};
use report::run::FigureName;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use virtual_worlds::flit::world::EngineKind;
use virtual_worlds::jobs::placement::Placement;

use crate::catalogue::Choice;
use crate::{BackgroundTraffic, Error, MachineChoice, within};

/// What is allowed.
const EXPERIMENT: &str = "an experiment in TOML or JSON, as `--write-experiment` of `maquette run` writes it";

/// The longest experiment file accepted.
const LONGEST: Bytes = Bytes(16 << 20);
/// The default seed of random choices.
pub const DEFAULT_SEED: u64 = 1;

/// A run: the machine, the programs, the files to write.
///
/// Relative paths, of what is read and of what is written, begin in the folder in which `maquette` is started, not in
/// that of this file.
///
/// ```toml
/// seed = 7
///
/// [machine]
/// name = "infiniband-128"
/// set = ["channels.buffers=64"]
///
/// [[job]]
/// ranks = 64
/// program.broadcast = { algorithm = "binomial", bytes = "4 KiB" }
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The machine; none where real ranks run it.
    #[serde(default)]
    pub machine: MachineChoice,
    /// The programs, which run at the same time.
    #[serde(rename = "job")]
    pub jobs: Vec<Job>,
    /// Traffic beside the jobs; none, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<BackgroundTraffic>,
    /// Whether each job is also run alone, to show how much the others slow it down.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub alone: bool,
    /// The simulation engine; both give the same times. Fast, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineName>,
    /// The seed of random choices; 1, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The files to write; none, if left out.
    #[serde(default, skip_serializing_if = "Outputs::is_empty")]
    pub write: Outputs,
}

/// A program among those that run at the same time.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Which program, with its parameters.
    pub program: Choice,
    /// How many ranks it has; as many as there are nodes, or as the program says itself, if left out.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "within::option::<1, { u64::MAX }, _, _>"
    )]
    #[schemars(range(min = 1))]
    pub ranks: Option<u32>,
    /// Its name in the results, which no other job has; its number, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "within::name")]
    #[schemars(length(max = 255))]
    pub name: Option<String>,
    /// On which of the free nodes its ranks run: in-order, random, contiguous-switches, contiguous-groups,
    /// scattered-switches, scattered-groups, or a list such as 0-7,12.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(with = "String", extend("default" = "in-order"))]
    pub placement: Placement,
    /// When it begins; at once, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Duration>,
}

/// Whether ranks stand where they do by default.
fn is_default(placement: &Placement) -> bool {
    *placement == Placement::default()
}

/// The files that a run writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Outputs {
    /// The path of every packet, or the fate of every Ethernet frame: a file that ends in `.csv` or `.arrow`. Not
    /// written, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<PathBuf>,
    /// A timeline of ranks and channels: a Chrome trace. Not written, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<PathBuf>,
    /// A page with charts of it, for a browser: a file that ends in `.html`. Not written, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<PathBuf>,
    /// A figure of it for a slide: a file that ends in `.svg`. Not written, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub svg: Option<PathBuf>,
    /// The same: a file that ends in `.png`. Not written, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub png: Option<PathBuf>,
    /// Which figure that is; the one that says most, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<FigureName>,
    /// Whether to show the critical path, and how long messages took.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub critical_path: bool,
}

impl Outputs {
    fn is_empty(&self) -> bool {
        *self == Outputs::default()
    }
}

/// The engine that moves the flits. Both give the same times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineName {
    /// The number of events grows with packets and channels.
    Fast,
    /// Every flit is an event.
    Reference,
}

impl EngineName {
    /// All of them.
    pub const fn all() -> [EngineName; 2] {
        [EngineName::Fast, EngineName::Reference]
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            EngineName::Fast => "fast",
            EngineName::Reference => "reference",
        }
    }

    /// A line that explains it.
    pub const fn about(self) -> &'static str {
        match self {
            EngineName::Fast => "The number of events grows with packets and channels",
            EngineName::Reference => "Every flit is an event",
        }
    }

    /// The corresponding engine of a world.
    pub const fn kind(self) -> EngineKind {
        match self {
            EngineName::Fast => EngineKind::Fast,
            EngineName::Reference => EngineKind::Reference,
        }
    }
}

quantities::written_by_name!(EngineName);

impl Job {
    /// Its name in results, if it is the one with this number, from 0.
    pub(crate) fn called(&self, number: u64) -> String {
        self.name.clone().unwrap_or_else(|| format!("job {}", number + 1))
    }
}

impl Experiment {
    /// The seed of random choices.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }

    /// The experiment in the file `path`: JSON if its name ends in `.json`, otherwise TOML.
    ///
    /// # Errors
    /// Those of [`read_as`]; two jobs with the same name.
    pub fn read(path: &Path) -> Result<Experiment, Error> {
        let text = read_text(path)?;
        let experiment: Experiment = parsed(path, &text)?;
        match experiment.repeated_name() {
            Some((field, problem)) => {
                Err(Error::Field(field_error(&text, &path.display().to_string(), &field, problem)))
            }
            None => Ok(experiment),
        }
    }

    /// The experiment with these fields.
    ///
    /// # Errors
    /// What is wrong in them.
    pub fn from_fields(fields: Map<String, Value>) -> Result<Experiment, Error> {
        let text = Value::Object(fields).to_string();
        // Nobody has seen this text, so the field says more than its line.
        let experiment: Experiment =
            read_json(&text, "the experiment").map_err(|error| Error::Field(error.anywhere()))?;
        match experiment.repeated_name() {
            Some((field, problem)) => Err(Error::Field(field_error("", "the experiment", &field, problem))),
            None => Ok(experiment),
        }
    }

    /// The field of the first job with a name that an earlier one has, given or as its number, and what is wrong with
    /// it.
    fn repeated_name(&self) -> Option<(String, String)> {
        let names: Vec<String> = (0..).zip(&self.jobs).map(|(number, job)| job.called(number)).collect();
        let (later, earlier) = (1..names.len())
            .find_map(|later| Some((later, names[..later].iter().position(|name| *name == names[later])?)))?;
        let problem = format!(
            "found `{}`, which is the name of job[{earlier}]; allowed is a name that no other job has",
            names[later]
        );
        Some((format!("job[{later}].name"), problem))
    }

    /// The experiment of a single program on a machine, with defaults for everything else.
    pub fn of(program: Choice, machine: MachineChoice) -> Experiment {
        Experiment {
            machine,
            jobs: vec![Job { program, ranks: None, name: None, placement: Placement::default(), start: None }],
            background: None,
            alone: false,
            engine: None,
            seed: None,
            write: Outputs::default(),
        }
    }

    /// Whether it is one job, from the beginning, on a machine that nothing else uses.
    pub(crate) fn is_of_one_job(&self) -> bool {
        let first = |job: &Job| job.start.is_none() && job.name.is_none();
        matches!(&self.jobs[..], [job] if first(job)) && self.background.is_none() && !self.alone
    }

    /// The experiment in TOML.
    ///
    /// # Errors
    /// A value that TOML can't hold.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

/// The contents of the file `path`, and the file that was read: JSON if its name ends in `.json`, otherwise TOML.
///
/// # Errors
/// If the file can't be read; what is wrong in it, and where.
pub fn read_as<T: DeserializeOwned>(path: &Path) -> Result<(T, InputFile), Error> {
    let text = read_text(path)?;
    Ok((parsed(path, &text)?, InputFile::new(path, text.as_bytes())))
}

fn read_text(path: &Path) -> Result<String, Error> {
    input::read_text(path, LONGEST).map_err(|cause| match cause.kind() {
        // Not text.
        ErrorKind::InvalidData => Error::of_no_text(path, cause, EXPERIMENT),
        _ => Error::Unreadable { path: path.into(), cause },
    })
}

/// What the `text` of the file `path` says.
fn parsed<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, Error> {
    let file = path.display().to_string();
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let read = if is_json { read_json(text, &file) } else { read_toml(text, &file) };
    read.map_err(|error| match FileFormat::of(text.as_bytes()) {
        Some(format) => Error::of_other_format(path, format, EXPERIMENT),
        None => Error::Field(error),
    })
}
