//! Which candidates are run, and how far.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use endpoint::Result;
use quantities::Duration;

use super::candidates::Candidate;
use super::choice::{Effort, Prediction, Source};
use super::estimate::EstimatedCandidate;
use super::question::Question;
use super::reduced::Copy;
use super::work::Work;
use crate::benchmark::Site;
use experiment::parallel::{Watch, map};

/// A candidate whose estimate is more than this many times the best time is not run: an estimate is not exact.
const HOPELESS: f64 = 2.5;
/// A run is stopped when it has taken this many times as long as the best, so that it is known by how much the best
/// leads over those that are nearly as good.
const STOPPED_AT: f64 = 1.25;
/// How many candidates are run before checking again which are hopeless.
const BATCH: usize = 4;
/// The share of the rest of the budget that a round of copies may take.
const ROUND: f64 = 0.3;
/// The same for the last round, which leaves something for those of which no copy is small enough.
const LAST: f64 = 0.6;
/// So many are left at least by the rounds of copies.
const FINALISTS: usize = 2;

/// What the runs showed.
pub(super) struct Findings {
    /// All candidates that can be run, in no order.
    pub(super) predictions: Vec<Prediction>,
    /// The others, and why.
    pub(super) failed: Vec<(String, String)>,
    /// The budget that would have sufficed to run all that were promising, if this one did not.
    pub(super) sufficient_budget: Option<f64>,
}

/// A candidate, what it is worth in work, and what is known of it.
struct Trial {
    prediction: Prediction,
    estimate: Duration,
    work: f64,
    /// Why it could not be run.
    failed: Option<String>,
}

/// What is to be done with a candidate next.
#[derive(Clone, Copy)]
enum Task {
    /// It is run, at most so long.
    Whole { limit: Duration },
    /// A copy of it is run.
    Copy(Copy),
}

/// The runs of promising candidates.
pub(super) struct Trials<'a> {
    question: &'a Question,
    site: &'a Site<'a>,
    effort: &'a Effort<'a>,
    /// The lower bound on every candidate.
    bound: Duration,
    /// The rest of the budget.
    left: f64,
    /// All candidates, most promising first.
    all: Vec<Trial>,
}

impl<'a> Trials<'a> {
    pub(super) fn new(
        question: &'a Question,
        site: &'a Site<'a>,
        effort: &'a Effort<'a>,
        bound: Duration,
        estimated: Vec<EstimatedCandidate>,
    ) -> Trials<'a> {
        let work = Work::on(site);
        let trial = |(candidate, estimate): EstimatedCandidate| Trial {
            work: work.of(&candidate),
            prediction: Prediction { candidate, time: estimate, source: Source::Estimated },
            estimate,
            failed: None,
        };
        let all = estimated.into_iter().map(trial).collect();
        Trials { question, site, effort, bound, left: effort.budget, all }
    }

    /// Runs what the budget allows.
    pub(super) fn run(mut self) -> Findings {
        let least = self.all.first().map_or(Duration::ZERO, |trial| trial.estimate);
        let promising = self.all.iter().filter(|trial| !is_hopeless(trial.estimate, least));
        let work: f64 = promising.map(|trial| trial.work).sum();
        if self.effort.exhaustive {
            self.run_all();
        } else if work <= self.left {
            self.run_in_turn();
        } else {
            self.run_by_halving();
        }
        let sufficient_budget = self.sufficient_budget();
        let (mut predictions, mut failed) = (Vec::new(), Vec::new());
        for Trial { prediction, failed: why, .. } in self.all {
            match why {
                Some(why) => failed.push((prediction.candidate.name, why)),
                None => predictions.push(prediction),
            }
        }
        Findings { predictions, failed, sufficient_budget }
    }

    /// Runs everything to its end.
    fn run_all(&mut self) {
        let all = (0..self.all.len()).map(|place| (place, Task::Whole { limit: Duration::LONGEST })).collect();
        self.carry_out(all, "running all algorithms");
    }

    /// Runs a few at a time, most promising first, until the next estimate is hopeless.
    fn run_in_turn(&mut self) {
        while !self.interrupted() {
            let (best, limit) = (self.best(), self.limit());
            let mut batch = Vec::new();
            let waiting = self.all.iter().enumerate().filter(|(_, trial)| trial.is_only_estimated());
            for (place, trial) in waiting.take_while(|(_, trial)| !is_hopeless(trial.estimate, best)) {
                if trial.work <= self.left && batch.len() < BATCH {
                    self.left -= trial.work;
                    batch.push((place, Task::Whole { limit }));
                }
            }
            if batch.is_empty() {
                return;
            }
            self.carry_out(batch, "running algorithms");
        }
    }

    /// Runs ever larger copies of ever fewer candidates, and then, if the budget allows, the last ones to their end.
    fn run_by_halving(&mut self) {
        let least = self.all.first().map_or(Duration::ZERO, |trial| trial.estimate);
        let mut field: Vec<usize> = self.places(|trial| !is_hopeless(trial.estimate, least));
        while !self.interrupted() && !field.is_empty() {
            if field.iter().map(|&place| self.all[place].work).sum::<f64>() <= self.left {
                self.run_to_the_end(&field);
                break;
            }
            let is_last = field.len() <= FINALISTS;
            let allowance = self.left * if is_last { LAST } else { ROUND } / field.len() as f64;
            self.run_copies(&field, allowance);
            // Those whose estimates are below the best time so far are not ruled out by them.
            let late = self.not_ruled_out();
            self.run_copies(&late, allowance);
            if is_last {
                break;
            }
            field.extend(late.iter().filter(|place| !field.contains(place)).copied().collect::<Vec<usize>>());
            field.retain(|&place| self.all[place].has_run());
            field.sort_by_key(|&place| (self.all[place].prediction.time, place));
            field.truncate(field.len().div_ceil(2).max(FINALISTS));
        }
        self.run_what_has_no_copy();
    }

    /// Runs, until they have taken longer than the best, those that may be better by their estimates and of which no
    /// copy was small enough; or a copy that takes what is left.
    fn run_what_has_no_copy(&mut self) {
        while !self.interrupted() {
            let limit = self.limit();
            let task = |&place: &usize| {
                let Trial { prediction: Prediction { candidate, .. }, work, .. } = &self.all[place];
                if *work <= self.left {
                    return Some((place, Task::Whole { limit }, *work));
                }
                let copy = Copy::of(candidate, self.question, self.site, self.left)?;
                (copy.work <= self.left).then_some((place, Task::Copy(copy), copy.work))
            };
            let Some((place, task, work)) = self.not_ruled_out().iter().find_map(task) else { return };
            self.left -= work;
            self.carry_out(vec![(place, task)], "running algorithms");
        }
    }

    /// Those of which nothing is known but an estimate that is below the best time, most promising first.
    fn not_ruled_out(&self) -> Vec<usize> {
        let best = self.best();
        self.places(|trial| trial.is_only_estimated() && trial.estimate < best)
    }

    /// Runs the candidates at these places, best first: two at once, then each of the others until it has taken longer
    /// than the best.
    fn run_to_the_end(&mut self, field: &[usize]) {
        let mut field: Vec<usize> =
            field.iter().copied().filter(|&place| self.all[place].prediction.source != Source::Simulated).collect();
        field.sort_by_key(|&place| (self.all[place].prediction.time, place));
        for (number, places) in field.chunks(FINALISTS).enumerate() {
            let limit = if number == 0 { Duration::LONGEST } else { self.limit() };
            places.iter().for_each(|&place| self.left -= self.all[place].work);
            let tasks = places.iter().map(|&place| (place, Task::Whole { limit })).collect();
            self.carry_out(tasks, "running the best algorithms");
        }
    }

    /// Runs a copy of each of the candidates at these places that is worth about `allowance`.
    fn run_copies(&mut self, field: &[usize], allowance: f64) {
        let mut tasks = Vec::new();
        for &place in field {
            let Trial { prediction: Prediction { candidate, source, .. }, work, .. } = &self.all[place];
            if *source == Source::Simulated {
                continue;
            }
            if *work <= allowance {
                self.left -= work;
                tasks.push((place, Task::Whole { limit: Duration::LONGEST }));
            } else if let Some(copy) = Copy::of(candidate, self.question, self.site, allowance)
                && copy.work <= self.left
            {
                self.left -= copy.work;
                tasks.push((place, Task::Copy(copy)));
            }
        }
        self.carry_out(tasks, "running parts of the algorithms");
    }

    /// Runs the tasks, and keeps what they show.
    fn carry_out(&mut self, tasks: Vec<(usize, Task)>, what: &str) {
        let Trials { site, effort, bound, .. } = *self;
        let budget = if effort.exhaustive { self.all.iter().map(|it| it.work).sum() } else { effort.budget };
        let worth = |(place, task): &(usize, Task)| match task {
            Task::Whole { .. } => self.all[*place].work,
            Task::Copy(copy) => copy.work,
        };
        let all_worth: f64 = tasks.iter().map(worth).sum();
        let before = if effort.exhaustive { 0.0 } else { (budget - self.left - all_worth).max(0.0) };
        let done = Mutex::new(before);
        let progress = |_: usize, number: usize| {
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            *done += tasks.get(number).map_or(0.0, worth);
            (effort.progress)((*done / budget.max(1.0)).min(1.0), what);
        };
        let watch = Watch { progress: &progress, interrupted: effort.interrupted, threads: effort.threads };
        let found = map(&tasks, &watch, |(place, task)| {
            let candidate = &self.all[*place].prediction.candidate;
            carried_out(candidate, *task, site)
        });
        for ((place, _), found) in tasks.iter().zip(found) {
            match found {
                Some(Ok((time, source))) => {
                    let prediction = &mut self.all[*place].prediction;
                    (prediction.time, prediction.source) = (time.max(bound), source);
                }
                Some(Err(error)) => self.all[*place].failed = Some(error.to_string()),
                None => {}
            }
        }
    }

    fn interrupted(&self) -> bool {
        self.effort.interrupted.load(Ordering::Relaxed)
    }

    /// The places of the candidates for which `is` holds.
    fn places(&self, is: impl Fn(&Trial) -> bool) -> Vec<usize> {
        (0..self.all.len()).filter(|&place| is(&self.all[place])).collect()
    }

    /// The best time that is known by a run or a copy; without one, the longest there is.
    fn best(&self) -> Duration {
        self.all.iter().filter(|trial| trial.has_run()).map(|it| it.prediction.time).min().unwrap_or(Duration::LONGEST)
    }

    /// When a run that is not the best can be stopped.
    fn limit(&self) -> Duration {
        let simulated = |it: &&Trial| it.prediction.source == Source::Simulated;
        let best = self.all.iter().filter(simulated).map(|it| it.prediction.time).min();
        best.map_or(Duration::LONGEST, |best| {
            Duration::from_picoseconds((best.picoseconds() as f64 * STOPPED_AT).round() as u64)
        })
    }

    /// The budget that would have sufficed to run everything promising.
    fn sufficient_budget(&self) -> Option<f64> {
        let best = self.best();
        let beyond = self.all.iter().filter(|it| match it.prediction.source {
            Source::Simulated | Source::Stopped => false,
            Source::Extrapolated(_) => !is_hopeless(it.prediction.time, best),
            Source::Estimated => it.is_only_estimated() && !is_hopeless(it.prediction.time, best),
        });
        let beyond: f64 = beyond.map(|it| it.work).sum();
        (!self.interrupted() && beyond > 0.0).then_some(self.effort.budget - self.left + beyond)
    }
}

impl Trial {
    /// Whether nothing is known of it but the estimate.
    fn is_only_estimated(&self) -> bool {
        self.prediction.source == Source::Estimated && self.failed.is_none()
    }

    /// Whether it, or a copy of it, was run to its end.
    fn has_run(&self) -> bool {
        matches!(self.prediction.source, Source::Simulated | Source::Extrapolated(_))
    }
}

/// What a task shows of its candidate.
fn carried_out(candidate: &Candidate, task: Task, site: &Site<'_>) -> Result<(Duration, Source)> {
    match task {
        Task::Whole { limit } => Ok(match candidate.benchmark().time_within(site, limit)? {
            Some(time) => (time, Source::Simulated),
            None => (limit, Source::Stopped),
        }),
        Task::Copy(copy) => {
            let time = copy.time(candidate, site)?;
            Ok((time, Source::Extrapolated(copy.reduction)))
        }
    }
}

/// Whether a candidate with this estimate is not worth running, compared with the best time.
fn is_hopeless(estimate: Duration, best: Duration) -> bool {
    estimate.picoseconds() as f64 > HOPELESS * best.picoseconds() as f64
}
