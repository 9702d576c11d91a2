//! The equations of Euler on an unstructured mesh.

use collectives::all_to_all::Irregular;
use programs::applications::cost::Speed;
use programs::applications::euler::{self, Bump, free_stream};
use programs::applications::partition::recursive_coordinate_bisection;
use programs::applications::patterns::{ApplicationError, mesh};
use quantities::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{DEFAULT_OPERATION, HaloPacing, Halos, Tolerance, communication, iterations, parts, residual};
use crate::catalogue::Entry;
use crate::{Error, Prepared, Ready, Site, within};

/// Size of a vertex in a message: five numbers. [B]
const BYTES: u32 = 20;
/// The flow beyond the hull, in speeds of sound.
const MACH: f32 = 0.5;

/// Find a steady flow of gas on an unstructured mesh (Euler's equations).
///
/// A disturbance leaves the mesh until the flow is uniform again. The mesh is a Delaunay mesh of random points, denser
/// around a wing, cut by recursive coordinate bisection. Each cycle exchanges the states at the borders three times, 20
/// bytes a vertex, and has one all-reduce of 8 bytes (recursive doubling).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Euler {
    /// Vertices of the mesh.
    #[serde(deserialize_with = "within::number::<4, 200_000, _, _>")]
    #[schemars(range(min = 4, max = 200_000))]
    vertices: u32,
    /// How the exchange of halos is scheduled.
    algorithm: Irregular,
    /// How the ranks are kept in step while they exchange halos.
    pacing: HaloPacing,
    /// How small the residual has to become, as a share of the first one.
    tolerance: Tolerance,
    /// The most cycles.
    most_cycles: u32,
    /// How long a node takes for a floating-point operation.
    operation: Duration,
}

impl Default for Euler {
    fn default() -> Euler {
        Euler {
            vertices: 2000,
            algorithm: Irregular::Greedy,
            pacing: HaloPacing::default(),
            tolerance: Tolerance(1e-2),
            most_cycles: 1000,
            operation: DEFAULT_OPERATION,
        }
    }
}

impl Entry for Euler {
    const NAME: &'static str = "euler";
    const EXAMPLES: &'static str =
        "Example:\n  maquette run euler --machine delta --nodes 32 --vertices 545 --algorithm balanced";

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let Euler { vertices, algorithm, pacing, tolerance, most_cycles, operation } = *self;
        let ranks = site.ranks()?;
        let parts = parts(ranks)?;
        let mesh = mesh(vertices, site.seed).map_err(ApplicationError::from)?;
        let partition = recursive_coordinate_bisection(mesh.points(), parts.into());
        let Halos { exchanges, finding: halo } =
            Halos::new(site, (algorithm, pacing), (&partition, &mesh.edges()), BYTES)?;
        let start = Bump::MIDDLE.on(free_stream(MACH), mesh.points());
        let mut program = euler::Euler::new(&mesh, &partition, exchanges, start, free_stream(MACH))?;
        program.speed = Speed { operation };
        (program.tolerance, program.most_cycles) = (tolerance.0, most_cycles);
        let parameters = json!({
            "vertices": vertices,
            "algorithm": algorithm.name(),
            "pacing": pacing.name(),
            "operation": operation.to_string(),
            "tolerance": tolerance.0,
            "most_cycles": most_cycles,
        });
        let mut prepared = Prepared::new(program, ranks, parameters);
        prepared.notes.draws = true;
        Ok(Box::new(prepared.with_findings(move |parts, answer| {
            let residuals = parts.first().map_or(&[][..], |part| &part.residuals);
            let spent = parts.iter().map(|part| part.communication);
            vec![iterations("cycles", residuals), residual(residuals, tolerance.0), halo, communication(answer, spent)]
        })))
    }
}
