//! Runs the programs of a rehearsal, pass by pass.

use launch::wire::{Record, times};
use quantities::Duration;
use serde::Serialize;
use tuning::launched::Repetitions;
use tuning::rehearsal::{Comparison, MeasuredProgram, Pass, Predictions, Question, Runs, States};

use super::plan::Plan;
use super::{Processes, Purpose};
use crate::failure::Failure;
use crate::progress::Bar;

/// How often the reference program runs to warm up, and how often then. Chosen: so often a ping-pong takes a
/// millisecond, and the median of nine hardly depends on single runs.
const REFERENCE_RUNS: u32 = 9;

/// A program that was never measured in a state of the computer in which the description was fitted.
#[derive(Debug, Serialize)]
pub(super) struct Unusual {
    purpose: Purpose,
    what: String,
    passes: Runs,
}

/// Measures programs on the processes.
pub(super) struct Measuring<'a> {
    processes: &'a mut dyn Processes,
    repetitions: Repetitions,
    /// The program that runs between all others, if one does.
    reference: Option<&'a Question>,
    bar: &'a Bar,
    /// What was measured for the fit, but not in a state in which there is a fit.
    pub(super) unusual: Vec<Unusual>,
}

impl<'a> Measuring<'a> {
    pub(super) fn new(
        processes: &'a mut dyn Processes,
        repetitions: Repetitions,
        reference: Option<&'a Question>,
        bar: &'a Bar,
    ) -> Measuring<'a> {
        Measuring { processes, repetitions, reference, bar, unusual: Vec::new() }
    }

    /// Measures the times to which the description is fitted; returns also the states of the computer, if a reference
    /// program tells them apart.
    ///
    /// # Errors
    /// Those of the processes.
    pub(super) fn measure_for_fit(&mut self, plan: &Plan) -> Result<(Vec<MeasuredProgram>, Option<States>), Failure> {
        let programs: Vec<(Purpose, &Question)> = for_purpose(Purpose::Fit, &plan.to_measure).collect();
        let mut all = self.all(&programs)?;
        let met = plan.tolerance.and_then(|tolerance| States::beside(&all, tolerance));
        self.complete(&programs, &mut all, met.as_ref().map(States::first).as_ref())?;
        let states = met.map(|met| met.with_programs(plan.fields(), &all));
        let mut measured = Vec::new();
        let fitted = states.as_ref().map_or(1, States::fitted);
        for (question, passes) in plan.to_measure.iter().zip(assigned(all, states.as_ref())) {
            if (0..fitted).all(|state| passes.in_state(state).count() == 0) {
                self.unusual.push(Unusual { purpose: Purpose::Fit, what: question.what.clone(), passes });
            } else {
                measured.push((question.clone(), passes));
            }
        }
        Ok((measured, states))
    }

    /// Measures what was predicted, and compares; also what was measured for the fit, once more.
    ///
    /// # Errors
    /// Those of the processes.
    pub(super) fn measure_for_comparison(
        &mut self,
        all: &Predictions,
        to_predict: &[Question],
        measured: &[MeasuredProgram],
        states: Option<&States>,
    ) -> Result<(Vec<Comparison>, Vec<Runs>), Failure> {
        let predicted = for_purpose(Purpose::Comparison, to_predict);
        let programs: Vec<(Purpose, &Question)> =
            predicted.chain(for_purpose(Purpose::Fit, measured.iter().map(|program| &program.0))).collect();
        let mut runs = self.all(&programs)?;
        self.complete(&programs, &mut runs, states)?;
        let mut runs = assigned(runs, states);
        let again = runs.split_off(to_predict.len());
        let compared = all.predictions.iter().zip(runs);
        let compared = compared.filter_map(|(prediction, runs)| Comparison::new(prediction.clone(), runs)).collect();
        Ok((compared, again))
    }

    /// The runs of all programs, each of which has its turn in every pass.
    fn all(&mut self, programs: &[(Purpose, &Question)]) -> Result<Vec<Runs>, Failure> {
        let mut all = vec![Runs::default(); programs.len()];
        let passes: Vec<u32> = self.repetitions.runs_of_passes().collect();
        for (number, &count) in passes.iter().enumerate() {
            let show = |share: f64, what: &str| {
                self.bar.show((number as f64 + share) / passes.len() as f64, format!("running {what}"));
            };
            let turns: Vec<(Purpose, &Question, &mut Runs)> =
                programs.iter().zip(&mut all).map(|(&(purpose, question), runs)| (purpose, question, runs)).collect();
            self.pass(turns, count, show)?;
        }
        Ok(all)
    }

    /// Runs programs once more, in as many passes as before at most, until the computer was in one of these states in
    /// one pass of each.
    fn complete(
        &mut self,
        programs: &[(Purpose, &Question)],
        all: &mut [Runs],
        states: Option<&States>,
    ) -> Result<(), Failure> {
        let Some(states) = states else { return Ok(()) };
        let passes: Vec<u32> = self.repetitions.runs_of_passes().collect();
        for count in passes {
            let turns: Vec<(Purpose, &Question, &mut Runs)> = programs
                .iter()
                .zip(all.iter_mut())
                .filter(|(_, runs)| runs.assigned(states).passes_that_count() == 0)
                .map(|(&(purpose, question), runs)| (purpose, question, runs))
                .collect();
            let show = |share, what: &str| self.bar.show(share, format!("running {what} once more"));
            self.pass(turns, count, show)?;
        }
        Ok(())
    }

    /// A pass over some programs, each of which runs `count` times.
    fn pass(
        &mut self,
        turns: Vec<(Purpose, &Question, &mut Runs)>,
        count: u32,
        show: impl Fn(f64, &str),
    ) -> Result<(), Failure> {
        let length = turns.len();
        let mut before = if turns.is_empty() { None } else { self.reference_time()? };
        for (place, (purpose, question, runs)) in turns.into_iter().enumerate() {
            show(place as f64 / length as f64, &question.what);
            let measured = self.processes.pass(purpose, question, self.repetitions.warm_up, count)?;
            let after = self.reference_time()?;
            runs.push(match before.zip(after) {
                Some((before, after)) => Pass { reference_ps: Some([before, after]), ..measured },
                // Without a reference, or with the times that were measured with it before.
                None => measured,
            });
            before = after;
        }
        Ok(())
    }

    /// The median time of the reference program, if there is one. [ps]
    fn reference_time(&mut self) -> Result<Option<u64>, Failure> {
        let Some(reference) = self.reference else { return Ok(None) };
        let mut runs = Runs::default();
        runs.push(self.processes.pass(Purpose::Fit, reference, REFERENCE_RUNS, REFERENCE_RUNS)?);
        Ok(runs.median().map(Duration::picoseconds))
    }
}

/// The runs after the first `warm_up` that the ranks of a program recorded.
pub(super) fn pass_of(records: &[Record], warm_up: u32) -> Pass {
    let first = warm_up as usize;
    let times_ps: Vec<u64> = times(records).into_iter().skip(first).map(Duration::picoseconds).collect();
    let was_preempted = |run: usize| records.iter().any(|it| it.preempted.get(run).is_some_and(|&times| times > 0));
    let disturbed = (0..times_ps.len()).filter(|run| was_preempted(first + run)).collect();
    Pass { times_ps, disturbed, ..Pass::default() }
}

/// The runs with what these states say of each pass, if there are any.
fn assigned(all: Vec<Runs>, states: Option<&States>) -> Vec<Runs> {
    let Some(states) = states else { return all };
    all.iter().map(|runs| runs.assigned(states)).collect()
}

fn for_purpose<'a>(
    purpose: Purpose,
    questions: impl IntoIterator<Item = &'a Question>,
) -> impl Iterator<Item = (Purpose, &'a Question)> {
    questions.into_iter().map(move |question| (purpose, question))
}
