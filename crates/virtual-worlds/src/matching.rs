//! Which message meets which receive, at one rank.
//!
//! A message meets the receive that was posted first of those that it fits; a receive takes the message that came first of
//! those that fit it. Both sides are kept in order, so that neither a long queue of unexpected messages nor many posted
//! receives make a search.

use std::collections::BTreeMap;

use endpoint::{Source, Tag, Tags};
use quantities::Rank;

/// In place of a source or a tag: any. No rank and no tag has this number.
pub const ANY: u32 = u32::MAX;

/// What a receive asks for, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The source's rank, or [`ANY`].
    pub from: u32,
    /// The message's tag, or [`ANY`].
    pub tag: u32,
}

impl Wanted {
    /// What a receive of a program asks for.
    pub fn new(from: Source, tags: Tags) -> Wanted {
        let from = if let Source::Rank(Rank(from)) = from { from } else { ANY };
        let tag = if let Tags::Only(Tag(tag)) = tags { tag } else { ANY };
        Wanted { from, tag }
    }
}

/// The unmatched messages and receives of a rank.
#[derive(Debug)]
pub struct Matching<Receive> {
    /// By source, tag and order of posting.
    receives: BTreeMap<(u32, u32, u64), Receive>,
    /// By source, tag and order of arrival.
    messages: BTreeMap<(u32, u32, u64), u32>,
    /// The same, by order of arrival.
    arrivals: BTreeMap<u64, (u32, u32)>,
    count: u64,
}

impl<Receive> Default for Matching<Receive> {
    fn default() -> Matching<Receive> {
        Matching { receives: BTreeMap::new(), messages: BTreeMap::new(), arrivals: BTreeMap::new(), count: 0 }
    }
}

impl<Receive> Matching<Receive> {
    /// The receive that a message from `from` with `tag` meets, if one was posted.
    pub fn meet(&mut self, from: u32, tag: u32) -> Option<Receive> {
        if self.receives.len() <= 1 {
            // Most programs wait for one message at a time: no search.
            let only = self.receives.first_entry()?;
            let &(wanted_from, wanted_tag, _) = only.key();
            let fits = (wanted_from == ANY || wanted_from == from) && (wanted_tag == ANY || wanted_tag == tag);
            return fits.then(|| only.remove());
        }
        let fitting = [(from, tag), (from, ANY), (ANY, tag), (ANY, ANY)];
        let first = |&(from, tag): &(u32, u32)| {
            let mut range = self.receives.range((from, tag, 0)..=(from, tag, u64::MAX));
            range.next().map(|(&key, _)| key)
        };
        let earliest = fitting.iter().filter_map(first).min_by_key(|&(_, _, order)| order)?;
        self.receives.remove(&earliest)
    }

    /// Keeps a message that met no receive.
    pub fn keep(&mut self, from: u32, tag: u32, message: u32) {
        self.count += 1;
        self.messages.insert((from, tag, self.count), message);
        self.arrivals.insert(self.count, (from, tag));
    }

    /// The message that came first of those that fit.
    pub fn find(&mut self, wanted: Wanted) -> Option<u32> {
        if self.messages.is_empty() {
            return None;
        }
        let (from, tag, order) = match wanted {
            Wanted { from: ANY, tag } => {
                let fits = |&(_, &(_, came_with)): &(&u64, &(u32, u32))| tag == ANY || came_with == tag;
                self.arrivals.iter().find(fits).map(|(&order, &(from, tag))| (from, tag, order))?
            }
            Wanted { from, tag: ANY } => {
                let range = self.messages.range((from, 0, 0)..=(from, ANY, u64::MAX));
                range.map(|(&key, _)| key).min_by_key(|&(_, _, order)| order)?
            }
            Wanted { from, tag } => {
                let mut range = self.messages.range((from, tag, 0)..=(from, tag, u64::MAX));
                range.next().map(|(&key, _)| key)?
            }
        };
        self.arrivals.remove(&order);
        self.messages.remove(&(from, tag, order))
    }

    /// Posts a receive that found no message.
    pub fn post(&mut self, wanted: Wanted, receive: Receive) {
        self.count += 1;
        self.receives.insert((wanted.from, wanted.tag, self.count), receive);
    }

    /// Takes back the receives for which `over` holds.
    pub fn withdraw(&mut self, over: impl Fn(&Receive) -> bool) -> Option<Receive> {
        let key = self.receives.iter().find(|(_, receive)| over(receive)).map(|(&key, _)| key)?;
        self.receives.remove(&key)
    }

    /// The receives that have met no message.
    pub fn posted(&self) -> impl Iterator<Item = &Receive> {
        self.receives.values()
    }

    /// The messages that have met no receive, in order of source and tag: from whom, with which tag, and their numbers.
    pub fn kept(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        self.messages.iter().map(|(&(from, tag, _), &message)| (from, tag, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fits(wanted: Wanted, from: u32, tag: u32) -> bool {
        (wanted.from == ANY || wanted.from == from) && (wanted.tag == ANY || wanted.tag == tag)
    }

    proptest! {
        /// It matches what a search through two plain queues matches.
        #[test]
        fn matches_what_two_queues_match(steps in prop::collection::vec((any::<bool>(), 0u32..4, 0u32..4), 0..80)) {
            let mut matching = Matching::default();
            let (mut receives, mut messages) = (Vec::new(), Vec::new());
            for (number, (sends, from, tag)) in (0u32..).zip(steps) {
                if sends {
                    let expected = receives.iter().position(|&(wanted, _)| fits(wanted, from, tag));
                    let expected = expected.map(|index| receives.remove(index).1);
                    let met = matching.meet(from, tag);
                    prop_assert_eq!(met, expected);
                    if met.is_none() {
                        matching.keep(from, tag, number);
                        messages.push((from, tag, number));
                    }
                } else {
                    let wanted = Wanted { from: if from == 3 { ANY } else { from }, tag: if tag == 3 { ANY } else { tag } };
                    let expected = messages.iter().position(|&(from, tag, _)| fits(wanted, from, tag));
                    let expected = expected.map(|index| messages.remove(index).2);
                    let found = matching.find(wanted);
                    prop_assert_eq!(found, expected);
                    if found.is_none() {
                        matching.post(wanted, number);
                        receives.push((wanted, number));
                    }
                }
            }
        }
    }
}
