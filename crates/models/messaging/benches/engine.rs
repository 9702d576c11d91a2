//! The speed of the state machine by itself: messages of 64 MiB to one rank and to seven, between engines that hand
//! each other their datagrams at once; also with 1% loss at each receiver, with parity packets against it, and among
//! many ranks that are quiet.
//!
//! `cargo bench -p maquette-messaging --bench engine parity` runs only the cases whose names contain `parity`.
//!
//! One line per case: the bytes that the source sends per second while all engines share one core, what each datagram
//! costs all of them together [us], and what the whole message takes [s]. Times are the best of three runs. A gigabit
//! Ethernet carries 118 MB/s.

#[path = "../tests/specification/faults/draws.rs"]
#[allow(dead_code)] // only the numbers are needed
mod draws;

use std::collections::VecDeque;

use draws::Draws;
use endpoint::{Message, Source, Tag, Tags};
use maquette_messaging::{Awaited, Datagram, Destination, Engine, Parameters, Posted, Repeat};
use quantities::{Duration, Rank, Time};

const SIZE: usize = 64 << 20;
const RUNS: usize = 3;

/// What is run.
#[derive(Clone, Copy)]
struct Case {
    /// How many ranks there are, and how many of them take part.
    ranks: u32,
    active: u32,
    broadcast: bool,
    parameters: Parameters,
    /// One in this many datagrams is lost at each receiver; none if it is zero.
    lost: u64,
}

/// Runs until all ranks have the message; returns how many datagrams that took.
fn run(Case { ranks, active, broadcast, parameters, lost }: Case, message: &Message) -> u64 {
    let mut engines: Vec<Engine> = (0..active)
        .map(|rank| Engine::new(Rank(rank), ranks, parameters).expect("the parameters are allowed"))
        .collect();
    let what =
        if broadcast { Awaited::BroadcastOf(Rank(0)) } else { Awaited::Message(Source::Rank(Rank(0)), Tags::Any) };
    let sent = if broadcast {
        engines[0].multicast(message.clone())
    } else {
        engines[0].send(Rank(1), Tag::default(), message.clone())
    };
    assert_eq!(sent, Ok(None));
    let posted: Vec<Posted> =
        engines[1..].iter_mut().map(|engine| engine.post(Time::ZERO, what).expect("the source is there")).collect();
    let (mut now, mut left, mut draws) = (Time::ZERO, active - 1, Draws(1));
    let mut flying: VecDeque<(Rank, Destination, Datagram)> = VecDeque::new();
    while left > 0 {
        // If nothing is in flight, skip to when an engine has something to do.
        let waits = engines.iter().filter_map(Engine::deadline).min().filter(|_| flying.is_empty());
        now = waits.unwrap_or(now).max(now + Duration::from_microseconds(1));
        for (from, to, datagram) in std::mem::take(&mut flying) {
            for (rank, engine) in (0..).map(Rank).zip(&mut engines) {
                let is_for_it = rank != from && (to == Destination::All || to == Destination::One(rank));
                if is_for_it && (lost == 0 || draws.below(lost) > 0) {
                    engine.take(now, &datagram);
                }
            }
        }
        for engine in &mut engines {
            engine.wake(now);
            let from = engine.rank();
            flying.extend(engine.drain(now).into_iter().map(|(to, datagram)| (from, to, datagram)));
        }
        for (engine, posted) in engines[1..].iter_mut().zip(&posted) {
            let received = engine.received(now, *posted).expect("nobody is gone");
            left -= u32::from(received.is_some_and(|received| received.message.size() == message.size()));
        }
    }
    engines.iter().map(|engine| engine.counts().sent).sum()
}

fn main() {
    let message = Message::from(vec![1; SIZE]);
    let mut cases = Vec::new();
    for (ranks, broadcast) in [(2, false), (2, true), (8, true)] {
        for repeat in [Repeat::GoBackN, Repeat::Selective] {
            let parameters = Parameters { window: 64, repeat, ..Parameters::default() };
            cases.push(Case { ranks, active: ranks, broadcast, parameters, lost: 0 });
        }
    }
    let parameters = Parameters { window: 64, ..Parameters::default() };
    cases.extend([8, 1_000, 20_000].map(|ranks| Case { ranks, active: 2, broadcast: false, parameters, lost: 0 }));
    cases.extend([0, 100].map(|lost| Case {
        ranks: 8,
        active: 8,
        broadcast: true,
        parameters: Parameters::for_bulk(),
        lost,
    }));
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for case in cases {
        let name = name(case);
        if name.contains(&wanted) {
            measure(&name, case, &message);
        }
    }
}

fn name(Case { ranks, active, broadcast, parameters, lost }: Case) -> String {
    let what = if broadcast { "broadcast" } else { "message" };
    let lost = if lost == 0 { 0.0 } else { 100.0 / lost as f64 };
    let repeat = match parameters.repeat {
        Repeat::GoBackN => "go-back-n",
        Repeat::Selective => "selective repeat",
        Repeat::Parity(_) => "parity",
    };
    format!("{what} to {} of {ranks} ranks, {repeat}, {lost}% lost", active - 1)
}

#[allow(clippy::disallowed_methods)] // a benchmark reads the clock
fn measure(name: &str, case: Case, message: &Message) {
    let (mut best, mut datagrams) = (f64::INFINITY, 0);
    for _ in 0..RUNS {
        let begun = std::time::Instant::now();
        datagrams = run(case, message);
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let (rate, each) = (SIZE as f64 / best / 1e6, best * 1e6 / datagrams as f64);
    println!("{name}: {rate:.0} MB/s, {each:.2} us a datagram, {best:.3} s");
}
