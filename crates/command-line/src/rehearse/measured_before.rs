//! The times that a former rehearsal has measured: what a model makes of them is no prediction, as they are known.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use experiment::{Provenance, read_as};
use formats::input::InputFile;
use launch::wire::Record;
use serde::Deserialize;
use serde_json::json;
use tuning::rehearsal::Question;

use super::folder::OUTCOME;
use super::{Processes, Purpose};
use crate::failure::Failure;

/// The times of a former rehearsal.
pub(super) struct MeasuredBefore {
    folder: String,
    to_fit: Times,
    to_compare: Times,
    file: Option<InputFile>,
}

/// The time of each program, by its description in words. Several can have the same, and have their turns in this order. [ps]
type Times = BTreeMap<String, VecDeque<u64>>;

/// What is read of an outcome.
#[derive(Deserialize)]
struct Outcome {
    fitted_to: Vec<Measured>,
    judgement: Judgement,
}

#[derive(Deserialize)]
struct Judgement {
    compared: Vec<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    what: String,
    measured_ps: u64,
}

impl MeasuredBefore {
    /// The times in the outcome of `folder`.
    ///
    /// # Errors
    /// If it can't be read, or is no outcome.
    pub(super) fn read(folder: &Path) -> Result<MeasuredBefore, Failure> {
        let (outcome, file): (Outcome, InputFile) = read_as(&folder.join(OUTCOME))?;
        let (to_fit, to_compare) = (by_program(outcome.fitted_to), by_program(outcome.judgement.compared));
        Ok(MeasuredBefore { folder: folder.display().to_string(), to_fit, to_compare, file: Some(file) })
    }
}

fn by_program(all: Vec<Measured>) -> Times {
    let mut times = Times::new();
    all.into_iter().for_each(|it| times.entry(it.what).or_default().push_back(it.measured_ps));
    times
}

impl Processes for MeasuredBefore {
    fn check(&self, purpose: Purpose, question: &Question) -> Result<(), Failure> {
        let times = match purpose {
            Purpose::Fit => &self.to_fit,
            Purpose::Comparison => &self.to_compare,
        };
        if times.contains_key(&question.what) {
            return Ok(());
        }
        let found = format!("no time of `{}` in {}", question.what, self.folder);
        Err(Failure::argument("--measured", found, "a rehearsal that has measured all programs of this one"))
    }

    fn run(&mut self, purpose: Purpose, question: &Question, repeat: u32) -> Result<Vec<Record>, Failure> {
        let times = match purpose {
            Purpose::Fit => &mut self.to_fit,
            Purpose::Comparison => &mut self.to_compare,
        };
        let Some(turns) = times.get_mut(&question.what) else { return Ok(Vec::new()) };
        let time = turns.front().copied().unwrap_or_default();
        turns.rotate_left(1);
        Ok(vec![Record { same_clock: true, times: vec![[0, time]; repeat as usize], ..Record::default() }])
    }

    fn complete_provenance(&mut self, mut provenance: Provenance) -> Provenance {
        self.file.take().into_iter().for_each(|file| provenance.read(file));
        provenance.given(json!({ "measured": self.folder }))
    }
}
