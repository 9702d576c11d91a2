//! The steps of pairwise exchange, restricted to the messages of a pattern.

use crate::schedule::{Pattern, Schedule};

/// Pairwise scheduling: a message from i to j goes in step i xor j, as in pairwise exchange. Ranks that have nothing
/// for each other are idle in that step, and a step may be empty.
///
/// ```text
///   step       1         2         3                P = 4; 1 and 3 have nothing for each other,
///           0 <-> 1   0 -> 2    0 <-> 3             2 has nothing for 0
///           2 <-> 3             1 <-> 2
/// ```
///
/// P - 1 steps for a power of two of ranks, empty ones included. For other numbers of ranks, a message from i to j
/// goes in step j - i mod P, as in the pairwise complete exchange.
///
/// Source: CM-5 paper, section 4.2.
pub fn pairwise(pattern: &Pattern) -> Schedule {
    let ranks = pattern.ranks();
    let mut steps = vec![Vec::new(); ranks as usize - 1];
    for &message in pattern.messages() {
        let (i, j) = (message.from.0, message.to.0);
        let step = if ranks.is_power_of_two() {
            i ^ j
        } else if j > i {
            j - i
        } else {
            j + (ranks - i)
        };
        steps[step as usize - 1].push(message);
    }
    Schedule::new(ranks, steps)
}
