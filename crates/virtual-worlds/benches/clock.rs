//! How fast the clock world is: a broadcast to a million ranks, exchanges of many messages, and a GOAL schedule whose
//! messages are all posted at once.
//!
//! Every case runs in a process of its own, so that its peak of resident memory is its own too. One line a case:
//! the name, ranks, messages, seconds, millions of messages per second, peak resident megabytes, simulated microseconds. A
//! pairwise exchange among 16,384 ranks shall take less than a minute.

use std::process::Command;

use endpoint::{Message, Program, World};
use machines::model::LogGp;
use maquette_virtual_worlds::answer::Answer;
use maquette_virtual_worlds::loggp::Clock;
use programs::all_to_all::{Linear, Pairwise};
use programs::benchmarks::{AllPairs, Order};
use programs::broadcast::BinomialBroadcast;
use programs::goal::Schedule;
use programs::schedule;
use quantities::{Bytes, Duration, Rank};

/// LogGOPSim's parameters where none are given.
const MODEL: LogGp = LogGp {
    latency: Duration::from_nanoseconds(2_500),
    overhead: Duration::from_nanoseconds(1_500),
    gap: Duration::from_nanoseconds(1_000),
    gap_per_byte: Duration::from_nanoseconds(6),
    overhead_per_byte: Duration::ZERO,
    rendezvous: Some(Bytes(65_536)),
};

const CASES: [&str; 8] = [
    "binomial-broadcast-1048576",
    "pairwise-4096",
    "pairwise-16384",
    "pairwise-send-first-16384",
    "linear-4096",
    "all-to-all-shift-3000",
    "all-to-all-shuffled-1024",
    "goal-all-at-once-1024",
];

fn main() {
    match std::env::args().nth(1).filter(|argument| CASES.contains(&argument.as_str())) {
        Some(case) => run(&case),
        None => CASES.iter().for_each(|case| run_alone(case)),
    }
}

/// Runs one case in another process.
fn run_alone(case: &str) {
    let program = std::env::current_exe().expect("this program has a file");
    let status = Command::new(program).arg(case).status().expect("this program starts again");
    assert!(status.success(), "{case} ended with {status}");
}

fn run(case: &str) {
    let bytes = Bytes(8);
    match case {
        "binomial-broadcast-1048576" => {
            measure(case, 1 << 20, &BinomialBroadcast { root: Rank(0), message: Message::of_size(bytes) });
        }
        "pairwise-4096" => measure(case, 4096, &Pairwise { bytes, order: schedule::Order::SendFirst }),
        "pairwise-16384" => measure(case, 1 << 14, &Pairwise::of_size(bytes)),
        "pairwise-send-first-16384" => {
            measure(case, 1 << 14, &Pairwise { bytes, order: schedule::Order::SendFirst });
        }
        "linear-4096" => measure(case, 4096, &Linear { bytes }),
        "all-to-all-shift-3000" => measure(case, 3000, &AllPairs { bytes, rounds: 1, order: Order::Shift }),
        "goal-all-at-once-1024" => measure_goal(case, 1024),
        _ => measure(case, 1024, &AllPairs { bytes, rounds: 8, order: Order::Shuffled { seed: 1 } }),
    }
}

#[allow(clippy::disallowed_methods)] // a benchmark measures real time
fn measure<P: Program>(case: &str, ranks: u32, program: &P) {
    let start = std::time::Instant::now();
    let (results, answer) = Clock::new(MODEL).run(ranks, program).expect("the program fits the world");
    let seconds = start.elapsed().as_secs_f64();
    assert!(results.iter().all(Result::is_ok));
    tell(case, ranks, seconds, &answer);
}

/// An all-to-all as a schedule in which nothing waits for anything; one line for reading it, one for running it.
#[allow(clippy::disallowed_methods)] // as above
fn measure_goal(case: &str, ranks: u32) {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        let others = (1..ranks).map(|step| (rank + step) % ranks);
        let items: String = others.map(|other| format!("send 8b to {other}\nrecv 8b from {other}\n")).collect();
        text.push_str(&format!("rank {rank} {{\n{items}}}\n"));
    }
    let start = std::time::Instant::now();
    let schedule = Schedule::parse(case, text.as_bytes()).expect("the text is right");
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{case}-read bytes={} seconds={seconds:.3} megabytes_per_second={:.0}",
        text.len(),
        text.len() as f64 / seconds / 1e6
    );
    let start = std::time::Instant::now();
    let run = Clock::new(MODEL).run_goal(&schedule).expect("the schedule comes to its end");
    tell(case, ranks, start.elapsed().as_secs_f64(), &run.answer);
}

fn tell(case: &str, ranks: u32, seconds: f64, answer: &Answer) {
    println!(
        "{case} ranks={ranks} messages={} seconds={seconds:.3} millions_per_second={:.2} peak_megabytes={} simulated_us={}",
        answer.messages,
        answer.messages as f64 / seconds / 1e6,
        peak_resident_megabytes().map_or("unknown".to_owned(), |megabytes| format!("{megabytes:.0}")),
        answer.makespan().picoseconds() / 1_000_000,
    );
}

/// The most memory that this process has held, where the system tells. [MB]
fn peak_resident_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}
