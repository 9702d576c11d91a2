//! Exchanges by a pattern, and those whose steps are a schedule.

use std::sync::Arc;

use collectives::AnyAlgorithm;
use collectives::all_to_all::{ALL_AT_ONCE, Complete, Irregular, all_at_once};
use collectives::catalogue::{Cost, Stretch, halvings};
use collectives::schedule::{Measures, Pacing, Pattern, Rule, Schedule, Transfer};
use plan_format::AlgorithmSpec;
use quantities::{Bytes, Rank};

use super::{Candidate, Candidates};
use crate::benchmark::Benchmark;

/// The most messages whose steps are worked out in order to pace them.
const MOST_PACED: u64 = 1 << 20;
/// The most messages for which every algorithm makes a schedule.
const MOST_SCHEDULED: usize = 1 << 22;
/// The most messages and ranks together for which the decomposition, whose time is their square, makes a schedule.
const MOST_DECOMPOSED: usize = 1 << 14;

/// The steps of an algorithm of an exchange of the list, with each of several pacings; none if it forwards messages, or
/// has too many.
pub(super) fn of_steps(algorithm: &AnyAlgorithm, ranks: u32, bytes: Bytes) -> Vec<Candidate> {
    let is_small = u64::from(ranks) * u64::from(ranks) <= MOST_PACED;
    let Some(complete) = Complete::of(algorithm).filter(|_| is_small) else { return Vec::new() };
    match (complete.irregular(), complete.schedule(ranks, bytes)) {
        (Some(irregular), Ok(schedule)) => {
            let paced = [Pacing::ReceiverConfirmed, Pacing::Barrier, Pacing::Overlapped];
            in_paces(irregular, Arc::new(schedule), &paced)
        }
        (None, _) | (_, Err(_)) => Vec::new(),
    }
}

/// A complete exchange whose ranks begin all their messages at once, those to the nearest ranks first; why it is not
/// tried, if there are too many messages.
pub(super) fn at_once(algorithm: &AnyAlgorithm, ranks: u32, bytes: Bytes, cost: Cost) -> Result<Candidate, String> {
    let messages = u64::from(ranks) * u64::from(ranks - 1);
    if messages > MOST_PACED {
        return Err(format!("it would have {messages} messages under way at once; allowed are {MOST_PACED}"));
    }
    let shifts = (1..ranks).flat_map(|distance| (0..ranks).map(move |from| (from, (from + distance) % ranks)));
    let step = shifts.map(|(from, to)| Transfer { from: Rank(from), to: Rank(to), bytes }).collect();
    let schedule = Schedule::with_rule(ranks, Rule::ManyToMany, if ranks > 1 { vec![step] } else { Vec::new() });
    Ok(Candidate {
        name: algorithm.name().to_owned(),
        benchmark: Benchmark::AllAtOnce(Arc::new(schedule)),
        cost,
        spec: AlgorithmSpec::name(algorithm.name()),
    })
}

/// The schedules of a pattern, and its messages without one.
pub(super) fn candidates(pattern: &Pattern) -> Candidates {
    let mut found = Candidates::default();
    let messages = pattern.messages().len();
    for algorithm in Irregular::all() {
        let most = match algorithm {
            Irregular::Birkhoff => MOST_DECOMPOSED,
            Irregular::Linear | Irregular::Pairwise | Irregular::Balanced => usize::MAX,
            _ => MOST_SCHEDULED,
        };
        if messages + pattern.ranks() as usize > most {
            let why =
                format!("it would take too long to schedule {messages} messages; allowed is {most} with the ranks");
            found.left_out.push((algorithm.name().to_string(), why));
            continue;
        }
        let schedule = Arc::new(algorithm.schedule(pattern));
        found.all.extend(in_paces(algorithm, schedule, &Pacing::all()));
    }
    let degree = f64::from(pattern.most_messages_of_a_rank());
    let bytes: u64 = pattern.messages().iter().map(|message| message.bytes.0).sum();
    let mean = Bytes(bytes.checked_div(messages as u64).unwrap_or(0));
    found.all.push(Candidate {
        name: ALL_AT_ONCE.to_string(),
        benchmark: Benchmark::AllAtOnce(Arc::new(all_at_once(pattern))),
        cost: Cost {
            messages: messages as f64,
            bytes: bytes as f64,
            chain: vec![Stretch::of(degree, 1.0, mean)],
            ..Cost::default()
        },
        spec: AlgorithmSpec::name(ALL_AT_ONCE),
    });
    found
}

/// A schedule with each of several pacings.
fn in_paces(algorithm: Irregular, schedule: Arc<Schedule>, paces: &[Pacing]) -> Vec<Candidate> {
    let measures = schedule.measures();
    let rounds = f64::from(halvings(schedule.ranks));
    let candidate = |&pacing: &Pacing| {
        let Measures { carrying_steps, transfers, bytes, bytes_in_step, .. } = measures;
        let (steps, transfers) = (carrying_steps as f64, transfers as f64);
        let (more, empty) = match pacing {
            Pacing::FreeRunning | Pacing::Overlapped => (0.0, 0.0),
            Pacing::ReceiverConfirmed => (transfers, steps),
            Pacing::Barrier => (steps * f64::from(schedule.ranks) * rounds, steps * rounds),
        };
        let mean = Bytes(bytes_in_step.0.checked_div(carrying_steps as u64).unwrap_or(0));
        Candidate {
            name: format!("{}, {}", algorithm.name(), pacing.name()),
            benchmark: Benchmark::Scheduled(Arc::clone(&schedule), pacing, algorithm),
            cost: Cost {
                messages: transfers + more,
                bytes: bytes.0 as f64,
                chain: vec![Stretch::of(0.0, steps, mean), Stretch::of(0.0, empty, Bytes(0))],
                ..Cost::default()
            },
            spec: AlgorithmSpec { pacing: Some(pacing), ..AlgorithmSpec::name(algorithm.name()) },
        }
    };
    paces.iter().map(candidate).collect()
}
