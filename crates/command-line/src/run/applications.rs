//! Applications that really compute: their answers, and how much of their time they communicate.

mod conjugate_gradient;
mod euler;
mod fft;

pub(super) use conjugate_gradient::ConjugateGradient;
pub(super) use euler::Euler;
pub(super) use fft::Fft;

use std::num::NonZeroU16;

use clap::Args;
use programs::all_to_all::Irregular;
use programs::applications::cost::Speed;
use programs::applications::halo::{Exchanges, Halo};
use programs::applications::partition::Partition;
use programs::applications::patterns::{ApplicationError, halo_pattern};
use programs::schedule::{MOST_RANKS, Pacing, Pattern, Schedule};
use quantities::{Bytes, Duration};
use serde_json::json;

use super::simulation::{Prepared, RunResult};
use super::summary::Finding;
use crate::algorithms::order;
use crate::choice::choice;
use crate::failure::Failure;

/// How fast nodes compute.
#[derive(Args, Clone, Copy, Debug)]
struct Nodes {
    /// How long a node takes for a floating-point operation.
    #[arg(long, value_name = "TIME", default_value = "1ns")]
    operation: Duration,
}

impl Nodes {
    fn speed(self) -> Speed {
        Speed { operation: self.operation }
    }
}

/// How halos are exchanged.
#[derive(Args, Clone, Copy, Debug)]
struct Halos {
    /// How the exchange of halos is scheduled.
    #[arg(long, value_name = "NAME", default_value = "greedy", value_parser = choice::<Irregular>())]
    algorithm: Irregular,
    /// What keeps the ranks in step while they exchange halos.
    #[arg(long, value_name = "NAME", default_value = "free-running", value_parser = choice::<Pacing>())]
    pacing: Pacing,
}

/// A schedule of halos, and what is to be said of it.
struct Scheduled {
    exchanges: Exchanges,
    pattern: Pattern,
    steps: usize,
}

impl Halos {
    /// The schedule for a partition of a mesh of which so many bytes a vertex are sent.
    fn schedule(
        self,
        prepared: &Prepared,
        partition: &Partition,
        edges: &[[u32; 2]],
        bytes_a_vertex: u32,
    ) -> Result<Scheduled, Failure> {
        let pattern = halo_pattern(&Halo::new(partition, edges), bytes_a_vertex).map_err(ApplicationError::from)?;
        let largest = pattern.messages().iter().map(|message| message.bytes).max().unwrap_or(Bytes(0));
        let schedule: Schedule = self.algorithm.schedule(&pattern);
        let order = order(prepared.waits_for_receivers(largest));
        let exchanges = Exchanges::new(&schedule, order, self.pacing);
        Ok(Scheduled { exchanges, steps: schedule.carrying_steps().count(), pattern })
    }

    fn names(self) -> [&'static str; 2] {
        [self.algorithm.name(), self.pacing.name()]
    }
}

impl Scheduled {
    /// What the halo is.
    fn finding(&self) -> Finding {
        let messages = self.pattern.messages().len();
        let total: u64 = self.pattern.messages().iter().map(|message| message.bytes.0).sum();
        let mean = total as f64 / messages.max(1) as f64;
        let percent = 100.0 * self.pattern.density();
        Finding {
            name: "halo",
            text: format!(
                "{messages} messages ({percent:.1}% of a complete exchange) of {mean:.1} B in {} steps",
                self.steps
            ),
            key: "halo",
            value: json!({"messages": messages, "percent": percent, "mean_bytes": mean, "steps": self.steps}),
        }
    }
}

/// In how many parts an application runs on the nodes of a machine.
fn parts(prepared: &Prepared) -> Result<NonZeroU16, Failure> {
    let parts = u16::try_from(prepared.ranks).ok().filter(|&parts| u32::from(parts) <= MOST_RANKS);
    let refused = || Failure::argument("--nodes", prepared.ranks, format!("1 to {MOST_RANKS}"));
    parts.and_then(NonZeroU16::new).ok_or_else(refused)
}

/// How much of the run the ranks spent on communication, waiting included: the mean over the ranks.
fn communication<T>(ran: &RunResult<T>, spent: impl Iterator<Item = Duration>) -> Finding {
    let spent: Vec<u64> = spent.map(Duration::picoseconds).collect();
    let whole = ran.answer.makespan().picoseconds() as f64 * spent.len() as f64;
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
        text: format!("{share:.3e} of the first one; {tolerance:e} was asked for and {reached}"),
        key: "residuals",
        value: json!(residuals),
    }
}

/// How many times it went round.
fn iterations(name: &'static str, residuals: &[f64]) -> Finding {
    let count = residuals.len().saturating_sub(1);
    Finding { name, text: count.to_string(), key: name, value: json!(count) }
}

/// Reads a share that a residual can fall to.
fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err("allowed is a number from 0 to less than 1, such as 1e-6".to_string()),
    }
}
