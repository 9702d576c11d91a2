//! Which message matches which receive.
//!
//! A new message matches the earliest posted receive that fits it; a receive matches the earliest sent message of a source that fits
//! it. A receive from any source that waits alone takes the message that is complete first.

use endpoint::{Tag, Tags};
use quantities::Rank;

/// What all sources of a rank have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matching {
    /// How many messages have been completed.
    pub(crate) completions: u64,
    /// How many receives have been posted.
    posted: u64,
    /// How many of them wait for messages.
    pub(crate) waiting: usize,
    /// Those that wait for messages from any source, in the order in which they were posted.
    pub(crate) from_anyone: Vec<FromAnyone>,
}

/// A receive that waits for a message from any source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FromAnyone {
    pub(crate) order: u64,
    pub(crate) tags: Tags,
    /// The message that it is matched with.
    pub(crate) matched: Option<(Rank, u64)>,
}

impl Matching {
    /// The number of a receive that is posted now.
    pub(crate) fn next_order(&mut self) -> u64 {
        self.posted += 1;
        self.posted
    }

    /// Whether several receives wait: then each takes the message that it is matched with.
    pub(crate) const fn is_shared(&self) -> bool {
        self.waiting > 1
    }

    /// The first receive from any source that matches message `number` from `from`.
    pub(super) fn first_from_anyone(&mut self, from: Rank, number: u64, tag: Tag) -> Option<&mut FromAnyone> {
        let is_shared = self.is_shared();
        let waits = |it: &FromAnyone| match it.matched {
            None => is_shared,
            Some((source, matched)) => source == from && matched > number,
        };
        self.from_anyone.iter_mut().find(|it| waits(it) && it.tags.include(tag))
    }

    /// This receive no longer waits.
    pub(crate) fn forget_anyone(&mut self, order: u64) {
        let before = self.from_anyone.len();
        self.from_anyone.retain(|it| it.order != order);
        self.waiting -= before - self.from_anyone.len();
    }

    pub(crate) fn of_anyone(&mut self, order: u64) -> Option<&mut FromAnyone> {
        self.from_anyone.iter_mut().find(|it| it.order == order)
    }
}
