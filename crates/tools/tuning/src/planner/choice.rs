//! A plan: what is known of each algorithm, and what follows.

use std::sync::atomic::{AtomicBool, Ordering};

use collectives::postal::Lambda;
use endpoint::Result;
use quantities::Duration;

use super::bound::{self, Bound};
use super::candidates::{self, Candidate, Candidates};
use super::estimate::Estimates;
use super::model::Model;
use super::question::Question;
use super::reduced::Reduction;
use super::trials::{Findings, Trials};
use crate::benchmark::Site;

/// The work of a plan, in packets times channels crossed: some ten seconds on two cores.
pub const BUDGET: f64 = 3e7;

/// How a time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It was run on the machine's model.
    Simulated,
    /// It was run until it had taken this long, which is longer than another takes.
    Stopped,
    /// A smaller copy of it was run on the machine's model.
    Extrapolated(Reduction),
    /// It was run, or worked out, without contention, with costs measured by small runs.
    Estimated,
}

impl Source {
    /// Its name in tables and as data.
    pub const fn name(self) -> &'static str {
        match self {
            Source::Simulated => "simulated",
            Source::Stopped => "stopped",
            Source::Extrapolated(_) => "extrapolated",
            Source::Estimated => "estimated",
        }
    }
}

/// The predicted time of a candidate.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The candidate.
    pub candidate: Candidate,
    /// Its time; if it was stopped, when that was.
    pub time: Duration,
    /// How that is known.
    pub source: Source,
}

/// What a plan says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The first of the predictions is the quickest of those that were simulated, and no estimate of another is below
    /// its time.
    QuickestSimulated,
    /// The first is the quickest by smaller copies of the runs, and no estimate of another is below its time.
    QuickestExtrapolated,
    /// So many, from the first on, may be the quickest: the budget did not suffice, or somebody interrupted.
    Undecided(usize),
    /// No algorithm can be run.
    Nothing,
}

impl Verdict {
    /// Its name as data.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::QuickestSimulated => "quickest-simulated",
            Verdict::QuickestExtrapolated => "quickest-extrapolated",
            Verdict::Undecided(_) => "undecided",
            Verdict::Nothing => "nothing",
        }
    }
}

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All candidates that the machine can run: first those that may be the quickest, then those that were run, those
    /// that were run as smaller copies, those that were stopped, and those that were estimated; each kind in order of
    /// time.
    pub predictions: Vec<Prediction>,
    /// What follows.
    pub verdict: Verdict,
    /// The lower bound on the time of every candidate.
    pub bound: Bound,
    /// Candidates that are excluded, and why.
    pub left_out: Vec<(String, String)>,
    /// t0 and lambda of the machine.
    pub model: Model,
    /// Whether somebody interrupted before everything was run.
    pub interrupted: bool,
    /// The budget with which every promising candidate would have been run, if it is more than was available.
    pub sufficient_budget: Option<f64>,
}

impl Plan {
    /// The candidates that may be the quickest.
    pub fn contenders(&self) -> &[Prediction] {
        let count = match self.verdict {
            Verdict::QuickestSimulated | Verdict::QuickestExtrapolated => 1,
            Verdict::Undecided(count) => count,
            Verdict::Nothing => 0,
        };
        &self.predictions[..count]
    }
}

/// The effort to make.
pub struct Effort<'a> {
    /// The most work, in packets times channels crossed.
    pub budget: f64,
    /// Whether all candidates are run to their end, whatever that takes.
    pub exhaustive: bool,
    /// lambda, if the machine is that of the postal model.
    pub lambda: Option<Lambda>,
    /// Called from any thread with the share of the work that is done, from 0 to 1, and what is being done.
    pub progress: &'a (dyn Fn(f64, &str) + Sync),
    /// Once true, no further candidate is run.
    pub interrupted: &'a AtomicBool,
    /// How many are run in parallel, which does not affect what is run.
    pub threads: usize,
}

/// Finds the fastest algorithm for `question` on `site`.
///
/// ```text
///   measure t0 and lambda by small runs
///   estimate all candidates, and put them in order
///   if the budget suffices to run all that the estimates leave:
///       a few at a time, each until it has taken longer than the best
///   otherwise, with ever larger copies of their runs:
///       run a copy of each, and keep the better half
///       run those that are left, each until it has taken longer than the best
/// ```
///
/// # Errors
/// If the machine can't even do the small runs; [`endpoint::Error::Stopped`] if somebody interrupts before everything
/// is estimated.
pub fn plan(question: &Question, site: &Site<'_>, effort: &Effort<'_>) -> Result<Plan> {
    let model = Model::measured(site.machine, question, effort.lambda)?;
    let bound = bound::on(question, site);
    let Candidates { all, mut left_out } = candidates::all(question, site, &model)?;
    let estimates = Estimates { question, site, model: &model, effort, bound: bound.time };
    let estimated = estimates.in_order(all, &mut left_out)?;
    let trials = Trials::new(question, site, effort, bound.time, estimated);
    let Findings { mut predictions, failed, sufficient_budget } = trials.run();
    left_out.extend(failed);
    let interrupted = effort.interrupted.load(Ordering::Relaxed);
    let verdict = verdict(&mut predictions);
    Ok(Plan { predictions, verdict, bound, left_out, model, interrupted, sufficient_budget })
}

/// What follows from the predictions, which are put in order: the best that is known comes first, then those whose
/// estimates are below it.
fn verdict(predictions: &mut [Prediction]) -> Verdict {
    let kind = |source: Source| match source {
        Source::Simulated => 0,
        Source::Extrapolated(_) => 1,
        Source::Stopped => 2,
        Source::Estimated => 3,
    };
    predictions.sort_by_key(|prediction| (kind(prediction.source), prediction.time));
    let ran = |it: &(usize, &Prediction)| matches!(it.1.source, Source::Simulated | Source::Extrapolated(_));
    let best = predictions.iter().enumerate().filter(ran).min_by_key(|(_, prediction)| prediction.time);
    let Some((place, least)) = best.map(|(place, prediction)| (place, prediction.time)) else {
        return if predictions.is_empty() { Verdict::Nothing } else { Verdict::Undecided(predictions.len()) };
    };
    predictions[..=place].rotate_right(1);
    let may_beat = |it: &Prediction| it.source == Source::Estimated && it.time < least;
    predictions[1..].sort_by_key(|prediction| !may_beat(prediction));
    match (predictions.iter().filter(|it| may_beat(it)).count(), predictions[0].source) {
        (0, Source::Simulated) => Verdict::QuickestSimulated,
        (0, _) => Verdict::QuickestExtrapolated,
        (rivals, _) => Verdict::Undecided(1 + rivals),
    }
}
