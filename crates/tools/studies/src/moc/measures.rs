//! The quantities that the study derives from a run.

use super::Results;
use super::job::{MocRun, SIZES};
use crate::MissingAnswer;

/// How long a run took. [s]
pub fn seconds(runs: &Results, job: MocRun) -> Result<f64, MissingAnswer> {
    Ok(runs.get(&job)?.answer.makespan().seconds())
}

/// By how much `job` is faster than `base`. [%]
pub fn gain(runs: &Results, job: MocRun, base: MocRun) -> Result<f64, MissingAnswer> {
    Ok(change(seconds(runs, base)?, seconds(runs, job)?))
}

/// By how much `value` exceeds `base`; zero if both are zero. [%]
pub fn change(value: f64, base: f64) -> f64 {
    if value == base { 0.0 } else { (value / base - 1.0) * 100.0 }
}

/// The mean effective blocking of a packet within the mesh, summed over its path. [us]
pub fn blocking(runs: &Results, job: MocRun) -> Result<f64, MissingAnswer> {
    let measured = runs.get(&job)?;
    let within = measured.answer.routers.iter().zip(&measured.mesh_index).filter(|(_, index)| index.is_some());
    let total: f64 = within.map(|(router, _)| router.blocking.microseconds()).sum();
    Ok(total / measured.answer.packets.max(1) as f64)
}

/// The mean time that a header was blocked at each router of the mesh, in the order of their numbers. [us]
pub fn blocking_by_router(runs: &Results, job: MocRun) -> Result<Vec<f64>, MissingAnswer> {
    let measured = runs.get(&job)?;
    let numbered = measured.mesh_index.iter().zip(&measured.answer.routers);
    let mut routers: Vec<(u32, f64)> = numbered
        .filter_map(|(index, router)| Some(((*index)?, router.blocking.microseconds() / router.headers.max(1) as f64)))
        .collect();
    routers.sort_by_key(|(index, _)| *index);
    Ok(routers.into_iter().map(|(_, blocking)| blocking).collect())
}

/// The mean time from the moment a packet was ready until its tail had left the node. [us]
pub fn send_away(runs: &Results, job: MocRun) -> Result<f64, MissingAnswer> {
    let ranks = &runs.get(&job)?.answer.ranks;
    let packets: u64 = ranks.iter().map(|rank| rank.packets).sum();
    let time: f64 = ranks.iter().map(|rank| rank.send_away.microseconds()).sum();
    Ok(time / packets.max(1) as f64)
}

/// The mean time that a node waited for messages that had not arrived. [us]
pub fn receive_idle(runs: &Results, job: MocRun) -> Result<f64, MissingAnswer> {
    let ranks = &runs.get(&job)?.answer.ranks;
    let time: f64 = ranks.iter().map(|rank| rank.receive_idle.microseconds()).sum();
    Ok(time / ranks.len().max(1) as f64)
}

/// `value` of every message size, with the size.
pub fn over_sizes(value: impl Fn(u32) -> Result<f64, MissingAnswer>) -> Result<Vec<(f64, f64)>, MissingAnswer> {
    SIZES.iter().map(|bytes| Ok((f64::from(*bytes), value(*bytes)?))).collect()
}

/// The mean of some numbers; zero of none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The geometric mean of changes in percent, in percent: for +100 and -50 it is 0.
pub fn geometric_mean(changes: &[f64]) -> f64 {
    let logarithms: Vec<f64> = changes.iter().map(|change| (1.0 + change / 100.0).ln()).collect();
    (mean(&logarithms).exp() - 1.0) * 100.0
}

/// How far two rows of numbers rise and fall together: 1 always, 0 not at all, -1 one falls where the other rises.
pub fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let (one_mean, other_mean) = (mean(one), mean(other));
    let sum = |value: fn(f64, f64) -> f64| {
        one.iter().zip(other).map(|(a, b)| value(a - one_mean, b - other_mean)).sum::<f64>()
    };
    let spread = (sum(|a, _| a * a) * sum(|_, b| b * b)).sqrt();
    if spread == 0.0 { 0.0 } else { sum(|a, b| a * b) / spread }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_and_means() {
        assert_eq!(change(0.0, 0.0), 0.0);
        assert!((change(3.0, 2.0) - 50.0).abs() < 1e-12);
        assert!(geometric_mean(&[100.0, -50.0]).abs() < 1e-9);
        assert_eq!(mean(&[]), 0.0);
    }

    #[test]
    fn correlation_has_its_signs() {
        assert!((correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]) - 1.0).abs() < 1e-12);
        assert!((correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        assert_eq!(correlation(&[1.0, 2.0], &[5.0, 5.0]), 0.0);
    }
}
