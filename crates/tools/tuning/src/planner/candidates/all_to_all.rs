//! Complete exchanges, and exchanges by a pattern.

use std::sync::Arc;

use collectives::all_to_all::{ALL_AT_ONCE, Complete, Irregular, all_at_once};
use collectives::catalogue::{Cost, Stretch, halvings};
use collectives::schedule::{Measures, Pacing, Pattern, Schedule};
use plan_format::AlgorithmSpec;
use quantities::{Bytes, Duration};

use super::{Candidate, Candidates};
use crate::benchmark::Benchmark;

/// The most messages whose steps are worked out in order to pace them.
const MOST_PACED: u64 = 1 << 20;
/// The most messages for which every algorithm makes a schedule.
const MOST_SCHEDULED: usize = 1 << 22;
/// The most messages and ranks together for which the decomposition, whose time is their square, makes a schedule.
const MOST_DECOMPOSED: usize = 1 << 14;

pub(super) fn complete(ranks: u32, bytes: Bytes) -> Candidates {
    let mut found = Candidates::default();
    let n = f64::from(ranks);
    for algorithm in Complete::all() {
        if let Err(error) = algorithm.check(ranks) {
            found.left_out.push((algorithm.name().to_string(), error.to_string()));
            continue;
        }
        let steps = f64::from(halvings(ranks));
        let half = Bytes(bytes.0.saturating_mul(u64::from(ranks / 2)));
        let (messages, size, stretch) = match algorithm {
            Complete::Recursive | Complete::Bruck => (n * steps, half, Stretch::of(0.0, steps, half)),
            Complete::Linear => (n * n, bytes, Stretch::of(n * n, 0.0, bytes)),
            Complete::Pairwise | Complete::Balanced => (n * n, bytes, Stretch::of(0.0, n, bytes)),
        };
        found.all.push(Candidate {
            name: algorithm.name().to_string(),
            benchmark: Benchmark::Complete { algorithm, bytes, reshuffle: Duration::ZERO },
            cost: Cost { messages, bytes: messages * size.0 as f64, chain: vec![stretch], ..Cost::default() },
            spec: AlgorithmSpec::name(algorithm.name()),
        });
        let is_small = u64::from(ranks) * u64::from(ranks) <= MOST_PACED;
        if let Some(irregular) = algorithm.irregular().filter(|_| is_small)
            && let Ok(schedule) = algorithm.schedule(ranks, bytes)
        {
            let paced = [Pacing::ReceiverConfirmed, Pacing::Barrier, Pacing::Overlapped];
            found.all.extend(in_paces(irregular, Arc::new(schedule), &paced));
        }
    }
    found
}

pub(super) fn irregular(pattern: &Pattern) -> Candidates {
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
