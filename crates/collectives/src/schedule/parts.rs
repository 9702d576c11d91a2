//! Messages that are sent in several parts.

use std::collections::BTreeMap;

use endpoint::Message;
use quantities::Rank;

use super::Action;
use crate::pieces::{joined, piece};

/// The messages of one rank of which only some parts have been sent or received.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// For each receiver, the message and how many of its bytes have been sent.
    leaving: BTreeMap<Rank, (Message, u64)>,
    /// For each sender, the parts received so far.
    coming: BTreeMap<Rank, Vec<Message>>,
}

impl Parts {
    /// The message that `action` sends: all of the message that `whole` makes, or its next part. The last part is the
    /// whole remainder, whatever the schedule says, and the others are shorter than planned if the message is.
    pub(super) fn outgoing(&mut self, action: &Action, whole: impl FnOnce() -> Message) -> Message {
        if action.parts == 1 {
            return whole();
        }
        let (message, gone) = self.leaving.entry(action.partner).or_insert_with(|| (whole(), 0));
        let left = message.size().0 - *gone;
        let is_last = action.part + 1 == action.parts;
        let length = if is_last { left } else { action.bytes.0.min(left) };
        let part = piece(message, *gone..*gone + length);
        *gone += length;
        if is_last {
            self.leaving.remove(&action.partner);
        }
        part
    }

    /// The message that `part` completes, if it does.
    pub(super) fn incoming(&mut self, action: &Action, part: Message) -> Option<Message> {
        if action.parts == 1 {
            return Some(part);
        }
        let parts = self.coming.entry(action.partner).or_default();
        parts.push(part);
        let is_last = action.part + 1 == action.parts;
        is_last.then(|| self.coming.remove(&action.partner).map_or(Message::default(), |parts| joined(&parts)))
    }
}

#[cfg(test)]
mod tests {
    use quantities::Bytes;

    use super::*;

    fn action(bytes: u64, part: u32, parts: u32) -> Action {
        Action { step: 0, sends: true, partner: Rank(1), bytes: Bytes(bytes), part, parts }
    }

    /// `message` as it arrives when sent in parts of 3, 0 and 2 bytes.
    fn cut_and_joined(message: &Message) -> Message {
        let (mut endpoint, mut there) = (Parts::default(), Parts::default());
        let mut whole = None;
        for (part, bytes) in (0..).zip([3, 0, 2]) {
            let action = action(bytes, part, 3);
            let sent = endpoint.outgoing(&action, || message.clone());
            assert!(whole.is_none());
            whole = there.incoming(&action, sent);
        }
        assert!(endpoint.leaving.is_empty() && there.coming.is_empty());
        whole.unwrap()
    }

    #[test]
    fn a_message_that_was_cut_is_put_together_again() {
        for length in [0, 1, 3, 4, 5, 9] {
            let content: Vec<u8> = (0..length).collect();
            assert_eq!(cut_and_joined(&Message::from(content.clone())), Message::from(content));
            let sized = Message::of_size(Bytes(u64::from(length)));
            assert_eq!(cut_and_joined(&sized), sized);
        }
    }
}
