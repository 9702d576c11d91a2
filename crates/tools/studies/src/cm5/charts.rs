//! The charts that several figures share.

use report::{Axis, Measure};

/// The horizontal axis of message sizes.
pub fn sizes(ticks: &[u32]) -> Axis {
    let ticks: Vec<f64> = ticks.iter().copied().map(f64::from).collect();
    Axis::linear("message size [B]", Measure::Bytes).at(&ticks)
}

/// The horizontal axis of machine sizes.
pub fn machines(nodes: &[u32]) -> Axis {
    let ticks: Vec<f64> = nodes.iter().copied().map(f64::from).collect();
    Axis::logarithmic("nodes", Measure::Plain).at(&ticks)
}

/// The vertical axis of times.
pub fn milliseconds() -> Axis {
    Axis::linear("time [ms]", Measure::Plain).reaching(0.0)
}

/// The same where times lie far apart.
pub fn many_milliseconds() -> Axis {
    Axis::logarithmic("time [ms]", Measure::Plain)
}

/// Our number, and its deviation from the printed one.
pub fn with_deviation(ours: f64, deviation: f64, digits: usize) -> String {
    format!("{} ({})", report::fixed(ours, digits), report::signed_percent(deviation))
}
