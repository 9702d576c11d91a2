//! Which receive gets which message.
//!
//! A message goes to the earliest posted receive that takes its sender and its tag; a receive takes the earliest arrived
//! message that suits it. Both are looked up in ordered sets, one for each way in which a receive can leave sender or tag
//! open, so that a rank with very many of either does not cost their square.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use programs::goal::{Block, OperationId, OperationKind};
use quantities::{Rank, Time};

/// A message that nobody has asked for yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waiting {
    pub(super) from: Rank,
    pub(super) tag: u32,
    /// When it came, in order among those of its receiver.
    arrival: u64,
    /// Which message it is, for the simulation.
    pub(super) message: u32,
}

/// A receive that waits for its message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted {
    /// When it was posted, in order among those of its rank.
    order: u64,
    pub(super) operation: OperationId,
    pub(super) at: Time,
}

/// What a receive asks for: sender and tag, either of which may be any.
type Pattern = (Option<Rank>, Option<u32>);

/// The receives and the messages of one rank that wait for each other.
#[derive(Debug, Default)]
pub(super) struct Matching {
    posted: BTreeMap<Pattern, VecDeque<Posted>>,
    /// How many receives were posted.
    posts: u64,
    /// How many messages came that nobody had asked for.
    arrivals: u64,
    by_both: BTreeSet<Waiting>,
    // The same messages again, each set only where the rank has a receive that looks there.
    by_sender: Option<BTreeMap<(Rank, u64), Waiting>>,
    by_tag: Option<BTreeMap<(u32, u64), Waiting>>,
    by_neither: Option<BTreeMap<u64, Waiting>>,
}

impl Matching {
    /// For a rank that does what `block` says.
    pub(super) fn new(block: &Block) -> Matching {
        let mut matching = Matching::default();
        for operation in block.operations() {
            match operation.kind {
                OperationKind::Receive { from: Some(_), tag: None, .. } => {
                    matching.by_sender.get_or_insert_default();
                }
                OperationKind::Receive { from: None, tag: Some(_), .. } => {
                    matching.by_tag.get_or_insert_default();
                }
                OperationKind::Receive { from: None, tag: None, .. } => {
                    matching.by_neither.get_or_insert_default();
                }
                _ => {}
            }
        }
        matching
    }

    /// The message that a receive of `from` and `tag` takes; if there is none, it is posted at `at`.
    pub(super) fn receive(
        &mut self,
        operation: OperationId,
        from: Option<Rank>,
        tag: Option<u32>,
        at: Time,
    ) -> Option<u32> {
        let found = self.find(from, tag);
        match found {
            Some(waiting) => self.remove(waiting),
            None => {
                let posted = Posted { order: self.posts, operation, at };
                self.posted.entry((from, tag)).or_default().push_back(posted);
                self.posts += 1;
            }
        }
        found.map(|waiting| waiting.message)
    }

    /// The receive that takes a message; if there is none, the message waits.
    pub(super) fn arrive(&mut self, from: Rank, tag: u32, message: u32) -> Option<Posted> {
        let patterns = [(Some(from), Some(tag)), (Some(from), None), (None, Some(tag)), (None, None)];
        let earliest = |pattern: &Pattern| self.posted.get(pattern)?.front().map(|posted| (posted.order, *pattern));
        let Some((_, pattern)) = patterns.iter().filter_map(earliest).min() else {
            self.keep(Waiting { from, tag, arrival: self.arrivals, message });
            return None;
        };
        let receives = self.posted.get_mut(&pattern)?;
        let posted = receives.pop_front()?;
        if receives.is_empty() {
            self.posted.remove(&pattern);
        }
        Some(posted)
    }

    /// The messages that nobody has asked for.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.by_both.iter()
    }

    fn find(&self, from: Option<Rank>, tag: Option<u32>) -> Option<Waiting> {
        match (from, tag) {
            (Some(from), Some(tag)) => {
                let first = Waiting { from, tag, arrival: 0, message: 0 };
                let waiting = self.by_both.range(first..).next()?;
                (waiting.from == from && waiting.tag == tag).then_some(*waiting)
            }
            (Some(from), None) => first(self.by_sender.as_ref()?.range((from, 0)..=(from, u64::MAX))),
            (None, Some(tag)) => first(self.by_tag.as_ref()?.range((tag, 0)..=(tag, u64::MAX))),
            (None, None) => first(self.by_neither.as_ref()?.iter()),
        }
    }

    fn keep(&mut self, waiting: Waiting) {
        self.arrivals += 1;
        self.by_both.insert(waiting);
        if let Some(index) = &mut self.by_sender {
            index.insert((waiting.from, waiting.arrival), waiting);
        }
        if let Some(index) = &mut self.by_tag {
            index.insert((waiting.tag, waiting.arrival), waiting);
        }
        if let Some(index) = &mut self.by_neither {
            index.insert(waiting.arrival, waiting);
        }
    }

    fn remove(&mut self, waiting: Waiting) {
        self.by_both.remove(&waiting);
        if let Some(index) = &mut self.by_sender {
            index.remove(&(waiting.from, waiting.arrival));
        }
        if let Some(index) = &mut self.by_tag {
            index.remove(&(waiting.tag, waiting.arrival));
        }
        if let Some(index) = &mut self.by_neither {
            index.remove(&waiting.arrival);
        }
    }
}

fn first<'a, K: 'a>(mut entries: impl Iterator<Item = (&'a K, &'a Waiting)>) -> Option<Waiting> {
    entries.next().map(|(_, waiting)| *waiting)
}
