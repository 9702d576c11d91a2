//! Which message meets which receive.
//!
//! A message that begins meets, of the receives that it fits, the one that was posted first; a receive meets, of the messages of a
//! source that fit it, the one that was sent first. A receive from anyone that waits alone takes the message that is complete first.

use endpoint::{Tag, Tags};
use quantities::Rank;

/// What all sources of a rank have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matching {
    /// How many messages were completed.
    pub(crate) turns: u64,
    /// How many receives were posted.
    posted: u64,
    /// How many of them wait for messages.
    pub(crate) waiting: usize,
    /// Those that wait for messages of anyone, in the order in which they were posted.
    pub(crate) from_anyone: Vec<FromAnyone>,
}

/// A receive that waits for a message of anyone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FromAnyone {
    pub(crate) order: u64,
    pub(crate) tags: Tags,
    /// The message that it has met.
    pub(crate) met: Option<(Rank, u64)>,
}

impl Matching {
    /// The number of a receive that is posted now.
    pub(crate) fn next_order(&mut self) -> u64 {
        self.posted += 1;
        self.posted
    }

    /// Whether several receives wait: then each takes what it has met.
    pub(crate) const fn is_shared(&self) -> bool {
        self.waiting > 1
    }

    /// The first receive from anyone that would meet message `number` of `from`.
    pub(super) fn first_from_anyone(&mut self, from: Rank, number: u64, tag: Tag) -> Option<&mut FromAnyone> {
        let is_shared = self.is_shared();
        let waits = |it: &FromAnyone| match it.met {
            None => is_shared,
            Some((source, met)) => source == from && met > number,
        };
        self.from_anyone.iter_mut().find(|it| waits(it) && it.tags.include(tag))
    }

    /// That receive waits no longer.
    pub(crate) fn forget_anyone(&mut self, order: u64) {
        let before = self.from_anyone.len();
        self.from_anyone.retain(|it| it.order != order);
        self.waiting -= before - self.from_anyone.len();
    }

    pub(crate) fn of_anyone(&mut self, order: u64) -> Option<&mut FromAnyone> {
        self.from_anyone.iter_mut().find(|it| it.order == order)
    }
}
