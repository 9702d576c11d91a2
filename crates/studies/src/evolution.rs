//! Covariance matrix adaptation: a search that draws a population around a mean, and learns from the better half of it where to go, how
//! far to step, and which costs to change together. All of it follows from a seed.
//!
//! Source: Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv 1604.00772 (2016), appendix A, with positive weights only. Its symbols,
//! in the order of that page:
//!
//! | symbol | name | what it is |
//! |---|---|---|
//! | lambda, mu | `population`, `weights` | places of a generation; those that the next mean is made of |
//! | m, sigma, C | `mean`, `step_size`, `covariance` | a place is drawn from N(m, sigma^2 C) |
//! | B, D | `axes`, `lengths` | C = B D^2 B': its axes, and how far it reaches along each |
//! | y | `steps` | (x - m) / sigma, of each place x |
//! | p_sigma, p_c | `conjugate_path`, `evolution_path` | the evolution paths: sums of the last steps of the mean, in which older ones fade |

use quantities::splitmix64::Draws;

use crate::walk::{Place, Range};

/// Turns through all pairs of axes, after which nothing is left beside the diagonal.
const TURNS: usize = 20;

type Vector = Vec<f64>;
type Matrix = Vec<Vector>;

/// Where the search is, and what it has learned. Coordinates are shares of the ranges, in logarithms.
#[derive(Clone, Debug)]
pub struct Evolution<'a> {
    ranges: &'a [Range],
    draws: Draws,
    population: usize,
    weights: Vector,
    mean: Vector,
    step_size: f64,
    covariance: Matrix,
    axes: Matrix,
    lengths: Vector,
    conjugate_path: Vector,
    evolution_path: Vector,
    generations: i32,
    steps: Vec<Vector>,
}

impl<'a> Evolution<'a> {
    /// A search within `ranges` that begins at `place` with a `step_size`, and follows from `seed`.
    pub fn new(ranges: &'a [Range], seed: u64, place: &[f64], step_size: f64) -> Evolution<'a> {
        let share = |(range, value): (&Range, &f64)| (value / range.least).ln() / (range.most / range.least).ln();
        let size = ranges.len();
        let population = 4 + (3.0 * (size as f64).ln()) as usize;
        let middle = (population as f64 + 1.0) / 2.0;
        let raw: Vector = (1..=population / 2).map(|rank| middle.ln() - (rank as f64).ln()).collect();
        let sum: f64 = raw.iter().sum();
        Evolution {
            ranges,
            draws: Draws(seed),
            population,
            weights: raw.iter().map(|weight| weight / sum).collect(),
            mean: ranges.iter().zip(place).map(share).collect(),
            step_size,
            covariance: identity(size),
            axes: identity(size),
            lengths: vec![1.0; size],
            conjugate_path: vec![0.0; size],
            evolution_path: vec![0.0; size],
            generations: 0,
            steps: Vec::new(),
        }
    }

    /// How far it steps at present, as a share of the ranges.
    pub fn step_size(&self) -> f64 {
        self.step_size * self.lengths.iter().copied().fold(0.0, f64::max)
    }

    /// The places of the next generation, moved to the nearest in the ranges.
    pub fn generation(&mut self) -> Vec<Place> {
        self.steps.clear();
        for _ in 0..self.population {
            let drawn: Vector = (0..self.mean.len()).map(|axis| self.lengths[axis] * self.normal()).collect();
            self.steps.push(self.axes.iter().map(|row| product(row, &drawn)).collect());
        }
        self.steps.iter().map(|step| self.place(step)).collect()
    }

    fn place(&self, step: &[f64]) -> Place {
        let reached = self.mean.iter().zip(step).map(|(mean, step)| (mean + self.step_size * step).clamp(0.0, 1.0));
        let value = |(range, share): (&Range, f64)| range.least * (range.most / range.least).powf(share);
        self.ranges.iter().zip(reached).map(value).collect()
    }

    /// How far the place of `step` was beyond the ranges, squared.
    fn beyond(&self, step: &[f64]) -> f64 {
        let outside = |(mean, step): (&f64, &f64)| {
            let reached = mean + self.step_size * step;
            (reached - reached.clamp(0.0, 1.0)).powi(2)
        };
        self.mean.iter().zip(step).map(outside).sum()
    }

    /// Takes the value of each place of the last generation: lower is better.
    pub fn update(&mut self, values: &[f64]) {
        let mut ranked: Vec<(f64, &Vector)> =
            values.iter().zip(&self.steps).map(|(value, step)| (value + self.beyond(step), step)).collect();
        ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
        let best: Vec<Vector> = ranked.into_iter().take(self.weights.len()).map(|(_, step)| step.clone()).collect();
        let mean_step: Vector = (0..self.mean.len())
            .map(|index| self.weights.iter().zip(&best).map(|(weight, step)| weight * step[index]).sum())
            .collect();
        for (mean, step) in self.mean.iter_mut().zip(&mean_step) {
            *mean = (*mean + self.step_size * step).clamp(0.0, 1.0);
        }
        self.generations += 1;
        let goes_far = self.adapt_step_size(&mean_step);
        self.adapt_covariance(&mean_step, &best, goes_far);
        (self.axes, self.lengths) = axes_of(&self.covariance);
    }

    /// mu_eff: how many parents of equal weight would count as much.
    fn effective_parents(&self) -> f64 {
        1.0 / product(&self.weights, &self.weights)
    }

    /// Steps become longer where the mean goes on in one direction. Whether the path of covariance may be lengthened: h_sigma.
    fn adapt_step_size(&mut self, mean_step: &[f64]) -> bool {
        let (n, mu_eff) = (self.mean.len() as f64, self.effective_parents());
        let c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0);
        let d_sigma = 1.0 + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma;
        let expected = n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));
        let whitened = self.whitened(mean_step);
        let added = (c_sigma * (2.0 - c_sigma) * mu_eff).sqrt();
        for (path, step) in self.conjugate_path.iter_mut().zip(&whitened) {
            *path = (1.0 - c_sigma) * *path + added * step;
        }
        let length = product(&self.conjugate_path, &self.conjugate_path).sqrt();
        self.step_size *= (c_sigma / d_sigma * (length / expected - 1.0)).exp();
        let begun = (1.0 - (1.0 - c_sigma).powi(2 * (self.generations + 1))).sqrt();
        length / begun < (1.4 + 2.0 / (n + 1.0)) * expected
    }

    /// C^(-1/2) of `step`, which is B D^-1 B'.
    fn whitened(&self, step: &[f64]) -> Vector {
        let along: Vector = (0..step.len())
            .map(|axis| (0..step.len()).map(|row| self.axes[row][axis] * step[row]).sum::<f64>() / self.lengths[axis])
            .collect();
        self.axes.iter().map(|row| product(row, &along)).collect()
    }

    /// Steps like those of the mean, and like those of the best, become likelier.
    fn adapt_covariance(&mut self, mean_step: &[f64], best: &[Vector], goes_far: bool) {
        let (n, mu_eff) = (self.mean.len() as f64, self.effective_parents());
        let c_c = (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n);
        let c_1 = 2.0 / ((n + 1.3).powi(2) + mu_eff);
        let c_mu = (1.0 - c_1).min(2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((n + 2.0).powi(2) + mu_eff));
        let h_sigma = f64::from(u8::from(goes_far));
        let added = h_sigma * (c_c * (2.0 - c_c) * mu_eff).sqrt();
        for (path, step) in self.evolution_path.iter_mut().zip(mean_step) {
            *path = (1.0 - c_c) * *path + added * step;
        }
        let kept = 1.0 + c_1 * (1.0 - h_sigma) * c_c * (2.0 - c_c) - c_1 - c_mu;
        for (row, covariances) in self.covariance.iter_mut().enumerate() {
            for (column, covariance) in covariances.iter_mut().enumerate() {
                let of_best: f64 =
                    self.weights.iter().zip(best).map(|(weight, step)| weight * step[row] * step[column]).sum();
                *covariance =
                    kept * *covariance + c_1 * self.evolution_path[row] * self.evolution_path[column] + c_mu * of_best;
            }
        }
    }

    /// A number of mean 0 and deviation 1, from two even draws (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.draws.share(), self.draws.share());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}

fn identity(size: usize) -> Matrix {
    (0..size).map(|row| (0..size).map(|column| f64::from(u8::from(row == column))).collect()).collect()
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// The axes of a symmetric matrix, as columns, and the roots of its eigenvalues: turned about each pair of axes in turn until it is
/// diagonal (Jacobi's method; Golub and Van Loan, "Matrix Computations", section 8.5).
fn axes_of(matrix: &Matrix) -> (Matrix, Vector) {
    let (size, mut turned, mut axes) = (matrix.len(), matrix.clone(), identity(matrix.len()));
    for _ in 0..TURNS {
        for p in 0..size {
            for q in p + 1..size {
                turn(&mut turned, &mut axes, p, q);
            }
        }
    }
    let lengths = (0..size).map(|axis| turned[axis][axis].max(f64::MIN_POSITIVE).sqrt()).collect();
    (axes, lengths)
}

/// Turns `matrix` about the axes `p` < `q` so that what couples them becomes zero.
fn turn(matrix: &mut Matrix, axes: &mut Matrix, p: usize, q: usize) {
    if matrix[p][q] == 0.0 {
        return;
    }
    let tau = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
    let tangent = if tau >= 0.0 { 1.0 / (tau + tau.hypot(1.0)) } else { 1.0 / (tau - tau.hypot(1.0)) };
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let rotated = |one: f64, other: f64| (cosine * one - sine * other, sine * one + cosine * other);
    for rows in [&mut *matrix, axes] {
        for row in rows {
            (row[p], row[q]) = rotated(row[p], row[q]);
        }
    }
    let (above, below) = matrix.split_at_mut(q);
    for (one, other) in above[p].iter_mut().zip(&mut below[0]) {
        (*one, *other) = rotated(*one, *other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGES: [Range; 3] = [
        Range { field: "a", least: 1.0, most: 100.0, unit: "us" },
        Range { field: "b", least: 1.0, most: 100.0, unit: "us" },
        Range { field: "c", least: 1.0, most: 100.0, unit: "us" },
    ];

    /// How near it comes in so many generations to where a narrow valley ends, which lies across two coordinates.
    fn after(seed: u64, generations: usize) -> f64 {
        let value = |place: &Place| {
            let [a, b, c] = [place[0] / 7.0, place[1] / 30.0, place[2] / 99.0].map(f64::ln);
            30.0 * (a + b).powi(2) + (a - b).powi(2) + c.powi(2)
        };
        let mut search = Evolution::new(&RANGES, seed, &[90.0, 2.0, 10.0], 0.15);
        let mut lowest = f64::INFINITY;
        for _ in 0..generations {
            let places = search.generation();
            let within = |value: &f64| (1.0 - 1e-9..=100.0 + 1e-9).contains(value);
            assert!(places.iter().flatten().all(within), "{places:?}");
            let values: Vec<f64> = places.iter().map(value).collect();
            search.update(&values);
            lowest = values.into_iter().fold(lowest, f64::min);
        }
        lowest
    }

    #[test]
    fn it_goes_down_a_narrow_valley_to_the_edge_and_follows_from_its_seed() {
        for seed in 0..10 {
            let (few, many) = (after(seed, 5), after(seed, 120));
            assert!(few > 1.0 && many < 1e-5, "seed {seed}: {few} after 5 generations, {many} after 120");
            assert_eq!(many, after(seed, 120));
        }
    }

    #[test]
    fn axes_and_lengths_make_the_matrix_again() {
        let matrix = vec![vec![4.0, 1.0, -0.5], vec![1.0, 3.0, 0.25], vec![-0.5, 0.25, 1.0]];
        let (axes, lengths) = axes_of(&matrix);
        for (row, column) in (0..3).flat_map(|row| (0..3).map(move |column| (row, column))) {
            let again: f64 = (0..3).map(|axis| axes[row][axis] * lengths[axis].powi(2) * axes[column][axis]).sum();
            let upright: f64 = (0..3).map(|axis| axes[row][axis] * axes[column][axis]).sum();
            assert!((again - matrix[row][column]).abs() < 1e-12, "{row} {column}: {again}");
            assert!((upright - f64::from(u8::from(row == column))).abs() < 1e-12, "{row} {column}: {upright}");
        }
    }
}
