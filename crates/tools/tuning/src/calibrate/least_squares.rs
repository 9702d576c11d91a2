//! The method of Levenberg and Marquardt: the least sum of squares of several values that depend on the same
//! coordinates.

use super::simplex::Best;
use super::uncertainty::inverse;

/// Searches for the least sum of squares of `residuals` in the unit cube, from `start`. It ends early, with the best
/// point so far, after so many `evaluations`, or when `residuals` returns none. Residuals that are not finite are worse
/// than any others.
///
/// ```text
///   J = derivatives of the residuals r at x, by central differences
///   d = -(J^T J + l diag(J^T J))^-1 J^T r        l = damping: the smaller, the farther the step
///   x + d is better than x:  x = x + d, l = l / 10        else:  l = 10 l
/// ```
///
/// Points outside the cube are projected onto its surface, and coordinates that a step would only press against it are
/// left out of the step. The differences are so wide that single packets, on which simulated times also depend, hardly
/// matter.
///
/// Source: Marquardt, "An algorithm for least-squares estimation of nonlinear parameters", Journal of the Society for
/// Industrial and Applied Mathematics 11, 1963.
pub fn least_squares(
    start: &[f64],
    evaluations: u32,
    mut residuals: impl FnMut(&[f64]) -> Option<Vec<f64>>,
) -> Option<Best> {
    let mut search = Search { residuals: &mut residuals, left: evaluations, best: None };
    let mut at = search.evaluate(start.to_vec())?;
    let mut damping = FIRST_DAMPING;
    while let Some(jacobian) = search.jacobian(&at) {
        let Some(better) = search.descend(&at, &jacobian, &mut damping) else { break };
        let worthwhile = better.value < at.value * (1.0 - WORTHWHILE);
        at = better;
        if !worthwhile {
            break;
        }
    }
    // One of the points around it, at which derivatives were taken, may be better still.
    let (point, value) = search.best?;
    Some(Best { point, value, evaluations: evaluations - search.left })
}

/// How far from a point its derivatives are taken, to either side, as a share of the range: more than what rounding to
/// packets and picoseconds hides.
const STEP: f64 = 0.02;
const FIRST_DAMPING: f64 = 1e-2;
/// With more damping than this, steps are so short that nothing better is near.
const MOST_DAMPING: f64 = 1e4;
/// A step is worth another one if the sum of squares has fallen by this share.
const WORTHWHILE: f64 = 1e-4;

/// A point and its residuals.
struct Point {
    place: Vec<f64>,
    residuals: Vec<f64>,
    /// The sum of their squares.
    value: f64,
}

struct Search<'a> {
    residuals: &'a mut dyn FnMut(&[f64]) -> Option<Vec<f64>>,
    left: u32,
    /// The best point so far, and its sum of squares.
    best: Option<(Vec<f64>, f64)>,
}

impl Search<'_> {
    /// The residuals at `place`, projected into the cube; none when no more evaluations are allowed.
    fn evaluate(&mut self, mut place: Vec<f64>) -> Option<Point> {
        self.left = self.left.checked_sub(1)?;
        for coordinate in &mut place {
            *coordinate = coordinate.clamp(0.0, 1.0);
        }
        let residuals = (self.residuals)(&place)?;
        let sum: f64 = residuals.iter().map(|residual| residual * residual).sum();
        let value = if sum.is_finite() { sum } else { f64::INFINITY };
        if self.best.as_ref().is_none_or(|best| value < best.1) {
            self.best = Some((place.clone(), value));
        }
        Some(Point { place, residuals, value })
    }

    /// The derivatives of the residuals: a row for each coordinate. Where one side is impossible for the machine, the
    /// coordinate stays where it is.
    fn jacobian(&mut self, at: &Point) -> Option<Vec<Vec<f64>>> {
        let rows = derivatives(&at.place, |place| Some(self.evaluate(place.to_vec())?.residuals))?;
        Some(rows.into_iter().map(|row| row.unwrap_or_else(|| vec![0.0; at.residuals.len()])).collect())
    }

    /// A better point, with as much more damping as it takes, and less for the next; none if there is none, or at the
    /// end.
    fn descend(&mut self, at: &Point, jacobian: &[Vec<f64>], damping: &mut f64) -> Option<Point> {
        while *damping <= MOST_DAMPING {
            let moved = self.evaluate(step(at, jacobian, *damping)?)?;
            if moved.value < at.value {
                *damping /= 10.0;
                return Some(moved);
            }
            *damping *= 10.0;
        }
        None
    }
}

/// The derivatives of `residuals` at a point of the unit cube, by central differences within it: a row for each
/// coordinate, none for one in which residuals nearby are not finite. It ends early, with none, when `residuals`
/// returns none.
pub(super) fn derivatives(
    at: &[f64],
    mut residuals: impl FnMut(&[f64]) -> Option<Vec<f64>>,
) -> Option<Vec<Option<Vec<f64>>>> {
    let mut row = |axis: usize| {
        let mut at_coordinate = |coordinate: f64| {
            let mut place = at.to_vec();
            place[axis] = coordinate;
            residuals(&place)
        };
        let (below, above) = ((at[axis] - STEP).max(0.0), (at[axis] + STEP).min(1.0));
        let (low, high) = (at_coordinate(below)?, at_coordinate(above)?);
        let slopes: Vec<f64> = low.iter().zip(high).map(|(low, high)| (high - low) / (above - below)).collect();
        Some(slopes.iter().all(|slope| slope.is_finite()).then_some(slopes))
    };
    (0..at.len()).map(&mut row).collect()
}

/// x + d.
fn step(at: &Point, jacobian: &[Vec<f64>], damping: f64) -> Option<Vec<f64>> {
    let product = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
    let slopes: Vec<f64> = jacobian.iter().map(|row| product(row, &at.residuals)).collect();
    let moves = |&axis: &usize| {
        let pressed = (at.place[axis] <= 0.0 && slopes[axis] > 0.0) || (at.place[axis] >= 1.0 && slopes[axis] < 0.0);
        !pressed && jacobian[axis].iter().any(|&slope| slope != 0.0)
    };
    let axes: Vec<usize> = (0..at.place.len()).filter(moves).collect();
    let cell = |one: usize, other: usize| {
        product(&jacobian[one], &jacobian[other]) * if one == other { 1.0 + damping } else { 1.0 }
    };
    let damped = axes.iter().map(|&one| axes.iter().map(|&other| cell(one, other)).collect()).collect();
    let inverse = inverse(damped)?;
    let mut place = at.place.clone();
    for (&axis, row) in axes.iter().zip(&inverse) {
        place[axis] -= row.iter().zip(&axes).map(|(cell, &other)| cell * slopes[other]).sum::<f64>();
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley as two residuals, from (-1.2, 1) to (1, 1), in a cube from -2 to 2.
    #[test]
    fn the_end_of_a_bent_valley_is_found_in_few_evaluations() {
        let valley = |place: &[f64]| {
            let (x, y) = (4.0 * place[0] - 2.0, 4.0 * place[1] - 2.0);
            Some(vec![10.0 * (y - x * x), 1.0 - x])
        };
        let best = least_squares(&[0.2, 0.75], 300, valley).unwrap();
        assert!((best.point[0] - 0.75).abs() < 1e-3 && (best.point[1] - 0.75).abs() < 1e-3, "{best:?}");
    }

    #[test]
    fn a_coordinate_that_would_leave_the_cube_does_not_hold_back_the_others() {
        let beyond = |place: &[f64]| Some(vec![place[0] + place[1] + 0.5, place[1] - 0.25]);
        let best = least_squares(&[0.5, 0.5], 300, beyond).unwrap();
        // With x = 0, (y + 1/2)^2 + (y - 1/4)^2 is least below 0.
        assert_eq!(best.point, [0.0, 0.0]);
        let sideways = |place: &[f64]| Some(vec![place[0] + 1.0, place[1] - 0.25]);
        let best = least_squares(&[0.5, 0.5], 300, sideways).unwrap();
        assert!(best.point[0] == 0.0 && (best.point[1] - 0.25).abs() < 1e-4, "{best:?}");
    }

    #[test]
    fn coordinates_that_change_nothing_stay_where_they_are() {
        let best = least_squares(&[0.5, 0.7], 300, |place| Some(vec![place[0] - 0.1, 0.2])).unwrap();
        assert!((best.point[0] - 0.1).abs() < 1e-4 && best.point[1] == 0.7, "{best:?}");
    }

    #[test]
    fn it_ends_with_the_best_so_far() {
        assert_eq!(least_squares(&[0.5], 300, |_| None), None);
        let mut left = 4;
        let interrupted = |place: &[f64]| {
            left -= 1;
            (left > 0).then(|| vec![place[0]])
        };
        let best = least_squares(&[0.5], 300, interrupted).unwrap();
        assert_eq!((best.point, best.evaluations), (vec![0.48], 4));
        assert_eq!(least_squares(&[0.5], 5, |place| Some(vec![place[0] - 0.3])).unwrap().evaluations, 5);
    }

    #[test]
    fn what_is_impossible_is_never_best() {
        let wall = |place: &[f64]| Some(vec![if place[0] < 0.4 { f64::INFINITY } else { place[0] }]);
        let best = least_squares(&[0.8], 300, wall).unwrap();
        assert!(best.point[0] >= 0.4 && best.point[0] < 0.8, "{best:?}");
    }
}
