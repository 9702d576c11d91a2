//! What the file of a rehearsal asks for, all of it checked before anything runs.

use formats::interrupt;
use machines::Description;
use machines::model::Machine;
use report::terminal::counted;
use serde_json::{Value, json};
use tuning::calibrate::{Calibration, Parameter};
use tuning::launched::Repetitions;
use tuning::rehearsal::{FittedMachine, MeasuredProgram, Prediction, Question, Rehearsal, calibration, reasons};

use super::{Processes, Purpose};
use crate::failure::Failure;

/// A rehearsal that can begin.
pub(super) struct Plan {
    description: Description,
    parameters: Vec<Parameter>,
    pub(super) repetitions: Repetitions,
    pub(super) to_measure: Vec<Question>,
    pub(super) to_predict: Vec<Question>,
    /// The program that tells the states of the computer apart, if one does.
    pub(super) reference: Option<Question>,
    /// Whether it runs between all others; not if that was measured before.
    pub(super) runs_reference: bool,
    /// By how much its time may differ within a state of the computer, as a share of its usual time there.
    pub(super) tolerance: Option<f64>,
}

impl Plan {
    /// The plan of a rehearsal on these processes. If its programs were measured before, the times of the reference
    /// were, too, and it does not run.
    ///
    /// # Errors
    /// Everything that a user can get wrong in the file.
    pub(super) fn new(
        rehearsal: &Rehearsal,
        processes: &dyn Processes,
        measured_before: bool,
    ) -> Result<Plan, Failure> {
        let (description, parameters) = (rehearsal.machine.describe()?, rehearsal.parameters()?);
        let (to_measure, to_predict) = (rehearsal.to_measure()?, rehearsal.to_predict()?);
        let (reference, tolerance) = rehearsal.reference()?.unzip();
        let plan = Plan {
            description,
            parameters,
            repetitions: rehearsal.repetitions()?,
            to_measure,
            to_predict,
            runs_reference: reference.is_some() && !measured_before,
            reference,
            tolerance,
        };
        if plan.runs_reference {
            check(Purpose::Fit, plan.reference.as_slice(), processes)?;
        }
        check(Purpose::Fit, &plan.to_measure, processes)?;
        check(Purpose::Comparison, &plan.to_predict, processes)?;
        plan.calibration(&[], 0).check_parameters()?;
        enough(plan.to_measure.len(), plan.parameters.len())?;
        check_predictable(&plan.to_predict, plan.description.clone().resolve()?)?;
        Ok(plan)
    }

    /// The calibration that fits the description to what was measured in a state of the computer.
    pub(super) fn calibration(&self, measured: &[MeasuredProgram], state: usize) -> Calibration {
        calibration(self.description.clone(), self.parameters.clone(), (measured, state, self.repetitions))
    }

    /// How many fields are fitted.
    pub(super) fn fields(&self) -> usize {
        self.parameters.len()
    }

    /// How often programs run, and the digest of the predictions, for the provenance of the outcome.
    pub(super) fn repetitions_json(&self, hash: &str) -> Value {
        let Repetitions { runs, warm_up, passes } = self.repetitions;
        json!({ "repeat": runs, "warm_up": warm_up, "passes": passes, "blake3": hash })
    }
}

/// Checks that there are enough programs to fit to.
fn enough(programs: usize, fields: usize) -> Result<(), Failure> {
    if programs < fields {
        let allowed = format!("at least {fields}, one for each field");
        return Err(Failure::argument("measure", counted(programs, "program"), allowed));
    }
    Ok(())
}

/// Checks that there will be something to compare with measured times. Fields that are fitted are assumed not
/// to change which programs a machine can run.
fn check_predictable(questions: &[Question], machine: Machine) -> Result<(), Failure> {
    let state = [FittedMachine { machine, runs: 1 }];
    let mut failed = Vec::new();
    for question in questions {
        let prediction = Prediction::of(question, &state, Repetitions::ONCE);
        if prediction.error.is_none() {
            return Ok(());
        }
        if interrupt::requested() {
            return Err(Failure::Interrupted);
        }
        failed.push(prediction);
    }
    let reasons: Vec<String> =
        reasons(&failed).iter().map(|(reason, count)| format!("{count} of them: {reason}")).collect();
    let found =
        format!("{}, of which none can be predicted ({})", counted(failed.len(), "program"), reasons.join("; "));
    Err(Failure::argument("predict", found, "at least one that the machine of the description can run"))
}

/// Checks that every program can run on these processes.
fn check(purpose: Purpose, questions: &[Question], processes: &dyn Processes) -> Result<(), Failure> {
    for question in questions {
        processes.check(purpose, question)?;
        question.experiment.prepare_for_real(question.ranks)?;
    }
    Ok(())
}
