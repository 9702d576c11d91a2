//! The candidates: the algorithms that can answer a question.

mod all_reduce;
mod all_to_all;
mod broadcast;
mod catalogued;

use std::sync::Arc;

use endpoint::Result;
use machines::model::Machine;
use plan_format::AlgorithmSpec;
use programs::all_to_all::Complete;
use programs::catalogue::{Catalogue, Cost, Stretch};
use programs::schedule::{Pacing, Rule, Schedule, SendReceiveOrder};
use quantities::Duration;

use super::model::Model;
use super::{Question, recorded};
use crate::benchmark::Benchmark;

/// An algorithm that can answer a question.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its name, with its parameters.
    pub name: String,
    benchmark: Benchmark,
    cost: Cost,
    spec: AlgorithmSpec,
}

/// The candidates, and the algorithms that are excluded, with the reason.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub(super) all: Vec<Candidate>,
    pub(super) left_out: Vec<(String, String)>,
}

/// All candidates.
///
/// # Errors
/// If no group has this number of ranks.
pub(super) fn all(question: &Question, machine: &Machine, model: &Model) -> Result<Candidates> {
    match question {
        Question::Broadcast { ranks, bytes } => broadcast::candidates(*ranks, *bytes, machine, model),
        Question::AllReduce { ranks, bytes } => all_reduce::candidates(*ranks, *bytes, model),
        Question::Complete { ranks, bytes } => Ok(all_to_all::complete(*ranks, *bytes)),
        Question::Irregular(pattern) => Ok(all_to_all::irregular(pattern, machine)),
    }
}

impl Candidate {
    /// How long it takes on `machine`.
    ///
    /// # Errors
    /// If the machine can't run it.
    pub fn time(&self, machine: &Machine, ranks: u32) -> Result<Duration> {
        self.benchmark.time(machine, ranks)
    }

    /// Its messages in steps, and what keeps the ranks in step; none if it does not consist of messages.
    ///
    /// # Errors
    /// If it can't be run.
    pub fn schedule(&self, ranks: u32) -> Result<Option<(Arc<Schedule>, Pacing)>> {
        match &self.benchmark {
            Benchmark::Scheduled(schedule, pacing, _) => Ok(Some((Arc::clone(schedule), *pacing))),
            _ if self.is_hardware() => Ok(None),
            benchmark => Ok(Some((Arc::new(recorded::schedule(benchmark, ranks)?), Pacing::FreeRunning))),
        }
    }

    /// Its description in a plan.
    pub fn spec(&self) -> &AlgorithmSpec {
        &self.spec
    }

    /// The order of one of `ranks` ranks that both sends and receives in a step.
    pub fn order(&self, machine: &Machine, ranks: u32) -> SendReceiveOrder {
        self.benchmark.order(machine, ranks)
    }

    /// Whether ranks forward, or may forward, what others have sent them.
    pub fn forwards(&self) -> bool {
        match &self.benchmark {
            Benchmark::Scheduled(..) | Benchmark::Unscheduled(_) => false,
            Benchmark::Complete { algorithm, .. } => algorithm.forwards(),
            _ => true,
        }
    }

    /// Whether many send to one rank in a step, and nothing prevents ranks from running ahead.
    pub(super) fn runs_many_to_one(&self) -> bool {
        match &self.benchmark {
            Benchmark::Scheduled(schedule, pacing, _) => schedule.rule == Rule::ManyToOne && pacing.adds_nothing(),
            Benchmark::Complete { algorithm, .. } => *algorithm == Complete::Linear,
            _ => false,
        }
    }

    /// Whether the machine's own broadcast network does it.
    pub(crate) fn is_hardware(&self) -> bool {
        matches!(&self.benchmark, Benchmark::Broadcast(algorithm, ..) if algorithm.entry().needs.multicast())
    }

    /// Its approximate cost.
    pub(super) fn cost(&self) -> &Cost {
        &self.cost
    }

    /// The time of its longest chain of messages without contention. [ps]
    pub(super) fn by_formula(&self, model: &Model) -> Duration {
        let part = |stretch: &Stretch| {
            let (send, receive) = (model.send_time(stretch.bytes), model.receive_time(stretch.bytes));
            stretch.sends * send.picoseconds() as f64 + stretch.receives * receive.picoseconds() as f64
        };
        Duration::from_picoseconds(self.cost.chain.iter().map(part).sum::<f64>().round() as u64)
    }
}
