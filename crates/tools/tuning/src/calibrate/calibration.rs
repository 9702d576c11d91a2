//! The fit itself.

use std::sync::atomic::{AtomicBool, Ordering};

use machines::Description;
use machines::model::Machine;
use programs::measure::quantile_95;

use super::least_squares::{derivatives, least_squares};
use super::parameter::Parameter;
use super::simplex::{Best, Limits, minimize};
use super::times::Measurement;
use super::uncertainty::standard_errors;
use crate::benchmark::Benchmark;
use experiment::parallel::{Watch, map};

/// A machine, and the measurements to which it is fitted.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The machine, all of whose fields keep their values except the parameters.
    pub description: Description,
    /// The parameters that are varied.
    pub parameters: Vec<Parameter>,
    /// The measurements.
    pub measurements: Vec<Measurement>,
}

/// The effort to make.
pub struct Effort<'a> {
    /// How many times the measurements may be simulated with different values.
    pub evaluations: u32,
    /// How many programs are simulated at once.
    pub threads: usize,
    /// Once true, the search ends with the best so far.
    pub interrupted: &'a AtomicBool,
    /// Called from any thread whenever a program has been simulated.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// The progress of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// It searches for better values.
    Searching {
        /// How many times the measurements have been simulated.
        evaluations: u32,
        /// The share of them that is simulated now, from 0 to 1.
        share: f64,
        /// The best mean error so far.
        best: Option<f64>,
    },
    /// It has found them, and works out how good they are.
    Concluding {
        /// The share of the measurements that is simulated now, from 0 to 1.
        share: f64,
    },
}

/// Why nothing could be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// A parameter's bound for which there is no machine.
    #[error(transparent)]
    Machine(#[from] machines::Error),
    /// Too few times.
    #[error("found {times} times that are not held back for {parameters} parameters; allowed is at least one for each")]
    TooFew {
        /// The number of times to which the parameters are fitted.
        times: usize,
        /// The number of parameters.
        parameters: usize,
    },
    /// A parameter is given twice.
    #[error("`{0}` is given twice; allowed is once")]
    Twice(String),
    /// A program that the machine cannot run.
    #[error("line {line}: {cause}")]
    Program {
        /// Its line.
        line: usize,
        /// Why not.
        cause: endpoint::Error,
    },
    /// It was interrupted before anything was known.
    #[error("interrupted")]
    Interrupted,
}

/// The result of a fit.
#[derive(Clone, Debug)]
pub struct CalibrationOutcome {
    /// The parameters, with their best values.
    pub estimates: Vec<Estimate>,
    /// The times, in the order of the file.
    pub fitted: Vec<FittedTime>,
    /// How many times the measurements were simulated.
    pub evaluations: u32,
    /// Whether the search was interrupted.
    pub interrupted: bool,
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The parameter.
    pub parameter: Parameter,
    /// The value in the description before, if it had one.
    pub before: Option<String>,
    /// Its best value, as written in a description.
    pub text: String,
    /// The same in its base unit.
    pub value: f64,
    /// Half the width of its 95% confidence interval, in its base unit; none if the times do not determine it, or the
    /// search was interrupted before it was known.
    pub confidence: Option<f64>,
    /// Whether it is at an end of its range beyond which the best value may lie: any but zero.
    pub at_bound: bool,
}

/// A measured time and its simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedTime {
    /// Its index, in the order of the file.
    pub index: usize,
    /// The time simulated with the best values. [ps]
    pub simulated: f64,
    /// By how much that exceeds the measured time, relative to it.
    pub error: f64,
}

impl CalibrationOutcome {
    /// The mean absolute error of the times that are held out, or of the others; none if there are none.
    pub fn mean_error(&self, measurements: &[Measurement], held: bool) -> Option<f64> {
        let errors: Vec<f64> = self
            .fitted
            .iter()
            .filter(|fitted| measurements.get(fitted.index).is_some_and(|it| it.held == held))
            .map(|fitted| fitted.error.abs())
            .collect();
        (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    }
}

impl Calibration {
    /// Checks that the machine exists at both ends of every range.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check_parameters(&self) -> Result<(), CalibrationError> {
        for (place, parameter) in self.parameters.iter().enumerate() {
            if self.parameters[..place].iter().any(|before| before.name == parameter.name) {
                return Err(CalibrationError::Twice(parameter.name.clone()));
            }
            for end in [0.0, 1.0] {
                let mut description = self.description.clone();
                description.set(&parameter.name, &parameter.text(parameter.value(end)))?;
                description.resolve()?;
            }
        }
        Ok(())
    }

    /// Also checks that there are enough times to fit to.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), CalibrationError> {
        self.check_parameters()?;
        let times = self.fitted_to().count();
        if times < self.parameters.len() {
            return Err(CalibrationError::TooFew { times, parameters: self.parameters.len() });
        }
        Ok(())
    }

    /// Fits the parameters by least squares of the relative errors of the times that are not held out, each with its
    /// weight.
    ///
    /// # Errors
    /// A program that can't run with the initial values; an interruption before anything was known.
    pub fn fit(&self, effort: &Effort<'_>) -> Result<CalibrationOutcome, CalibrationError> {
        self.check()?;
        let start = self.start()?;
        let fitted_to: Vec<usize> = self.fitted_to().map(|pair| pair.0).collect();
        let mut evaluations = 0;
        let mut best: Option<f64> = None;
        let mut failure = None;
        let mut weighted_errors = |places: &[f64]| {
            let (before, known) = (evaluations, best);
            let show = |share: f64| (effort.progress)(Progress::Searching { evaluations: before, share, best: known });
            evaluations += 1;
            let errors = match self.errors(places, &fitted_to, effort, &show) {
                Some(Ok(errors)) => errors,
                // Values that are impossible for the machine, or impossible together, are rejected; but the first must
                // be possible.
                Some(Err(error)) if best.is_none() => {
                    failure = Some(error);
                    return None;
                }
                Some(Err(_)) => return Some(vec![f64::INFINITY; fitted_to.len()]),
                None => return None,
            };
            let mean = errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64;
            best = Some(best.map_or(mean, |best| best.min(mean)));
            Some(self.weighted(&errors, &fitted_to))
        };
        let found = search(&start, effort.evaluations, &mut weighted_errors);
        if let Some(failure) = failure {
            return Err(failure);
        }
        let found = found.ok_or(CalibrationError::Interrupted)?;
        self.outcome(&found.point, evaluations, effort)
    }

    /// The description's text with the fitted values in it.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn fitted_text(&self, outcome: &CalibrationOutcome) -> Result<String, CalibrationError> {
        Ok(self.scaled_text(outcome, 1.0, |_| false)?)
    }

    /// The same, with `factor` times those of the durations that are `scaled`.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn scaled_text(
        &self,
        outcome: &CalibrationOutcome,
        factor: f64,
        scaled: impl Fn(&Parameter) -> bool,
    ) -> Result<String, machines::Error> {
        let mut description = self.description.clone();
        for Estimate { parameter, value, text, .. } in &outcome.estimates {
            let other = if scaled(parameter) { parameter.scaled_text(*value, factor) } else { None };
            description.set(&parameter.name, other.as_ref().unwrap_or(text))?;
        }
        description.text()
    }

    /// The times to which the parameters are fitted.
    fn fitted_to(&self) -> impl Iterator<Item = (usize, &Measurement)> {
        self.measurements.iter().enumerate().filter(|pair| !pair.1.held)
    }

    /// The start of the search: the description's own values, or the middle of the range.
    fn start(&self) -> Result<Vec<f64>, CalibrationError> {
        let place = |parameter: &Parameter| {
            let text = self.description.value(&parameter.name)?;
            Ok(text.and_then(|text| parameter.place_of_text(&text)).unwrap_or(0.5))
        };
        self.parameters.iter().map(place).collect()
    }

    /// The description with the parameters at `places` in their ranges.
    fn described(&self, places: &[f64]) -> Result<Description, machines::Error> {
        let mut description = self.description.clone();
        for (parameter, place) in self.parameters.iter().zip(places) {
            description.set(&parameter.name, &parameter.text(parameter.value(*place)))?;
        }
        Ok(description)
    }

    /// The relative errors of `which` times with the parameters at `places`; none if interrupted.
    fn errors(
        &self,
        places: &[f64],
        which: &[usize],
        effort: &Effort<'_>,
        show: &(dyn Fn(f64) + Sync),
    ) -> Option<Result<Vec<f64>, CalibrationError>> {
        let machine = match self.described(places).and_then(|description| description.resolve()) {
            Ok(machine) => machine,
            Err(error) => return Some(Err(error.into())),
        };
        let times = match self.simulate(&machine, which, effort, show)? {
            Ok(times) => times,
            Err(error) => return Some(Err(error)),
        };
        let error = |(time, &index): (f64, &usize)| time / self.measurements[index].time.picoseconds() as f64 - 1.0;
        Some(Ok(times.into_iter().zip(which).map(error).collect()))
    }

    /// The errors of `which` times, multiplied by their weights.
    fn weighted(&self, errors: &[f64], which: &[usize]) -> Vec<f64> {
        errors.iter().zip(which).map(|(error, &index)| error * self.measurements[index].weight()).collect()
    }

    /// Simulates `which` times on `machine`, all of their trials in parallel. [ps]
    fn simulate(
        &self,
        machine: &Machine,
        which: &[usize],
        effort: &Effort<'_>,
        show: &(dyn Fn(f64) + Sync),
    ) -> Option<Result<Vec<f64>, CalibrationError>> {
        let of = |&index: &usize| self.measurements[index].trials.iter().map(move |benchmark| (index, benchmark));
        let pieces: Vec<(usize, &Benchmark)> = which.iter().flat_map(of).collect();
        let progress = |done: usize, _| show(done as f64 / pieces.len() as f64);
        let watch = Watch { progress: &progress, interrupted: effort.interrupted, threads: effort.threads };
        let timed = map(&pieces, &watch, |&(index, benchmark)| benchmark.time(machine, self.measurements[index].ranks));
        let mut sums = vec![0.0; self.measurements.len()];
        for (&(index, _), time) in pieces.iter().zip(timed) {
            match time? {
                Ok(time) => sums[index] += time.picoseconds() as f64,
                Err(endpoint::Error::Stopped) => return None,
                Err(cause) => {
                    return Some(Err(CalibrationError::Program { line: self.measurements[index].line, cause }));
                }
            }
        }
        Some(Ok(which.iter().map(|&index| sums[index] / self.measurements[index].trials.len() as f64).collect()))
    }

    /// The report on the best point. It is completed even if the search was interrupted, except for the errors of the
    /// parameters, which take longer.
    fn outcome(
        &self,
        places: &[f64],
        evaluations: u32,
        effort: &Effort<'_>,
    ) -> Result<CalibrationOutcome, CalibrationError> {
        let interrupted = effort.interrupted.load(Ordering::Relaxed);
        let never = AtomicBool::new(false);
        let last = Effort { interrupted: &never, ..*effort };
        let all: Vec<usize> = (0..self.measurements.len()).collect();
        let show = |share: f64| (effort.progress)(Progress::Concluding { share });
        let errors = self.errors(places, &all, &last, &show).ok_or(CalibrationError::Interrupted)??;
        let fitted = errors.iter().enumerate().map(|(index, &error)| {
            let measured = self.measurements[index].time.picoseconds() as f64;
            FittedTime { index, simulated: (1.0 + error) * measured, error }
        });
        let fitted: Vec<FittedTime> = fitted.collect();
        let confidences = match interrupted {
            true => vec![None; places.len()],
            false => self.confidences(places, &errors, effort),
        };
        let mut estimates = Vec::new();
        for ((parameter, &place), confidence) in self.parameters.iter().zip(places).zip(confidences) {
            let value = parameter.value(place);
            estimates.push(Estimate {
                before: self.description.value(&parameter.name)?,
                text: parameter.text(value),
                value,
                confidence,
                at_bound: parameter.may_be_beyond(place),
                parameter: parameter.clone(),
            });
        }
        Ok(CalibrationOutcome { estimates, fitted, evaluations, interrupted })
    }

    /// The confidence intervals, from the Jacobian by finite differences; none at all if interrupted.
    fn confidences(&self, places: &[f64], errors: &[f64], effort: &Effort<'_>) -> Vec<Option<f64>> {
        let which: Vec<usize> = self.fitted_to().map(|pair| pair.0).collect();
        let show = |share: f64| (effort.progress)(Progress::Concluding { share });
        let at = |places: &[f64]| match self.errors(places, &which, effort, &show)? {
            Ok(errors) => Some(self.weighted(&errors, &which)),
            Err(_) => None,
        };
        let rows = derivatives(places, at).and_then(|rows| rows.into_iter().collect::<Option<Vec<Vec<f64>>>>());
        let Some(rows) = rows else { return vec![None; places.len()] };
        let of_time = |time: usize| rows.iter().map(|row| row[time]).collect();
        let jacobian: Vec<Vec<f64>> = (0..which.len()).map(of_time).collect();
        let residuals: Vec<f64> = which.iter().map(|&index| errors[index]).collect();
        let residuals = self.weighted(&residuals, &which);
        let t = quantile_95(residuals.len().saturating_sub(places.len()));
        let of = |((parameter, &place), error): ((&Parameter, &f64), Option<f64>)| {
            error.map(|error| t * error * parameter.slope(place))
        };
        self.parameters.iter().zip(places).zip(standard_errors(&residuals, &jacobian)).map(of).collect()
    }
}

/// The place that is found from `start`: by derivatives, which take few evaluations even with many parameters, and by a
/// simplex, which finds its way where simulated times jump, as single packets are in time or late. If the simplex is
/// behind, another goes on from where the derivatives have led.
fn search(start: &[f64], evaluations: u32, residuals: &mut dyn FnMut(&[f64]) -> Option<Vec<f64>>) -> Option<Best> {
    let by_derivatives = least_squares(start, evaluations, &mut *residuals)?;
    let left = evaluations - by_derivatives.evaluations;
    let mut simplex = |from: &[f64], evaluations| {
        // Corners within 0.1% of a range are near enough: the times are not known better.
        let limits = Limits { evaluations, size: 1e-3, restarts: 3 };
        minimize(from, limits, |places| Some(residuals(places)?.iter().map(|error| error * error).sum()))
    };
    let Some(by_simplex) = simplex(start, left.min(SIMPLEX_EACH * start.len() as u32)) else {
        return Some(by_derivatives);
    };
    if by_simplex.value * (1.0 - WORTHWHILE) <= by_derivatives.value {
        return Some(by_simplex);
    }
    let refined = simplex(&by_derivatives.point, left - by_simplex.evaluations);
    Some(refined.filter(|refined| refined.value < by_derivatives.value).unwrap_or(by_derivatives))
}

/// How many evaluations the simplex from the start has for each parameter. Chosen: with two or three it is at its end
/// after 50 to 65 for each.
const SIMPLEX_EACH: u32 = 80;
/// By what share less the sum of squares must be for a place to be better than that of the simplex: where both have
/// found the same, that counts.
const WORTHWHILE: f64 = 1e-3;
