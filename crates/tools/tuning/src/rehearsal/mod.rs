//! Rehearsals: how good a model of a machine is, measured as honestly as possible.
//!
//! A few small programs are measured on the machine, and its description is fitted to their times. Predictions are made
//! with the fitted description and written down, with their hash, before any of their programs is measured. Then the
//! machine runs the predicted programs, and the two are compared: how far off the predictions were, whether they ranked
//! the algorithms of a collective correctly, and the *regret*: the time of the algorithm that was predicted to be the
//! fastest over that of the one that was.

mod judgement;
mod measured;
mod prediction;
mod scaling;
mod states;

use std::collections::BTreeMap;
use std::path::Path;

use experiment::catalogue::{Choice, descriptions};
use experiment::sweep::{Axis, Sweep};
use experiment::{Error, Experiment, MachineChoice};
use formats::input::InputFile;
use machines::Description;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::judgement::{Compared, Comparison, Judgement, Pick, Quality, Repeated};
pub use self::measured::{Extent, InState, Pass, Runs};
pub use self::prediction::{FittedMachine, PredictedState, Prediction, Predictions, reasons};
pub use self::scaling::Scaled;
pub use self::states::States;
use crate::benchmark::Benchmark;
use crate::calibrate::{Calibration, Measurement, Parameter, ParameterError};
use crate::launched::Repetitions;

/// How often each program is measured by default, and in how many passes.
const DEFAULT_REPEAT: u32 = 15;
const DEFAULT_PASSES: u32 = 3;

/// A rehearsal: what is fitted, measured and predicted.
///
/// ```toml
/// machine.name = "my/cluster.toml"
/// fit."node.processor_send" = "1us..200us"
///
/// [[measure]]
/// ranks = 2
/// program.ping-pong = { bytes = 64 }
/// over.bytes = [64, "4 KiB", "64 KiB"]
///
/// [[predict]]
/// program.broadcast = { bytes = 64 }
/// over = { ranks = [4, 8], algorithm = ["binomial", "linear"], bytes = [64, "4 KiB"] }
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rehearsal {
    /// The description to fit.
    pub machine: MachineChoice,
    /// The fields to fit, and the range of each, as `1us..200us`.
    pub fit: BTreeMap<String, String>,
    /// How often each program is measured; 15 times if left out.
    #[serde(default = "default_repeat")]
    pub repeat: u32,
    /// How many runs of each program come before these in each pass and are not measured; none if left out.
    #[serde(default)]
    pub warm_up: u32,
    /// In how many passes over all programs; 3 if left out, or fewer if there are fewer runs.
    #[serde(default)]
    pub passes: Option<u32>,
    /// A program that runs between all others, and whose time tells in which state the computer is; none if left out.
    #[serde(default)]
    pub reference: Option<Reference>,
    /// The programs that are measured, and to whose times the description is fitted.
    #[serde(rename = "measure")]
    pub measured: Vec<Series>,
    /// The programs whose times are predicted, and then measured.
    #[serde(rename = "predict")]
    pub predicted: Vec<Series>,
}

fn default_repeat() -> u32 {
    DEFAULT_REPEAT
}

/// A program by whose time the states of a computer are told apart, such as one in which its processors reach each
/// other faster.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The program with its parameters.
    pub program: Choice,
    /// The number of ranks.
    pub ranks: u32,
    /// By how much its time may differ within a state, as a share of its usual time there. Runs beside which it differs
    /// more from all states do not count.
    pub tolerance: f64,
}

/// A program, with all combinations of some values of its parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// The program with its parameters.
    pub program: Choice,
    /// The number of ranks, if that is not one of the values below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// The values that its parameters take, such as `bytes` and `algorithm`, or `ranks` or `seed`.
    #[serde(default)]
    pub over: BTreeMap<String, Vec<Value>>,
}

/// A program whose time is to be measured or predicted.
#[derive(Clone, Debug)]
pub struct Question {
    /// The program, with its ranks.
    pub experiment: Experiment,
    /// The number of ranks.
    pub ranks: u32,
    /// A description in words.
    pub what: String,
    /// The same without its algorithm: questions that share it are about the choice of one.
    pub choice: String,
    /// Its algorithm, if the algorithm is one of the values of its series.
    pub algorithm: Option<String>,
}

/// The parameter of a series whose values are a choice among algorithms.
const ALGORITHM: &str = "algorithm";

impl Rehearsal {
    /// The rehearsal in the file `path`: JSON where its name ends in `.json`, otherwise TOML.
    ///
    /// # Errors
    /// If the file can't be read, or is wrong; names the place.
    pub fn read(path: &Path) -> Result<(Rehearsal, InputFile), Error> {
        experiment::read_as(path)
    }

    /// The program that tells the states of the computer apart, and the tolerance of its time.
    ///
    /// # Errors
    /// What is wrong in it.
    pub fn reference(&self) -> Result<Option<(Question, f64)>, Error> {
        let Some(Reference { program, ranks, tolerance }) = &self.reference else { return Ok(None) };
        if !(0.0..=1.0).contains(tolerance) {
            let problem = format!("found {tolerance}; allowed is 0 to 1, a share of its usual time");
            return Err(Error::Value { parameter: "reference.tolerance".to_owned(), problem });
        }
        let series = Series { program: program.clone(), ranks: Some(*ranks), over: BTreeMap::new() };
        let question = questions("reference", &[series])?.into_iter().next();
        Ok(question.map(|question| (question, *tolerance)))
    }

    /// How often each program runs.
    ///
    /// # Errors
    /// If there are no runs, no passes, or fewer runs than passes.
    pub fn repetitions(&self) -> Result<Repetitions, Error> {
        let runs = self.repeat;
        let passes = self.passes.unwrap_or(DEFAULT_PASSES.min(runs));
        let wrong = |parameter: &str, problem: String| Err(Error::Value { parameter: parameter.to_owned(), problem });
        if runs == 0 {
            return wrong("repeat", "found 0; allowed is 1 or more".to_owned());
        }
        if !(1..=runs).contains(&passes) {
            let allowed = format!("1 to {runs}, as each has a run at least (`repeat`)");
            return wrong("passes", format!("found {passes}; allowed is {allowed}"));
        }
        Ok(Repetitions { runs, warm_up: self.warm_up, passes })
    }

    /// The parameters to fit, and their bounds.
    ///
    /// # Errors
    /// Names the field whose range is invalid, and says why.
    pub fn parameters(&self) -> Result<Vec<Parameter>, Error> {
        let wrong = |field: &str, range: &str, error: ParameterError| {
            let problem = match error {
                ParameterError::Form => format!("found `{range}`; allowed is LOW..HIGH, such as `10us..200us`"),
                error => error.to_string(),
            };
            Error::Value { parameter: format!("fit.{field}"), problem }
        };
        let parameter = |(field, range): (&String, &String)| {
            Parameter::parse(&format!("{field}={range}")).map_err(|error| wrong(field, range, error))
        };
        self.fit.iter().map(parameter).collect()
    }

    /// The programs that are measured for the fit, in their order.
    ///
    /// # Errors
    /// What is wrong in a series.
    pub fn to_measure(&self) -> Result<Vec<Question>, Error> {
        questions("measure", &self.measured)
    }

    /// The programs whose times are predicted, in their order.
    ///
    /// # Errors
    /// What is wrong in a series.
    pub fn to_predict(&self) -> Result<Vec<Question>, Error> {
        questions("predict", &self.predicted)
    }
}

/// The questions of some series, listed under `name` in the file.
fn questions(name: &str, all: &[Series]) -> Result<Vec<Question>, Error> {
    let of_series = |(number, series): (usize, &Series)| {
        let wrong = |error: Error| Error::Value { parameter: format!("{name} {number}"), problem: error.to_string() };
        series.questions().map_err(wrong)
    };
    let each: Vec<Vec<Question>> = (1..).zip(all).map(of_series).collect::<Result<_, Error>>()?;
    Ok(each.concat())
}

/// What a sweep can change but a rehearsal cannot, since the hosts and the fitted description are given.
const GIVEN: [(&str, &str); 3] = [
    ("machine", "none: all predictions are for the description of `machine.name`"),
    ("engine", "none: the hosts have no engine, and every engine has the same times"),
    ("placement", "none: the hosts say where ranks run"),
];

impl Series {
    fn questions(&self) -> Result<Vec<Question>, Error> {
        self.over.keys().try_for_each(|name| self.check_axis(name))?;
        let mut base = Experiment::of(self.program.clone(), MachineChoice::default());
        base.jobs[0].ranks = self.ranks;
        let axis = |(name, values): (&String, &Vec<Value>)| Axis { name: name.clone(), values: values.clone() };
        let sweep = Sweep::new(base, self.over.iter().map(axis).collect())?;
        (0..sweep.points()).map(|point| self.question(&sweep, point)).collect()
    }

    /// Checks that a sweep over `name` changes what is run, on the hosts and in the prediction.
    fn check_axis(&self, name: &str) -> Result<(), Error> {
        let refused = |allowed: String| {
            Err(Error::Value {
                parameter: format!("over.{name}"),
                problem: format!("found values; allowed is {allowed}"),
            })
        };
        if let Some((_, allowed)) = GIVEN.iter().find(|(given, _)| *given == name) {
            return refused((*allowed).to_owned());
        }
        if name.contains('.') {
            return refused("none: the description has one value of each field, which `fit` may choose".to_owned());
        }
        let program = self.program.name();
        let described = descriptions().into_iter().filter(|it| it.name == program);
        let parameters = described.flat_map(|it| it.parameters).map(|parameter| parameter.name);
        let known: Vec<String> = ["ranks", "seed"].map(str::to_owned).into_iter().chain(parameters).collect();
        if known.iter().any(|known| known == name) {
            return Ok(());
        }
        let nearest = quantities::nearest(name, known.iter().map(String::as_str));
        let nearest = nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
        refused(format!("one of {}{nearest}", known.join(", ")))
    }

    fn question(&self, sweep: &Sweep, point: usize) -> Result<Question, Error> {
        let experiment = sweep.experiment(point)?;
        let name = experiment.jobs[0].program.name();
        let missing = || Error::parameter("ranks", format!("nothing for {name}"), "its number of ranks, 1 or more");
        let ranks = experiment.jobs[0].ranks.filter(|&ranks| ranks > 0).ok_or_else(missing)?;
        let values: Vec<(&String, String)> =
            self.over.keys().zip(sweep.values(point).into_iter().map(value_text)).collect();
        let words = |without: &str| {
            let parameters = values.iter().filter(|(name, _)| *name != without && *name != "ranks");
            let parameters: String = parameters.map(|(name, value)| format!(" {name} {value}")).collect();
            format!("{name} on {ranks}{parameters}")
        };
        let algorithm = values.iter().find(|(name, _)| *name == ALGORITHM).map(|(_, value)| value.clone());
        Ok(Question { ranks, what: words(""), choice: words(ALGORITHM), algorithm, experiment })
    }
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A program, and its runs on the real machine.
pub type MeasuredProgram = (Question, Runs);

/// The calibration that fits `parameters` to the times that were measured in `state`, from 0, each in several runs.
pub fn calibration(
    description: Description,
    parameters: Vec<Parameter>,
    (measured, state, repetitions): (&[MeasuredProgram], usize, Repetitions),
) -> Calibration {
    let measurement = |(place, (question, runs)): (usize, &MeasuredProgram)| {
        let runs = runs.in_state(state);
        Some(Measurement {
            line: place + 1,
            what: question.what.clone(),
            ranks: question.ranks,
            trials: vec![Benchmark::Launched(Box::new(question.experiment.clone()), repetitions)],
            time: runs.median()?,
            standard_error: runs.standard_error().unwrap_or_default(),
            held: false,
        })
    };
    let measurements = measured.iter().enumerate().filter_map(measurement).collect();
    Calibration { description, parameters, measurements }
}
