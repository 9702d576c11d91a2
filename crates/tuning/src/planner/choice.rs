//! Chooses which candidates are run and which are only estimated.

use std::iter::Peekable;
use std::sync::atomic::{AtomicBool, Ordering};
use std::vec::IntoIter;

use endpoint::Result;
use machines::model::{Channel, Interconnect, Machine, NodeId, Switching};
use programs::postal::Lambda;
use quantities::{Bytes, Duration};

use super::bound::{self, Bound};
use super::candidates::{self, Candidate, Candidates};
use super::model::{Model, arrives_before_receive};
use super::question::Question;
use experiment::parallel::{Watch, map};

/// The work of a plan, in packets times channels crossed: about ten seconds on one core.
pub const BUDGET: f64 = 2e7;
/// A candidate whose estimate is more than this many times the best time is not run. The estimate ignores contention, but is
/// otherwise not exact either.
const HOPELESS: f64 = 2.5;
/// How many candidates are run before checking again which are hopeless.
const BATCH: usize = 4;
/// A candidate with more messages than this is estimated by a formula, not by a run without contention.
const MOST_RUN: f64 = 2e6;
/// How many pairs of nodes are examined for the mean length of a path.
const PAIRS: u32 = 64;
/// The work of a message without contention, relative to a packet that crosses a channel.
const MESSAGE: f64 = 0.5;
/// The work of a frame through an Ethernet, with its acknowledgement.
const FRAME: f64 = 10.0;
/// The work of a flit of a packet that waits in a wormhole network: flits move in long runs.
const FLIT: f64 = 0.005;
/// The same if channels wait for slots again and again, which breaks the runs up.
const FLIT_OF_BROKEN_RUNS: f64 = 0.1;

/// How a time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// It was run on the machine's model.
    Simulated,
    /// It was run, or worked out, without contention, with costs measured by two small runs.
    Estimated,
}

/// The predicted time of a candidate.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The candidate.
    pub candidate: Candidate,
    /// Its time.
    pub time: Duration,
    /// How that is known.
    pub source: Source,
}

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All candidates that the machine can run, fastest first: those that were run, then those that were estimated.
    pub predictions: Vec<Prediction>,
    /// The lower bound on the time of every candidate.
    pub bound: Bound,
    /// Candidates that are excluded, and why.
    pub left_out: Vec<(String, String)>,
    /// t0 and lambda of the machine.
    pub model: Model,
    /// Whether somebody interrupted before everything was run.
    pub interrupted: bool,
    /// The budget with which every promising candidate would have been run, if it is more than was available.
    pub sufficient_budget: Option<f64>,
}

/// The effort to make.
pub struct Effort<'a> {
    /// The most work, in packets times channels crossed.
    pub budget: f64,
    /// lambda, if the machine is that of the postal model.
    pub lambda: Option<Lambda>,
    /// Called from any thread with the number of candidates examined so far, and of all.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Once true, no further candidate is run.
    pub interrupted: &'a AtomicBool,
    /// How many are run in parallel, which does not affect what is run.
    pub threads: usize,
}

/// Finds the fastest algorithm for `question` on `machine`.
///
/// ```text
///   measure t0 and lambda by two small runs
///   estimate all candidates without contention, and put them in order
///   a few at a time:  leave out those whose work exceeds the rest of the budget
///                     end if the next estimate is hopeless compared with the best time
///                     run them
/// ```
///
/// # Errors
/// If the machine can't even do the small runs.
pub fn plan(question: &Question, machine: &Machine, effort: &Effort<'_>) -> Result<Plan> {
    let model = Model::measured(machine, question, effort.lambda)?;
    let Candidates { all, mut left_out } = candidates::all(question, machine, &model)?;
    let estimated = Estimates { question, machine, model: &model, effort }.in_order(all, &mut left_out);
    let trials = Trials {
        question,
        machine,
        effort,
        hops: mean_hops(machine),
        left: effort.budget,
        of: estimated.len(),
        waiting: estimated.into_iter().peekable(),
        simulated: Vec::new(),
        estimated: Vec::new(),
        left_out,
    };
    let Outcome { predictions, left_out, sufficient_budget } = trials.run();
    let interrupted = effort.interrupted.load(Ordering::Relaxed);
    let bound = bound::of(question, machine);
    Ok(Plan { predictions, bound, left_out, model, interrupted, sufficient_budget })
}

/// The result of the runs.
struct Outcome {
    /// All candidates that can be run, fastest first.
    predictions: Vec<Prediction>,
    left_out: Vec<(String, String)>,
    sufficient_budget: Option<f64>,
}

/// A candidate with its estimate.
type EstimatedCandidate = (Candidate, Duration);

/// The runs of promising candidates.
struct Trials<'a> {
    question: &'a Question,
    machine: &'a Machine,
    effort: &'a Effort<'a>,
    /// Channels that a packet crosses.
    hops: f64,
    /// The rest of the budget.
    left: f64,
    /// How many candidates there are.
    of: usize,
    /// The candidates that have not been examined, most promising first.
    waiting: Peekable<IntoIter<EstimatedCandidate>>,
    simulated: Vec<Prediction>,
    estimated: Vec<Prediction>,
    left_out: Vec<(String, String)>,
}

impl Trials<'_> {
    /// Runs what the budget allows.
    fn run(mut self) -> Outcome {
        while !self.effort.interrupted.load(Ordering::Relaxed) {
            let batch = self.next_batch();
            if batch.is_empty() {
                break;
            }
            self.run_batch(batch);
        }
        let sufficient_budget = self.sufficient_budget();
        self.estimated.extend(self.waiting.map(only_estimated));
        self.simulated.sort_by_key(|prediction| prediction.time);
        self.estimated.sort_by_key(|prediction| prediction.time);
        self.simulated.append(&mut self.estimated);
        Outcome { predictions: self.simulated, left_out: self.left_out, sufficient_budget }
    }

    /// The next few that are neither hopeless nor beyond the budget.
    fn next_batch(&mut self) -> Vec<EstimatedCandidate> {
        let best = self.best();
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some(next) = self.waiting.next_if(|(_, estimate)| !is_hopeless(*estimate, best))
        {
            let work = work(&next.0, self.machine, self.hops);
            if work <= self.left {
                self.left -= work;
                batch.push(next);
            } else {
                self.estimated.push(only_estimated(next));
            }
        }
        batch
    }

    /// The best time so far.
    fn best(&self) -> Option<Duration> {
        self.simulated.iter().map(|prediction| prediction.time).min()
    }

    /// The budget that would have sufficed, if something promising exceeded it.
    fn sufficient_budget(&self) -> Option<f64> {
        let best = self.best();
        let promising = self.estimated.iter().filter(|it| !is_hopeless(it.time, best));
        let beyond: f64 = promising.map(|it| work(&it.candidate, self.machine, self.hops)).sum();
        let ended = !self.effort.interrupted.load(Ordering::Relaxed);
        (ended && beyond > 0.0).then_some(self.effort.budget - self.left + beyond)
    }

    fn run_batch(&mut self, batch: Vec<EstimatedCandidate>) {
        let Trials { question, machine, effort, of, .. } = *self;
        let before = self.simulated.len() + self.estimated.len() + self.left_out.len();
        let progress = |done: usize, _| (effort.progress)((before + done).min(of), of);
        let watch = Watch { progress: &progress, interrupted: effort.interrupted, threads: effort.threads };
        let times = map(&batch, &watch, |(candidate, _)| candidate.time(machine, question.ranks()));
        for (next, time) in batch.into_iter().zip(times) {
            match time {
                Some(Ok(time)) => {
                    self.simulated.push(Prediction { candidate: next.0, time, source: Source::Simulated });
                }
                Some(Err(error)) => self.left_out.push((next.0.name, error.to_string())),
                None => self.estimated.push(only_estimated(next)),
            }
        }
    }
}

/// Whether a candidate with this estimate is not worth running, compared with the best time.
fn is_hopeless(estimate: Duration, best: Option<Duration>) -> bool {
    best.is_some_and(|best| estimate.picoseconds() as f64 > HOPELESS * best.picoseconds() as f64)
}

fn only_estimated((candidate, time): EstimatedCandidate) -> Prediction {
    Prediction { candidate, time, source: Source::Estimated }
}

/// The basis of estimates.
struct Estimates<'a> {
    question: &'a Question,
    machine: &'a Machine,
    model: &'a Model,
    effort: &'a Effort<'a>,
}

impl Estimates<'_> {
    /// All candidates with their estimates, most promising first.
    fn in_order(&self, all: Vec<Candidate>, left_out: &mut Vec<(String, String)>) -> Vec<EstimatedCandidate> {
        let simple = self.model.machine(self.machine);
        let watch = Watch { progress: &|_, _| {}, interrupted: self.effort.interrupted, threads: self.effort.threads };
        let estimates = map(&all, &watch, |candidate| self.estimate(candidate, &simple));
        let mut estimated = Vec::new();
        for (candidate, estimate) in all.into_iter().zip(estimates) {
            match estimate.unwrap_or_else(|| Ok(candidate.by_formula(self.model))) {
                Ok(time) => estimated.push((candidate, time)),
                Err(error) => left_out.push((candidate.name, error.to_string())),
            }
        }
        estimated.sort_by_key(|(_, time)| *time);
        estimated
    }

    /// The approximate time of a candidate; `simple` is the machine without contention.
    fn estimate(&self, candidate: &Candidate, simple: &Machine) -> Result<Duration> {
        let Estimates { question, machine, model, .. } = self;
        match by_hardware(machine, question.bytes()) {
            Some(time) if candidate.is_hardware() => Ok(time),
            // Many ranks with messages ready for one receiver keep it busy, and the busiest rank determines the time.
            _ if candidate.runs_many_to_one() && arrives_before_receive(machine) => {
                Ok(bound::without_forwarding(question, machine).time + model.receive_time(Bytes(0)))
            }
            _ if candidate.cost().messages <= MOST_RUN => candidate.time(simple, question.ranks()),
            _ => Ok(candidate.by_formula(model)),
        }
    }
}

/// The time of a broadcast in hardware, if there is one: only the machine itself has it.
pub(super) fn by_hardware(machine: &Machine, bytes: Bytes) -> Option<Duration> {
    let network = machine.control_network.as_ref()?;
    Some(network.overhead * 2 + network.latency + network.rate.time_of(bytes))
}

/// The work of running a candidate, in packets times channels crossed.
fn work(candidate: &Candidate, machine: &Machine, hops: f64) -> f64 {
    let load = candidate.cost();
    match &machine.interconnect {
        Interconnect::Flits(network) => {
            let packets = load.messages + load.bytes / network.packet.payload.0 as f64;
            let flits = load.bytes / network.packet.flit.0 as f64;
            let flit = match network.switching {
                Switching::Wormhole if network.channels.iter().any(waits_for_slots) => FLIT_OF_BROKEN_RUNS,
                Switching::Wormhole => FLIT,
                _ => 0.0,
            };
            (packets + flit * flits) * hops
        }
        Interconnect::Ethernet(ethernet) => (load.messages + load.bytes / ethernet.payload.0 as f64) * FRAME,
        Interconnect::LogGp(_) => load.messages * MESSAGE,
    }
}

/// Whether a channel's buffer is full before the first slot comes back, so that flits go over it in bursts.
fn waits_for_slots(channel: &Channel) -> bool {
    let loop_time = channel.flit_time + channel.wire_latency + channel.credit_latency;
    channel.buffer > 1 && channel.flit_time * u64::from(channel.buffer) < loop_time
}

/// The mean number of channels that a packet crosses, over some pairs of nodes.
fn mean_hops(machine: &Machine) -> f64 {
    let Interconnect::Flits(network) = &machine.interconnect else { return 1.0 };
    let pair = |number: u32| {
        // Two strides without a common factor cover all kinds of distances.
        let from = number.wrapping_mul(2_654_435_761) % machine.nodes;
        let to = (from.wrapping_add(1).wrapping_add(number.wrapping_mul(40_503))) % machine.nodes;
        network.route(NodeId(from), NodeId(to)).len() as f64
    };
    (0..PAIRS).map(pair).sum::<f64>() / f64::from(PAIRS)
}
