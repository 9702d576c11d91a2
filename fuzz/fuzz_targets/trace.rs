//! Reads any bytes as the trace of a rank in each format. What is read alone is checked, and, if it is small, replayed:
//! none of it may fail.

#![no_main]

use endpoint::World;
use libfuzzer_sys::fuzz_target;
use maquette_fuzz::MODEL;
use replay::trace::{Algorithms, ComputeScale, FORMATS, FileRanks, RankCalls, Replay, Trace};
use virtual_worlds::loggp::Clock;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((calls, ..)) = RankCalls::read("fuzz.trace", bytes) {
        replay(vec![calls]);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for format in FORMATS {
        let mut reader = format.reader(1e9);
        if let Ok(ranks) = reader.add("fuzz.txt", text, FileRanks::All).and_then(|()| reader.finish()) {
            replay(ranks);
        }
    }
});

fn replay(ranks: Vec<RankCalls>) {
    let Ok(trace) = Trace::new(ranks) else { return };
    if trace.size() <= 100 && trace.calls() <= 1_000 {
        let replay = Replay::new(&trace, Algorithms::default(), ComputeScale::SAME);
        let _ = Clock::new(MODEL).run(trace.size(), &replay);
    }
}
