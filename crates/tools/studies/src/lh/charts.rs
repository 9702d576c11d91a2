//! The charts that several figures share.

use super::Results;
use super::job::{BODIES, LhRun};
use super::simulate::LhResult;
use crate::MissingAnswer;
use crate::render::ChartLine;
use report::{Axis, Mark, Measure};

/// The horizontal axis of the course of a build.
pub fn insertions() -> Axis {
    Axis::linear("insertions [thousands]", Measure::Plain).reaching(0.0)
}

/// The horizontal axis of the numbers of clients.
pub fn clients(numbers: &[u32]) -> Axis {
    let ticks: Vec<f64> = numbers.iter().copied().map(f64::from).collect();
    Axis::linear("clients", Measure::Plain).at(&ticks)
}

/// The horizontal axis of bodies.
pub fn bodies() -> Axis {
    Axis::logarithmic("body [B]", Measure::Bytes).at(&BODIES.map(f64::from))
}

/// The vertical axis of speed-ups.
pub fn speed_ups() -> Axis {
    Axis::linear("speed-up [times]", Measure::Plain).reaching(0.0)
}

/// The name of a line for a number of clients.
pub fn client_name(clients: u32) -> String {
    if clients == 1 { "1 client".to_string() } else { format!("{clients} clients") }
}

/// The keys of lines for these numbers of clients: the first has the first mark, and so on.
pub fn client_keys(numbers: &[u32]) -> Vec<(String, Mark)> {
    numbers.iter().enumerate().map(|(index, clients)| (client_name(*clients), Mark::full(index))).collect()
}

/// A line for each number of clients, with the points from `of`.
pub fn by_clients(
    numbers: &[u32],
    of: impl Fn(u32) -> Result<Vec<(f64, f64)>, MissingAnswer>,
) -> Result<Vec<ChartLine>, MissingAnswer> {
    let keys = client_keys(numbers).into_iter().zip(numbers);
    keys.map(|((name, mark), clients)| Ok((name, mark, of(*clients)?))).collect()
}

/// Build times at the splits and at the end: insertions in thousands, and seconds.
pub fn build_times(runs: &Results, job: LhRun) -> Result<Vec<(f64, f64)>, MissingAnswer> {
    let LhResult { inserts, time, splits, .. } = runs.get(&job)?;
    let splits = splits.iter().filter(|split| split.inserts < *inserts);
    let points = splits.map(|split| (split.inserts as f64 / 1e3, split.at.seconds()));
    let ends = [(0.0, 0.0), (*inserts as f64 / 1e3, time.seconds())];
    Ok(ends.into_iter().take(1).chain(points).chain(ends.into_iter().skip(1)).collect())
}
