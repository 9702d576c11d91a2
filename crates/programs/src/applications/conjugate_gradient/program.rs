//! The solver as a program.

use endpoint::{Endpoint, Error, Program, Result};
use quantities::Duration;

use super::system::{add, apply, dot, operations_an_iteration};
use crate::applications::cost::Speed;
use crate::applications::grid::Grid;
use crate::applications::halo::{Domain, Exchanges};
use crate::applications::partition::Partition;

/// Solves A x = b, where A is the five-point Laplacian of a grid beyond which all values are zero. It is symmetric and
/// positive definite, as conjugate gradient requires.
///
/// ```text
///   x = 0, r = p = b, rho = r . r                          all-reduce
///   until rho <= tolerance^2 b . b:
///       exchange the values of p at the borders (8 B each)
///       q = A p
///       alpha = rho / p . q                                all-reduce
///       x = x + alpha p,  r = r - alpha q
///       rho' = r . r                                       all-reduce
///       p = r + (rho' / rho) p,  rho = rho'
/// ```
///
/// A rank has the unknowns of its part. The neighbours of an unknown are summed in the same order whatever the number
/// of ranks; inner products are not, so the solution equals that of one rank except for rounding.
///
/// Source: Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", Journal of Research of
/// the National Bureau of Standards 49(6), 1952; the CM-5 paper's table 12 has its pattern.
#[derive(Clone, Debug)]
pub struct ConjugateGradient {
    domains: Vec<Domain>,
    exchanges: Exchanges,
    right_side: Vec<f64>,
    /// The most iterations.
    pub most_iterations: u32,
    /// It is done when the length of the residual is this share of that of the right side.
    pub tolerance: f64,
    /// How fast nodes compute.
    pub speed: Speed,
}

/// The result of a rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solved {
    /// Its unknowns.
    pub unknowns: Vec<u32>,
    /// The value of each of them.
    pub values: Vec<f64>,
    /// The length of the whole residual at the start, and after each iteration.
    pub residuals: Vec<f64>,
    /// How long it was busy with exchanges and all-reduces. [ps]
    pub communication: Duration,
}

impl ConjugateGradient {
    /// The system of `grid` with `right_side` b.
    ///
    /// # Errors
    /// [`Error::Unfit`] when right side, partition or exchanges do not fit this grid.
    pub fn new(
        grid: Grid,
        partition: &Partition,
        exchanges: Exchanges,
        right_side: Vec<f64>,
    ) -> Result<ConjugateGradient> {
        let points = grid.points();
        if right_side.len() != points || partition.part_of().len() != points {
            let (values, placed) = (right_side.len(), partition.part_of().len());
            return Err(Error::Unfit(format!(
                "a grid of {points} points, a right side of {values} values, and a partition of {placed} points"
            )));
        }
        let domains = Domain::all(partition, &grid.edges());
        exchanges.check(&domains)?;
        let (most_iterations, tolerance, speed) = (10_000, 1e-6, Speed::default());
        Ok(ConjugateGradient { domains, exchanges, right_side, most_iterations, tolerance, speed })
    }
}

impl Program for ConjugateGradient {
    type Output = Solved;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Solved> {
        let mut others = self.exchanges.of(endpoint, &self.domains)?;
        let domain = &self.domains[endpoint.rank().0 as usize];
        let work = self.speed.time(operations_an_iteration(domain));

        let mut r: Vec<f64> = domain.own().iter().map(|&point| self.right_side[point as usize]).collect();
        let mut x = vec![0.0; r.len()];
        let mut p = r.clone();
        p.resize(domain.places(), 0.0);
        let mut rho = others.sum(dot(&r, &r)).await?;
        let enough = self.tolerance * self.tolerance * rho;
        let mut residuals = vec![rho.sqrt()];
        while rho > enough && residuals.len() <= self.most_iterations as usize {
            others.exchange(&mut p).await?;
            let q = apply(domain, &p);
            endpoint.compute(work).await;
            let alpha = rho / others.sum(dot(&p, &q)).await?;
            add(&mut x, alpha, &p);
            add(&mut r, -alpha, &q);
            let before = rho;
            rho = others.sum(dot(&r, &r)).await?;
            for (p, r) in p.iter_mut().zip(&r) {
                *p = r + rho / before * *p;
            }
            residuals.push(rho.sqrt());
        }
        Ok(Solved { unknowns: domain.own().to_vec(), values: x, residuals, communication: others.spent() })
    }
}
