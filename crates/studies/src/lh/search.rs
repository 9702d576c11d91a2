//! The origin of the hash and V: builds by five clients on 16 nodes with either hash and several V, and when their servers split.
//!
//! The words and their order are fixed, and nothing in a build is random.

use experiment::parallel;
use programs::linear_hash::KeyHash;

use super::figure2::largest_cascade;
use super::job::{CLIENTS, Job};
use super::simulate::run_with_capacity;
use crate::Watch;

/// The values of V that were tried. [entries]
const CAPACITIES: [u64; 5] = [2_500, 3_000, 6_000, 7_500, 8_100];

/// A hash and a V, and their results.
#[derive(Clone, Debug)]
pub struct Found {
    /// The hash.
    pub hash: KeyHash,
    /// V. [entries]
    pub capacity: u64,
    /// After how many inserts servers split.
    pub splits: Vec<usize>,
    /// The number of splits in the largest cascade.
    pub largest_cascade: usize,
}

/// The results of every hash and V.
///
/// # Errors
/// Why one cannot be run.
pub fn search(watch: &Watch<'_>) -> Result<Vec<Found>, String> {
    let all: Vec<(KeyHash, u64)> =
        KeyHash::all().into_iter().flat_map(|hash| CAPACITIES.map(|capacity| (hash, capacity))).collect();
    let progress = |_, _| {};
    let watch = parallel::Watch { progress: &progress, interrupted: watch.interrupted, threads: watch.threads };
    let most = CLIENTS[CLIENTS.len() - 1];
    let builds =
        parallel::map(&all, &watch, |(hash, capacity)| run_with_capacity(&Job::new(most).with_hash(*hash), *capacity));
    let found = all.into_iter().zip(builds).map(|((hash, capacity), measured)| {
        let measured = measured.ok_or("interrupted")??;
        let splits = measured.splits.iter().map(|split| split.inserts).collect();
        Ok(Found { hash, capacity, splits, largest_cascade: largest_cascade(&measured) })
    });
    found.collect()
}
