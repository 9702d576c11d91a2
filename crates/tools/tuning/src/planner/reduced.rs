//! Smaller copies of an algorithm's run, from whose times that of the whole follows nearly.
//!
//! An exchange in steps is as long as so many times a few of its steps, taken at equal distances: its early steps may
//! go to near ranks and the others to far ones. Where a few steps are still too many, messages are shorter, too, as are
//! those of a broadcast or an all-reduce, whose steps are all different. What a machine does then is nearly linear in
//! the length, so two lengths tell the time of the whole:
//!
//! ```text
//!   k of S steps                          T = S / k T(k)
//!   messages of 1/d and of 2/d the size   T = T(1/d) + (d - 1) (T(2/d) - T(1/d))
//! ```

use std::sync::Arc;

use collectives::all_to_all::{Complete, Irregular};
use collectives::catalogue::Parameters;
use collectives::schedule::{Pacing, Rule, Schedule, Transfer};
use collectives::{AnyAlgorithm, Collective};
use endpoint::{Error, Result};
use machines::model::Machine;
use quantities::{Bytes, Duration};

use super::candidates::{Candidate, most_messages_of_a_rank};
use super::model::{most_in_packets, other_protocol_to};
use super::question::Question;
use super::work::Work;
use crate::benchmark::{Benchmark, Site};

/// The fewest steps of which a copy consists: fewer say little about the others.
const FEWEST_STEPS: usize = 16;
/// The least number of packets of the longest message of a copy: shorter ones would be those of another kind of
/// algorithm.
const PACKETS: u64 = 4;
/// The same in flits where each flit is work of its own: far shorter than a packet, which holds its path meanwhile all
/// the same.
const FLITS: u64 = 512;
/// A copy may be worth this many times the work that it should be, if it cannot be smaller.
const TOLERATED: f64 = 3.0;

/// How a copy differs from the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// How many of the steps, or of the messages of the busiest rank where there are no steps; all, if there is no
    /// number.
    pub steps: Option<(usize, usize)>,
    /// Messages are shortened to this part and to twice this part of their size; not at all if it is 1.
    pub divisor: u64,
}

/// A copy, and what it is worth in work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub(super) reduction: Reduction,
    pub(super) work: f64,
}

impl Copy {
    /// The largest copy of `candidate` that is worth about `allowance`; none if the smallest one is worth far more.
    pub(super) fn of(candidate: &Candidate, question: &Question, site: &Site<'_>, allowance: f64) -> Option<Copy> {
        let work = Work::on(site);
        let all = work.of(candidate);
        let steps = candidate.steps(question);
        let affordable = ((steps as f64 * allowance / all) as usize).min(steps);
        let kept = affordable.max(FEWEST_STEPS).min(steps).max(1);
        let share = kept as f64 / steps.max(1) as f64;
        let taken = (kept < steps).then_some((kept, steps));
        if share * all <= allowance {
            return Some(Copy { reduction: Reduction { steps: taken, divisor: 1 }, work: share * all });
        }
        // Two lengths, of one and of two parts.
        let bytes = work.of_bytes(candidate);
        let worth = |divisor: u64| share * (2.0 * (all - bytes) + 3.0 * bytes / divisor as f64);
        let least = share * 2.0 * (all - bytes);
        let wanted = if allowance > least { (share * 3.0 * bytes / (allowance - least)).ceil() } else { f64::MAX };
        let divisor = (wanted as u64).min(largest_divisor(site.machine, candidate.longest_message()));
        let copy = if divisor < 4 {
            Copy { reduction: Reduction { steps: taken, divisor: 1 }, work: share * all }
        } else {
            Copy { reduction: Reduction { steps: taken, divisor }, work: worth(divisor) }
        };
        (copy.work <= TOLERATED * allowance && copy.work < all).then_some(copy)
    }

    /// Runs it, and says how long the whole takes by it.
    ///
    /// # Errors
    /// If the machine can't run it.
    pub(super) fn time(&self, candidate: &Candidate, site: &Site<'_>) -> Result<Duration> {
        let Reduction { steps, divisor } = self.reduction;
        let time = |parts: u64| -> Result<f64> {
            let steps = steps.map(|(kept, _)| kept);
            let benchmark = reduced(candidate, site.ranks, steps, Part { parts, of: divisor })?;
            Ok(benchmark.time_on(site)?.picoseconds() as f64)
        };
        let one = time(1)?;
        let whole = if divisor == 1 { one } else { one + (divisor - 1) as f64 * (time(2)? - one).max(0.0) };
        let share = steps.map_or(1.0, |(kept, all)| all as f64 / kept as f64);
        Ok(Duration::from_picoseconds((whole * share).round() as u64))
    }
}

/// By how much the longest message can be shortened so that it still goes by the same protocol, in several packets or
/// many flits.
fn largest_divisor(machine: &Machine, longest: Bytes) -> u64 {
    let Some(least) = most_in_packets(machine, PACKETS, FLITS) else { return 1 };
    let Bytes(other) = other_protocol_to(machine);
    let same_protocol = if longest.0 > other { other.saturating_add(1) } else { 1 };
    (longest.0 / same_protocol.max(least)).max(1)
}

/// A part of a size.
#[derive(Clone, Copy, Debug)]
struct Part {
    parts: u64,
    of: u64,
}

impl Part {
    /// The part of `bytes`, rounded up.
    fn of(self, Bytes(bytes): Bytes) -> Bytes {
        let part = (u128::from(bytes) * u128::from(self.parts)).div_ceil(u128::from(self.of));
        Bytes(u64::try_from(part).unwrap_or(u64::MAX))
    }
}

/// The copy of a candidate with so many of its steps and this part of its bytes.
fn reduced(candidate: &Candidate, ranks: u32, steps: Option<usize>, part: Part) -> Result<Benchmark> {
    Ok(match candidate.benchmark() {
        Benchmark::Scheduled(schedule, pacing, algorithm) => {
            let steps = steps.unwrap_or(usize::MAX);
            Benchmark::Scheduled(Arc::new(some_steps(schedule, steps, part)), *pacing, *algorithm)
        }
        Benchmark::AllAtOnce(schedule) => Benchmark::AllAtOnce(Arc::new(thinned(schedule, steps, part))),
        Benchmark::Listed(algorithm, bytes) => {
            if let (Some((complete, irregular)), Some(steps)) = (in_steps(algorithm), steps) {
                let schedule = some_steps(&complete.schedule(ranks, part.of(*bytes))?, steps, Part { parts: 1, of: 1 });
                return Ok(Benchmark::Scheduled(Arc::new(schedule), Pacing::FreeRunning, irregular));
            }
            Benchmark::Listed(made(candidate, algorithm.collective(), ranks, part)?, part.of(*bytes))
        }
        Benchmark::Rings(rings, bytes) => Benchmark::Rings(Arc::clone(rings), part.of(*bytes)),
        Benchmark::ListedInOrder(algorithm, group, bytes) => {
            let made = made(candidate, algorithm.collective(), ranks, part)?;
            Benchmark::ListedInOrder(made, group.clone(), part.of(*bytes))
        }
        other @ (Benchmark::PingPong(_)
        | Benchmark::OneWay(_)
        | Benchmark::SendTime(..)
        | Benchmark::ReceiveTime(..)
        | Benchmark::Launched(..)) => other.clone(),
    })
}

/// An algorithm whose steps are those of a schedule, and what makes that of any pattern.
fn in_steps(algorithm: &AnyAlgorithm) -> Option<(Complete, Irregular)> {
    let complete = Complete::of(algorithm)?;
    Some((complete, complete.irregular()?))
}

/// The algorithm of a candidate, with segments of this part of their size.
fn made(candidate: &Candidate, collective: Collective, ranks: u32, part: Part) -> Result<AnyAlgorithm> {
    let spec = candidate.spec();
    let name = spec.algorithm.get_ref();
    let segment = spec.segment.map(|segment| part.of(segment));
    let mut parameters =
        Parameters { segment, lambda: spec.lambda, t0: spec.t0, alpha: spec.alpha, ..Parameters::of(ranks) };
    let made = collective.algorithm(name, &mut parameters);
    let made = made.ok_or_else(|| Error::Unfit(format!("there is no algorithm {name}")))?;
    made.map_err(|missing| Error::Unfit(format!("{name} lacks a parameter: {missing}")))
}

/// So many of the steps of a schedule that carry messages, at equal distances, with this part of their bytes. Where
/// many send to one rank in a step and the next step does not wait for them, steps are not alike: all are kept, with as
/// large a share of the senders of each.
fn some_steps(schedule: &Schedule, kept: usize, part: Part) -> Schedule {
    let carrying: Vec<&[Transfer]> = schedule.carrying_steps().collect();
    let kept = kept.min(carrying.len());
    let shortened = |transfer: &Transfer| Transfer { bytes: part.of(transfer.bytes), ..*transfer };
    let steps: Vec<Vec<Transfer>> = match schedule.rule {
        Rule::OneEach | Rule::ManyToMany => {
            let at_distances = (0..kept).map(|place| carrying[place * carrying.len() / kept]);
            at_distances.map(|step| step.iter().map(shortened).collect()).collect()
        }
        Rule::ManyToOne => {
            let (kept, all) = (kept as u64, carrying.len() as u64);
            // Of each rank's messages as large a share as of each step's: the senders move on from step to step.
            let stays = |transfer: &&Transfer| {
                let place = (u64::from(transfer.from.0) + u64::from(transfer.to.0)) % all;
                (place + 1) * kept / all > place * kept / all
            };
            carrying.iter().map(|step| step.iter().filter(stays).map(shortened).collect()).collect()
        }
    };
    Schedule::with_rule(schedule.ranks, schedule.rule, steps)
}

/// Messages all at once: so many of those of the rank that sends or receives most, and as large a share of those of
/// others, taken at equal distances, with this part of their bytes.
fn thinned(schedule: &Schedule, kept: Option<usize>, part: Part) -> Schedule {
    let most = most_messages_of_a_rank(schedule);
    let kept = kept.unwrap_or(most);
    let mut of_senders: Vec<Vec<Transfer>> = vec![Vec::new(); schedule.ranks as usize];
    schedule.transfers().for_each(|transfer| of_senders[transfer.from.0 as usize].push(*transfer));
    let messages = of_senders.iter().flat_map(|own| {
        let number = (own.len() * kept).div_ceil(most.max(1));
        (0..number).map(move |place| own[place * own.len() / number])
    });
    let step: Vec<Transfer> = messages.map(|message| Transfer { bytes: part.of(message.bytes), ..message }).collect();
    let steps = if step.is_empty() { Vec::new() } else { vec![step] };
    Schedule::with_rule(schedule.ranks, schedule.rule, steps)
}
