//! Parity packets, and packets as the code sees them.
//!
//! ```text
//!     packet of a block     +-----------+-------+---------------------------+---------+---------------
//!     as a symbol           |kind, flags| size  | as after the sequence    | payload | zeros, up to the longest
//!                           +-----------+-------+---------------------------+---------+---------------
//!                              1           2      of a packet: 10, 26, and 2 more if not all of the payload is bytes
//! ```
//!
//! Size is the size of the payload, of which only the bytes are included. The sequence is not: it is the position in
//! the block.

use bytes::Bytes;
use endpoint::Message;
use quantities::Bytes as Size;

use super::{
    BROADCAST, Body, CARRIES, COMMON, Data, FRAGMENT, FRAGMENT_HEADER, OPENING, OPENING_HEADER, PARITY_HEADER,
    PacketReader, Parity, SEEN_FIELD, UNSEEN, write_seen,
};
use crate::datagram::{DatagramHeader, Unreadable};

const SEQUENCE: usize = 4;
/// Kind, flags and size. [B]
const BEFORE: usize = 3;

/// How much shorter than the longest a datagram with an opening, or with a fragment, has to be so that a parity packet
/// of it fits. The length of a symbol is even. [B]
pub(crate) const OPENING_ROOM: usize = room(OPENING_HEADER);
pub(crate) const FRAGMENT_ROOM: usize = room(FRAGMENT_HEADER);

const fn room(header: usize) -> usize {
    PARITY_HEADER + BEFORE + (header - COMMON - SEQUENCE) + 1 - header
}

impl Parity {
    pub(super) fn write(&self, header: &mut DatagramHeader) -> Message {
        header.write(&self.first.to_be_bytes());
        header.write(&self.number.to_be_bytes());
        write_seen(&self.symbol, header);
        self.symbol.clone()
    }

    pub(super) fn read(flags: u8, header: &mut PacketReader<'_>, all: &Message) -> Result<(Body, Message), Unreadable> {
        let (first, number) = (header.u32()?, u16::from_be_bytes(header.take()?));
        let symbol = header.payload(flags, all)?;
        Ok((Body::Parity(Parity { first, number, symbol: symbol.clone() }), symbol))
    }
}

impl Data {
    /// Writes it as a symbol, without trailing zeros.
    pub(crate) fn write_symbol(&self, symbol: &mut Vec<u8>) {
        let mut header = DatagramHeader::EMPTY;
        let payload = self.write(true, &mut header);
        let content = payload.content().map_or(&[][..], |content| &content[..]);
        // One more byte may follow, so that the length is even.
        symbol.reserve(BEFORE + header.bytes().len() + content.len() + 1);
        let (kind, flags) = self.kind_and_flags(true);
        symbol.push(kind | flags);
        // No payload is larger than a datagram.
        symbol.extend_from_slice(&u16::try_from(payload.size().0).unwrap_or(u16::MAX).to_be_bytes());
        symbol.extend_from_slice(&header.bytes()[SEQUENCE..]);
        symbol.extend_from_slice(content);
    }

    /// The packet with this sequence whose symbol this is.
    ///
    /// # Errors
    /// [`Unreadable`] when it is not the symbol of any packet.
    pub(crate) fn from_symbol(sequence: u32, symbol: &Bytes) -> Result<Data, Unreadable> {
        let mut reader = PacketReader(symbol);
        let [kind_and_flags] = reader.take()?;
        let size = u64::from(u16::from_be_bytes(reader.take()?));
        let (kind, flags) = (kind_and_flags & !(CARRIES | UNSEEN), kind_and_flags & (CARRIES | UNSEEN));
        let fields = match kind {
            OPENING => OPENING_HEADER - COMMON - SEQUENCE,
            FRAGMENT if flags & CARRIES == 0 => FRAGMENT_HEADER - COMMON - SEQUENCE,
            _ => return Err(Unreadable::Field),
        };
        let fields = if flags & UNSEEN != 0 { fields + SEEN_FIELD } else { fields };
        let rest = symbol.slice(BEFORE..);
        let header = [&sequence.to_be_bytes(), rest.get(..fields).ok_or(Unreadable::Header)?].concat();
        let seen = match header.last_chunk() {
            Some(&seen) if flags & UNSEEN != 0 => u64::from(u16::from_be_bytes(seen)),
            _ => size,
        };
        let end = fields + usize::try_from(seen).map_err(|_| Unreadable::Field)?;
        if seen > size || end > rest.len() {
            return Err(Unreadable::Field);
        }
        let payload = Message::beginning_with(rest.slice(fields..end), Size(size));
        match Data::read(kind, flags | BROADCAST, &mut PacketReader(&header), &payload)? {
            (Body::Data(data), _) => Ok(data),
            _ => Err(Unreadable::Field),
        }
    }
}
