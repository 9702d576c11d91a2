//! The charts that several figures share.

use super::job::System;
use report::{Axis, Mark, Measure};

/// The horizontal axis of sizes.
pub fn sizes(ticks: &[u32]) -> Axis {
    let ticks: Vec<f64> = ticks.iter().copied().map(f64::from).collect();
    Axis::logarithmic("message size [B]", Measure::Bytes).at(&ticks)
}

/// The horizontal axis of the numbers of nodes.
pub fn nodes(numbers: &[u32]) -> Axis {
    let ticks: Vec<f64> = numbers.iter().copied().map(f64::from).collect();
    Axis::linear("nodes", Measure::Plain).at(&ticks)
}

/// The vertical axis of times.
pub fn times() -> Axis {
    Axis::linear("broadcast and reply [us]", Measure::Microseconds).reaching(0.0)
}

/// The same over several powers of ten.
pub fn many_times() -> Axis {
    Axis::logarithmic("broadcast and reply [us]", Measure::Microseconds)
}

/// The mark of a system's line.
pub fn mark(system: System) -> Mark {
    Mark::full(match system {
        System::PushPull => 0,
        System::Simple => 1,
        System::Mpich => 2,
    })
}

/// The mark of its printed numbers.
pub fn printed_mark(system: System) -> Mark {
    Mark { broken: true, ..mark(system) }
}

/// The keys of all systems.
pub fn keys() -> Vec<(String, Mark)> {
    System::ALL.map(|system| (system.name().to_string(), mark(system))).to_vec()
}
