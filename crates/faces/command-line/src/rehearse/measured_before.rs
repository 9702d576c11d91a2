//! The times that a former rehearsal has measured: what a model makes of them is no prediction, as they are known.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use experiment::{Provenance, read_as};
use formats::input::InputFile;
use serde::Deserialize;
use serde_json::json;
use tuning::rehearsal::{Pass, Question};

use super::folder::OUTCOME;
use super::{Processes, Purpose};
use crate::failure::Failure;

/// The times of a former rehearsal.
pub(super) struct MeasuredBefore {
    folder: String,
    /// The runs of each program, by its purpose and its description in words. Several can have the same, and have their
    /// turns in this order.
    programs: BTreeMap<(Purpose, String), VecDeque<Measured>>,
    file: Option<InputFile>,
}

/// What is read of an outcome.
#[derive(Deserialize)]
struct Outcome {
    fitted_to: Vec<Measured>,
    judgement: Judgement,
    #[serde(default)]
    unusual: Vec<Unusual>,
}

/// A program none of whose runs counted in the fit.
#[derive(Deserialize)]
struct Unusual {
    purpose: Purpose,
    #[serde(flatten)]
    measured: Measured,
}

#[derive(Deserialize)]
struct Judgement {
    compared: Vec<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    what: String,
    /// The median; nothing if no run counted. [ps]
    #[serde(default)]
    measured_ps: Option<u64>,
    /// Its runs, pass by pass, which outcomes have in which more than the median was written.
    #[serde(default)]
    passes: VecDeque<Pass>,
}

impl Measured {
    /// The runs of the next pass; if only the median is known, `runs` of that time. Which of them count is for the new
    /// rehearsal to say.
    fn next_pass(&mut self, runs: u32) -> Pass {
        let next = self.passes.pop_front();
        self.passes.extend(next.clone());
        let next = next.map(|pass| Pass { state: 0, in_other_state: false, ..pass });
        next.unwrap_or_else(|| Pass {
            times_ps: vec![self.measured_ps.unwrap_or_default(); runs as usize],
            ..Pass::default()
        })
    }
}

impl MeasuredBefore {
    /// The times in the outcome of `folder`.
    ///
    /// # Errors
    /// If it can't be read, or is no outcome.
    pub(super) fn read(folder: &Path) -> Result<MeasuredBefore, Failure> {
        let (outcome, file): (Outcome, InputFile) = read_as(&folder.join(OUTCOME))?;
        let mut programs = BTreeMap::<(Purpose, String), VecDeque<Measured>>::new();
        let fitted_to = outcome.fitted_to.into_iter().map(|it| (Purpose::Fit, it));
        let compared = outcome.judgement.compared.into_iter().map(|it| (Purpose::Comparison, it));
        let unusual = outcome.unusual.into_iter().map(|it| (it.purpose, it.measured));
        for (purpose, measured) in fitted_to.chain(compared).chain(unusual) {
            programs.entry((purpose, measured.what.clone())).or_default().push_back(measured);
        }
        Ok(MeasuredBefore { folder: folder.display().to_string(), programs, file: Some(file) })
    }

    fn not_measured(&self, question: &Question) -> Failure {
        let found = format!("no time of `{}` in {}", question.what, self.folder);
        Failure::argument("--measured", found, "a rehearsal that has measured all programs of this one")
    }
}

impl Processes for MeasuredBefore {
    fn check(&self, purpose: Purpose, question: &Question) -> Result<(), Failure> {
        let is_measured = self.programs.contains_key(&(purpose, question.what.clone()));
        if is_measured { Ok(()) } else { Err(self.not_measured(question)) }
    }

    fn pass(&mut self, purpose: Purpose, question: &Question, _warm_up: u32, runs: u32) -> Result<Pass, Failure> {
        let programs = self.programs.get_mut(&(purpose, question.what.clone()));
        let pass = programs.and_then(|programs| {
            programs.rotate_left(1);
            Some(programs.back_mut()?.next_pass(runs))
        });
        pass.ok_or_else(|| self.not_measured(question))
    }

    fn complete_provenance(&mut self, mut provenance: Provenance) -> Provenance {
        self.file.take().into_iter().for_each(|file| provenance.read(file));
        provenance.given(json!({ "measured": self.folder }))
    }
}
