//! One receiver per step.

use crate::schedule::{Pattern, Rule, Schedule};

/// Linear scheduling: in step i all ranks that have a message for rank i send it, and rank i receives them one after
/// the other, from the lowest-numbered sender up.
///
/// ```text
///   step       1         2         3
///           0 <- 1    1 <- 2    2 <- 0
///           0 <- 2              2 <- 1
/// ```
///
/// P steps. Where a send waits for its receiver, the senders lose all that time: the receives of all ranks happen one
/// after the other, T = M (o + L + o + (s-1) G) for M messages of s bytes, under LogGP.
///
/// Source: CM-5 paper, sections 3.1 and 4.1.
pub fn linear(pattern: &Pattern) -> Schedule {
    let mut steps = vec![Vec::new(); pattern.ranks() as usize];
    for &message in pattern.messages() {
        steps[message.to.0 as usize].push(message);
    }
    Schedule::with_rule(pattern.ranks(), Rule::ManyToOne, steps)
}
