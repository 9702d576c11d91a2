//! The speed of making schedules of irregular exchanges.
//!
//! One line per case: algorithm, ranks, density, messages, seconds, steps and the fewest possible steps, and the ratio
//! of the sum of the steps' largest transfers to the busiest rank's bytes. The time is the least of three. If there is
//! a target, it comes last. Arguments name the algorithms; without any, all are measured.

use maquette_collectives::all_to_all::Irregular;
use maquette_collectives::schedule::{Pattern, Schedule, Transfer};
use quantities::Bytes;

/// The number of ranks, and the messages in millionths of those of a complete exchange.
const CASES: [(u32, u64); 5] = [(32, 500_000), (128, 1_000_000), (512, 500_000), (1_024, 100_000), (1_024, 1_000_000)];

/// Time limits: algorithm, ranks, millionths. [s]
const AIMS: [(Irregular, u32, u64, f64); 3] = [
    (Irregular::Greedy, 1_024, 100_000, 0.2),
    (Irregular::EdgeColouring, 1_024, 100_000, 0.2),
    (Irregular::EdgeColouring, 512, 500_000, 0.2),
];

/// The most messages for which a decomposition into permutations is measured: its time grows with the square of their
/// number.
const MOST_FOR_BIRKHOFF: usize = 20_000;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with("--")).collect();
    for (ranks, millionths) in CASES {
        let pattern = uneven(&Pattern::random(ranks, millionths, Bytes(1), 1).expect("the pattern is right"));
        for algorithm in Irregular::all() {
            let too_long = algorithm == Irregular::Birkhoff && pattern.messages().len() > MOST_FOR_BIRKHOFF;
            if (wanted.is_empty() || wanted.iter().any(|name| name == algorithm.name())) && !too_long {
                let aim = AIMS.iter().find(|aim| (aim.0, aim.1, aim.2) == (algorithm, ranks, millionths));
                measure(algorithm, &pattern, aim.map(|aim| aim.3));
            }
        }
    }
}

/// The same messages with sizes from 1 to 1000 bytes.
fn uneven(pattern: &Pattern) -> Pattern {
    let size = |message: &Transfer| 1 + (u64::from(message.from.0) * 7_919 + u64::from(message.to.0) * 104_729) % 1_000;
    let messages = pattern.messages().iter().map(|message| Transfer { bytes: Bytes(size(message)), ..*message });
    Pattern::of_messages(pattern.ranks(), messages.collect()).expect("the pattern is right")
}

fn measure(algorithm: Irregular, pattern: &Pattern, aim: Option<f64>) {
    let (mut best, mut schedule) = (f64::INFINITY, Schedule::default());
    for _ in 0..3 {
        let seconds;
        (seconds, schedule) = timed(algorithm, pattern);
        best = best.min(seconds);
    }
    schedule.check(pattern).expect("the schedule is right");
    let measures = schedule.measures();
    let verdict = |aim: f64| format!(" aim={aim} {}", if best < aim { "reached" } else { "missed" });
    println!(
        "{} ranks={} density={:.0}% messages={} seconds={best:.4} steps={} least_steps={} bytes_in_step={:.2}{}",
        algorithm.name(),
        pattern.ranks(),
        pattern.density() * 100.0,
        pattern.messages().len(),
        measures.carrying_steps,
        measures.least_steps,
        measures.bytes_in_step.0 as f64 / measures.most_bytes_of_a_rank.0 as f64,
        aim.map(verdict).unwrap_or_default(),
    );
}

#[allow(clippy::disallowed_methods)] // a benchmark measures real time
fn timed(algorithm: Irregular, pattern: &Pattern) -> (f64, Schedule) {
    let start = std::time::Instant::now();
    let schedule = algorithm.schedule(pattern);
    (start.elapsed().as_secs_f64(), schedule)
}
