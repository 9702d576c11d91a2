//! Simulations that follow from a seed, one after another.
//!
//! | variable | what it says |
//! |---|---|
//! | `SEEDS` | how many seeds; without it as many as are done in some seconds |
//! | `FIRST` | the first of them; 0 without it |
//! | `SEED` | this one alone |

use std::panic::{AssertUnwindSafe, catch_unwind};

/// After so many seeds it is told how far the run is, when more were asked for than usual.
const TOLD: u64 = 1_000;

fn from_environment(name: &str) -> Option<u64> {
    #[allow(clippy::disallowed_methods)] // more seeds than usual, or a single one, for a person who asks for it
    let value = std::env::var(name).ok();
    value.map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}: allowed is a number")))
}

/// Simulates with each seed that is asked for, or with the first `usual` ones, and says how many these were. `test` is a part of the test's name.
///
/// # Panics
/// When simulations have failed: with their seeds, after all are done.
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
        if asked.is_some() && done % TOLD == 0 {
            eprintln!("{test}: {done} of {runs} seeds, {} of them failed", failed.len());
        }
    }
    assert!(failed.is_empty(), "{test}: {} of {runs} seeds failed: {failed:?}", failed.len());
    runs
}
