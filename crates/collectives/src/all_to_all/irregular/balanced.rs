//! The steps of balanced exchange, restricted to the messages of a pattern.

use crate::schedule::{Pattern, Schedule};

/// Balanced scheduling: pairwise scheduling with the ranks numbered from 1, the last one 0. A message from i to j goes
/// in step (i + 1 mod P) xor (j + 1 mod P).
///
/// ```text
///   step       1         2         3                P = 4
///           0 <-> 3   0 <-> 2   0 <-> 1
///           1 <-> 2   1 <-> 3   2 <-> 3
/// ```
///
/// So clusters of ranks and groups of partners do not begin at the same numbers, and in every step some messages
/// leave the clusters. P - 1 steps for a power of two of ranks; otherwise one less than the next power of
/// two. Empty steps are included.
///
/// Source: CM-5 paper, section 4.3.
pub fn balanced(pattern: &Pattern) -> Schedule {
    let ranks = pattern.ranks();
    let mut steps = vec![Vec::new(); ranks.next_power_of_two() as usize - 1];
    for &message in pattern.messages() {
        let (i, j) = ((message.from.0 + 1) % ranks, (message.to.0 + 1) % ranks);
        steps[(i ^ j) as usize - 1].push(message);
    }
    Schedule::new(ranks, steps)
}
