//! How fast the state machine is by itself: messages of 64 MiB to one rank and to seven, between engines that hand each other
//! their datagrams at once.
//!
//! A line each: the bytes that the source sends a second while all engines share one core, and what each datagram costs all of
//! them together [us]. The times are the best of three runs. A gigabit Ethernet carries 118 MB/s.

use std::collections::VecDeque;

use endpoint::Message;
use maquette_messaging::{Awaited, Datagram, Destination, Engine, Parameters, Repeat};
use quantities::{Duration, Rank, Time};

const SIZE: usize = 64 << 20;
const RUNS: usize = 3;

/// Runs until all ranks have the message; how many datagrams that took.
fn run(ranks: u32, parameters: Parameters, broadcast: bool, message: &Message) -> u64 {
    let mut engines: Vec<Engine> = (0..ranks)
        .map(|rank| Engine::new(Rank(rank), ranks, parameters).expect("the parameters are allowed"))
        .collect();
    let what = if broadcast { Awaited::BroadcastOf(Rank(0)) } else { Awaited::MessageFrom(Rank(0)) };
    let sent =
        if broadcast { engines[0].multicast(message.clone()) } else { engines[0].send(Rank(1), message.clone()) };
    assert_eq!(sent, Ok(None));
    for engine in &mut engines[1..] {
        engine.post(Time::ZERO, what).expect("the source is there");
    }
    let (mut now, mut left) = (Time::ZERO, ranks - 1);
    let mut flying: VecDeque<(Rank, Destination, Datagram)> = VecDeque::new();
    while left > 0 {
        now += Duration::from_microseconds(1);
        for engine in &mut engines {
            engine.wake(now);
            let from = engine.rank();
            flying.extend(engine.drain(now).into_iter().map(|(to, datagram)| (from, to, datagram)));
        }
        for (from, to, datagram) in flying.drain(..) {
            for (rank, engine) in (0..).map(Rank).zip(&mut engines) {
                if rank != from && (to == Destination::All || to == Destination::One(rank)) {
                    engine.take(now, &datagram);
                }
            }
        }
        for engine in &mut engines[1..] {
            let received = engine.received(now, what).expect("nobody is gone");
            left -= u32::from(received.is_some_and(|(_, received)| received.size() == message.size()));
        }
    }
    engines.iter().map(|engine| engine.counts().sent).sum()
}

#[allow(clippy::disallowed_methods)] // a benchmark reads the clock
fn main() {
    let message = Message::from(vec![1; SIZE]);
    for (ranks, broadcast) in [(2, false), (2, true), (8, true)] {
        for repeat in [Repeat::GoBackN, Repeat::Selective] {
            let parameters = Parameters { window: 64, repeat, ..Parameters::default() };
            let (mut best, mut datagrams) = (f64::INFINITY, 0);
            for _ in 0..RUNS {
                let begun = std::time::Instant::now();
                datagrams = run(ranks, parameters, broadcast, &message);
                best = best.min(begun.elapsed().as_secs_f64());
            }
            let (what, to) = (if broadcast { "broadcast" } else { "message" }, ranks - 1);
            let (rate, each) = (SIZE as f64 / best / 1e6, best * 1e6 / datagrams as f64);
            println!("{what} to {to}, {repeat:?}: {rate:.0} MB/s, {each:.2} us a datagram");
        }
    }
}
