//! Which message matches which receive.
//!
//! A new message matches the earliest posted receive that fits it; a receive matches the earliest sent message of a
//! source that fits it. A receive from any source that waits alone takes the message that is complete first.

use endpoint::{Tag, Tags};
use quantities::Rank;

use super::by_tag::Receives;
use crate::ordered::Ordered;

/// What all sources of a rank have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matching {
    pub(crate) completions: Completions,
    /// How many receives have been posted.
    posted: u64,
    /// How many of them wait for messages.
    pub(crate) waiting: usize,
    /// Those that wait for messages from any source, in the order in which they were posted, and those of them without
    /// a message.
    from_anyone: Ordered<u64, FromAnyone>,
    open: Receives,
}

/// The messages that have become complete.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    count: u64,
    /// The receives whose message is complete, since they were last taken.
    ready: Vec<u64>,
}

impl Completions {
    /// Another message is complete, perhaps that of a receive: its position among all of them.
    pub(super) fn add(&mut self, receive: Option<u64>) -> u64 {
        self.ready.extend(receive);
        self.count += 1;
        self.count - 1
    }

    /// A receive is matched with a message that is complete.
    pub(super) fn note(&mut self, receive: u64) {
        self.ready.push(receive);
    }

    /// The receives whose message has become complete since this was last asked; perhaps also some that have it
    /// already.
    pub(crate) fn take_ready(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.ready)
    }
}

/// A receive that waits for a message from any source.
#[derive(Clone, Copy, Debug)]
struct FromAnyone {
    tags: Tags,
    /// The message that it is matched with.
    matched: Option<(Rank, u64)>,
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

    /// A receive from any source waits.
    pub(crate) fn post_from_anyone(&mut self, order: u64, tags: Tags) {
        self.waiting += 1;
        self.from_anyone.insert(order, FromAnyone { tags, matched: None });
        self.open.insert(tags, order);
    }

    /// Those from any source that are not matched with a message, in the order in which they were posted.
    pub(crate) fn open_from_anyone(&self) -> Vec<(u64, Tags)> {
        self.open.all()
    }

    /// The message with which a receive from any source is matched; none if it does not wait.
    pub(crate) fn matched(&self, order: u64) -> Option<Option<(Rank, u64)>> {
        self.from_anyone.get(order).map(|it| it.matched)
    }

    /// Matches a receive from any source with a message, or with none any more.
    pub(crate) fn set_matched(&mut self, order: u64, message: Option<(Rank, u64)>) {
        let Some(FromAnyone { tags, matched }) = self.from_anyone.get_mut(order) else { return };
        *matched = message;
        match message {
            Some(_) => self.open.remove(*tags, order),
            None => self.open.insert(*tags, order),
        }
    }

    /// The first receive from any source that matches a message that has just begun.
    pub(super) fn first_open(&self, tag: Tag) -> Option<u64> {
        if self.is_shared() { self.open.first(tag) } else { None }
    }

    /// The first receive from any source that matches message `number` from `from`, perhaps in place of a later one.
    pub(super) fn first_from_anyone(&self, from: Rank, number: u64, tag: Tag) -> Option<u64> {
        let waits = |it: &FromAnyone| match it.matched {
            None => self.is_shared(),
            Some((source, matched)) => source == from && matched > number,
        };
        self.from_anyone.iter().find(|(_, it)| waits(it) && it.tags.include(tag)).map(|(order, _)| order)
    }

    /// This receive no longer waits.
    pub(crate) fn forget_anyone(&mut self, order: u64) {
        if let Some(FromAnyone { tags, .. }) = self.from_anyone.remove(order) {
            self.open.remove(tags, order);
            self.waiting -= 1;
        }
    }
}
