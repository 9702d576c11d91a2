//! Which algorithm is the quickest on a machine: all of them are tried on its model.
//!
//! A plan runs every candidate on the model itself, as far as a budget of work allows, the most promising first. What that
//! budget leaves out is estimated: on a LogGP machine without contention whose costs come from a few runs on the model. A
//! candidate whose estimate is hopeless beside the best is not run either.

mod bound;
mod candidates;
mod estimate;
#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;

use endpoint::Result;
use machines::model::{Interconnect, Machine};
use quantities::{Bytes, Duration};

pub use bound::{Bound, busiest};
pub use candidates::{Candidate, Question};

use crate::parallel::{Watch, map};

/// How much work a plan may take, in packets times channels crossed: some seconds on one core.
pub const BUDGET: f64 = 2e7;
/// A candidate whose estimate is so many times the best one is not run.
const HOPELESS: f64 = 4.0;
/// Channels that a packet crosses, where nothing else is known: for the count of work only.
const TYPICAL_HOPS: f64 = 6.0;

/// How a time was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// It was run on the machine's model.
    Simulated,
    /// It was run on a machine without contention that has about the same costs.
    Estimated,
}

/// What is expected of a candidate.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Which.
    pub candidate: Candidate,
    /// How long it takes.
    pub time: Duration,
    /// How that was come by.
    pub source: Source,
}

/// What a plan says.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All candidates that the machine can run, the quickest first: those that were run, then those that were estimated.
    pub predictions: Vec<Prediction>,
    /// What no candidate of a kind can be quicker than.
    pub bound: Bound,
    /// Candidates that cannot be run, and why.
    pub left_out: Vec<(String, String)>,
    /// Whether someone asked to end before all was run.
    pub interrupted: bool,
}

/// Which algorithm answers `question` the quickest on `machine`, within a budget of work.
///
/// # Errors
/// That the machine runs none of them.
pub fn plan(question: &Question, machine: &Machine, budget: f64, watch: &PlanWatch<'_>) -> Result<Plan> {
    let model = estimate::model(machine, question)?;
    let candidates = candidates::all(question, machine, &model)?;
    let bound = bound::of(question, machine, &model);
    let simple = estimate::machine(machine, &model, question.bytes());
    let quiet = Watch { progress: &|_| {}, interrupted: watch.interrupted, threads: watch.threads };
    let estimates = map(&candidates, &quiet, |candidate| candidate.time(&simple, question.ranks()));
    let mut left_out = Vec::new();
    let mut estimated: Vec<(Candidate, Duration)> = Vec::new();
    for (candidate, estimate) in candidates.into_iter().zip(estimates) {
        match estimate {
            Some(Ok(time)) => estimated.push((candidate, time)),
            // Only the machine itself has the hardware for it.
            Some(Err(_)) if candidate.needs_hardware() => estimated.push((candidate, Duration::ZERO)),
            Some(Err(error)) => left_out.push((candidate.name, error.to_string())),
            None => {}
        }
    }
    estimated.sort_by_key(|(_, time)| *time);
    let worth = worth_running(&estimated, machine, budget);
    let (chosen, others) = estimated.split_at(worth);
    let progress = |done| (watch.progress)(done, chosen.len());
    let over = Watch { progress: &progress, interrupted: watch.interrupted, threads: watch.threads };
    let times = map(chosen, &over, |(candidate, _)| candidate.time(machine, question.ranks()));
    let mut predictions: Vec<Prediction> = Vec::new();
    let mut later: Vec<Prediction> = Vec::new();
    for ((candidate, estimate), time) in chosen.iter().zip(times) {
        let candidate = candidate.clone();
        match time {
            Some(Ok(time)) => predictions.push(Prediction { candidate, time, source: Source::Simulated }),
            Some(Err(error)) => left_out.push((candidate.name, error.to_string())),
            None => later.push(Prediction { candidate, time: *estimate, source: Source::Estimated }),
        }
    }
    let interrupted = watch.interrupted.load(std::sync::atomic::Ordering::Relaxed);
    let rest = others.iter().filter(|(candidate, _)| !candidate.needs_hardware());
    later.extend(rest.map(|(candidate, time)| Prediction {
        candidate: candidate.clone(),
        time: *time,
        source: Source::Estimated,
    }));
    predictions.sort_by_key(|prediction| prediction.time);
    later.sort_by_key(|prediction| prediction.time);
    predictions.extend(later);
    Ok(Plan { predictions, bound, left_out, interrupted })
}

/// How a plan is watched over.
pub struct PlanWatch<'a> {
    /// Called from any thread with the number of candidates that were run, and of those that are to be.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Once true, no further candidate is run.
    pub interrupted: &'a AtomicBool,
    /// How many are run at once.
    pub threads: usize,
}

/// How many of the candidates, the most promising first, are run on the machine itself.
fn worth_running(estimated: &[(Candidate, Duration)], machine: &Machine, budget: f64) -> usize {
    let least = estimated.iter().map(|(_, time)| *time).find(|time| !time.is_zero()).unwrap_or(Duration::ZERO);
    let most = least.picoseconds() as f64 * HOPELESS;
    let mut work = 0.0;
    let affordable = |(candidate, time): &&(Candidate, Duration)| {
        work += candidate.work(machine);
        work <= budget && time.picoseconds() as f64 <= most
    };
    estimated.iter().take_while(affordable).count()
}

/// About how many packets cross channels when so many messages with so many bytes in all are sent.
fn packet_hops(machine: &Machine, messages: f64, bytes: f64) -> f64 {
    match &machine.interconnect {
        Interconnect::Flits(network) => (messages + bytes / network.packet.payload.0 as f64) * TYPICAL_HOPS,
        Interconnect::LogGp(_) => messages / TYPICAL_HOPS,
    }
}

/// The bytes of a message as a fraction, for sums that only have to be about right.
fn as_f64(bytes: Bytes) -> f64 {
    bytes.0 as f64
}
