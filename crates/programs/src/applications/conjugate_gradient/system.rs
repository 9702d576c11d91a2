//! One rank's part of the five-point Laplacian.

use crate::applications::grid::Grid;
use crate::applications::halo::Domain;
use quantities::shuffle::share;

/// Operations per iteration for an own unknown, besides those for its links: the diagonal, two inner products, three
/// sums of a vector and a multiple of another.
const OPERATIONS_AN_UNKNOWN: u64 = 1 + 2 * 2 + 3 * 2;

/// A right side of random numbers from -1/2 to 1/2.
pub fn random_right_side(grid: Grid, seed: u64) -> Vec<f64> {
    let mut state = seed;
    (0..grid.points()).map(|_| share(&mut state) - 0.5).collect()
}

/// q = A p for the own unknowns, where A has 4 on its diagonal and -1 for each neighbour on the grid: (A p)_i = 4 p_i -
/// (p_j summed over the neighbours j of i). Values beyond the grid are zero.
pub(super) fn apply(domain: &Domain, p: &[f64]) -> Vec<f64> {
    let mut q: Vec<f64> = p[..domain.own().len()].iter().map(|value| 4.0 * value).collect();
    for link in domain.links() {
        let [a, b] = link.ends.map(|end| end as usize);
        if let Some(sum) = q.get_mut(a) {
            *sum -= p[b];
        }
        if let Some(sum) = q.get_mut(b) {
            *sum -= p[a];
        }
    }
    q
}

/// The inner product.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// a = a + by b.
pub(super) fn add(a: &mut [f64], by: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += by * b);
}

/// How many floating-point operations an iteration takes.
pub(super) fn operations_an_iteration(domain: &Domain) -> u64 {
    let own = domain.own().len();
    let ends = domain.links().iter().flat_map(|link| link.ends).filter(|&end| (end as usize) < own).count();
    own as u64 * OPERATIONS_AN_UNKNOWN + ends as u64
}
