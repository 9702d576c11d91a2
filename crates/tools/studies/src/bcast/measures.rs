//! The quantities that the study derives from its runs.

use super::Results;
use super::job::{BcastRun, System};
use crate::MissingAnswer;

/// Half the round-trip time of a message. [us]
pub fn one_way(runs: &Results, bytes: u32) -> Result<f64, MissingAnswer> {
    Ok(runs.get(&BcastRun::PingPong { bytes })?.time.microseconds() / 2.0)
}

/// The same between two processes of one node. [us]
pub fn one_way_within(runs: &Results, bytes: u32) -> Result<f64, MissingAnswer> {
    Ok(runs.get(&BcastRun::Within { bytes })?.time.microseconds() / 2.0)
}

/// The time of a broadcast and its reply. [us]
pub fn latency(runs: &Results, system: System, nodes: u32, bytes: u32) -> Result<f64, MissingAnswer> {
    Ok(runs.get(&BcastRun::Broadcast { system, nodes, bytes })?.time.microseconds())
}

/// By how much that is more than with two nodes. [%]
pub fn growth(runs: &Results, system: System, nodes: u32, bytes: u32) -> Result<f64, MissingAnswer> {
    Ok(deviation(latency(runs, system, nodes, bytes)?, latency(runs, system, 2, bytes)?))
}

/// How much less time push-pull takes than the tree. [%]
pub fn faster(runs: &Results, nodes: u32, bytes: u32) -> Result<f64, MissingAnswer> {
    let [ours, tree] = [System::PushPull, System::Mpich].map(|system| latency(runs, system, nodes, bytes));
    Ok((1.0 - ours? / tree?) * 100.0)
}

/// The deviation of our number from the printed one. [%]
pub fn deviation(ours: f64, printed: f64) -> f64 {
    (ours / printed - 1.0) * 100.0
}
