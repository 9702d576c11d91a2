//! Receives that wait, and what they get.

use std::collections::BTreeSet;

use endpoint::{Error, Message, Result, WaitsFor};
use quantities::{Rank, Time};

use super::Engine;
use crate::peer::State;

/// What a receive waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The next message of that rank.
    MessageFrom(Rank),
    /// The next broadcast of that rank.
    BroadcastOf(Rank),
    /// The next message of anyone.
    Anything,
}

impl From<Awaited> for WaitsFor {
    fn from(what: Awaited) -> WaitsFor {
        match what {
            Awaited::MessageFrom(rank) | Awaited::BroadcastOf(rank) => WaitsFor::MessageFrom(rank),
            Awaited::Anything => WaitsFor::AnyMessage,
        }
    }
}

impl Engine {
    /// A receive waits for what `what` says, from now on.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] and [`Error::ToItself`].
    pub fn post(&mut self, now: Time, what: Awaited) -> Result<()> {
        let mut turns = self.turns;
        match what {
            Awaited::MessageFrom(rank) => self.peer(rank)?.receiver.post(now, &mut turns),
            Awaited::BroadcastOf(rank) => self.peer(rank)?.broadcasts.post(now),
            Awaited::Anything => {}
        }
        self.turns = turns;
        Ok(())
    }

    /// What a receive waits for, and from whom, if it has come.
    ///
    /// # Errors
    /// [`Error::Lost`] when it will not come: its source has ended, is gone, or broadcasts without this rank.
    pub fn received(&mut self, now: Time, what: Awaited) -> Result<Option<(Rank, Message)>> {
        let (rank, message, lost) = match what {
            Awaited::MessageFrom(rank) => {
                let peer = self.peer(rank)?;
                (rank, peer.receiver.receive(), peer.state != State::Here)
            }
            Awaited::BroadcastOf(rank) => {
                let peer = self.peer(rank)?;
                (rank, peer.broadcasts.receive(now), peer.state != State::Here || peer.dropped)
            }
            Awaited::Anything => return self.received_any(now),
        };
        match message {
            Some(message) => Ok(Some((rank, message))),
            None if lost => {
                self.withdraw(what);
                Err(Error::Lost(rank))
            }
            None => Ok(None),
        }
    }

    /// The message that was complete first of all. If there is none, the first that has begun gets a destination.
    fn received_any(&mut self, now: Time) -> Result<Option<(Rank, Message)>> {
        loop {
            let begun: BTreeSet<Rank> = self.begun.iter().chain(self.agenda.peek()).copied().collect();
            let begun = || begun.iter().filter_map(|&rank| Some((rank, self.look(rank)?)));
            let first = begun().filter_map(|(rank, peer)| Some((peer.receiver.turn()?, rank))).min();
            if let Some((_, rank)) = first {
                let message = self.peer(rank)?.receiver.receive();
                return Ok(message.map(|message| (rank, message)));
            }
            if begun().any(|(_, peer)| peer.receiver.is_pulling() && peer.state == State::Here) {
                return Ok(None);
            }
            let begun = begun().find(|(_, it)| it.receiver.has_begun() && it.state == State::Here);
            let Some(rank) = begun.map(|(rank, _)| rank) else { break };
            self.post(now, Awaited::MessageFrom(rank))?;
            if self.peer(rank)?.receiver.turn().is_none() {
                return Ok(None);
            }
        }
        match self.nobody() {
            Some(rank) => Err(Error::Lost(rank)),
            None => Ok(None),
        }
    }

    /// The last of the others, when all have ended or are gone.
    fn nobody(&self) -> Option<Rank> {
        if self.here > 0 { None } else { self.others().map(|(rank, _)| rank).last() }
    }

    /// A receive waits no longer.
    pub(crate) fn withdraw(&mut self, what: Awaited) {
        match what {
            Awaited::MessageFrom(rank) => self.peer(rank).map(|peer| peer.receiver.withdraw()),
            Awaited::BroadcastOf(rank) => self.peer(rank).map(|peer| peer.broadcasts.withdraw()),
            Awaited::Anything => Ok(()),
        }
        .unwrap_or_default();
    }
}
