//! An incoming message, reassembled part by part.

use bytes::{Bytes, BytesMut};
use endpoint::{Message, Tag};
use quantities::Bytes as Size;

use crate::packet::{Label, Opening};

/// A message that may be incomplete.
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    opening: Opening,
    /// How much has arrived: everything before this. [B]
    have: u64,
    bytes: Parts,
    /// Whether its pushed part was put into the pushed buffer.
    buffered: bool,
}

/// A message that has arrived completely.
#[derive(Clone, Debug)]
pub(crate) struct Complete {
    /// Its tag; that of all broadcasts is 0.
    pub(crate) tag: Tag,
    pub(crate) message: Message,
    /// How much of it was in the pushed buffer before it had a destination.
    pub(crate) buffered: Size,
}

/// The bytes that have arrived. A message of one packet is not copied.
#[derive(Clone, Debug)]
enum Parts {
    One(Bytes),
    Many(BytesMut),
}

impl Reassembly {
    pub(crate) const fn new(opening: Opening) -> Reassembly {
        Reassembly { opening, have: 0, bytes: Parts::One(Bytes::new()), buffered: false }
    }

    /// How much of it is pushed. [B]
    pub(crate) fn pushed(&self) -> u64 {
        u64::from(self.opening.pushed)
    }

    /// How much has arrived: everything before this. [B]
    pub(crate) const fn have(&self) -> u64 {
        self.have
    }

    /// Its size. [B]
    pub(crate) const fn size(&self) -> u64 {
        self.opening.size
    }

    /// Its pushed part is put into the pushed buffer.
    pub(crate) const fn note_buffered(&mut self) {
        self.buffered = true;
    }

    /// The complete message, with this tag.
    pub(crate) fn into_complete(self, tag: Tag) -> Complete {
        let buffered = if self.buffered { Size(self.pushed()) } else { Size(0) };
        Complete { tag, message: self.into_message(), buffered }
    }

    pub(crate) const fn label(&self) -> Label {
        self.opening.label
    }

    pub(crate) const fn is_complete(&self) -> bool {
        self.have == self.opening.size
    }

    /// Takes the part that begins at `offset`, or as much of it as is new, if there is no gap before it.
    pub(crate) fn take(&mut self, offset: u64, payload: &Message) {
        let end = offset.saturating_add(payload.size().0);
        let content = self.opening.content.unwrap_or(0);
        let bytes = payload.content().cloned().unwrap_or_default();
        let fits = end <= self.opening.size && bytes.len() as u64 == end.min(content).saturating_sub(offset);
        if offset > self.have || end <= self.have || !fits {
            return;
        }
        let known = usize::try_from(self.have - offset).unwrap_or(usize::MAX).min(bytes.len());
        self.have = end;
        self.append(bytes.slice(known..));
    }

    fn append(&mut self, part: Bytes) {
        match &mut self.bytes {
            _ if part.is_empty() => {}
            Parts::One(first) if first.is_empty() => *first = part,
            Parts::One(first) => {
                let mut all = BytesMut::with_capacity(2 * (first.len() + part.len()));
                all.extend_from_slice(first);
                all.extend_from_slice(&part);
                self.bytes = Parts::Many(all);
            }
            Parts::Many(all) => all.extend_from_slice(&part),
        }
    }

    fn into_message(self) -> Message {
        let bytes = match self.bytes {
            Parts::One(bytes) => bytes,
            Parts::Many(bytes) => bytes.freeze(),
        };
        match self.opening.content {
            Some(_) => Message::beginning_with(bytes, Size(self.opening.size)),
            None => Message::of_size(Size(self.opening.size)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reassembly(size: u64, content: Option<u64>) -> Reassembly {
        Reassembly::new(Opening { size, content, pushed: 0, label: Label::default() })
    }

    #[test]
    fn parts_are_joined_even_if_they_overlap_or_repeat() {
        let bytes: Vec<u8> = (0..10).collect();
        let mut it = reassembly(10, Some(10));
        for (from, to) in [(4, 6), (0, 3), (0, 3), (5, 7), (2, 6), (3, 5), (6, 10), (9, 12)] {
            let end: usize = if to > 10 { 10 } else { to };
            it.take(from as u64, &Message::from(bytes[from..end].to_vec()));
        }
        assert!(it.is_complete());
        assert_eq!(it.into_message(), Message::from(bytes));
    }

    #[test]
    fn what_is_only_a_size_is_not_stored() {
        let mut it = reassembly(100, Some(3));
        it.take(0, &Message::beginning_with(vec![1, 2, 3], Size(50)));
        it.take(40, &Message::of_size(Size(60)));
        assert_eq!(it.into_message(), Message::beginning_with(vec![1, 2, 3], Size(100)));
        let mut it = reassembly(5, None);
        it.take(0, &Message::from(vec![0; 5]));
        assert!(!it.is_complete(), "bytes of a message that carries none");
        it.take(0, &Message::of_size(Size(5)));
        assert_eq!(it.into_message(), Message::of_size(Size(5)));
    }
}
