//! Which costs move the printed numbers: the slope of the logarithm of each number over that of each cost, around a set of costs.

use super::draws::Around;
use super::numbers::{LITTLE, numbers};
use super::search::RANGES;
use crate::MissingAnswer;

/// The factors that a cost is changed by.
const FACTORS: [f64; 8] = [0.8, 0.85, 0.9, 0.95, 1.05, 1.1, 1.15, 1.2];

/// What a cost does to the five numbers, in the order in which `numbers` has them.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    /// The cost.
    pub field: &'static str,
    /// By how many percent each number rises where the cost rises by one.
    pub slopes: [f64; 5],
    /// How far the logarithms are from the straight line: the root of the mean square. What is not small beside the slope says that the
    /// number depends on which packet happens to be first.
    pub scatter: [f64; 5],
}

/// The sensitivity to each cost of the set that `around` has in its middle.
///
/// # Errors
/// Which run failed.
pub fn sensitivities(around: &Around) -> Result<Vec<Sensitivity>, MissingAnswer> {
    let of = |(index, range): (usize, &crate::walk::Range)| {
        let mut points = Vec::new();
        for factor in FACTORS {
            points.push((factor.ln(), numbers(&around.scaled(index, factor))?.map(|number| number.max(LITTLE).ln())));
        }
        let lines: [(f64, f64); 5] =
            std::array::from_fn(|number| line(&points.iter().map(|(x, y)| (*x, y[number])).collect::<Vec<_>>()));
        let (slopes, scatter) = (lines.map(|line| line.0), lines.map(|line| line.1));
        Ok(Sensitivity { field: range.field, slopes, scatter })
    };
    RANGES.iter().enumerate().map(of).collect()
}

/// The slope of the line of least squares through `points`, and the root of the mean square of how far they are from it.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let mean = |value: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / count;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let slope = mean(&|point| (point.0 - x) * (point.1 - y)) / mean(&|point| (point.0 - x).powi(2));
    (slope, mean(&|point| (point.1 - y - slope * (point.0 - x)).powi(2)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_line_has_its_slope_and_its_scatter() {
        let (slope, scatter) = line(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]);
        assert!((slope - 2.0).abs() < 1e-12 && scatter < 1e-12, "{slope} {scatter}");
        let (slope, scatter) = line(&[(-1.0, 1.0), (-1.0, -1.0), (1.0, 3.0), (1.0, 1.0)]);
        assert!((slope - 1.0).abs() < 1e-12 && (scatter - 1.0).abs() < 1e-12, "{slope} {scatter}");
    }
}
