//! The messages that wait to be sent to one member, within a bound.
//!
//! Clients' requests and replies may be dropped: the client side asks again. Messages between servers and between
//! members are sent once and must arrive, so they are never dropped; there are few of them, as a server that splits or
//! merges sends its next records when the last have arrived.

use std::collections::VecDeque;

use crate::large::Pieces;
use crate::member::Subject;

/// The most memory for messages that may be lost. A single one may be longer. [B]
pub(crate) const MOST: usize = 64 << 20;
/// The overhead of a message beside its bytes. [B]
const MESSAGE: usize = size_of::<(u64, Outgoing)>();

/// A message to another member.
#[derive(Debug)]
pub struct Outgoing {
    /// Its bytes.
    pub pieces: Pieces,
    /// Whether losing it costs only time.
    pub may_be_lost: bool,
    /// The request or the reply that it carries, if it is large: it is not sent again while it is still being sent.
    pub subject: Option<Subject>,
}

impl Outgoing {
    /// A message that is small, or is sent only once.
    pub fn new(pieces: Pieces, may_be_lost: bool) -> Outgoing {
        Outgoing { pieces, may_be_lost, subject: None }
    }
}

/// Messages in the order in which they were put in.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Those that may be lost, each with the number of messages put in before it.
    lossy: VecDeque<(u64, Outgoing)>,
    /// Their memory. [B]
    size: usize,
    /// Those that must arrive.
    kept: VecDeque<(u64, Outgoing)>,
    /// How many messages were put in.
    count: u64,
}

impl Outbox {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.lossy.is_empty() && self.kept.is_empty()
    }

    /// The memory of all messages that wait. [B]
    pub fn size(&self) -> usize {
        self.size + self.kept.iter().map(|(_, message)| message.pieces.len() + MESSAGE).sum::<usize>()
    }

    /// Puts a message in. If there is no room, the oldest of those that may be lost are dropped, which were asked for
    /// again since. Returns how many.
    pub fn push(&mut self, message: Outgoing) -> u64 {
        let number = self.count;
        self.count += 1;
        if !message.may_be_lost {
            self.kept.push_back((number, message));
            return 0;
        }
        self.size += message.pieces.len() + MESSAGE;
        self.lossy.push_back((number, message));
        let mut dropped = 0;
        while self.size > MOST && self.lossy.len() > 1 {
            self.pop_lossy();
            dropped += 1;
        }
        dropped
    }

    /// Whether a message with this request or reply waits.
    pub fn has(&self, subject: Subject) -> bool {
        self.lossy.iter().any(|(_, message)| message.subject == Some(subject))
    }

    /// Takes out the oldest message.
    pub fn pop(&mut self) -> Option<Outgoing> {
        match (self.lossy.front(), self.kept.front()) {
            (Some((lossy, _)), Some((kept, _))) if kept < lossy => self.kept.pop_front().map(|(_, message)| message),
            (Some(_), _) => self.pop_lossy(),
            (None, _) => self.kept.pop_front().map(|(_, message)| message),
        }
    }

    fn pop_lossy(&mut self) -> Option<Outgoing> {
        let (_, message) = self.lossy.pop_front()?;
        self.size -= message.pieces.len() + MESSAGE;
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_must_arrive_stay_in_order_and_the_others_stay_within_the_bound() {
        let mut outbox = Outbox::default();
        let mut dropped = 0;
        for number in 0..200_u8 {
            dropped += outbox.push(Outgoing::new(vec![number].into(), false));
            dropped += outbox.push(Outgoing::new(vec![number; 1 << 20].into(), true));
            assert!(outbox.size() < MOST + (200 << 10));
        }
        let messages: Vec<Vec<u8>> =
            std::iter::from_fn(|| outbox.pop()).map(|it| it.pieces.joined().into_owned()).collect();
        assert_eq!(messages.iter().filter(|message| message.len() == 1).count(), 200);
        assert_eq!(messages.len() as u64, 400 - dropped);
        assert!(messages.is_sorted_by_key(|message| (message[0], message.len())), "they are in order");
        assert_eq!(messages.last().map(Vec::len), Some(1 << 20), "the newest is there");
        assert!(outbox.is_empty() && outbox.size() == 0 && dropped > 130);
    }

    #[test]
    fn a_single_message_may_be_longer() {
        let mut outbox = Outbox::default();
        assert_eq!(outbox.push(Outgoing::new(vec![1].into(), true)), 0);
        assert_eq!(outbox.push(Outgoing::new(vec![2; MOST + 1].into(), true)), 1);
        assert_eq!(outbox.pop().map(|message| message.pieces.joined()[0]), Some(2));
    }
}
