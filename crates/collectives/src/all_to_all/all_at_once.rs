//! An exchange without a schedule, as a baseline for schedules.

use crate::schedule::{Pattern, Rule, Schedule};

/// Its name, wherever users meet it.
pub const ALL_AT_ONCE: &str = "all-at-once";

/// An exchange without a schedule: one step, in which each rank begins all its receives, from the rank before it on,
/// and all its sends, to the rank after it on, and waits for all of them.
///
/// ```text
///   rank 2 of 4     from 1, from 0, from 3, and meanwhile to 3, to 0, to 1
/// ```
///
/// Only the pattern's messages; under LogGP at least T = o + (D - 1) g + (W - D) G + L + o, where no rank sends or
/// receives more than D messages, nor more than W bytes. Operations overlap, so it is run as an
/// [`crate::schedule::OverlappedSchedule`]. [`super::posted`] is the same for messages with content, where a rank knows
/// only its own part of the pattern.
pub fn all_at_once(pattern: &Pattern) -> Schedule {
    let step = pattern.messages().to_vec();
    let steps = if step.is_empty() { Vec::new() } else { vec![step] };
    Schedule::with_rule(pattern.ranks(), Rule::ManyToMany, steps)
}
