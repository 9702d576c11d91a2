//! The fits of a rehearsal, one in each state of the computer, and what is predicted from them.

use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use experiment::parallel::{Watch, map};
use formats::interrupt;
use machines::Description;
use quantities::Duration;
use tuning::calibrate::{Calibration, CalibrationError, CalibrationOutcome, Effort};
use tuning::rehearsal::{FittedMachine, MeasuredProgram, PredictedState, Prediction, Predictions, Scaled, States};

use super::plan::Plan;
use super::text;
use crate::cores;
use crate::failure::Failure;
use crate::progress::Bar;

/// How often at most the measured times are simulated in each state, each time with other values.
const EVALUATIONS: u32 = 2_000;

/// The description in one state of the computer.
pub(super) struct Fit {
    /// How long the reference program takes in this state, if there is one.
    pub(super) reference: Option<Duration>,
    /// How many runs for the fit were in this state.
    pub(super) runs: usize,
    pub(super) origin: Origin,
    /// The description, in TOML.
    description: String,
}

/// Where the description in a state comes from.
pub(super) enum Origin {
    /// It was fitted to the programs that were measured in it.
    Fitted(Box<(Calibration, CalibrationOutcome)>),
    /// Too few were, so that it is the one fitted in the first state, scaled.
    Scaled(Scaled),
}

impl Fit {
    /// The fit, if there is one in this state.
    pub(super) fn fitted(&self) -> Option<(&Calibration, &CalibrationOutcome)> {
        match &self.origin {
            Origin::Fitted(fit) => Some((&fit.0, &fit.1)),
            Origin::Scaled(_) => None,
        }
    }
}

/// The fits in all states, or the only one if nothing tells states apart.
///
/// # Errors
/// Too few programs in the first state; those of a fit.
pub(super) fn fit(
    plan: &Plan,
    measured: &[MeasuredProgram],
    states: Option<&States>,
    bar: &Bar,
) -> Result<Vec<Fit>, Failure> {
    let Some(states) = states else { return Ok(vec![fitted(plan, measured, (0, None), bar)?]) };
    let mut fits = Vec::<Fit>::new();
    for (state, &reference) in states.references().iter().enumerate() {
        let first = fits.first().filter(|_| state >= states.fitted());
        let fit = match first.and_then(Fit::fitted).zip(plan.reference.as_ref()) {
            Some((first, program)) => {
                let scaled = Scaled::new(first, program, reference.seconds() / states.references()[0].seconds())?;
                let (runs, description) = (runs_in(measured, state), scaled.description.clone());
                Fit { reference: Some(reference), runs, origin: Origin::Scaled(scaled), description }
            }
            None => fitted(plan, measured, (state, Some(reference)), bar)?,
        };
        fits.push(fit);
    }
    Ok(fits)
}

/// The fit to what was measured in a state.
fn fitted(
    plan: &Plan,
    measured: &[MeasuredProgram],
    (state, reference): (usize, Option<Duration>),
    bar: &Bar,
) -> Result<Fit, Failure> {
    let calibration = plan.calibration(measured, state);
    let show = |progress| text::show_fit(bar, EVALUATIONS, progress);
    let effort = Effort { evaluations: EVALUATIONS, threads: cores(), interrupted: interrupt::flag(), progress: &show };
    let fitted = calibration.fit(&effort).map_err(too_few_that_count)?;
    let description = calibration.fitted_text(&fitted)?;
    let runs = runs_in(measured, state);
    Ok(Fit { reference, runs, origin: Origin::Fitted(Box::new((calibration, fitted))), description })
}

/// How many of these runs were in this state, disturbed or not.
fn runs_in(measured: &[MeasuredProgram], state: usize) -> usize {
    measured.iter().map(|(_, runs)| runs.in_state(state).count()).sum()
}

/// The error if so many runs do not count that fewer programs were measured for the fit than there are fields.
fn too_few_that_count(error: CalibrationError) -> Failure {
    match error {
        CalibrationError::TooFew { times, parameters } => {
            let found = format!("{times} of the programs with runs that count");
            Failure::argument("measure", found, format!("at least {parameters}, one for each field of `fit`"))
        }
        error => error.into(),
    }
}

/// The times of the programs to predict, in each state for which there is a fit.
///
/// # Errors
/// An interruption.
pub(super) fn predict(fits: &[Fit], plan: &Plan, bar: &Bar) -> Result<Predictions, Failure> {
    let questions = &plan.to_predict;
    let machine = |fit: &Fit| {
        let machine = Description::parse(&fit.description, "fitted.toml")?.resolve()?;
        Ok(FittedMachine { machine, runs: fit.runs })
    };
    let machines: Vec<FittedMachine> = fits.iter().map(machine).collect::<Result<_, Failure>>()?;
    let interrupted: &AtomicBool = interrupt::flag();
    let progress = |done: usize, _| bar.show(done as f64 / questions.len() as f64, "predicting".to_owned());
    let watch = Watch { progress: &progress, interrupted, threads: cores() };
    let made = map(questions, &watch, |question| Prediction::of(question, &machines, plan.repetitions));
    Ok(Predictions {
        version: env!("MAQUETTE_VERSION").to_owned(),
        made_at_s: seconds_since_1970(),
        description: fits.first().map(|fit| fit.description.clone()).unwrap_or_default(),
        states: predicted_states(fits),
        predictions: made.into_iter().collect::<Option<_>>().ok_or(Failure::Interrupted)?,
    })
}

/// The states of these fits, if there are several.
fn predicted_states(fits: &[Fit]) -> Vec<PredictedState> {
    let all: usize = fits.iter().map(|fit| fit.runs).sum();
    let state = |fit: &Fit| {
        let (share, description) = (fit.runs as f64 / all as f64, fit.description.clone());
        Some(PredictedState { reference_ps: fit.reference?.picoseconds(), share, description })
    };
    if fits.len() > 1 { fits.iter().filter_map(state).collect() } else { Vec::new() }
}

#[expect(
    clippy::disallowed_methods,
    reason = "it is written down when a prediction was made; nothing simulated follows from it"
)]
fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
