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
    /// The time of each program, by its purpose and its description in words. Several can have the same, and have their turns in this order. [ps]
    times: BTreeMap<(Purpose, String), VecDeque<u64>>,
    file: Option<InputFile>,
}

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
        let mut times = BTreeMap::<(Purpose, String), VecDeque<u64>>::new();
        for (purpose, all) in [(Purpose::Fit, outcome.fitted_to), (Purpose::Comparison, outcome.judgement.compared)] {
            all.into_iter().for_each(|it| times.entry((purpose, it.what)).or_default().push_back(it.measured_ps));
        }
        Ok(MeasuredBefore { folder: folder.display().to_string(), times, file: Some(file) })
    }

    fn not_measured(&self, question: &Question) -> Failure {
        let found = format!("no time of `{}` in {}", question.what, self.folder);
        Failure::argument("--measured", found, "a rehearsal that has measured all programs of this one")
    }
}

impl Processes for MeasuredBefore {
    fn check(&self, purpose: Purpose, question: &Question) -> Result<(), Failure> {
        let is_measured = self.times.contains_key(&(purpose, question.what.clone()));
        if is_measured { Ok(()) } else { Err(self.not_measured(question)) }
    }

    fn run(&mut self, purpose: Purpose, question: &Question, repeat: u32) -> Result<Vec<Record>, Failure> {
        let times = self.times.get_mut(&(purpose, question.what.clone()));
        let turn = times.and_then(|turns| {
            turns.rotate_left(1);
            turns.back().copied()
        });
        let time = turn.ok_or_else(|| self.not_measured(question))?;
        Ok(vec![Record { same_clock: true, times: vec![[0, time]; repeat as usize], ..Record::default() }])
    }

    fn complete_provenance(&mut self, mut provenance: Provenance) -> Provenance {
        self.file.take().into_iter().for_each(|file| provenance.read(file));
        provenance.given(json!({ "measured": self.folder }))
    }
}
