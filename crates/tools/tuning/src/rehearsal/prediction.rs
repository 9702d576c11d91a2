//! Predictions, as they are written down before anything is measured.

use experiment::Error;
use machines::model::Machine;
use quantities::Duration;
use serde::{Deserialize, Serialize};

use super::Question;
use super::measured::{InState, weighted};
use crate::launched::{self, Repetitions};

/// The predicted time of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// A description in words.
    pub what: String,
    /// The same without its algorithm.
    pub choice: String,
    /// Its algorithm, where there are several to choose from.
    pub algorithm: Option<String>,
    /// Its time: where the computer has several states, the mean over them, weighted by how often each was met before.
    /// [ps]
    pub predicted_ps: Option<u64>,
    /// Its time in each of several states. [ps]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_states_ps: Vec<u64>,
    /// Why no time was predicted.
    pub error: Option<String>,
}

/// All predictions for a machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predictions {
    /// The version of Maquette that made them.
    pub version: String,
    /// When they were made, in seconds since 1970 in UTC.
    pub made_at_s: u64,
    /// The description fitted in the state of the computer that was met most often, in TOML.
    pub description: String,
    /// The states, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<PredictedState>,
    /// The predictions.
    pub predictions: Vec<Prediction>,
}

/// A state of the computer, as it was when the description was fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictedState {
    /// How long the reference program takes. [ps]
    pub reference_ps: u64,
    /// The share of the runs for the fit that were in this state, of those in any of them.
    pub share: f64,
    /// The description fitted in this state, in TOML.
    pub description: String,
}

/// A fitted machine in a state of the computer.
#[derive(Clone, Debug)]
pub struct FittedMachine {
    /// The machine.
    pub machine: Machine,
    /// How many runs for the fit were in this state.
    pub runs: usize,
}

impl Prediction {
    /// The predicted time, if there is one.
    pub fn predicted(&self) -> Option<Duration> {
        self.predicted_ps.map(Duration::from_picoseconds)
    }

    /// The predicted median time of a question's program, which will run repeatedly, on a machine in each of these
    /// states.
    pub fn of(question: &Question, states: &[FittedMachine], repetitions: Repetitions) -> Prediction {
        let Question { what, choice, algorithm, experiment, .. } = question;
        let in_state = |(state, fitted): (usize, &FittedMachine)| {
            let median = launched::time(experiment, &fitted.machine, repetitions)?;
            Ok(InState { state, runs: fitted.runs, median })
        };
        let (times, error) = match states.iter().enumerate().map(in_state).collect::<Result<Vec<InState>, Error>>() {
            Ok(times) => (times, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let mean = weighted(&times, |each| Some(each.median));
        let several = if times.len() > 1 { &times[..] } else { &[] };
        Prediction {
            what: what.clone(),
            choice: choice.clone(),
            algorithm: algorithm.clone(),
            predicted_ps: mean.map(Duration::picoseconds),
            in_states_ps: several.iter().map(|each| each.median.picoseconds()).collect(),
            error,
        }
    }

    /// The predicted time of runs in these states.
    pub fn over(&self, states: &[InState]) -> Option<Duration> {
        let in_state = |each: &InState| self.in_states_ps.get(each.state).copied().map(Duration::from_picoseconds);
        if self.in_states_ps.is_empty() { self.predicted() } else { weighted(states, in_state) }
    }
}

/// The reasons why some of these times were not predicted, in the order in which they first occur, each with how
/// many times were not predicted for it.
pub fn reasons<'a>(predictions: impl IntoIterator<Item = &'a Prediction>) -> Vec<(&'a str, usize)> {
    let mut all: Vec<(&str, usize)> = Vec::new();
    for error in predictions.into_iter().filter_map(|it| it.error.as_deref()) {
        match all.iter_mut().find(|(known, _)| *known == error) {
            Some((_, count)) => *count += 1,
            None => all.push((error, 1)),
        }
    }
    all
}

impl Predictions {
    /// The predictions in JSON, as they are written down.
    ///
    /// # Errors
    /// A value that JSON can't hold.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
