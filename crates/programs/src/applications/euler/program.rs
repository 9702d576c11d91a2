//! The solver as a program.

use endpoint::{Endpoint, Error, Program, Result};
use quantities::Duration;

use super::dual::Dual;
use super::gas::GasState;
use super::region::{Region, STAGES};
use crate::applications::cost::Speed;
use crate::applications::halo::{Domain, Exchanges};
use crate::applications::mesh::Mesh;
use crate::applications::partition::Partition;

/// Finds the steady flow through a mesh whose hull is open to a uniform flow, from any initial flow. The unknowns are
/// at the vertices; between two neighbours there is Rusanov's flux through the area between their cells in the median
/// [`Dual`]; a cycle has three Runge-Kutta stages, and each cell takes the longest step that is stable for it.
///
/// ```text
///   for each stage    exchange the states of the vertices at the borders (20 B each)
///                     residual: for each edge, the flux between its ends
///                     step: own states = those at the start of the cycle - share of a step x residual
///   at the end        all-reduce of the residual: the root of the sum of the squares of the net mass flux
/// ```
///
/// Every rank computes the edges of its own vertices, so both ranks compute an edge between them. The edges of a vertex
/// are summed in the same order whatever the number of ranks: the states equal those of a run on one rank, to the last
/// bit. Only the residual differs in its last digits.
///
/// Source: the edge-based solvers that the CM-5 paper's patterns come from: Mavriplis, "Three dimensional unstructured
/// multigrid for the Euler equations", AIAA 10th Computational Fluid Dynamics Conference, 1991 (without its multigrid).
#[derive(Clone, Debug)]
pub struct Euler {
    domains: Vec<Domain>,
    regions: Vec<Region>,
    exchanges: Exchanges,
    start: Vec<GasState>,
    outside: GasState,
    /// The most cycles.
    pub most_cycles: u32,
    /// It is done when the residual is this share of the first one.
    pub tolerance: f64,
    /// How fast nodes compute.
    pub speed: Speed,
}

/// The result of a rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// Its vertices.
    pub vertices: Vec<u32>,
    /// The state at each of them.
    pub states: Vec<GasState>,
    /// The residual of the whole flow at the start of every cycle, and at the end.
    pub residuals: Vec<f64>,
    /// How long it was busy with exchanges and all-reduces. [ps]
    pub communication: Duration,
}

impl Euler {
    /// The flow through `mesh` with `outside` beyond its hull, initially `start` at each vertex.
    ///
    /// # Errors
    /// [`Error::Unfit`] when start, partition or exchanges do not fit this mesh.
    pub fn new(
        mesh: &Mesh,
        partition: &Partition,
        exchanges: Exchanges,
        start: Vec<GasState>,
        outside: GasState,
    ) -> Result<Euler> {
        let vertices = mesh.points().len();
        if start.len() != vertices || partition.part_of().len() != vertices {
            let (states, placed) = (start.len(), partition.part_of().len());
            return Err(Error::Unfit(format!(
                "a mesh of {vertices} vertices, {states} states, and a partition of {placed} vertices"
            )));
        }
        let dual = Dual::new(mesh);
        let domains = Domain::all(partition, &dual.edges);
        exchanges.check(&domains)?;
        let regions = domains.iter().map(|domain| Region::new(&dual, domain)).collect();
        let (most_cycles, tolerance, speed) = (1_000, 1e-3, Speed::default());
        Ok(Euler { domains, regions, exchanges, start, outside, most_cycles, tolerance, speed })
    }
}

impl Program for Euler {
    type Output = Flow;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Flow> {
        let mut others = self.exchanges.of(endpoint, &self.domains)?;
        let me = endpoint.rank().0 as usize;
        let (domain, region) = (&self.domains[me], &self.regions[me]);
        let work = self.speed.time(region.operations(domain));

        let own: Vec<GasState> = domain.own().iter().map(|&vertex| self.start[vertex as usize]).collect();
        let mut states = own.clone();
        states.resize(domain.places(), self.outside);
        let mut residuals = Vec::new();
        loop {
            let begun = states[..own.len()].to_vec();
            for (stage, share) in STAGES.into_iter().enumerate() {
                others.exchange(&mut states).await?;
                let residual = region.residual(domain, &states, self.outside);
                endpoint.compute(work).await;
                if stage == 0 {
                    residuals.push(others.sum(residual.square()).await?.sqrt());
                    if self.is_done(&residuals)? {
                        states.truncate(own.len());
                        let (vertices, communication) = (domain.own().to_vec(), others.spent());
                        return Ok(Flow { vertices, states, residuals, communication });
                    }
                }
                residual.step(&begun, share, &mut states);
            }
        }
    }
}

impl Euler {
    /// Whether the last of these residuals is small enough, or the most cycles have been run.
    fn is_done(&self, residuals: &[f64]) -> Result<bool> {
        let (Some(first), Some(last)) = (residuals.first(), residuals.last()) else { return Ok(false) };
        if !last.is_finite() {
            let cycles = residuals.len() - 1;
            return Err(Error::Unfit(format!(
                "after {cycles} cycles the flow has no finite residual: it does not settle"
            )));
        }
        Ok(*last <= self.tolerance * first || residuals.len() > self.most_cycles as usize)
    }
}
