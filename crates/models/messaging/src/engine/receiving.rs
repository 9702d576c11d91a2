//! Receives that wait, and what they return.

use std::collections::BTreeSet;

use endpoint::{Error, Message, Received, Result, Source, Tags};
use quantities::{Bytes, Rank, Time};

use super::Engine;
use crate::peer::{Peer, PeerState};
use crate::push_pull::{Candidate, Matching};
use crate::reassembly::Complete;

/// What a receive waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The next message from this source with one of these tags.
    Message(Source, Tags),
    /// The next broadcast from this rank.
    BroadcastOf(Rank),
}

/// A receive that was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted {
    order: u64,
    what: Awaited,
}

impl Posted {
    /// Its position among all receives that were posted.
    pub(crate) const fn order(&self) -> u64 {
        self.order
    }
}

/// A message that a receive has taken.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) received: Received,
    /// What has to be copied out of the pushed buffer, of a message through memory. What came over the network is
    /// copied by those who take datagrams.
    pub(crate) to_copy: Bytes,
}

impl Engine {
    /// The receives whose message has become complete since this was last asked.
    pub(crate) fn take_ready(&mut self) -> Vec<u64> {
        self.matching.completions.take_ready()
    }

    /// The receives from any source that are matched with no message, if there is one that they might take, or no other
    /// rank is left.
    pub(crate) fn open_receives(&self) -> Vec<u64> {
        if self.present > 0 && !self.has_unmatched() {
            return Vec::new();
        }
        self.matching.open_from_anyone().into_iter().map(|(order, _)| order).collect()
    }

    /// Whether a message has begun that is matched with no receive.
    fn has_unmatched(&self) -> bool {
        let mut begun = self.begun.iter().chain(self.agenda.peek());
        begun.any(|&rank| self.peer(rank).is_some_and(|peer| peer.receiver.has_unmatched()))
    }

    /// Posts a receive, which waits for `what`. Only one receive at a time may wait for broadcasts of a given rank.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] and [`Error::ToItself`].
    pub fn post(&mut self, now: Time, what: Awaited) -> Result<Posted> {
        let order = self.matching.next_order();
        match what {
            Awaited::BroadcastOf(rank) => self.touch_peer(rank)?.broadcasts.post(now),
            Awaited::Message(Source::Any, tags) => {
                self.matching.post_from_anyone(order, tags);
                self.share(now)?;
            }
            Awaited::Message(Source::Rank(rank), tags) => {
                self.touch_peer(rank)?;
                self.matching.waiting += 1;
                self.share(now)?;
                if let Some((peer, matching)) = self.peer_and_matching(rank) {
                    peer.receiver.post(now, order, tags, &mut matching.completions);
                }
            }
        }
        Ok(Posted { order, what })
    }

    fn peer_and_matching(&mut self, rank: Rank) -> Option<(&mut Peer, &mut Matching)> {
        Some((self.peers.get_mut(rank.0 as usize)?.as_mut()?, &mut self.matching))
    }

    /// If several receives wait, matches those from any source with the messages that have begun.
    fn share(&mut self, now: Time) -> Result<()> {
        if !self.matching.is_shared() {
            return Ok(());
        }
        if !self.has_unmatched() {
            return Ok(());
        }
        for (order, tags) in self.matching.open_from_anyone() {
            let Some((rank, candidate)) = self.first_begun(tags) else { continue };
            self.matching.set_matched(order, Some((rank, candidate.number)));
            self.touch_peer(rank)?;
            if let Some((peer, matching)) = self.peer_and_matching(rank) {
                peer.receiver.bind(candidate.number, order, &mut matching.completions);
            }
            self.give_destination(now, rank, candidate.number);
        }
        Ok(())
    }

    fn give_destination(&mut self, now: Time, rank: Rank, number: u64) {
        self.agenda.touch(rank);
        if let Some((peer, matching)) = self.peer_and_matching(rank) {
            peer.receiver.give_destination(now, number, &mut matching.completions);
        }
    }

    /// The result of a receive that was `posted`, if it has arrived.
    ///
    /// # Errors
    /// [`Error::Lost`] when it will not arrive: its source has ended, is gone, or broadcasts without this rank.
    pub fn received(&mut self, now: Time, posted: Posted) -> Result<Option<Received>> {
        Ok(self.taken(now, posted)?.map(|taken| taken.received))
    }

    /// The same, with what there is left to copy.
    pub(crate) fn taken(&mut self, now: Time, posted: Posted) -> Result<Option<Taken>> {
        let Posted { order, what } = posted;
        let (from, complete, lost) = match what {
            Awaited::Message(Source::Rank(rank), _) => {
                let peer = self.touch_peer(rank)?;
                (rank, peer.receiver.receive(now, order), peer.state != PeerState::Present)
            }
            Awaited::BroadcastOf(rank) => {
                let peer = self.touch_peer(rank)?;
                (rank, peer.broadcasts.receive(now), peer.state != PeerState::Present || peer.dropped)
            }
            Awaited::Message(Source::Any, tags) => return self.received_from_anyone(now, order, tags),
        };
        if let Some(complete) = complete {
            self.matching.waiting -= usize::from(what != Awaited::BroadcastOf(from));
            return Ok(Some(self.take_complete(from, complete)));
        }
        if lost {
            self.withdraw(posted);
            return Err(Error::Lost(from));
        }
        Ok(None)
    }

    /// The message that a receive posted now would take, without its content, if one has begun to arrive.
    ///
    /// # Errors
    /// Those of [`Engine::received`].
    pub(crate) fn probed(&mut self, from: Source, tags: Tags) -> Result<Option<Received>> {
        let (candidate, departed) = match from {
            Source::Rank(rank) => {
                let Some(peer) = self.peer(rank) else { return self.touch_peer(rank).map(|_| None) };
                let is_present = peer.state == PeerState::Present;
                let candidate = peer.receiver.candidate(tags).filter(|it| is_present || it.completion.is_some());
                (candidate.map(|candidate| (rank, candidate)), (!is_present).then_some(rank))
            }
            Source::Any => (self.first_begun(tags), self.last_departed()),
        };
        // A receive from anyone that waits may still take it.
        let is_left = |it: &(Rank, Candidate)| {
            !self.matching.open_from_anyone().into_iter().any(|(_, tags)| tags.include(it.1.tag))
        };
        match (candidate, departed) {
            (Some(candidate), _) if is_left(&candidate) => {
                let (from, Candidate { tag, size, .. }) = candidate;
                Ok(Some(Received { from, tag, message: Message::of_size(Bytes(size)) }))
            }
            (None, Some(rank)) => Err(Error::Lost(rank)),
            _ => Ok(None),
        }
    }

    /// The position, among all complete messages, of the one that this receive has been matched with, if it is
    /// complete.
    pub(crate) fn completion(&self, Posted { order, what }: Posted) -> Option<u64> {
        let (rank, number) = match what {
            Awaited::Message(Source::Rank(rank), _) => (rank, self.peer(rank)?.receiver.matched(order)?),
            Awaited::Message(Source::Any, _) => self.matching.matched(order)??,
            Awaited::BroadcastOf(_) => return None,
        };
        self.peer(rank)?.receiver.completion(number)
    }

    fn take_complete(&self, from: Rank, Complete { tag, message, buffered }: Complete) -> Taken {
        let through_memory = self.neighbours.as_ref().is_some_and(|neighbours| neighbours.include(from));
        let to_copy = if through_memory { buffered } else { Bytes(0) };
        Taken { received: Received { from, tag, message }, to_copy }
    }

    fn received_from_anyone(&mut self, now: Time, order: u64, tags: Tags) -> Result<Option<Taken>> {
        let Some(matched) = self.matching.matched(order) else { return Ok(None) };
        match matched {
            Some((rank, number)) => {
                if let Some(complete) = self.touch_peer(rank)?.receiver.receive_message(now, number) {
                    return Ok(Some(self.has_received(order, rank, complete)));
                }
                if self.touch_peer(rank)?.state == PeerState::Present {
                    return Ok(None);
                }
                // The rest of that message will never arrive.
                self.matching.set_matched(order, None);
                self.share(now)?;
            }
            None => {
                if let Some((rank, number)) = self.first_complete(now, tags)?
                    && let Some(complete) = self.touch_peer(rank)?.receiver.receive_message(now, number)
                {
                    return Ok(Some(self.has_received(order, rank, complete)));
                }
            }
        }
        match self.last_departed().filter(|_| !self.has_begun(tags)) {
            Some(rank) => {
                self.withdraw(Posted { order, what: Awaited::Message(Source::Any, tags) });
                Err(Error::Lost(rank))
            }
            None => Ok(None),
        }
    }

    fn has_received(&mut self, order: u64, from: Rank, complete: Complete) -> Taken {
        self.matching.forget_anyone(order);
        self.take_complete(from, complete)
    }

    /// The messages that a receive from any source may take, the first of each source.
    fn begun(&self, tags: Tags) -> Vec<(Rank, &Peer, Candidate)> {
        let begun: BTreeSet<Rank> = self.begun.iter().chain(self.agenda.peek()).copied().collect();
        let candidate = |rank| {
            let peer = self.peer(rank)?;
            Some((rank, peer, peer.receiver.candidate(tags)?))
        };
        begun.into_iter().filter_map(candidate).collect()
    }

    /// Whether a message has begun that will become complete.
    fn has_begun(&self, tags: Tags) -> bool {
        self.begun(tags)
            .iter()
            .any(|(_, peer, candidate)| peer.state == PeerState::Present || candidate.completion.is_some())
    }

    /// The message that was complete first; failing that, one that is being pulled, or the first that has begun.
    fn first_begun(&self, tags: Tags) -> Option<(Rank, Candidate)> {
        let begun = self.begun(tags);
        let complete = begun.iter().filter(|(_, _, it)| it.completion.is_some()).min_by_key(|(_, _, it)| it.completion);
        let of_present = || begun.iter().filter(|(_, peer, _)| peer.state == PeerState::Present);
        let first = complete.or_else(|| of_present().find(|(_, _, it)| it.is_pulled)).or_else(|| of_present().next());
        first.map(|(rank, _, candidate)| (*rank, *candidate))
    }

    /// The message that was complete first. If there is none, the first that has begun gets a destination.
    fn first_complete(&mut self, now: Time, tags: Tags) -> Result<Option<(Rank, u64)>> {
        while let Some((rank, candidate)) = self.first_begun(tags) {
            if candidate.completion.is_some() {
                return Ok(Some((rank, candidate.number)));
            }
            if candidate.is_pulled {
                return Ok(None);
            }
            self.touch_peer(rank)?;
            self.give_destination(now, rank, candidate.number);
        }
        Ok(None)
    }

    /// The last of the other ranks, if all have ended or are gone.
    fn last_departed(&self) -> Option<Rank> {
        if self.present > 0 { None } else { self.others().map(|(rank, _)| rank).last() }
    }

    /// The receive no longer waits.
    pub fn withdraw(&mut self, Posted { order, what }: Posted) {
        match what {
            Awaited::BroadcastOf(rank) => {
                self.touch_peer(rank).map(|peer| peer.broadcasts.withdraw()).unwrap_or_default();
            }
            Awaited::Message(Source::Rank(rank), _) => {
                if let Some((peer, matching)) = self.peer_and_matching(rank) {
                    peer.receiver.withdraw(rank, order, matching);
                }
                self.agenda.touch(rank);
            }
            Awaited::Message(Source::Any, _) => {
                let matched = self.matching.matched(order).flatten();
                self.matching.forget_anyone(order);
                if let Some((rank, number)) = matched
                    && let Some((peer, matching)) = self.peer_and_matching(rank)
                {
                    peer.receiver.withdraw_anyone(rank, number, matching);
                }
            }
        }
    }
}
