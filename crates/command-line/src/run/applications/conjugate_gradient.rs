//! `maquette run conjugate-gradient`.

use clap::Args;
use programs::applications::conjugate_gradient::{self, random_right_side};
use programs::applications::grid::Grid;
use programs::applications::patterns::{UNKNOWNS, grid_in_blocks};
use serde_json::json;

use super::{Halos, Nodes, communication, iterations, parts, residual, tolerance};
use crate::CommandOutput;
use crate::failure::Failure;
use crate::run::simulation::Simulation;
use crate::run::summary::Summary;

/// Size of an unknown in a message. [B]
const BYTES: u32 = 8;

/// Solve the equation of Poisson on a grid by conjugate gradient.
///
/// Each iteration exchanges the borders of the blocks and has two all-reduces of 8 bytes (recursive doubling).
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  maquette run conjugate-gradient --machine delta --nodes 32 --algorithm edge-colouring"
)]
pub(in crate::run) struct ConjugateGradient {
    #[command(flatten)]
    simulation: Simulation,
    /// Points in a row of the grid; it is cut into blocks, two across.
    #[arg(long, value_name = "N", default_value_t = UNKNOWNS.width, value_parser = clap::value_parser!(u16).range(1..=4096))]
    width: u16,
    /// Rows of the grid.
    #[arg(long, value_name = "N", default_value_t = UNKNOWNS.height, value_parser = clap::value_parser!(u16).range(1..=4096))]
    height: u16,
    #[command(flatten)]
    halos: Halos,
    /// How small the residual has to become, as a share of the right side.
    #[arg(long, value_name = "SHARE", default_value = "1e-6", value_parser = tolerance)]
    tolerance: f64,
    /// The most iterations.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    most_iterations: u32,
    #[command(flatten)]
    nodes: Nodes,
}

impl ConjugateGradient {
    pub(in crate::run) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let ConjugateGradient { simulation, width, height, halos, tolerance, most_iterations, nodes } = self;
        let grid = Grid { width, height };
        let seed = simulation.options.seed();
        let mut prepared = simulation.prepare()?;
        let partition = grid_in_blocks(grid, parts(&prepared)?);
        let scheduled = halos.schedule(&prepared, &partition, &grid.edges(), BYTES)?;
        let halo = scheduled.finding();
        let right_side = random_right_side(grid, seed);
        let mut program =
            conjugate_gradient::ConjugateGradient::new(grid, &partition, scheduled.exchanges, right_side)?;
        program.speed = nodes.speed();
        (program.tolerance, program.most_iterations) = (tolerance, most_iterations);
        let [algorithm, pacing] = halos.names();
        prepared.runs(
            "conjugate-gradient",
            json!({
                "width": width,
                "height": height,
                "algorithm": algorithm,
                "pacing": pacing,
                "operation": nodes.operation.to_string(),
                "tolerance": tolerance,
                "most_iterations": most_iterations,
            }),
        );
        prepared.experiment.draws();
        let ran = prepared.run(program)?;
        let residuals = &ran.output[0].residuals;
        let findings = vec![
            iterations("iterations", residuals),
            residual(residuals, tolerance),
            halo,
            communication(&ran, ran.output.iter().map(|part| part.communication)),
        ];
        Ok(Summary { findings }.said(&ran, as_json))
    }
}
