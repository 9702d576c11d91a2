//! The messages on their way to a node, from their send to their arrival.

use std::collections::BTreeMap;

/// Source, tag, and the message's number among all.
type Key = (u32, u32, u64);

/// The messages on their way to a node. Each is let through only after those that the same source sent before it with
/// the same tag.
#[derive(Clone, Debug, Default)]
pub struct InTransit {
    /// One of the messages. Often it is the only one, and then nothing is searched.
    one: Option<(Key, u32)>,
    others: BTreeMap<Key, u32>,
}

impl InTransit {
    /// Adds a message that was sent.
    pub fn add(&mut self, from: u32, tag: u32, number: u64, message: u32) {
        let key = (from, tag, number);
        if self.one.is_none() {
            self.one = Some((key, message));
        } else {
            self.others.insert(key, message);
        }
    }

    /// Lets through the earliest message from `from` with `tag`, if it has arrived (`is_there`); also returns whether
    /// there are more of them.
    pub fn next(&mut self, from: u32, tag: u32, is_there: impl Fn(u32) -> bool) -> Option<(u32, bool)> {
        let one = self.one.filter(|&((source, with, _), _)| (source, with) == (from, tag));
        let (other, behind) = self.first_two_others(from, tag);
        let (key, message) = one.into_iter().chain(other).min()?;
        if !is_there(message) {
            return None;
        }
        if one.is_some_and(|(own, _)| own == key) {
            self.one = None;
        } else {
            self.others.remove(&key);
        }
        Some((message, behind || (one.is_some() && other.is_some())))
    }

    /// The first of the others from `from` with `tag`, and whether there is a second.
    fn first_two_others(&self, from: u32, tag: u32) -> (Option<(Key, u32)>, bool) {
        if self.others.is_empty() {
            return (None, false);
        }
        let mut alike = self.others.range((from, tag, 0)..=(from, tag, u64::MAX));
        let first = alike.next().map(|(&key, &message)| (key, message));
        (first, first.is_some() && alike.next().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Messages that arrive in any order are let through in the order in which they were sent, source by source and
        /// tag by tag, each as soon as it can be.
        #[test]
        fn lets_messages_through_in_order(steps in prop::collection::vec((any::<bool>(), 0u32..3, 0u32..2, any::<prop::sample::Index>()), 0..60)) {
            let mut in_transit = InTransit::default();
            // From, tag, whether it has arrived; by number.
            let mut sent: Vec<(u32, u32, bool)> = Vec::new();
            let mut expected: Vec<u32> = Vec::new();
            let mut through = Vec::new();
            for (sends, from, tag, which) in steps {
                if sends || sent.is_empty() {
                    in_transit.add(from, tag, sent.len() as u64, sent.len() as u32);
                    sent.push((from, tag, false));
                    continue;
                }
                let arriving = which.index(sent.len());
                sent[arriving].2 = true;
                let (from, tag, _) = sent[arriving];
                let mut more = true;
                while more {
                    let Some((message, others)) = in_transit.next(from, tag, |message| sent[message as usize].2) else { break };
                    through.push(message);
                    more = others;
                }
                let alike = (0u32..).zip(&sent).filter(|(_, message)| (message.0, message.1) == (from, tag));
                let in_turn = alike.take_while(|(_, message)| message.2).map(|(number, _)| number);
                let new: Vec<u32> = in_turn.filter(|number| !expected.contains(number)).collect();
                expected.extend(new);
                prop_assert_eq!(&through, &expected);
            }
        }
    }
}
