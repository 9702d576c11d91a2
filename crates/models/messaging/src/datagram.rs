//! The unit on the wire, a header and a part of a message; and what must carry it.

use bytes::Bytes;
use endpoint::Message;
use quantities::{Rank, Time};

/// The longest header. [B]
pub const LONGEST_HEADER: usize = 44;

/// A datagram. Header and payload are kept apart, so that the payload can be a slice of the message itself and needs no
/// copy: the socket gathers the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    header: DatagramHeader,
    payload: Message,
}

impl Datagram {
    pub(crate) const fn new(header: DatagramHeader, payload: Message) -> Datagram {
        Datagram { header, payload }
    }

    /// The bytes before the payload.
    pub fn header(&self) -> &[u8] {
        self.header.bytes()
    }

    /// The rank that it claims to come from; only its checksum tells whether the header is intact.
    pub fn source(&self) -> Option<Rank> {
        crate::packet::source(self.header())
    }

    /// The payload. A payload that is only a size goes over a real wire as zeros.
    pub const fn payload(&self) -> &Message {
        &self.payload
    }

    /// Whether it carries a part of a message. Others only say what has arrived, or ask for it.
    pub fn carries_message(&self) -> bool {
        crate::packet::carries_message(self.header())
    }

    /// Its size. [B]
    pub fn size(&self) -> usize {
        self.header.bytes().len() + usize::try_from(self.payload.size().0).unwrap_or(usize::MAX)
    }

    /// All of it in one piece, as a receiver gets it from a real wire.
    pub fn to_bytes(&self) -> Bytes {
        let mut bytes = Vec::with_capacity(self.size());
        bytes.extend_from_slice(self.header());
        bytes.extend_from_slice(self.payload.content().map_or(&[], |content| &content[..]));
        bytes.resize(self.size(), 0);
        bytes.into()
    }

    /// A datagram that arrived in one piece. Only the header is copied.
    ///
    /// # Errors
    /// [`Unreadable`] when the header is not one of this protocol.
    pub fn from_bytes(bytes: &Bytes) -> Result<Datagram, Unreadable> {
        let length = crate::packet::header_length(bytes).ok_or(Unreadable::Header)?;
        let mut header = DatagramHeader::EMPTY;
        header.write(bytes.get(..length).ok_or(Unreadable::Header)?);
        Ok(Datagram { header, payload: Message::from(bytes.slice(length..)) })
    }
}

/// Why a datagram is no packet of this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Too short, of another version, or of a kind that does not exist.
    #[error("the header is not of this protocol")]
    Header,
    /// Bits were flipped, or it belongs to another protocol.
    #[error("the checksum is wrong")]
    Checksum,
    /// Fields that contradict each other.
    #[error("a field has an impossible value")]
    Field,
}

/// The bytes before the payload.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct DatagramHeader {
    bytes: [u8; LONGEST_HEADER],
    length: usize,
}

impl DatagramHeader {
    pub(crate) const EMPTY: DatagramHeader = DatagramHeader { bytes: [0; LONGEST_HEADER], length: 0 };

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Appends `bytes`. No header of [`crate::packet`] is longer than [`LONGEST_HEADER`].
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Overwrites what is at `place` with `bytes`.
    pub(crate) fn write_over(&mut self, place: usize, bytes: &[u8]) {
        self.bytes[place..place + bytes.len()].copy_from_slice(bytes);
    }
}

impl std::fmt::Debug for DatagramHeader {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:02x?}", self.bytes())
    }
}

/// Where a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One rank.
    One(Rank),
    /// All other ranks, at once.
    All,
}

/// A network interface: it carries datagrams, or loses, repeats or delays them. A simulated Ethernet is one, UDP is
/// another.
#[allow(async_fn_in_trait)] // a world polls its own futures on one thread: no `Send` bound is wanted
pub trait Datagrams {
    /// The time at this rank.
    fn now(&self) -> Time;
    /// Sends all of `datagrams`, in this order if it can; a slice, so that they can be handed over at once. A lost
    /// datagram is not an error.
    ///
    /// # Errors
    /// When the network can no longer be used.
    async fn send(&self, datagrams: &[(Destination, Datagram)]) -> endpoint::Result<()>;
    /// Waits until something has arrived or the time is `until`, and appends what there is to `arrived`.
    ///
    /// # Errors
    /// When the network can no longer be used.
    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> endpoint::Result<()>;
}
