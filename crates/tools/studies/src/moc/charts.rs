//! The charts that several figures share.

use super::job::{Load, MANY_BUFFERS, SIZES};
use super::measures::over_sizes;
use crate::MissingAnswer;
use report::{Axis, Element, LineChart, Mark, Measure, Series};

/// The horizontal axis of nearly every figure.
pub fn size_axis() -> Axis {
    Axis::logarithmic("message size [B]", Measure::Bytes).at(&SIZES.map(f64::from))
}

/// The mark of the `index`-th number of buffers.
pub fn buffer_mark(index: usize) -> Mark {
    Mark::full(index)
}

/// The keys of the numbers of buffers.
pub fn buffer_keys() -> Vec<(String, Mark)> {
    let key = |(index, buffers): (usize, &u32)| (format!("{buffers} flit buffers"), buffer_mark(index));
    MANY_BUFFERS.iter().enumerate().map(key).collect()
}

/// A chart of one line for each of the numbers of buffers over the message sizes; `value` is of (buffers, bytes).
pub fn by_buffers(
    title: &str,
    y: Axis,
    baseline: Option<f64>,
    value: impl Fn(u32, u32) -> Result<f64, MissingAnswer>,
) -> Result<Element, MissingAnswer> {
    let mut series = Vec::new();
    for (index, buffers) in MANY_BUFFERS.into_iter().enumerate() {
        let points = over_sizes(|bytes| value(buffers, bytes))?;
        series.push(Series { name: format!("{buffers} flit buffers"), mark: buffer_mark(index), points });
    }
    Ok(LineChart { title: title.to_string(), x: size_axis(), y, series, baseline }.draw())
}

/// A speed-up of less than this must look small. [%]
const LITTLE: f64 = 5.0;

/// The vertical axis of a speed-up.
pub fn gain_axis() -> Axis {
    Axis::linear("speed-up against one buffer [%]", Measure::Percent).reaching(-LITTLE).reaching(LITTLE)
}

/// The mark of a benchmark.
pub fn load_mark(load: Load) -> Mark {
    match load {
        Load::AllToAll { .. } => Mark::full(0),
        Load::EqualDist => Mark::full(1),
        Load::UnequalDist => Mark::full(2),
        Load::PingPong { .. } => Mark::full(3),
    }
}
