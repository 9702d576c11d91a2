//! Messages for one rank that were sent and not yet received, by sender and by arrival.

use std::collections::{BTreeMap, BTreeSet};

use quantities::{Rank, Time};

use crate::clock::mailbox::Letter;

/// Where a letter stands among those of its receiver: by arrival, then in the order of sending.
type Place = (Time, u64);

/// The letters for one rank. Those of one sender arrive in the order in which it sent them.
#[derive(Debug, Default)]
pub(super) struct Letters {
    /// The one that arrives first. Often there are no others.
    first: Option<(Place, Letter)>,
    by_arrival: BTreeMap<Place, Letter>,
    by_sender: BTreeSet<(Rank, Place)>,
}

impl Letters {
    /// Puts in a letter; `number` counts the messages of the run.
    pub(super) fn post(&mut self, number: u64, letter: Letter) {
        let place = (letter.arrival, number);
        let later = match &self.first {
            Some((first, _)) if *first < place => Some((place, letter)),
            _ => self.first.replace((place, letter)),
        };
        if let Some((place, letter)) = later {
            self.by_sender.insert((letter.from, place));
            self.by_arrival.insert(place, letter);
        }
    }

    /// Takes the next letter from `sender`, arrived or under way.
    pub(super) fn take_from(&mut self, sender: Rank) -> Option<Letter> {
        if self.first.as_ref().is_some_and(|(_, letter)| letter.from == sender) {
            return self.take_first();
        }
        let &(_, place) = self.by_sender.range((sender, (Time::ZERO, 0))..=(sender, (Time::NEVER, u64::MAX))).next()?;
        self.by_sender.remove(&(sender, place));
        self.by_arrival.remove(&place)
    }

    /// Takes the next letter that has arrived by `now`.
    pub(super) fn take_arrived(&mut self, now: Time) -> Option<Letter> {
        self.next_arrival().filter(|&arrival| arrival <= now)?;
        self.take_first()
    }

    /// When the next letter arrives.
    pub(super) fn next_arrival(&self) -> Option<Time> {
        self.first.as_ref().map(|(_, letter)| letter.arrival)
    }

    /// Who sent the letters that are left.
    pub(super) fn senders(&self) -> impl Iterator<Item = Rank> {
        let first = self.first.iter().map(|(_, letter)| letter.from);
        first.chain(self.by_arrival.values().map(|letter| letter.from))
    }

    fn take_first(&mut self) -> Option<Letter> {
        let next = self.by_arrival.pop_first();
        if let Some((place, letter)) = &next {
            self.by_sender.remove(&(letter.from, *place));
        }
        std::mem::replace(&mut self.first, next).map(|(_, letter)| letter)
    }
}
