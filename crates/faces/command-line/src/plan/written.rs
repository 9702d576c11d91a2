//! The messages of the fastest algorithm, written to a file.

use std::path::{Path, PathBuf};

use ::machines::model::Machine;

use crate::failure::Failure;
use crate::schedule_file::{Format, ScheduleFile};
use tuning::planner::{Plan, Question};

/// A file for a schedule.
pub(super) struct ScheduleOutput {
    path: PathBuf,
    file: ScheduleFile,
}

impl ScheduleOutput {
    /// Begins the file `path` for the answer to `question`.
    pub(super) fn create(path: &Path, question: &Question) -> Result<ScheduleOutput, Failure> {
        let forwards = match question {
            Question::Listed { collective, .. } => !collective.shape().is_exchange(),
            Question::Irregular(_) => false,
        };
        Ok(ScheduleOutput { path: path.to_path_buf(), file: ScheduleFile::create(path, forwards)? })
    }

    /// Writes the messages of the fastest algorithm that consists of messages and that the format can express; returns
    /// a remark about it.
    pub(super) fn fill(self, plan: &Plan, question: &Question, machine: &Machine) -> Result<String, Failure> {
        let ScheduleOutput { path, file } = self;
        for candidate in plan.predictions.iter().map(|prediction| &prediction.candidate) {
            if file.format == Format::Msccl && candidate.forwards() {
                continue;
            }
            if let Some((schedule, pacing)) = candidate.schedule(question.ranks())? {
                let order = candidate.order(machine, question.ranks());
                let content = file.format.content(&schedule, &candidate.name, pacing, order)?;
                file.fill(&content)?;
                return Ok(format!("The steps of {} are in {}.", candidate.name, path.display()));
            }
        }
        let allowed = "one at least, of a kind that the format can hold";
        Err(Failure::argument("--write", "no algorithm that is made of messages", allowed))
    }
}
