//! The charts that several figures share.

use super::job::SIZES;
use report::{Axis, Element, LineChart, Mark, Measure, Series};

/// The horizontal axis of message sizes.
pub fn size_axis() -> Axis {
    let every_other: Vec<f64> = SIZES.into_iter().step_by(2).map(f64::from).collect();
    Axis::logarithmic("message size [B]", Measure::Bytes).at(&every_other)
}

/// A chart of broadcast times over alpha.
pub fn over_alpha(title: &str, unit: &str, measure: Measure, mark: Mark, points: Vec<(f64, f64)>) -> Element {
    let series = vec![Series { name: title.to_string(), mark, points }];
    let x = Axis::linear("alpha", Measure::Plain);
    LineChart { title: title.to_string(), x, y: Axis::linear(unit, measure), series, baseline: None }.draw()
}
