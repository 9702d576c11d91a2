//! How long turns of the loop take: nobody waits longer for others than one.

use std::time::Duration;

/// The upper bounds of the classes. [us]
pub const BOUNDS: [u64; 12] = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 500_000, 2_500_000];

/// A histogram of turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// How many there were in each class, and how many beyond the last.
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

    /// How many took at most each bound, by bounds.
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.classes.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        BOUNDS.into_iter().zip(counts)
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.classes.iter().sum()
    }

    /// How long all took together.
    pub const fn sum(&self) -> Duration {
        self.sum
    }
}
