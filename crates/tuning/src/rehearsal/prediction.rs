//! What is predicted, as it is written down before it is measured.

use experiment::Experiment;
use machines::model::Machine;
use quantities::Duration;
use serde::{Deserialize, Serialize};

use super::Question;
use crate::benchmark::Benchmark;

/// What a program is predicted to take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// What it is, in words.
    pub what: String,
    /// The same without its algorithm.
    pub choice: String,
    /// Its algorithm, where there are several to choose from.
    pub algorithm: Option<String>,
    /// Its time. [ps]
    pub predicted_ps: Option<u64>,
    /// Why there is none.
    pub error: Option<String>,
}

/// What is predicted of a machine, all of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predictions {
    /// The version that made them.
    pub version: String,
    /// When they were made, in seconds since 1970 in UTC.
    pub made_at_s: u64,
    /// The fitted description, in TOML.
    pub description: String,
    /// What is predicted.
    pub predictions: Vec<Prediction>,
}

impl Prediction {
    /// Its time, if one is predicted.
    pub fn predicted(&self) -> Option<Duration> {
        self.predicted_ps.map(Duration::from_picoseconds)
    }

    /// What a question's program takes on `machine`.
    pub fn of(question: &Question, machine: &Machine) -> Prediction {
        let Question { what, choice, algorithm, experiment, ranks } = question;
        let time = Benchmark::Program(Box::new(Experiment::clone(experiment))).time(machine, *ranks);
        let (predicted_ps, error) = match time {
            Ok(time) => (Some(time.picoseconds()), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Prediction { what: what.clone(), choice: choice.clone(), algorithm: algorithm.clone(), predicted_ps, error }
    }
}

impl Predictions {
    /// Them in JSON, as they are written down.
    ///
    /// # Errors
    /// A value that JSON can't hold.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
