//! Simulations, one per seed, one after another.
//!
//! | variable | meaning |
//! |---|---|
//! | `SEEDS` | the number of seeds; by default as many as take a few seconds |
//! | `FIRST` | the first seed; by default 0 |
//! | `SEED` | only this seed |

use std::panic::{AssertUnwindSafe, catch_unwind};

/// If `SEEDS` is set, the progress is printed each time this number of seeds is done.
const REPORTED: u64 = 1_000;

fn from_environment(name: &str) -> Option<u64> {
    #[allow(clippy::disallowed_methods)] // more seeds than usual, or a single one, on request
    let value = std::env::var(name).ok();
    value.map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}: allowed is a number")))
}

/// Simulates with each requested seed, or with the first `usual` ones, and returns their number. `test` is a part of
/// the test's name.
///
/// # Panics
/// If simulations have failed: with their seeds, after all are done.
pub fn of_each_seed(test: &str, usual: u64, mut simulate: impl FnMut(u64)) -> u64 {
    let (asked, first) = (from_environment("SEEDS"), from_environment("FIRST").unwrap_or(0));
    let seeds = match from_environment("SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + asked.unwrap_or(usual),
    };
    let (runs, mut failed) = (seeds.end - seeds.start, Vec::new());
    for (done, seed) in (1..).zip(seeds) {
        if catch_unwind(AssertUnwindSafe(|| simulate(seed))).is_err() {
            eprintln!("again: SEED={seed} cargo test -p maquette-store --test specification {test}");
            failed.push(seed);
        }
        if asked.is_some() && done % REPORTED == 0 {
            eprintln!("{test}: {done} of {runs} seeds, {} of them failed", failed.len());
        }
    }
    assert!(failed.is_empty(), "{test}: {} of {runs} seeds failed: {failed:?}", failed.len());
    runs
}
