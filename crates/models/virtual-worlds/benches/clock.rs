//! How fast the clock world is: a broadcast to a million ranks, exchanges of many messages, and a GOAL schedule whose
//! messages are all posted at once.
//!
//! Every case runs in a process of its own, so that its peak of resident memory is its own, too. One line per case: the
//! name, ranks, messages, seconds, millions of messages per second, peak resident megabytes, simulated microseconds. A
//! pairwise exchange among 16,384 ranks should take less than a minute.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use collectives::all_to_all::{CompleteExchange, Linear, Pairwise};
use collectives::broadcast::BinomialBroadcast;
use endpoint::{Message, Program, World};
use machines::model::LogGp;
use maquette_virtual_worlds::answer::Answer;
use maquette_virtual_worlds::loggp::Clock;
use programs::benchmarks::{AllPairs, PartnerOrder};
use quantities::{Bytes, Duration, Rank};
use replay::goal::{RunGoal, Schedule};

/// LogGOPSim's parameters where none are given.
const MODEL: LogGp = LogGp {
    latency: Duration::from_nanoseconds(2_500),
    overhead: Duration::from_nanoseconds(1_500),
    gap: Duration::from_nanoseconds(1_000),
    gap_per_byte: Duration::from_nanoseconds(6),
    overhead_per_byte: Duration::ZERO,
    rendezvous: Some(Bytes(65_536)),
};

const CASES: [&str; 11] = [
    "binomial-broadcast-1048576",
    "pairwise-4096",
    "pairwise-16384",
    "pairwise-sendrecv-16384",
    "linear-4096",
    "all-to-all-shift-3000",
    "all-to-all-shuffled-1024",
    "goal-all-at-once-1024",
    "goal-dissemination-16384",
    "goal-pairwise-1024",
    "goal-binomial-65536",
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
        "pairwise-4096" => measure(case, 4096, &CompleteExchange::new(Pairwise::at_once(), bytes)),
        "pairwise-16384" => measure(case, 1 << 14, &CompleteExchange::new(Pairwise::in_turns(), bytes)),
        "pairwise-sendrecv-16384" => {
            measure(case, 1 << 14, &CompleteExchange::new(Pairwise::at_once(), bytes));
        }
        "linear-4096" => measure(case, 4096, &CompleteExchange::new(Linear, bytes)),
        "all-to-all-shift-3000" => measure(case, 3000, &AllPairs { bytes, rounds: 1, order: PartnerOrder::Shift }),
        "goal-all-at-once-1024" => measure_goal(case, 1024, all_at_once),
        "goal-dissemination-16384" => measure_goal(case, 1 << 14, dissemination),
        "goal-pairwise-1024" => measure_goal(case, 1024, pairwise),
        "goal-binomial-65536" => measure_goal(case, 1 << 16, binomial),
        _ => measure(case, 1024, &AllPairs { bytes, rounds: 8, order: PartnerOrder::Shuffled { seed: 1 } }),
    }
}

#[allow(clippy::disallowed_methods)] // a benchmark measures real time
fn measure<P: Program>(case: &str, ranks: u32, program: &P) {
    let start = std::time::Instant::now();
    let (results, answer) = Clock::new(MODEL).run(ranks, program).expect("the program fits the world");
    let seconds = start.elapsed().as_secs_f64();
    assert!(results.iter().all(Result::is_ok));
    print_case(case, ranks, seconds, &answer);
}

/// A schedule: one line for reading it, one for running it. The text is read from a file piece by piece, as the command
/// does.
#[allow(clippy::disallowed_methods)] // as above
fn measure_goal(case: &str, ranks: u32, items: fn(u32, u32) -> String) {
    let path = std::env::temp_dir().join(format!("maquette-{}-{case}.goal", std::process::id()));
    write_goal(&path, ranks, items).expect("a temporary file can be written");
    let start = std::time::Instant::now();
    let text = std::fs::File::open(&path).expect("it was written");
    let bytes = text.metadata().map_or(0, |metadata| metadata.len());
    let schedule = Schedule::read(case, text).expect("the text is right");
    let seconds = start.elapsed().as_secs_f64();
    let _ = std::fs::remove_file(&path);
    println!(
        "{case}-read bytes={bytes} seconds={seconds:.3} megabytes_per_second={:.0} peak_megabytes={}",
        bytes as f64 / seconds / 1e6,
        peak_resident_megabytes().map_or("unknown".to_owned(), |megabytes| format!("{megabytes:.0}")),
    );
    let start = std::time::Instant::now();
    let run = Clock::new(MODEL).on_arrival().run_goal(&schedule).expect("the schedule comes to its end");
    print_case(case, ranks, start.elapsed().as_secs_f64(), &run.answer);
}

/// Writes a schedule rank by rank, so that it is never in memory.
fn write_goal(path: &Path, ranks: u32, items: fn(u32, u32) -> String) -> io::Result<()> {
    let mut file = io::BufWriter::new(std::fs::File::create(path)?);
    writeln!(file, "num_ranks {ranks}")?;
    for rank in 0..ranks {
        write!(file, "\nrank {rank} {{\n{}}}\n", items(rank, ranks))?;
    }
    file.flush()
}

/// An all-to-all in which no operation waits for another.
fn all_at_once(rank: u32, ranks: u32) -> String {
    let others = (1..ranks).map(|step| (rank + step) % ranks);
    others.map(|other| format!("send 8b to {other}\nrecv 8b from {other}\n")).collect()
}

/// In step k every rank sends to the one 2^k after it, once it has the message of step k - 1.
fn dissemination(rank: u32, ranks: u32) -> String {
    let step = |k: u32| {
        let (to, from) = ((rank + (1 << k)) % ranks, (rank + ranks - (1 << k)) % ranks);
        let requires = if k > 0 { format!("l{} requires l{}\n", 2 * k + 1, 2 * k) } else { String::new() };
        let (send, receive) = (2 * k + 1, 2 * k + 2);
        format!("l{send}: send 8b to {to} tag {k}\nl{receive}: recv 8b from {from} tag {k}\n{requires}")
    };
    (0..ranks.ilog2()).map(step).collect()
}

/// In step k ranks i and i xor k exchange messages, once each has finished step k - 1.
fn pairwise(rank: u32, ranks: u32) -> String {
    let step = |k: u32| {
        let (send, receive, other) = (2 * k - 1, 2 * k, rank ^ k);
        let before = |before: u32| format!("l{send} requires l{before}\n");
        let requires = if k > 1 { before(receive - 2) + &before(send - 2) } else { String::new() };
        format!("l{send}: send 8b to {other} tag {k}\nl{receive}: recv 8b from {other} tag {k}\n{requires}")
    };
    (1..ranks).map(step).collect()
}

/// A binomial broadcast from rank 0.
fn binomial(rank: u32, ranks: u32) -> String {
    let reach = (rank + 1).next_power_of_two();
    let receive =
        if rank > 0 { format!("l0: recv 8b from {} tag 1\n", rank - reach / 2) } else { "l0: calc 0\n".to_owned() };
    let reaches = std::iter::successors(Some(reach), |reach| Some(reach * 2)).take_while(|reach| rank + reach < ranks);
    let send = |(number, reach): (u32, u32)| {
        format!("l{number}: send 8b to {} tag 1\nl{number} requires l{}\n", rank + reach, number - 1)
    };
    receive + &(1..).zip(reaches).map(send).collect::<String>()
}

fn print_case(case: &str, ranks: u32, seconds: f64, answer: &Answer) {
    println!(
        "{case} ranks={ranks} messages={} seconds={seconds:.3} millions_per_second={:.2} peak_megabytes={} simulated_us={}",
        answer.messages,
        answer.messages as f64 / seconds / 1e6,
        peak_resident_megabytes().map_or("unknown".to_owned(), |megabytes| format!("{megabytes:.0}")),
        answer.makespan().picoseconds() / 1_000_000,
    );
}

/// The most memory that this process has held, where the system reports it. [MB]
fn peak_resident_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}
