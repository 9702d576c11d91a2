//! `maquette run euler`.

use clap::Args;
use programs::applications::euler::{self, Bump, free_stream};
use programs::applications::partition::recursive_coordinate_bisection;
use programs::applications::patterns::{ApplicationError, mesh};
use serde_json::json;

use super::{Halos, Nodes, communication, iterations, parts, residual, tolerance};
use crate::CommandOutput;
use crate::failure::Failure;
use crate::progress::Spinner;
use crate::run::simulation::Simulation;
use crate::run::summary::Summary;

/// Size of a vertex in a message: five numbers. [B]
const BYTES: u32 = 20;
/// The flow beyond the hull, in speeds of sound.
const MACH: f32 = 0.5;

/// Find a steady flow of gas on an unstructured mesh (the equations of Euler).
///
/// A disturbance leaves the mesh until the flow is uniform again. The mesh is a Delaunay mesh of random points, denser around a
/// wing, cut by recursive coordinate bisection. Each cycle exchanges the states at the borders three times, 20 bytes a
/// vertex, and has one all-reduce of 8 bytes (recursive doubling).
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette run euler --machine delta --nodes 32 --vertices 545 --algorithm balanced")]
pub(in crate::run) struct Euler {
    #[command(flatten)]
    simulation: Simulation,
    /// Vertices of the mesh.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(4..=200_000))]
    vertices: u32,
    #[command(flatten)]
    halos: Halos,
    /// How small the residual has to become, as a share of the first one.
    #[arg(long, value_name = "SHARE", default_value = "1e-2", value_parser = tolerance)]
    tolerance: f64,
    /// The most cycles.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    most_cycles: u32,
    #[command(flatten)]
    nodes: Nodes,
}

impl Euler {
    pub(in crate::run) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Euler { simulation, vertices, halos, tolerance, most_cycles, nodes } = self;
        let seed = simulation.options.seed();
        let mut prepared = simulation.prepare()?;
        let parts = parts(&prepared)?;
        let spinner = Spinner::saying("makes the mesh");
        let mesh = mesh(vertices, seed).map_err(ApplicationError::from)?;
        let partition = recursive_coordinate_bisection(mesh.points(), parts.into());
        let scheduled = halos.schedule(&prepared, &partition, &mesh.edges(), BYTES)?;
        let halo = scheduled.finding();
        let start = Bump::MIDDLE.on(free_stream(MACH), mesh.points());
        let mut program = euler::Euler::new(&mesh, &partition, scheduled.exchanges, start, free_stream(MACH))?;
        program.speed = nodes.speed();
        (program.tolerance, program.most_cycles) = (tolerance, most_cycles);
        drop(spinner);
        let [algorithm, pacing] = halos.names();
        prepared.runs(
            "euler",
            json!({
                "vertices": vertices,
                "algorithm": algorithm,
                "pacing": pacing,
                "operation": nodes.operation.to_string(),
                "tolerance": tolerance,
                "most_cycles": most_cycles,
            }),
        );
        prepared.experiment.draws();
        let ran = prepared.run(program)?;
        let residuals = &ran.output[0].residuals;
        let findings = vec![
            iterations("cycles", residuals),
            residual(residuals, tolerance),
            halo,
            communication(&ran, ran.output.iter().map(|part| part.communication)),
        ];
        Ok(Summary { findings }.said(&ran, as_json))
    }
}
