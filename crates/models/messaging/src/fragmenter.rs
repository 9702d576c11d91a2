//! An outgoing message, part by part.

use endpoint::{Message, Tag};
use quantities::Bytes;

use crate::packet::{Data, FRAGMENT_HEADER, Label, OPENING_HEADER, Opening, Part, SEEN_FIELD, TAG_FIELD};
use crate::sequence::wire;

/// A message that has not been sent completely, or is not known to have arrived completely.
///
/// ```text
///     |BTP1|    BTP2    |            rest            |
///     0     packets of  pushed                       size
///           at most 1,472 B
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Fragmenter {
    number: u64,
    message: Message,
    /// How much is in the first packet, and how much is sent without being pulled. [B]
    first: u64,
    pushed: u64,
    label: Label,
    opened: bool,
    /// Whether the rest may be sent.
    pulled: bool,
    /// Where the next part begins.
    offset: u64,
}

impl Fragmenter {
    /// Message `number` of its stream, with `first` bytes in the first packet and `pushed` sent without being pulled.
    pub(crate) fn new(number: u64, message: Message, (first, pushed): (u64, u64), label: Label) -> Fragmenter {
        Fragmenter { number, message, first, pushed, label, opened: false, pulled: false, offset: 0 }
    }

    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    pub(crate) const fn label(&self) -> Label {
        self.label
    }

    pub(crate) const fn is_pulled(&self) -> bool {
        self.pulled
    }

    /// The receiver asks for everything from `offset` on.
    pub(crate) fn pull(&mut self, offset: u64) {
        if !self.pulled {
            self.pulled = true;
            self.offset = self.offset.min(offset);
        }
    }

    /// Whether its first part has been sent.
    pub(crate) const fn is_opened(&self) -> bool {
        self.opened
    }

    /// Whether there is something to send that may be sent now.
    pub(crate) const fn may_send(&self) -> bool {
        !self.opened || self.offset < self.limit()
    }

    /// Whether everything has been sent.
    pub(crate) const fn is_sent(&self) -> bool {
        self.opened && self.offset == self.message.size().0
    }

    const fn limit(&self) -> u64 {
        if self.pulled { self.message.size().0 } else { self.pushed }
    }

    /// The next part of a broadcast, for a datagram of at most `datagram` bytes. Its position in a stream is not known
    /// yet.
    pub(crate) fn next_part(&mut self, datagram: usize) -> Data {
        self.part(datagram, OPENING_HEADER)
    }

    /// The next part of a message to one rank, for a datagram of at most `datagram` bytes. Its position in a stream is
    /// not known yet.
    pub(crate) fn next_part_to_one(&mut self, datagram: usize) -> Data {
        let tag = if self.label.tag() == Tag::default() { 0 } else { TAG_FIELD };
        self.part(datagram, OPENING_HEADER + tag)
    }

    fn part(&mut self, datagram: usize, opening_header: usize) -> Data {
        let opens = !self.opened;
        let header = if opens { opening_header } else { FRAGMENT_HEADER };
        let end = if opens { self.first.min(self.pushed) } else { self.limit() };
        let room = (datagram - header) as u64;
        let payload = part_of(&self.message, self.offset, (end - self.offset).min(room), room);
        let part = if opens { Part::Opening(self.opening()) } else { Part::From(self.offset) };
        self.opened = true;
        self.offset += payload.size().0;
        Data { sequence: 0, message: wire(self.number), part, payload }
    }

    fn opening(&self) -> Opening {
        Opening {
            size: self.message.size().0,
            content: self.message.content().map(|content| content.len() as u64),
            pushed: u32::try_from(self.pushed).unwrap_or(u32::MAX),
            label: self.label,
        }
    }
}

/// At most `length` bytes of `message` from `offset` on, so that they fit into `room` together with the header field
/// that is needed if not all of them are real bytes. Nothing is copied.
fn part_of(message: &Message, offset: u64, length: u64, room: u64) -> Message {
    let end = offset + length;
    let content = message.content().map_or(&[][..], |content| &content[..]);
    let seen_end = end.min(content.len() as u64);
    if seen_end < end {
        let end = end.min(offset + room - SEEN_FIELD as u64);
        return match seen(message, offset, seen_end.min(end)) {
            Some(bytes) => Message::beginning_with(bytes, Bytes(end - offset)),
            None => Message::of_size(Bytes(end - offset)),
        };
    }
    seen(message, offset, end).map_or_else(Message::default, Message::from)
}

fn seen(message: &Message, offset: u64, end: u64) -> Option<bytes::Bytes> {
    let place = |place: u64| usize::try_from(place).ok();
    let content = message.content().filter(|_| offset < end)?;
    Some(content.slice(place(offset)?..place(end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(message: Message, pushed: u64, pulls: bool) -> Vec<(Part, Message)> {
        let first = if pushed == 200 { 200 } else { 8 };
        let mut fragmenter = Fragmenter::new(0, message, (first, pushed), Label::default());
        if pulls {
            fragmenter.pull(pushed);
        }
        let mut parts = Vec::new();
        while fragmenter.may_send() {
            let data = fragmenter.next_part(138);
            assert!(data.payload.size() > Bytes(0) || parts.is_empty(), "a part is empty");
            parts.push((data.part, data.payload));
        }
        assert_eq!(fragmenter.is_sent(), pulls || pushed == fragmenter.message.size().0);
        parts
    }

    fn sizes(parts: &[(Part, Message)]) -> Vec<u64> {
        parts.iter().map(|(_, payload)| payload.size().0).collect()
    }

    #[test]
    fn a_message_is_cut_at_the_bytes_to_push_and_as_datagrams_need_it() {
        let bytes: Vec<u8> = (0..200).collect();
        assert_eq!(sizes(&parts(bytes.clone().into(), 48, false)), [8, 40]);
        let all = parts(bytes.clone().into(), 48, true);
        assert_eq!(sizes(&all), [8, 112, 80]);
        let joined: Vec<u8> = all.iter().flat_map(|(_, payload)| payload.content().unwrap().to_vec()).collect();
        assert_eq!(joined, bytes);
        assert_eq!(sizes(&parts(bytes.into(), 200, false)), [100, 100]);
        assert_eq!(sizes(&parts(Message::default(), 0, false)), [0]);
    }

    #[test]
    fn sizes_without_bytes_leave_room_for_their_header_field() {
        let message = Message::beginning_with(vec![1; 150], Bytes(400));
        let all = parts(message, 48, true);
        assert_eq!(sizes(&all), [8, 112, 110, 110, 60]);
        let unseen: Vec<u64> = all.iter().map(|(_, payload)| payload.unseen().0).collect();
        assert_eq!(unseen, [0, 0, 80, 110, 60]);
    }
}
