//! What the ranks of a run did.

use std::collections::{BTreeMap, VecDeque};

use endpoint::{Tag, Unexpected};
use quantities::{Rank, Time};

use crate::answer::{RankStatistics, Timeline, Unreceived};

/// What the ranks of a run did.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Messages that programs sent; a broadcast is one.
    pub(super) messages: u64,
    pub(super) ranks: Vec<RankStatistics>,
    pub(super) timeline: Option<Timeline>,
    /// A rank that computes until [`Time::NEVER`], if there is one.
    pub(super) beyond: Option<Rank>,
    /// Messages that are still to be received.
    sent: BTreeMap<Way, VecDeque<SentMessage>>,
}

/// A message that was sent, or a broadcast.
#[derive(Clone, Copy, Debug)]
struct SentMessage {
    at: Time,
    /// The request that sent it, if one did.
    request: Option<u32>,
}

/// Sender, receiver and, unless it is a broadcast, tag: messages of one way are received in order.
pub(super) type Way = (Rank, Rank, Option<Tag>);

impl Record {
    pub(super) fn new(ranks: u32, with_timeline: bool) -> Record {
        Record {
            ranks: vec![RankStatistics::default(); ranks as usize],
            timeline: with_timeline.then(Timeline::default),
            ..Record::default()
        }
    }

    /// A rank begins to send a message, to several ranks if it is a broadcast.
    pub(super) fn sends(&mut self, at: Time, request: Option<u32>, ways: impl Iterator<Item = Way>) {
        self.messages += 1;
        ways.for_each(|way| self.sent.entry(way).or_default().push_back(SentMessage { at, request }));
    }

    /// When the message that is received now was sent.
    pub(super) fn received(&mut self, way: Way) -> Option<Time> {
        self.sent.get_mut(&way).and_then(VecDeque::pop_front).map(|sent| sent.at)
    }

    /// The messages and broadcasts that no receive took.
    pub(super) fn unreceived(&self) -> Vec<Unreceived> {
        let left = self.sent.iter().flat_map(|(&(from, to, _), times)| times.iter().map(move |_| (from, to)));
        Unreceived::counted(left)
    }

    /// The messages that no receive took, one by one, by receiver, sender and tag.
    pub(super) fn unexpected(&self) -> Vec<Unexpected> {
        let message = |(&(from, to, tag), sent): (&Way, &VecDeque<SentMessage>)| {
            let of_tag =
                move |tag| sent.iter().map(move |&SentMessage { request, .. }| Unexpected { to, from, tag, request });
            tag.map(of_tag).into_iter().flatten().collect::<Vec<_>>()
        };
        let mut all: Vec<Unexpected> = self.sent.iter().flat_map(message).collect();
        all.sort_unstable();
        all
    }
}
