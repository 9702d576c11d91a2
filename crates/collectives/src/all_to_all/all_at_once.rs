//! An exchange without a schedule, as a baseline for schedules.

use endpoint::{Endpoint, Needs, Result};
use quantities::{Bytes, Rank};

use super::direct::{direct, messages};
use super::{Algorithm, posted};
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;
use crate::schedule::{Pattern, Rule, Schedule};
use crate::shift::Shift;
use crate::{BlockAlgorithm, Blocks, Call};

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

/// All others, the nearest first: to send to, after this rank, and to receive from, before it.
pub(super) fn neighbours<E: Endpoint>(endpoint: &E) -> (Vec<Rank>, Vec<Rank>) {
    let (me, size) = (endpoint.rank(), endpoint.size());
    (1..size).map(|distance| Shift::new(me, distance, size)).map(|shift| (shift.to, shift.from)).unzip()
}

/// [`posted`] as an algorithm of the list, nearest neighbours first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllAtOnce;

impl BlockAlgorithm for AllAtOnce {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: ALL_AT_ONCE,
        about: "No schedule: every rank begins all its sends and receives together",
        formula: "o + (D - 1) g + (W - D) G + L + o at least",
        parameters: &[],
        needs: Needs::OVERLAP,
        make: |_| Ok(AllAtOnce.into()),
    }];

    async fn run<E: Endpoint, C: Combine>(&self, endpoint: &E, _: &Call<'_, C>, blocks: &mut Blocks<'_>) -> Result<()> {
        let (receivers, senders) = neighbours(endpoint);
        direct!(blocks of endpoint: |message_for, take| {
            Box::pin(posted(endpoint, &senders, &receivers, message_for, take))
        })
    }

    fn messages(&self, ranks: u32) -> Option<u64> {
        Some(messages(ranks))
    }

    fn needs_sizes(&self) -> bool {
        false
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let others = f64::from(ranks.saturating_sub(1));
        Cost::of(messages(ranks) as f64, bytes, vec![Stretch::of(others, 1.0, bytes)])
    }
}
