//! The quantities that the study derives from its runs.

use super::Results;
use super::job::Cm5Run;
use crate::{Cell, MissingAnswer};

/// A mean over runs, and its precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// The standard deviation of one run.
    pub spread: f64,
    /// The standard error of the mean.
    pub error: f64,
}

/// The mean of some numbers.
pub fn mean_of(values: &[f64]) -> Mean {
    let count = values.len().max(1) as f64;
    let value = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|one| (one - value).powi(2)).sum();
    let spread = (squares / (count - 1.0).max(1.0)).sqrt();
    Mean { value, spread, error: spread / count.sqrt() }
}

/// How long a run took. [ms]
pub fn milliseconds(runs: &Results, job: Cm5Run) -> Result<f64, MissingAnswer> {
    Ok(runs.get(&job)?.time.seconds() * 1e3)
}

/// How long each of some runs took. [ms]
pub fn each(runs: &Results, jobs: impl IntoIterator<Item = Cm5Run>) -> Result<Vec<f64>, MissingAnswer> {
    jobs.into_iter().map(|job| milliseconds(runs, job)).collect()
}

/// The deviation of our number from the printed one. [%]
pub fn deviation(ours: f64, printed: f64) -> f64 {
    (ours / printed - 1.0) * 100.0
}

/// The mean of the absolute deviations. [%]
pub fn mean_deviation(pairs: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let each: Vec<f64> = pairs.into_iter().map(|(ours, printed)| deviation(ours, printed).abs()).collect();
    mean_of(&each).value
}

/// A cell of a printed table, with ours and what is printed.
pub fn table_cell(place: String, (ours, printed): (f64, f64)) -> Cell {
    Cell { place, ours, printed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_its_standard_error() {
        let Mean { value, spread, error } = mean_of(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(value, 2.5);
        assert!((spread - (5.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((error - spread / 2.0).abs() < 1e-12);
        assert_eq!(mean_of(&[7.0]), Mean { value: 7.0, spread: 0.0, error: 0.0 });
    }

    #[test]
    fn errors_count_whichever_way() {
        assert!((mean_deviation([(1.1, 1.0), (1.8, 2.0)]) - 10.0).abs() < 1e-9);
    }
}
