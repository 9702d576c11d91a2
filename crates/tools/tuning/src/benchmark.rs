//! Programs that are run only for their time.

use std::sync::Arc;

use collectives::Group;
use collectives::all_reduce::{AllReduceByRings, AllReduceMessages, Inputs, Operator, Ring, Sends, WeightedRing};
use collectives::all_to_all::Irregular;
use collectives::schedule::{OverlappedSchedule, Pacing, Schedule, Scheduled, SendReceiveOrder};
use collectives::{AnyAlgorithm, CollectiveProgram, Data, MulticastProgram, OverlappedProgram, Performs as _, Sizes};
use endpoint::{Error, Program, Result};
use machines::model::{Machine, NodeId};
use programs::benchmarks::PingPong;
use programs::measure::Experiment as PostalExperiment;
use quantities::{Bytes, Duration, Rank, Time};
use virtual_worlds::answer::Answer;
use virtual_worlds::flit::world::Options;
use virtual_worlds::jobs::Placed;
use virtual_worlds::stop::Stop;

use crate::latency::{MeasureError, Survey};
use crate::launched::{self, Repetitions};
use endpoint::World;
use experiment::Experiment;
use experiment::simulate::{simulate, simulated};
use formats::interrupt;

/// A program that can be timed on any machine.
#[derive(Clone, Debug)]
pub enum Benchmark {
    /// A message from one rank to another and back.
    PingPong(PingPong),
    /// Half of a round trip.
    OneWay(PingPong),
    /// A schedule, with its algorithm.
    Scheduled(Arc<Schedule>, Pacing, Irregular),
    /// Messages without a schedule, all at once.
    AllAtOnce(Arc<Schedule>),
    /// A collective of the list, with blocks of this many bytes and root 0.
    Listed(AnyAlgorithm, Bytes),
    /// The same with ranks in this order, of which the first is the root.
    ListedInOrder(AnyAlgorithm, Group, Bytes),
    /// An all-reduce along rings with an order of their own, with this many bytes per rank.
    Rings(Arc<Vec<WeightedRing>>, Bytes),
    /// t0 of the postal model, by its first experiment.
    SendTime(Survey, Bytes),
    /// lambda t0 of the postal model, by its first experiment.
    ReceiveTime(Survey, Bytes),
    /// Any program of the catalogue, with its parameters and ranks, which launched ranks run so many times.
    Launched(Box<Experiment>, Repetitions),
}

impl Benchmark {
    /// How long it takes on `ranks` ranks of `machine`.
    ///
    /// # Errors
    /// If the machine can't run it.
    pub fn time(&self, machine: &Machine, ranks: u32) -> Result<Duration> {
        match self {
            Benchmark::PingPong(program) => round_trip(machine, ranks, program),
            Benchmark::OneWay(program) => {
                Ok(Duration::from_picoseconds(round_trip(machine, ranks, program)?.picoseconds() / 2))
            }
            Benchmark::SendTime(survey, bytes) => postal(survey, machine, *bytes, |t0, _| t0),
            Benchmark::ReceiveTime(survey, bytes) => postal(survey, machine, *bytes, |t0, lambda| t0 * lambda),
            Benchmark::Launched(experiment, repetitions) => {
                launched::time(experiment, machine, *repetitions).map_err(unfit)
            }
            _ => self.time_on(&Site::all(machine, ranks)),
        }
    }

    /// How long a program with an answer takes on `site`.
    ///
    /// # Errors
    /// If the machine can't run it.
    pub fn time_on(&self, site: &Site<'_>) -> Result<Duration> {
        Ok(self.answer(site, Options::default())?.makespan().since(Time::ZERO))
    }

    /// How long it takes on `site`, if that is at most `limit`: the run ends when that much time has passed.
    ///
    /// # Errors
    /// If the machine can't run it; [`Error::Stopped`] if it was interrupted.
    pub fn time_within(&self, site: &Site<'_>, limit: Duration) -> Result<Option<Duration>> {
        let options = Options { stop: Stop::NEVER.or_after(Time::ZERO + limit), ..Options::default() };
        match self.answer(site, options) {
            Ok(answer) => Ok(Some(answer.makespan().since(Time::ZERO)).filter(|time| *time <= limit)),
            Err(Error::Stopped) if !interrupt::requested() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The answer of a run on `site`. The postal experiments and launched programs, which are many runs, have none.
    ///
    /// # Errors
    /// If the machine can't run it.
    pub fn answer(&self, site: &Site<'_>, options: Options) -> Result<Answer> {
        let &Site { machine, ranks, .. } = site;
        let site = Run { site, options };
        match self {
            Benchmark::PingPong(program) | Benchmark::OneWay(program) => site.run(program),
            Benchmark::Scheduled(schedule, Pacing::Overlapped, _) | Benchmark::AllAtOnce(schedule) => {
                site.run(&OverlappedSchedule::new(schedule))
            }
            Benchmark::Scheduled(schedule, pacing, _) => {
                site.run(&Scheduled::in_order(schedule, *pacing, self.order(machine, ranks)))
            }
            Benchmark::Listed(algorithm, bytes) => {
                let sends = sends(machine, algorithm.largest_message(ranks, *bytes));
                site.collective(algorithm, Group::from_source(Rank(0), ranks)?, sends, *bytes)
            }
            Benchmark::ListedInOrder(algorithm, group, bytes) => {
                site.collective(algorithm, group.clone(), sends(machine, *bytes), *bytes)
            }
            Benchmark::Rings(rings, bytes) => match rings.as_slice() {
                [ring] => {
                    let (group, inputs) = (ring.order.clone(), Inputs::OfSize(*bytes));
                    let (operator, sends) = (Operator::Xor, sends(machine, *bytes));
                    site.run(&AllReduceMessages { algorithm: Ring.into(), group, operator, inputs, sends })
                }
                rings => {
                    let (rings, operator) = (rings.to_vec(), Operator::Xor);
                    site.run(&AllReduceByRings { rings, operator, inputs: Vec::new(), bytes: *bytes })
                }
            },
            Benchmark::SendTime(..) | Benchmark::ReceiveTime(..) | Benchmark::Launched(..) => Ok(Answer::default()),
        }
    }

    /// The order of one of `ranks` ranks that both sends and receives in a step: they alternate if sends wait for their
    /// receivers and the algorithm is one of the CM-5 paper, on whose machine they waited.
    pub fn order(&self, machine: &Machine, ranks: u32) -> SendReceiveOrder {
        let of_the_paper = |largest| {
            let waits = machine.waits_for_receivers(largest);
            if waits { SendReceiveOrder::Alternating } else { SendReceiveOrder::Sendrecv }
        };
        match self {
            Benchmark::Listed(algorithm, bytes) => {
                algorithm.order(ranks, of_the_paper(algorithm.largest_message(ranks, *bytes)))
            }
            Benchmark::Scheduled(schedule, _, algorithm) => {
                let largest = schedule.transfers().map(|transfer| transfer.bytes).max().unwrap_or(Bytes(0));
                algorithm.order(of_the_paper(largest))
            }
            _ => SendReceiveOrder::Sendrecv,
        }
    }
}

/// Where a program is run.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// How many ranks there are.
    pub ranks: u32,
    /// The node of each rank; if there are none, rank n is on node n.
    pub nodes: &'a [NodeId],
}

impl<'a> Site<'a> {
    /// The first nodes of `machine`, one for each of the ranks.
    pub const fn all(machine: &'a Machine, ranks: u32) -> Site<'a> {
        Site { machine, ranks, nodes: &[] }
    }

    /// The node of a rank.
    pub fn node_of(&self, rank: Rank) -> NodeId {
        self.nodes.get(rank.0 as usize).copied().unwrap_or(NodeId(rank.0))
    }
}

/// Where a program is run, and how.
struct Run<'a> {
    site: &'a Site<'a>,
    options: Options,
}

impl Run<'_> {
    fn run<P: Program>(&self, program: &P) -> Result<Answer> {
        let Site { machine, ranks, nodes } = self.site;
        whole(Placed::new(simulated(machine, self.options), nodes).run(*ranks, program)?)
    }

    /// A collective with blocks of `bytes` among the ranks of `group`, of which the first is the root.
    fn collective(&self, algorithm: &AnyAlgorithm, group: Group, sends: Sends, bytes: Bytes) -> Result<Answer> {
        let (algorithm, needs) = (algorithm.clone(), algorithm.needs());
        let (operator, sizes, data) = (Operator::Xor, Sizes::Same(bytes), Data::Sizes);
        let program = CollectiveProgram { algorithm, group, root: Rank(0), operator, sends, sizes, data };
        match (needs.multicast(), needs.overlap()) {
            (true, _) => self.run(&MulticastProgram(program)),
            (false, true) => self.run(&OverlappedProgram(program)),
            (false, false) => self.run(&program),
        }
    }
}

fn unfit(error: experiment::Error) -> Error {
    match error {
        experiment::Error::Program(error) => error,
        error => Error::Unfit(error.to_string()),
    }
}

/// The answer of a run in which no rank failed.
fn whole<T>((results, answer): (Vec<Result<T>>, Answer)) -> Result<Answer> {
    results.into_iter().try_for_each(|result| result.map(drop))?;
    Ok(answer)
}

fn round_trip(machine: &Machine, ranks: u32, program: &PingPong) -> Result<Duration> {
    let (results, _) = simulate(machine, Options::default(), ranks, program)?;
    let mut time = Duration::ZERO;
    for result in results {
        time += result?.into_iter().sum();
    }
    Ok(time)
}

fn postal(survey: &Survey, machine: &Machine, bytes: Bytes, figure: impl Fn(f64, f64) -> f64) -> Result<Duration> {
    let measured = survey.measure(machine, PostalExperiment::OneAnswer, bytes).map_err(|error| match error {
        MeasureError::Program(error) => error,
        MeasureError::Fit { .. } => Error::Unfit(error.to_string()),
    })?;
    Ok(Duration::from_picoseconds(figure(measured.send_time.value, measured.lambda.value).round() as u64))
}

/// When sends of `bytes` are complete on `machine`.
fn sends(machine: &Machine, bytes: Bytes) -> Sends {
    if machine.waits_for_receivers(bytes) { Sends::Synchronous } else { Sends::Early }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever interrupts a fit is told that, and not that a program can't run.
    #[test]
    fn a_program_that_was_stopped_is_not_unfit() {
        assert_eq!(unfit(experiment::Error::Program(Error::Stopped)), Error::Stopped);
        let lost = experiment::Error::Schedule(Error::NoSuchRank { rank: quantities::Rank(9), size: 8 });
        assert!(matches!(unfit(lost), Error::Unfit(_)));
    }
}
