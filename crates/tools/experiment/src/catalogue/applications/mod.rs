//! Applications that really compute: their answers, and how much of their time they communicate.

mod conjugate_gradient;
mod euler;
mod fft;

pub use conjugate_gradient::ConjugateGradient;
pub use euler::Euler;
pub use fft::Fft;

use std::num::NonZeroU16;

use collectives::all_to_all::Irregular;
use collectives::schedule::{MOST_RANKS, Pacing, Schedule};
use programs::applications::halo::{Exchanges, Halo};
use programs::applications::partition::Partition;
use programs::applications::patterns::{ApplicationError, halo_pattern};
use quantities::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use virtual_worlds::answer::Answer;

use crate::{Error, Finding, Site};

/// How long a node takes for a floating-point operation, by default.
const DEFAULT_OPERATION: Duration = Duration::from_nanoseconds(1);

/// How ranks are kept in step while they exchange halos. Their programs overlap no operations, which worlds simulate
/// more quickly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HaloPacing(Pacing);

impl HaloPacing {
    /// All of them.
    pub fn all() -> Vec<HaloPacing> {
        Pacing::all().into_iter().filter(|pacing| pacing.is_in_step()).map(HaloPacing).collect()
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        self.0.name()
    }

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        self.0.about()
    }
}

quantities::written_by_name!(HaloPacing);

/// A schedule of halos, and remarks on it.
struct Halos {
    exchanges: Exchanges,
    finding: Finding,
}

impl Halos {
    /// The schedule for a partition of a mesh of which so many bytes a vertex are sent.
    fn new(
        site: &Site<'_>,
        (algorithm, HaloPacing(pacing)): (Irregular, HaloPacing),
        (partition, edges): (&Partition, &[[u32; 2]]),
        bytes_a_vertex: u32,
    ) -> Result<Halos, Error> {
        let pattern = halo_pattern(&Halo::new(partition, edges), bytes_a_vertex).map_err(ApplicationError::from)?;
        let largest = pattern.messages().iter().map(|message| message.bytes).max().unwrap_or(Bytes(0));
        let schedule: Schedule = algorithm.schedule(&pattern);
        let exchanges = Exchanges::new(&schedule, site.order(largest), pacing);
        let steps = schedule.carrying_steps().count();
        let messages = pattern.messages().len();
        let total: u64 = pattern.messages().iter().map(|message| message.bytes.0).sum();
        let mean = total as f64 / messages.max(1) as f64;
        let percent = 100.0 * pattern.density();
        let finding = Finding {
            name: "halo",
            text: format!("{messages} messages ({percent:.1}% of an all-to-all) of {mean:.1} B in {steps} steps"),
            key: "halo",
            value: json!({"messages": messages, "percent": percent, "mean_bytes": mean, "steps": steps}),
        };
        Ok(Halos { exchanges, finding })
    }
}

/// In how many parts an application runs on so many ranks.
fn parts(ranks: u32) -> Result<NonZeroU16, Error> {
    let parts = u16::try_from(ranks).ok().filter(|&parts| u32::from(parts) <= MOST_RANKS);
    parts.and_then(NonZeroU16::new).ok_or_else(|| Error::parameter("nodes", ranks, format!("1 to {MOST_RANKS}")))
}

/// How much of the run the ranks spent on communication, waiting included: the mean over the ranks.
fn communication(answer: &Answer, spent: impl Iterator<Item = Duration>) -> Finding {
    let spent: Vec<u64> = spent.map(Duration::picoseconds).collect();
    let whole = answer.makespan().picoseconds() as f64 * spent.len() as f64;
    let share = if whole > 0.0 { spent.iter().map(|&it| it as f64).sum::<f64>() / whole } else { 0.0 };
    Finding {
        name: "communication",
        text: format!("{:.1}% of the time, waiting included", 100.0 * share),
        key: "communication",
        value: json!({"share": share, "by_rank_ps": spent}),
    }
}

/// How far an iteration came.
fn residual(residuals: &[f64], tolerance: f64) -> Finding {
    let (first, last) = (residuals.first().copied().unwrap_or(0.0), residuals.last().copied().unwrap_or(0.0));
    let share = if first > 0.0 { last / first } else { 0.0 };
    let reached = if share <= tolerance { "reached" } else { "not reached" };
    Finding {
        name: "residual",
        text: format!("{share:.3e} of the first one; tolerance {tolerance:e} {reached}"),
        key: "residuals",
        value: json!(residuals),
    }
}

/// How many times it went round.
fn iterations(name: &'static str, residuals: &[f64]) -> Finding {
    let count = residuals.len().saturating_sub(1);
    Finding { name, text: count.to_string(), key: name, value: json!(count) }
}

/// To which share of its first value a residual is to fall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("x-value" = "SHARE", "type" = ["number", "string"], "minimum" = 0, "exclusiveMaximum" = 1))]
struct Tolerance(f64);

impl<'de> Deserialize<'de> for Tolerance {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Tolerance, D::Error> {
        let text = quantities::TextOrNumber::deserialize(from)?.0;
        let allowed = || serde::de::Error::custom("allowed is a number from 0 to less than 1, such as 1e-6");
        let share: Option<f64> = text.parse().ok().filter(|share| (0.0..1.0).contains(share));
        share.map(Tolerance).ok_or_else(allowed)
    }
}
