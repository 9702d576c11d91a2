//! How fast tables spread over servers (LH*LH) are built in the two worlds.
//!
//! Every case runs in a process of its own, so that its peak of resident memory is its own too. One line a case: inserts, servers at the
//! end, seconds, messages a second [1e6/s], the peak of resident memory [MB], and whether it is done within the time and the memory
//! that are aimed at.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::process::Command;
use std::time::Instant;

use machines::model::{Acknowledged, LogGp, SendMode};
use maquette_virtual_worlds::clock::Clock;
use maquette_virtual_worlds::network_world::{NetworkWorld, Options, Run};
use programs::linear_hash::{Growth, KeyHash, LinearHash, RankEnd, random_words};
use quantities::{Bytes, Duration};

/// LogGOPSim's parameters where none are given; every message goes at once.
const MODEL: LogGp = LogGp {
    latency: Duration::from_nanoseconds(2_500),
    overhead: Duration::from_nanoseconds(1_500),
    gap: Duration::from_nanoseconds(1_000),
    gap_per_byte: Duration::from_nanoseconds(6),
    overhead_per_byte: Duration::ZERO,
    rendezvous: None,
};

/// What is built, and what is aimed at.
struct Case {
    name: &'static str,
    inserts: u32,
    servers: u32,
    /// [s]
    seconds: f64,
    /// [MB]
    megabytes: f64,
}

const CASES: [Case; 2] = [
    Case { name: "parsytec-cc-16", inserts: 180_000, servers: 11, seconds: 1.0, megabytes: 4_000.0 },
    Case { name: "clock", inserts: 10_000_000, servers: 4_096, seconds: 30.0, megabytes: 4_000.0 },
];
const CLIENTS: u32 = 5;
const SENSITIVITY: f64 = 0.8;

fn main() {
    let asked = std::env::args().nth(1);
    match CASES.iter().find(|case| asked.as_deref() == Some(case.name)) {
        Some(case) => case.run(),
        None => CASES.iter().for_each(Case::run_alone),
    }
}

impl Case {
    /// Runs it in another process.
    fn run_alone(&self) {
        let program = std::env::current_exe().expect("this program has a file");
        let status = Command::new(program).arg(self.name).status().expect("this program starts again");
        assert!(status.success(), "{} ended with {status}", self.name);
    }

    fn program(&self) -> LinearHash {
        // So little that the last server is in the table before the last key.
        let capacity = u64::from(self.inserts) * 19 / 20 * 5 / 4 / u64::from(self.servers);
        LinearHash {
            servers: self.servers,
            clients: CLIENTS,
            keys: random_words(self.inserts, 1),
            body: Bytes(0),
            hash: KeyHash::Uniform,
            growth: Growth {
                capacity,
                sensitivity: SENSITIVITY,
                shrink: None,
                apart: false,
                most_servers: self.servers,
                chunk: 1_260, // 32 KiB
            },
            server_time: Duration::ZERO,
            then: Vec::new(),
            finish_splits: true,
        }
    }

    fn build(&self, program: &LinearHash) -> Run<RankEnd> {
        if self.name == "clock" {
            return Clock::new(MODEL).run_any_with_answer(program.ranks(), program);
        }
        let mut machine = machines::load(self.name).expect("a preset");
        machine.node.send = SendMode::Synchronous { acknowledged: Acknowledged::OnArrival };
        NetworkWorld::new(&machine, Options::default()).run_any_with_answer(program.ranks(), program)
    }

    fn run(&self) {
        let start = Instant::now();
        let (ends, answer) = self.build(&self.program()).expect("the program fits the world");
        let seconds = start.elapsed().as_secs_f64();
        let in_the_table =
            |end: &&Result<RankEnd, _>| matches!(end, Ok(RankEnd::Server(server)) if server.entries.is_some());
        let (megabytes, verdict) = (peak_resident_megabytes(), |reached| if reached { "reached" } else { "missed" });
        println!(
            "{} inserts={} servers={} seconds={seconds:.2} aim={} {} millions_per_second={:.2} peak_megabytes={megabytes:.0} aim={} {}",
            self.name,
            self.inserts,
            ends.iter().filter(in_the_table).count(),
            self.seconds,
            verdict(seconds < self.seconds),
            answer.messages as f64 / seconds / 1e6,
            self.megabytes,
            verdict(megabytes < self.megabytes),
        );
    }
}

/// The most memory that this process has held; none, where the system does not tell. [MB]
fn peak_resident_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse().unwrap_or(0.0);
    kibibytes * 1024.0 / 1e6
}
