//! The results of the runs, aggregated for the figures.

use programs::measure::{self, Sample};

use super::Results;
use super::job::{ALPHAS, DRAWS, Experiment, Nodes, ORDERS, PARTNERS, PostalRun};
use crate::MissingAnswer;

/// Picoseconds in a microsecond.
const PICOSECONDS: f64 = 1e6;

/// t0 and lambda, as determined by an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    /// t0. [us]
    pub send_time: f64,
    /// lambda.
    pub lambda: f64,
}

/// The runs of an experiment with messages of `bytes`.
pub fn latency_jobs(experiment: Experiment, blocking: bool, bytes: u32) -> Vec<PostalRun> {
    let of = |partners| (0..DRAWS).map(move |draw| PostalRun::Latency { experiment, blocking, bytes, partners, draw });
    PARTNERS.into_iter().flat_map(of).collect()
}

/// The result of an experiment with messages of `bytes`.
pub fn latency(runs: &Results, experiment: Experiment, blocking: bool, bytes: u32) -> Result<Latency, MissingAnswer> {
    let mut samples = Vec::new();
    for job in latency_jobs(experiment, blocking, bytes) {
        if let PostalRun::Latency { partners, .. } = job {
            samples.push(Sample { partners, time: runs.get(&job)?.time });
        }
    }
    let which = match experiment {
        Experiment::One => measure::Experiment::OneAnswer,
        Experiment::Two => measure::Experiment::AllAnswered,
    };
    let fitted = measure::fit(which, &samples)
        .map_err(|why| MissingAnswer::Failed(format!("the fit at {bytes} B"), why.to_string()))?;
    Ok(Latency { send_time: fitted.send_time.value / PICOSECONDS, lambda: fitted.lambda.value })
}

/// The broadcasts of `bytes` with `alpha` on permuted nodes.
pub fn broadcast_jobs(bytes: u32, alpha: u32) -> Vec<PostalRun> {
    (0..ORDERS).map(|order| PostalRun::Broadcast { bytes, alpha, nodes: Nodes::Permuted(order) }).collect()
}

/// Their mean time. [us]
pub fn broadcast_time(runs: &Results, bytes: u32, alpha: u32) -> Result<f64, MissingAnswer> {
    let mut sum = 0.0;
    for job in broadcast_jobs(bytes, alpha) {
        sum += runs.get(&job)?.time.microseconds();
    }
    Ok(sum / f64::from(ORDERS))
}

/// The share of `broadcasts` after which every node had the message.
pub fn delivered(runs: &Results, broadcasts: &[PostalRun]) -> Result<f64, MissingAnswer> {
    let mut right = 0;
    for job in broadcasts {
        right += usize::from(runs.get(job)?.right);
    }
    Ok(right as f64 / broadcasts.len() as f64)
}

/// The broadcasts of `bytes` over alpha.
pub fn jobs_over_alpha(bytes: u32) -> Vec<PostalRun> {
    ALPHAS.flat_map(|alpha| broadcast_jobs(bytes, alpha)).collect()
}

/// The mean time over alpha. [1], [us]
pub fn times_over_alpha(runs: &Results, bytes: u32) -> Result<Vec<(f64, f64)>, MissingAnswer> {
    ALPHAS.map(|alpha| Ok((f64::from(alpha) / 100.0, broadcast_time(runs, bytes, alpha)?))).collect()
}

/// The alpha with the least time, and that time.
pub fn best(times: &[(f64, f64)]) -> (f64, f64) {
    times.iter().copied().min_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or((f64::NAN, f64::NAN))
}
