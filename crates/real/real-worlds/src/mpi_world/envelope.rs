//! The encoding of a Maquette message as an MPI message.
//!
//! ```text
//!     tag of MPI       what the message holds
//!     2 t              content, all of it; our tag is t
//!     2 t + 1          bytes that are never read: only their number counts; our tag is t
//!     the largest      an envelope, then the rest: messages that fit neither of these, and announcements of large ones
//! ```
//!
//! A receiver does not know how long the next message is. So every message on this communicator fits into a buffer of
//! [`SMALL`] bytes; a longer one is announced there, and is itself sent on another communicator, straight to its final
//! place. Most messages have no envelope and no announcement: they cost nothing beyond what MPI itself costs.

use std::ffi::c_int;

use endpoint::{Message, Tag};
use quantities::Bytes;

/// The longest message sent without an announcement: a longer one is received faster in place than copied. [B]
pub(super) const SMALL: usize = 8 << 10;
/// The length of an envelope. [B]
pub(super) const ENVELOPE: usize = 32;
/// In an envelope, in place of the number of readable bytes: the message is only a size.
const ONLY_A_SIZE: u64 = u64::MAX;

/// The meaning of an MPI tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Content(Tag),
    OnlySize(Tag),
    Envelope,
}

/// The tags of a communicator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels {
    /// MPI's largest tag.
    pub(super) largest: c_int,
}

impl Labels {
    /// The MPI tag for `label`, if there is one.
    pub(super) fn tag_of(self, label: Label) -> Option<c_int> {
        let (Tag(tag), odd) = match label {
            Label::Envelope => return Some(self.largest),
            Label::Content(tag) => (tag, 0),
            Label::OnlySize(tag) => (tag, 1),
        };
        let tag = c_int::try_from(u64::from(tag) * 2 + odd).ok()?;
        (tag < self.largest).then_some(tag)
    }

    /// The meaning of an MPI tag.
    pub(super) fn label_of(self, tag: c_int) -> Label {
        let number = Tag((tag / 2).unsigned_abs());
        match tag {
            _ if tag == self.largest => Label::Envelope,
            _ if tag % 2 == 0 => Label::Content(number),
            _ => Label::OnlySize(number),
        }
    }
}

/// The description of a message that comes in an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    pub(super) tag: Tag,
    /// The length of the message. [B]
    pub(super) size: u64,
    /// How much of it can be read; nothing if it is only a size. [B]
    pub(super) seen: Option<u64>,
    /// If it is large, the tag with which it is sent on the other communicator.
    pub(super) large: Option<c_int>,
}

impl Envelope {
    pub(super) fn of(tag: Tag, message: &Message, large: Option<c_int>) -> Envelope {
        Envelope { tag, size: message.size().0, seen: message.content().map(|content| content.len() as u64), large }
    }

    pub(super) fn to_bytes(self) -> [u8; ENVELOPE] {
        let Envelope { tag: Tag(tag), size, seen, large } = self;
        let mut bytes = [0; ENVELOPE];
        bytes[..4].copy_from_slice(&tag.to_le_bytes());
        bytes[4..8].copy_from_slice(&large.unwrap_or(-1).to_le_bytes());
        bytes[8..16].copy_from_slice(&size.to_le_bytes());
        bytes[16..24].copy_from_slice(&seen.unwrap_or(ONLY_A_SIZE).to_le_bytes());
        bytes
    }

    /// Reads an envelope that another rank has written; returns nothing if the bytes are none.
    pub(super) fn read(bytes: &[u8]) -> Option<Envelope> {
        let four = |from: usize| bytes.get(from..from + 4)?.try_into().ok();
        let eight = |from: usize| bytes.get(from..from + 8)?.try_into().ok().map(u64::from_le_bytes);
        let (size, seen) = (eight(8)?, eight(16)?);
        let large = c_int::from_le_bytes(four(4)?);
        Some(Envelope {
            tag: Tag(u32::from_le_bytes(four(0)?)),
            size,
            seen: Some(seen).filter(|&seen| seen != ONLY_A_SIZE),
            large: Some(large).filter(|&large| large >= 0),
        })
    }

    /// The message with this content.
    pub(super) fn message(&self, bytes: &bytes::Bytes) -> Message {
        match self.seen {
            None => Message::of_size(Bytes(self.size)),
            Some(seen) => {
                let seen = usize::try_from(seen).map_or(bytes.len(), |seen| seen.min(bytes.len()));
                Message::beginning_with(bytes.slice(..seen), Bytes(self.size))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_says_what_a_message_holds() {
        let labels = Labels { largest: 32_767 };
        for label in [0, 1, 7, 16_382].map(Tag).into_iter().flat_map(|tag| [Label::Content(tag), Label::OnlySize(tag)])
        {
            assert_eq!(labels.tag_of(label).map(|tag| labels.label_of(tag)), Some(label));
        }
        assert_eq!(labels.label_of(32_767), Label::Envelope);
        let too_large = [16_383, 1 << 30, u32::MAX].map(|tag| labels.tag_of(Label::OnlySize(Tag(tag))));
        assert_eq!(too_large, [None; 3]);
    }

    #[test]
    fn an_envelope_is_read_as_it_was_written() {
        let messages =
            [Message::of_size(Bytes(9)), Message::from(vec![1, 2, 3]), Message::beginning_with(vec![1, 2], Bytes(7))];
        for (message, large) in messages.iter().zip([None, Some(0), Some(5)]) {
            let envelope = Envelope::of(Tag(u32::MAX), message, large);
            assert_eq!(Envelope::read(&envelope.to_bytes()), Some(envelope));
            let mut bytes = message.content().cloned().unwrap_or_default().to_vec();
            bytes.resize(message.size().0 as usize, 0);
            assert_eq!(envelope.message(&bytes.into()), *message);
        }
        assert_eq!(Envelope::read(&[0; 23]), None);
    }
}
