//! Predictions, as they are written down before anything is measured.

use machines::model::Machine;
use quantities::Duration;
use serde::{Deserialize, Serialize};

use super::Question;
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
    /// Its time. [ps]
    pub predicted_ps: Option<u64>,
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
    /// The fitted description, in TOML.
    pub description: String,
    /// The predictions.
    pub predictions: Vec<Prediction>,
}

impl Prediction {
    /// The predicted time, if there is one.
    pub fn predicted(&self) -> Option<Duration> {
        self.predicted_ps.map(Duration::from_picoseconds)
    }

    /// The predicted median time of a question's program, which will run repeatedly, on `machine`.
    pub fn of(question: &Question, machine: &Machine, repetitions: Repetitions) -> Prediction {
        let Question { what, choice, algorithm, experiment, .. } = question;
        let (predicted_ps, error) = match launched::time(experiment, machine, repetitions) {
            Ok(time) => (Some(time.picoseconds()), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Prediction { what: what.clone(), choice: choice.clone(), algorithm: algorithm.clone(), predicted_ps, error }
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
