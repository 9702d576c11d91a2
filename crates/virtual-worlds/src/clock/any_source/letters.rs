//! Messages for one rank that were sent and not yet received, by sender and by arrival.

use std::collections::{BTreeMap, BTreeSet};

use quantities::{Rank, Time};

use crate::clock::mailbox::Letter;

/// Where a letter stands among those of its receiver: by arrival, then in the order of sending.
type Place = (Time, u64);

/// The letters for one rank. Those of one sender arrive in the order in which it sent them.
#[derive(Debug, Default)]
pub(super) struct Letters {
    by_arrival: BTreeMap<Place, Letter>,
    by_sender: BTreeSet<(Rank, Place)>,
}

impl Letters {
    /// Puts in a letter; `number` counts the messages of the run.
    pub(super) fn post(&mut self, number: u64, letter: Letter) {
        let place = (letter.arrival, number);
        self.by_sender.insert((letter.from, place));
        self.by_arrival.insert(place, letter);
    }

    /// Takes the next letter from `sender`, arrived or under way.
    pub(super) fn take_from(&mut self, sender: Rank) -> Option<Letter> {
        let &(_, place) = self.by_sender.range((sender, (Time::ZERO, 0))..=(sender, (Time::NEVER, u64::MAX))).next()?;
        self.take(place)
    }

    /// Takes the next letter that has arrived by `now`.
    pub(super) fn take_arrived(&mut self, now: Time) -> Option<Letter> {
        let (&place, _) = self.by_arrival.first_key_value().filter(|&(&(arrival, _), _)| arrival <= now)?;
        self.take(place)
    }

    /// When the next letter arrives.
    pub(super) fn next_arrival(&self) -> Option<Time> {
        self.by_arrival.first_key_value().map(|(&(arrival, _), _)| arrival)
    }

    fn take(&mut self, place: Place) -> Option<Letter> {
        let letter = self.by_arrival.remove(&place)?;
        self.by_sender.remove(&(letter.from, place));
        Some(letter)
    }
}
