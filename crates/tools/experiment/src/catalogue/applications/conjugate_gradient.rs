//! Conjugate gradient on a grid.

use collectives::all_to_all::Irregular;
use programs::applications::conjugate_gradient::{self, random_right_side};
use programs::applications::cost::Speed;
use programs::applications::grid::Grid;
use programs::applications::patterns::{UNKNOWNS, grid_in_blocks};
use quantities::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{DEFAULT_OPERATION, HaloPacing, Halos, Tolerance, communication, iterations, parts, residual};
use crate::catalogue::Entry;
use crate::{Error, Prepared, Ready, Site, within};

/// Size of an unknown in a message. [B]
const BYTES: u32 = 8;

/// Solve Poisson's equation on a grid by conjugate gradients.
///
/// Each iteration exchanges the borders of the blocks and has two all-reduces of 8 bytes (recursive doubling).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConjugateGradient {
    /// Points in a row of the grid; it is cut into blocks, two across.
    #[serde(deserialize_with = "within::number::<1, 4096, _, _>")]
    #[schemars(range(min = 1, max = 4096))]
    width: u16,
    /// Rows of the grid.
    #[serde(deserialize_with = "within::number::<1, 4096, _, _>")]
    #[schemars(range(min = 1, max = 4096))]
    height: u16,
    /// How the exchange of halos is scheduled.
    algorithm: Irregular,
    /// How the ranks are kept in step while they exchange halos.
    pacing: HaloPacing,
    /// How small the residual has to become, as a share of the right side.
    tolerance: Tolerance,
    /// The most iterations.
    most_iterations: u32,
    /// How long a node takes for a floating-point operation.
    operation: Duration,
}

impl Default for ConjugateGradient {
    fn default() -> ConjugateGradient {
        ConjugateGradient {
            width: UNKNOWNS.width,
            height: UNKNOWNS.height,
            algorithm: Irregular::Greedy,
            pacing: HaloPacing::default(),
            tolerance: Tolerance(1e-6),
            most_iterations: 1000,
            operation: DEFAULT_OPERATION,
        }
    }
}

impl Entry for ConjugateGradient {
    const NAME: &'static str = "conjugate-gradient";
    const EXAMPLES: &'static str =
        "Example:\n  maquette run conjugate-gradient --machine delta --nodes 32 --algorithm edge-colouring";

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let ConjugateGradient { width, height, algorithm, pacing, tolerance, most_iterations, operation } = *self;
        let grid = Grid { width, height };
        let ranks = site.ranks()?;
        let partition = grid_in_blocks(grid, parts(ranks)?);
        let Halos { exchanges, finding: halo } =
            Halos::new(site, (algorithm, pacing), (&partition, &grid.edges()), BYTES)?;
        let right_side = random_right_side(grid, site.seed);
        let mut program = conjugate_gradient::ConjugateGradient::new(grid, &partition, exchanges, right_side)?;
        program.speed = Speed { operation };
        (program.tolerance, program.most_iterations) = (tolerance.0, most_iterations);
        let parameters = json!({
            "width": width,
            "height": height,
            "algorithm": algorithm.name(),
            "pacing": pacing.name(),
            "operation": operation.to_string(),
            "tolerance": tolerance.0,
            "most_iterations": most_iterations,
        });
        let mut prepared = Prepared::new(program, ranks, parameters);
        prepared.notes.draws = true;
        Ok(Box::new(prepared.with_findings(move |parts, answer| {
            let residuals = parts.first().map_or(&[][..], |part| &part.residuals);
            let spent = parts.iter().map(|part| part.communication);
            vec![
                iterations("iterations", residuals),
                residual(residuals, tolerance.0),
                halo,
                communication(answer, spent),
            ]
        })))
    }
}
