//! The simplex method of Nelder and Mead: the minimum of a function without its derivatives.

/// The best point found.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// Its coordinates, each from 0 to 1.
    pub point: Vec<f64>,
    /// The function's value there.
    pub value: f64,
    /// How many times the function was evaluated.
    pub evaluations: u32,
}

/// When the search ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The most evaluations.
    pub evaluations: u32,
    /// The search ends when the corners of the simplex are no farther apart than this in any coordinate.
    pub size: f64,
    /// How many times it restarts from the best point with a new simplex.
    pub restarts: u32,
}

/// Searches for the minimum of `function` in the unit cube, from `start`. It ends early, with the best point so far,
/// when `function` returns none.
///
/// A simplex of n + 1 corners in n dimensions moves away from its worst corner:
///
/// ```text
///   c = mean of all corners but the worst, w           f(r) is ...
///   r = c + (c - w)        reflection                  best so far:       try e, keep the better of e and r
///   e = c + b (c - w)      expansion                   better than some:  keep r
///   k = c + g (r - c)      contraction, outside        else:              try k, keep it if it is better
///   k = c - g (c - w)      or inside                   else:              shrink all corners towards the best one
/// ```
///
/// with b = 1 + 2/n, g = 3/4 - 1/(2n) and 1 - 1/n for shrinking, so that it still moves in many dimensions. Points
/// outside the cube are projected onto its surface. When the simplex has become too small, a new one is spread out
/// around the best point, in the opposite direction and smaller each time.
///
/// Source: Nelder and Mead, "A simplex method for function minimization", The Computer Journal 7, 1965; the factors:
/// Gao and Han, Computational Optimization and Applications 51, 2012.
pub fn minimize(start: &[f64], limits: Limits, mut function: impl FnMut(&[f64]) -> Option<f64>) -> Option<Best> {
    let mut search = Search { function: &mut function, limits, evaluations: 0 };
    let mut best = search.evaluate(start.to_vec())?;
    let mut spread = FIRST_SPREAD;
    for _ in 0..=limits.restarts {
        let before = best.value;
        let ended = search.descend(&mut best, spread);
        // A new simplex that finds nothing better is the last one.
        if ended || (spread != FIRST_SPREAD && best.value > before * (1.0 - WORTHWHILE)) {
            break;
        }
        spread *= -0.5;
    }
    Some(Best { point: best.place, value: best.value, evaluations: search.evaluations })
}

/// How far the corners of the first simplex are from its first one.
const FIRST_SPREAD: f64 = 0.2;
/// A restart is worth another one if the value has fallen by this share.
const WORTHWHILE: f64 = 1e-3;

/// A corner of the simplex.
#[derive(Clone, Debug)]
struct Corner {
    place: Vec<f64>,
    value: f64,
}

struct Search<'a> {
    function: &'a mut dyn FnMut(&[f64]) -> Option<f64>,
    limits: Limits,
    evaluations: u32,
}

impl Search<'_> {
    /// The function at `place`, clamped to the cube; none when no more evaluations are allowed.
    fn evaluate(&mut self, mut place: Vec<f64>) -> Option<Corner> {
        if self.evaluations == self.limits.evaluations {
            return None;
        }
        self.evaluations += 1;
        for coordinate in &mut place {
            *coordinate = coordinate.clamp(0.0, 1.0);
        }
        let value = (self.function)(&place)?;
        // A value that can't be compared is worse than any other.
        Some(Corner { place, value: if value.is_nan() { f64::INFINITY } else { value } })
    }

    /// Descends from `best` with a new simplex; returns whether the search is at its end.
    fn descend(&mut self, best: &mut Corner, spread: f64) -> bool {
        let mut corners = vec![best.clone()];
        for axis in 0..best.place.len() {
            let mut place = best.place.clone();
            // Into the cube, if the best point is near its surface.
            let inwards = if (0.0..=1.0).contains(&(place[axis] + spread)) { spread } else { -spread };
            place[axis] += inwards;
            let Some(corner) = self.evaluate(place) else { return keep_best(&corners, best) };
            corners.push(corner);
        }
        loop {
            corners.sort_by(|one, other| one.value.total_cmp(&other.value));
            if size(&corners) <= self.limits.size {
                keep_best(&corners, best);
                return false;
            }
            if self.step(&mut corners).is_none() {
                return keep_best(&corners, best);
            }
        }
    }

    /// One move of the simplex, whose corners are sorted.
    fn step(&mut self, corners: &mut Vec<Corner>) -> Option<()> {
        let n = (corners.len() - 1) as f64;
        let (expansion, contraction) = (1.0 + 2.0 / n, 0.75 - 0.5 / n);
        let worst = corners.pop()?;
        let centre = mean(corners);
        let beyond =
            |factor: f64| -> Vec<f64> { centre.iter().zip(&worst.place).map(|(c, w)| c + factor * (c - w)).collect() };
        let (first, second_worst) = (corners[0].value, corners[corners.len() - 1].value);
        let moved = self.evaluate(beyond(1.0)).and_then(|reflected| {
            if reflected.value < first {
                let expanded = self.evaluate(beyond(expansion));
                return Some(match expanded {
                    Some(expanded) if expanded.value < reflected.value => expanded,
                    _ => reflected,
                });
            }
            if reflected.value < second_worst {
                return Some(reflected);
            }
            let outside = reflected.value < worst.value;
            let contracted = self.evaluate(beyond(if outside { contraction } else { -contraction }))?;
            let bar = if outside { reflected.value } else { worst.value };
            Some(if contracted.value <= bar { contracted } else { worst.clone() })
        });
        let stuck = moved.as_ref().is_some_and(|moved| moved.place == worst.place);
        corners.push(moved.clone().unwrap_or(worst));
        moved?;
        if stuck { self.draw_near(corners) } else { Some(()) }
    }

    /// Shrinks all corners towards the first.
    fn draw_near(&mut self, corners: &mut [Corner]) -> Option<()> {
        let n = (corners.len() - 1) as f64;
        let nearness = if n > 1.0 { 1.0 - 1.0 / n } else { 0.5 };
        let (first, others) = corners.split_first_mut()?;
        for corner in others {
            let place = first.place.iter().zip(&corner.place).map(|(f, c)| f + nearness * (c - f)).collect();
            *corner = self.evaluate(place)?;
        }
        Some(())
    }
}

/// Keeps the best of the corners, as the search is at its end.
fn keep_best(corners: &[Corner], best: &mut Corner) -> bool {
    for corner in corners {
        if corner.value < best.value {
            *best = corner.clone();
        }
    }
    true
}

/// The largest distance of two corners in any coordinate.
fn size(corners: &[Corner]) -> f64 {
    let dimensions = corners.first().map_or(0, |corner| corner.place.len());
    let extent = |axis: usize| {
        let along = || corners.iter().map(|corner| corner.place[axis]);
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    (0..dimensions).map(extent).fold(0.0, f64::max)
}

fn mean(corners: &[Corner]) -> Vec<f64> {
    let dimensions = corners.first().map_or(0, |corner| corner.place.len());
    let sum = |axis: usize| corners.iter().map(|corner| corner.place[axis]).sum::<f64>();
    (0..dimensions).map(|axis| sum(axis) / corners.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { evaluations: 2_000, size: 1e-6, restarts: 5 };

    #[test]
    fn the_bottom_of_a_bowl_is_found() {
        for dimensions in 1..=6 {
            let bottom: Vec<f64> = (0..dimensions).map(|axis| 0.2 + 0.1 * axis as f64).collect();
            let bowl = |place: &[f64]| {
                Some(place.iter().zip(&bottom).zip(1..).map(|((x, b), steep)| f64::from(steep) * (x - b).powi(2)).sum())
            };
            let best = minimize(&vec![0.9; dimensions], LIMITS, bowl).unwrap();
            for (found, wanted) in best.point.iter().zip(&bottom) {
                assert!((found - wanted).abs() < 1e-4, "{dimensions}: {best:?}");
            }
        }
    }

    /// Rosenbrock's valley, which is narrow and bent: from (-1.2, 1) to (1, 1), in a cube from -2 to 2.
    #[test]
    fn the_end_of_a_bent_valley_is_found() {
        let valley = |place: &[f64]| {
            let (x, y) = (4.0 * place[0] - 2.0, 4.0 * place[1] - 2.0);
            Some(100.0 * (y - x * x).powi(2) + (1.0 - x).powi(2))
        };
        let best = minimize(&[0.2, 0.75], LIMITS, valley).unwrap();
        assert!((best.point[0] - 0.75).abs() < 1e-3 && (best.point[1] - 0.75).abs() < 1e-3, "{best:?}");
    }

    #[test]
    fn a_least_value_on_the_surface_is_found() {
        let slope = |place: &[f64]| Some(place[0] - 2.0 * place[1]);
        let best = minimize(&[0.5, 0.5], LIMITS, slope).unwrap();
        assert_eq!(best.point, [0.0, 1.0]);
    }

    #[test]
    fn it_ends_with_the_best_so_far() {
        let mut left = 7;
        let interrupted = |place: &[f64]| {
            left -= 1;
            (left > 0).then(|| place[0])
        };
        let best = minimize(&[0.5, 0.5], LIMITS, interrupted).unwrap();
        assert!(best.value < 0.5 && best.evaluations == 7, "{best:?}");
        let few = Limits { evaluations: 3, ..LIMITS };
        assert_eq!(minimize(&[0.5, 0.5], few, |place| Some(place[1])).unwrap().evaluations, 3);
        assert_eq!(minimize(&[0.5], LIMITS, |_| None), None);
    }

    #[test]
    fn not_a_number_is_never_best() {
        let holes = |place: &[f64]| Some(if place[0] < 0.4 { f64::NAN } else { place[0] });
        let best = minimize(&[0.8], LIMITS, holes).unwrap();
        assert!((best.point[0] - 0.4).abs() < 1e-3, "{best:?}");
    }
}
