//! Clients and servers of LH*LH on a network that delays, loses, reorders and repeats messages, with servers that pause
//! for a while: every answer is right, and at the end every acknowledged key is stored once.
//!
//! | message | what the network may do to it | why that is enough |
//! |---|---|---|
//! | requests, including scans; forwards; answers | delay, reorder, lose, repeat | clients ask again; servers know the last request of each client |
//! | splits and merges, the token | delay | each is the next step between two servers, over an in-order connection |
//!
//! A paused server keeps its state, like one that waits for its processor. A server that loses its state loses its part
//! of the table for good: there are no copies, and nothing is promised.

mod broken;
mod linearizability;
mod network;
mod simulation;

use broken::Fault;
use network::Faults;
use quantities::splitmix64::Draws;
use simulation::{Case, Check, Simulation};

fn case(seed: u64) -> Case {
    let mut draws = Draws(seed ^ 0x5eed);
    let shrinks = draws.percent(60);
    Case {
        clients: 1 + draws.below(5) as u32,
        servers: 1 + draws.below(24) as u32,
        keys: 1 + draws.below(if shrinks { 50 } else { 200 }),
        requests: 20 + draws.below(if shrinks { 400 } else { 200 }),
        shrinks,
        faults: Faults {
            delay: 1 + draws.below(200),
            repeated: draws.below(30),
            lost: draws.below(2) * draws.below(20),
            stops: draws.below(3),
            stopped: 2_000,
        },
        fault: None,
    }
}

fn simulate(case: Case, seed: u64) -> Simulation {
    let mut simulation = Simulation::new(case, seed);
    simulation.run();
    simulation
}

/// The totals of all runs.
#[derive(Debug, Default)]
struct Seen {
    splits: u64,
    merges: u64,
    most_forwards: u32,
    sent_back: u64,
    asked_again: u64,
    lost: u64,
    concurrent: u64,
}

impl Seen {
    fn add(&mut self, simulation: &Simulation) {
        for suspect in &simulation.servers {
            self.splits += suspect.server.counts.splits;
            self.merges += suspect.server.counts.merges;
        }
        for client in &simulation.clients {
            self.sent_back += client.counts.bounced;
            self.asked_again += client.counts.repeated;
            self.most_forwards = self.most_forwards.max(client.counts.most_forwards);
        }
        self.lost += simulation.network.lost;
        self.concurrent += simulation.concurrent();
    }
}

/// Prints how to rerun a seed that fails in any way.
struct Again {
    seed: u64,
}

impl Drop for Again {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let seed = self.seed;
            eprintln!("again: SEED={seed} cargo test -p maquette-linear-hash --test specification faults every_answer");
        }
    }
}

/// `SEEDS=100000 cargo test --release -p maquette-linear-hash --test specification faults`; `SEED=n` runs one.
#[test]
fn every_answer_is_right_and_nothing_is_lost_or_stored_twice() {
    let from_environment = |name| {
        #[allow(clippy::disallowed_methods)] // more seeds than usual, or a single one, for a person who asks for it
        let value = std::env::var(name).ok();
        value.and_then(|value| value.parse::<u64>().ok())
    };
    let single = from_environment("SEED");
    let seeds = single.map_or(0..from_environment("SEEDS").unwrap_or(2_000), |seed| seed..seed + 1);
    let mut seen = Seen::default();
    for seed in seeds {
        let _again = Again { seed };
        let simulation = simulate(case(seed), seed);
        if let Some((check, wrong)) = simulation.wrong() {
            panic!("{check:?}: {wrong}");
        }
        seen.add(&simulation);
    }
    assert!(seen.most_forwards <= 2);
    println!("{seen:?}");
    if single.is_none() {
        let Seen { splits, merges, asked_again, lost, concurrent, .. } = seen;
        assert!([splits, merges, asked_again, lost, concurrent].iter().all(|&count| count > 0), "{seen:?}");
    }
}

/// A test of the test: it detects faulty servers, and names the check that did.
#[test]
fn servers_that_are_wrong_are_found_out() {
    let expected = [
        // The fault, the least number of 60 runs in which it is found, and the check that finds it most often.
        (Fault::LosesWhatItShips, 30, Check::Answers),
        (Fault::AppliesAgain, 20, Check::Answers),
        (Fault::ReadsWhatWas, 30, Check::Answers),
        (Fault::LeavesOutOfScans, 30, Check::Answers),
        (Fault::ScansTwice, 30, Check::Scans),
    ];
    for (fault, least, by) in expected {
        let checks = (0..60).filter_map(|seed| {
            let case = Case { fault: Some(fault), ..case(seed) };
            simulate(case, seed).wrong().map(|(check, _)| check)
        });
        let checks: Vec<Check> = checks.collect();
        let found_by = checks.iter().filter(|&&check| check == by).count();
        println!("{fault:?}: found {} times, {found_by} times by {by:?}", checks.len());
        assert!(found_by >= least, "{fault:?} was found by {checks:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| simulate(case(seed), seed);
    for seed in 0..20 {
        let (one, other) = (run(seed), run(seed));
        assert_eq!((one.now, one.histories), (other.now, other.histories));
    }
}
