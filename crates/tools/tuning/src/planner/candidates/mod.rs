//! The candidates: the algorithms that can answer a question.

mod irregular;
mod listed;

use std::sync::Arc;

use collectives::AnyAlgorithm;
use collectives::all_reduce::WeightedRing;
use collectives::all_to_all::Complete;
use collectives::catalogue::{Cost, Stretch};
use collectives::schedule::{Pacing, Rule, Schedule, SendReceiveOrder};
use endpoint::Result;
use machines::model::Machine;
use plan_format::AlgorithmSpec;
use quantities::{Bytes, Duration};

use super::model::Model;
use super::{Question, recorded};
use crate::benchmark::{Benchmark, Site};

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
pub(super) fn all(question: &Question, site: &Site<'_>, model: &Model) -> Result<Candidates> {
    match question {
        Question::Irregular(pattern) => Ok(irregular::candidates(pattern)),
        Question::Listed { collective, ranks, bytes } => listed::candidates(*collective, *ranks, *bytes, site, model),
    }
}

/// Whether every rank has a block for every other, and each goes straight to its receiver, in steps.
fn is_direct(algorithm: &AnyAlgorithm) -> bool {
    Complete::of(algorithm).is_some_and(|complete| !complete.forwards())
}

/// The most messages that one rank sends, or receives.
pub(super) fn most_messages_of_a_rank(schedule: &Schedule) -> usize {
    let mut messages = vec![[0; 2]; schedule.ranks as usize];
    for transfer in schedule.transfers() {
        messages[transfer.from.0 as usize][0] += 1;
        messages[transfer.to.0 as usize][1] += 1;
    }
    messages.into_iter().flatten().max().unwrap_or(0)
}

impl Candidate {
    /// How long it takes on `site`.
    ///
    /// # Errors
    /// If the machine can't run it.
    pub fn time(&self, site: &Site<'_>) -> Result<Duration> {
        self.benchmark.time_on(site)
    }

    /// How it is run.
    pub(super) fn benchmark(&self) -> &Benchmark {
        &self.benchmark
    }

    /// How many steps it has that are alike, or how many messages its busiest rank sends at once; 1 if all its steps
    /// are different.
    pub(super) fn steps(&self, question: &Question) -> usize {
        match &self.benchmark {
            Benchmark::Scheduled(schedule, ..) => schedule.carrying_steps().count(),
            Benchmark::Listed(algorithm, _) if is_direct(algorithm) => question.ranks() as usize - 1,
            Benchmark::AllAtOnce(schedule) => most_messages_of_a_rank(schedule),
            _ => 1,
        }
    }

    /// The size of its longest message. [B]
    pub(super) fn longest_message(&self) -> Bytes {
        self.cost.chain.iter().map(|stretch| stretch.bytes).max().unwrap_or_default()
    }

    /// Its messages in steps, and what keeps the ranks in step; none if it does not consist of messages.
    ///
    /// # Errors
    /// If it can't be run.
    pub fn schedule(&self, ranks: u32) -> Result<Option<(Arc<Schedule>, Pacing)>> {
        match &self.benchmark {
            Benchmark::Scheduled(schedule, pacing, _) => Ok(Some((Arc::clone(schedule), *pacing))),
            Benchmark::AllAtOnce(schedule) => Ok(Some((Arc::clone(schedule), Pacing::FreeRunning))),
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
            Benchmark::Scheduled(..) | Benchmark::AllAtOnce(_) => false,
            Benchmark::Listed(algorithm, _) => !is_direct(algorithm),
            _ => true,
        }
    }

    /// Whether many send to one rank in a step, and nothing prevents ranks from running ahead.
    pub(super) fn runs_many_to_one(&self) -> bool {
        match &self.benchmark {
            Benchmark::Scheduled(schedule, pacing, _) => schedule.rule == Rule::ManyToOne && pacing.adds_nothing(),
            Benchmark::Listed(algorithm, _) => Complete::of(algorithm) == Some(Complete::Linear),
            _ => false,
        }
    }

    /// Whether the machine's own broadcast network does it.
    pub(crate) fn is_hardware(&self) -> bool {
        matches!(&self.benchmark, Benchmark::Listed(algorithm, _) if algorithm.needs().multicast())
    }

    /// Whether its ranks begin operations without waiting for others.
    pub(super) fn overlaps(&self) -> bool {
        match &self.benchmark {
            Benchmark::Scheduled(_, pacing, _) => *pacing == Pacing::Overlapped,
            Benchmark::Rings(rings, _) => rings.len() > 1,
            Benchmark::AllAtOnce(_) => true,
            _ => false,
        }
    }

    /// The rings of an all-reduce whose order of ranks is its own.
    pub fn rings(&self) -> Option<&[WeightedRing]> {
        match &self.benchmark {
            Benchmark::Rings(rings, _) => Some(rings),
            _ => None,
        }
    }

    /// Its approximate cost.
    pub(super) fn cost(&self) -> &Cost {
        &self.cost
    }

    /// The time of its longest chain of messages without contention. [ps]
    pub(super) fn by_formula(&self, model: &Model) -> Duration {
        self.chain(|stretch| stretch.bytes, model)
    }

    /// The same if all its messages were empty. [ps]
    pub(super) fn by_formula_of_empty_messages(&self, model: &Model) -> Duration {
        self.chain(|_| Bytes(0), model)
    }

    fn chain(&self, size: impl Fn(&Stretch) -> Bytes, model: &Model) -> Duration {
        let part = |stretch: &Stretch| {
            let (send, receive) = (model.send_time(size(stretch)), model.receive_time(size(stretch)));
            stretch.sends * send.picoseconds() as f64 + stretch.receives * receive.picoseconds() as f64
        };
        Duration::from_picoseconds(self.cost.chain.iter().map(part).sum::<f64>().round() as u64)
    }
}
