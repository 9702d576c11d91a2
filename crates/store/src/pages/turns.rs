//! How long turns of the event loop take: no client waits longer than one turn for others.

use std::time::Duration;

/// The upper bounds of the classes. [us]
pub const BOUNDS: [u64; 12] = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 500_000, 2_500_000];

/// A histogram of turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// The number of turns in each class, and of those beyond the last bound.
    classes: [u64; BOUNDS.len() + 1],
    sum: Duration,
}

impl Turns {
    /// Counts a turn.
    #[inline]
    pub fn add(&mut self, took: Duration) {
        let microseconds = took.as_micros() as u64;
        let class = BOUNDS.iter().position(|&bound| microseconds <= bound).unwrap_or(BOUNDS.len());
        self.classes[class] += 1;
        self.sum += took;
    }

    /// For each bound, the number of turns that took at most that long.
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.classes.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        BOUNDS.into_iter().zip(counts)
    }

    /// The number of turns.
    pub fn count(&self) -> u64 {
        self.classes.iter().sum()
    }

    /// The time that all turns took together.
    pub const fn sum(&self) -> Duration {
        self.sum
    }
}
