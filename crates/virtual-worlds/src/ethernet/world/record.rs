//! What the ranks of a run did.

use std::collections::{BTreeMap, VecDeque};

use endpoint::Tag;
use quantities::{Rank, Time};

use crate::answer::{RankStatistics, Timeline, Unreceived};

/// What the ranks of a run did.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Messages that programs sent; a broadcast is one.
    pub(super) messages: u64,
    pub(super) ranks: Vec<RankStatistics>,
    pub(super) timeline: Option<Timeline>,
    /// A rank that computes until after [`Time::HORIZON`], if there is one.
    pub(super) beyond: Option<Rank>,
    /// When messages were sent that are still to be received.
    sent: BTreeMap<Way, VecDeque<Time>>,
}

/// From whom to whom, and with which tag if it is no broadcast: what was sent so is received in order.
pub(super) type Way = (Rank, Rank, Option<Tag>);

impl Record {
    pub(super) fn new(ranks: u32, with_timeline: bool) -> Record {
        Record {
            ranks: vec![RankStatistics::default(); ranks as usize],
            timeline: with_timeline.then(Timeline::default),
            ..Record::default()
        }
    }

    /// A rank begins to send something, to several if it is a broadcast.
    pub(super) fn sends(&mut self, now: Time, ways: impl Iterator<Item = Way>) {
        self.messages += 1;
        ways.for_each(|way| self.sent.entry(way).or_default().push_back(now));
    }

    /// When that was sent which is received now.
    pub(super) fn received(&mut self, way: Way) -> Option<Time> {
        self.sent.get_mut(&way).and_then(VecDeque::pop_front)
    }

    /// The messages and broadcasts that no receive took.
    pub(super) fn unreceived(&self) -> Vec<Unreceived> {
        let left = self.sent.iter().flat_map(|(&(from, to, _), times)| times.iter().map(move |_| (from, to)));
        Unreceived::counted(left)
    }
}
