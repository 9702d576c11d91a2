//! The contents of datagrams, and their encoding.
//!
//! All numbers are big-endian. Every packet begins with the same twelve bytes:
//!
//! ```text
//!    0        1        2        3        4                 8                 12
//!    +--------+--------+--------+--------+-----------------+-----------------+
//!    |ver kind| flags  | source rank     | session         | checksum        |
//!    +--------+--------+--------+--------+-----------------+-----------------+
//! ```
//!
//! What follows depends on the kind:
//!
//! ```text
//!    opening, 1: the first part of a message
//!    +-----------+-----------+---------------+---------------+-----------+--------------+---------
//!    | sequence 4| message 4 | size        6 | content     6 | pushed  4 | acknowledger | payload
//!    +-----------+-----------+---------------+---------------+-----------+--------------+---------
//!    fragment, 2: another part
//!    +-----------+-----------+---------------+---------
//!    | sequence 4| message 4 | offset      6 | payload             26 bytes of header, so that 1,472 carry 1,446
//!    +-----------+-----------+---------------+---------
//!    report, 3: how far a receiver has got; it acknowledges and pulls
//!    +-----------+-----------+---------------+---------------+--------
//!    | expected 4| complete 4| pulled message| from offset 6 | bitmap              the pull is zeros if there is none
//!    +-----------+-----------+---------------+---------------+--------
//!    dropped, 4: the source broadcasts without this receiver from now on
//!    parity, 5: a parity packet, from which a lost packet of a broadcast block is computed
//!    +-----------+-------+---------
//!    | first    4| number| symbol              18 bytes of header
//!    +-----------+-------+---------
//!    parity report, 6: a report of a receiver that holds parity packets, of several blocks
//!    +-------------------+-------+-- for each block --------+--------
//!    | like a report   18| blocks| first 4 | count | next   | bitmap
//!    +-------------------+-------+--------------------------+--------
//!    question, 7: a source asks what a receiver has
//!    message report, 8: a report of a receiver whose program has taken messages out of order
//!    +-------------------+---------+-- for each one  -+--------
//!    | like a report   18| messages| incomplete     4 | bitmap
//!    +-------------------+---------+------------------+--------
//! ```
//!
//! Version and kind have four bits each. Flags of data: 1 broadcast, 2 answer at once, 4 the message carries bytes, 8 a
//! part of the payload is only a size (two more bytes of header then tell how many bytes are real), 16 the message has
//! a tag (in four bytes of header before those two; without this flag the tag is 0). Flags of a report: 1 of a
//! broadcast, 2 answer at once, 4 something is missing, 8 pulls, 16 has no room, 32 the rank has ended, 64 knows that
//! the receiver of the report has ended, 128 answers a packet that asked for an answer.
//!
//! - *sequence* numbers the packets of a stream, which is the source's to one rank or its broadcasts; *message* its
//!   messages. Of both only the low 32 bits go over the wire.
//! - *expected* is the first packet of the stream that the reporter does not have: a cumulative acknowledgement. Bit j
//!   of byte i of the *bitmap*, counted from the lowest, is set if it has packet expected + 1 + 8 i + j.
//! - *complete* is the first message that it does not have completely; *incomplete* are those after it, in order, up to
//!   the first about which, and about all after it, nothing is said.
//! - *pushed* is how much of the message is sent without being pulled; *acknowledger* the rank that reports its
//!   arrival, for a broadcast.
//! - *first* is the first packet of a block; *number* counts its parity packets, of which a receiver holds *count*
//!   different ones, all numbered below *next*. [`crate::parity`] says what a *symbol* is.
//! - The *checksum* is CRC-32C over the header, with zeros in its place, and the bytes of the payload. Parts that are
//!   only a size are not covered: nobody reads them.
//!
//! An authenticating layer, if any, lies below: it seals whole datagrams, kind 15, see [`crate::Sealed`].

mod report;
pub(crate) mod symbol;

use bytes::Bytes;
use endpoint::{Message, Tag};
use quantities::{Bytes as Size, Rank};

use crate::datagram::{Datagram, DatagramHeader, Unreadable};

/// The version of this format, in the upper half of the first byte.
const VERSION: u8 = 0xA0;
/// Sizes and offsets have six bytes. [B]
pub const LARGEST_MESSAGE: u64 = (1 << 48) - 1;
/// Ranks have two bytes.
pub const MOST_RANKS: u32 = 1 << 16;
/// The length of a fragment's header when the payload is all bytes. [B]
pub const FRAGMENT_HEADER: usize = 26;
/// The length of an opening's header when the payload is all bytes. [B]
pub const OPENING_HEADER: usize = 38;
/// Added to the header of an opening if the message has a tag other than 0. [B]
pub const TAG_FIELD: usize = 4;
/// Added if the payload, or a part of it, is only a size. [B]
pub const SEEN_FIELD: usize = 2;
/// The length of a report's header. [B]
pub const REPORT_HEADER: usize = 30;
/// Its length if parity packets are held. [B]
pub const PARITY_REPORT_HEADER: usize = REPORT_HEADER + 1;
/// Its length if messages were taken out of order. [B]
pub const MESSAGE_REPORT_HEADER: usize = REPORT_HEADER + 1;
/// What it contains for each incomplete message. [B]
pub const INCOMPLETE: usize = 4;
/// What it contains for each block of which parity packets are held. [B]
pub const HELD: usize = 8;
/// The length of a parity packet's header when the symbol is all bytes. [B]
pub const PARITY_HEADER: usize = 18;

const COMMON: usize = 12;
const CHECKSUM: std::ops::Range<usize> = 8..12;

const OPENING: u8 = 1;
const FRAGMENT: u8 = 2;
const REPORT: u8 = 3;
const DROPPED: u8 = 4;
const PARITY: u8 = 5;
const PARITY_REPORT: u8 = 6;
const QUESTION: u8 = 7;
const MESSAGE_REPORT: u8 = 8;
pub(crate) const SEALED: u8 = VERSION | 15;

const BROADCAST: u8 = 1;
const ANSWER: u8 = 2;
const CARRIES: u8 = 4;
const UNSEEN: u8 = 8;
const TAGGED: u8 = 16;
const MISSING: u8 = 4;
const PULLS: u8 = 8;
const NO_ROOM: u8 = 16;
const ENDED: u8 = 32;
const KNOWS: u8 = 64;
const ANSWERS: u8 = 128;

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The session that it belongs to. Packets of others change nothing.
    pub session: u32,
    /// The sender.
    pub source: Rank,
    /// Whether it belongs to a stream of broadcasts: the sender's own if it carries data, the addressee's if it is a
    /// report.
    pub broadcast: bool,
    /// Whether a report is requested at once.
    pub answer: bool,
    /// Its contents.
    pub body: Body,
}

/// The contents of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A part of a message.
    Data(Data),
    /// How far a receiver has got.
    Report(ReceiverReport),
    /// The source broadcasts without the receiver from now on.
    Dropped,
    /// A parity packet, from which lost packets are computed.
    Parity(Parity),
    /// Asks what the receiver has of the stream.
    Question,
}

/// A parity packet, from which a lost packet of a block is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parity {
    /// The first packet of the block.
    pub first: u32,
    /// How many parity packets of the block were sent before this one.
    pub number: u16,
    /// The symbol. The part of it that is only a size stands for packets that carry no bytes.
    pub symbol: Message,
}

/// How many parity packets of a block a receiver holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The first packet of the block.
    pub first: u32,
    /// How many different ones.
    pub count: u16,
    /// The number of the first after which none has arrived.
    pub next: u16,
}

/// A part of a message, and its position in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// The packet's number in its stream.
    pub sequence: u32,
    /// The message's number in its stream.
    pub message: u32,
    /// Which part it is.
    pub part: Part,
    /// The part itself.
    pub payload: Message,
}

/// Identifies a part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The first part; it describes the message.
    Opening(Opening),
    /// One that begins at this offset. [B]
    From(u64),
}

/// The description of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Its size. [B]
    pub size: u64,
    /// How many bytes it carries, if any; the rest is only a size. [B]
    pub content: Option<u64>,
    /// How much of it is sent without being pulled. [B]
    pub pushed: u32,
    /// What else a receiver has to know about it.
    pub label: Label,
}

/// What a receiver has to know about a message besides its size. It depends on the stream: for a message to one rank it
/// is the tag, for a broadcast the rank that reports the arrival of the pushed part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label(u32);

impl Label {
    /// A message to one rank with this tag.
    pub const fn with_tag(Tag(tag): Tag) -> Label {
        Label(tag)
    }

    /// A broadcast that this rank acknowledges.
    pub const fn acknowledged_by(Rank(rank): Rank) -> Label {
        Label(rank)
    }

    /// The tag of a message to one rank.
    pub const fn tag(self) -> Tag {
        Tag(self.0)
    }

    /// The rank that acknowledges the pushed part of a broadcast.
    pub const fn acknowledger(self) -> Rank {
        Rank(self.0)
    }
}

/// How far a receiver has got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiverReport {
    /// The first packet that it lacks.
    pub expected: u32,
    /// The later packets that it has.
    pub bitmap: Bytes,
    /// The blocks of which it holds parity packets; at most 255.
    pub held: Vec<Held>,
    /// The first message that it does not have completely.
    pub complete: u32,
    /// If messages were taken out of order: the incomplete messages after that one, in order. Nothing is known of the
    /// last of them, nor of any after it; at most 255.
    pub incomplete: Vec<u32>,
    /// The message whose rest may be sent, and from which offset.
    pub pull: Option<(u32, u64)>,
    /// A packet after the expected one has arrived, so the expected one is probably lost.
    pub missing: bool,
    /// The expected packet has arrived, but there was no room for it.
    pub no_room: bool,
    /// The rank's program has ended: it will neither receive nor send any more messages.
    pub ended: bool,
    /// A packet that asked for an answer has arrived since the last report.
    pub answers: bool,
    /// It knows that the program of the rank it reports to has ended.
    pub knows: bool,
}

impl Packet {
    /// Encodes it.
    pub fn encode(&self) -> Datagram {
        let (kind, flags) = self.kind_and_flags();
        let mut header = DatagramHeader::EMPTY;
        header.write(&[VERSION | kind, flags]);
        header.write(&low_16(self.source));
        header.write(&self.session.to_be_bytes());
        header.write(&[0; 4]);
        let payload = match &self.body {
            Body::Data(data) => data.write(self.broadcast, &mut header),
            Body::Report(report) => report.write(&mut header),
            Body::Dropped | Body::Question => Message::default(),
            Body::Parity(parity) => parity.write(&mut header),
        };
        header.write_over(CHECKSUM.start, &checksum(header.bytes(), &payload).to_be_bytes());
        Datagram::new(header, payload)
    }

    /// Whether it begins a message of more than `largest` bytes.
    pub(crate) const fn opens_more_than(&self, largest: u64) -> bool {
        matches!(&self.body, Body::Data(Data { part: Part::Opening(opening), .. }) if opening.size > largest)
    }

    fn kind_and_flags(&self) -> (u8, u8) {
        let common = set(self.broadcast, BROADCAST) | set(self.answer, ANSWER);
        match &self.body {
            Body::Data(data) => {
                let (kind, flags) = data.kind_and_flags(self.broadcast);
                (kind, common | flags)
            }
            Body::Report(report) => {
                let ReceiverReport { pull, missing, no_room, answers, ended, knows, .. } = report;
                let flags = set(*missing, MISSING) | set(pull.is_some(), PULLS) | set(*no_room, NO_ROOM);
                (report.kind(), common | flags | set(*answers, ANSWERS) | set(*ended, ENDED) | set(*knows, KNOWS))
            }
            Body::Dropped => (DROPPED, common),
            Body::Question => (QUESTION, common),
            Body::Parity(Parity { symbol, .. }) => (PARITY, common | set(symbol.unseen() > Size(0), UNSEEN)),
        }
    }

    /// Decodes one. Whatever the datagram holds, the result is a packet or an error.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn decode(datagram: &Datagram) -> Result<Packet, Unreadable> {
        let bytes = datagram.header();
        if header_length(bytes) != Some(bytes.len()) {
            return Err(Unreadable::Header);
        }
        let mut header = PacketReader(bytes);
        let [version_and_kind, flags] = header.take()?;
        let source = Rank(u32::from(u16::from_be_bytes(header.take()?)));
        let session = header.u32()?;
        let expected = header.u32()?;
        let kind = version_and_kind & 0x0F;
        let (body, payload) = match kind {
            OPENING | FRAGMENT => Data::read(kind, flags, &mut header, datagram.payload())?,
            REPORT | PARITY_REPORT | MESSAGE_REPORT => {
                ReceiverReport::read(kind, flags, &mut header, datagram.payload())?
            }
            PARITY => Parity::read(flags, &mut header, datagram.payload())?,
            DROPPED if datagram.payload().size() == Size(0) => (Body::Dropped, Message::default()),
            QUESTION if datagram.payload().size() == Size(0) => (Body::Question, Message::default()),
            DROPPED | QUESTION => return Err(Unreadable::Field),
            // Sealed datagrams are not for a receiver without the key.
            _ => return Err(Unreadable::Header),
        };
        if checksum(bytes, &payload) != expected {
            return Err(Unreadable::Checksum);
        }
        Ok(Packet { session, source, broadcast: flags & BROADCAST != 0, answer: flags & ANSWER != 0, body })
    }
}

impl Data {
    fn kind_and_flags(&self, broadcast: bool) -> (u8, u8) {
        let unseen = set(self.payload.unseen() > Size(0), UNSEEN);
        match self.part {
            Part::Opening(Opening { content, label, .. }) => {
                let tagged = set(!broadcast && label.tag() != Tag::default(), TAGGED);
                (OPENING, unseen | tagged | set(content.is_some(), CARRIES))
            }
            Part::From(_) => (FRAGMENT, unseen),
        }
    }

    fn write(&self, broadcast: bool, header: &mut DatagramHeader) -> Message {
        header.write(&self.sequence.to_be_bytes());
        header.write(&self.message.to_be_bytes());
        match self.part {
            Part::Opening(Opening { size, content, pushed, label }) => {
                header.write(&low_48(size));
                header.write(&low_48(content.unwrap_or(0)));
                header.write(&pushed.to_be_bytes());
                header.write(&low_16(if broadcast { label.acknowledger() } else { Rank(0) }));
                if !broadcast && label.tag() != Tag::default() {
                    header.write(&label.tag().0.to_be_bytes());
                }
            }
            Part::From(offset) => header.write(&low_48(offset)),
        }
        write_seen(&self.payload, header);
        self.payload.clone()
    }

    fn read(kind: u8, flags: u8, header: &mut PacketReader<'_>, all: &Message) -> Result<(Body, Message), Unreadable> {
        let (sequence, message) = (header.u32()?, header.u32()?);
        let part = if kind == OPENING {
            let (size, content) = (header.u48()?, header.u48()?);
            let carries = flags & CARRIES != 0;
            if !carries && content > 0 {
                return Err(Unreadable::Field);
            }
            let content = carries.then_some(content);
            let (pushed, acknowledger) = (header.u32()?, u32::from(u16::from_be_bytes(header.take()?)));
            Part::Opening(Opening { size, content, pushed, label: Label::read(flags, acknowledger, header)? })
        } else {
            Part::From(header.u48()?)
        };
        let payload = header.payload(flags, all)?;
        let fits = match part {
            Part::Opening(Opening { size, content, pushed, .. }) => {
                content.unwrap_or(0) <= size && u64::from(pushed) <= size && payload.size().0 <= size
            }
            Part::From(offset) => offset + payload.size().0 <= LARGEST_MESSAGE,
        };
        if !fits {
            return Err(Unreadable::Field);
        }
        Ok((Body::Data(Data { sequence, message, part, payload: payload.clone() }), payload))
    }
}

impl Label {
    /// The label of an opening with these `flags`, read from behind its acknowledger.
    fn read(flags: u8, acknowledger: u32, header: &mut PacketReader<'_>) -> Result<Label, Unreadable> {
        let (broadcast, tagged) = (flags & BROADCAST != 0, flags & TAGGED != 0);
        let label = if tagged { header.u32()? } else { acknowledger };
        let meant = if tagged { !broadcast && acknowledger == 0 && label != 0 } else { broadcast || acknowledger == 0 };
        if meant { Ok(Label(label)) } else { Err(Unreadable::Field) }
    }
}

/// The length of the header at the start of `bytes`; none if there is no header.
pub(crate) fn header_length(bytes: &[u8]) -> Option<usize> {
    let &[first, flags, ..] = bytes else { return None };
    let (own, allowed) = match first ^ VERSION {
        OPENING => (OPENING_HEADER, BROADCAST | ANSWER | CARRIES | UNSEEN | TAGGED),
        FRAGMENT => (FRAGMENT_HEADER, BROADCAST | ANSWER | UNSEEN),
        REPORT => (REPORT_HEADER, u8::MAX),
        PARITY_REPORT => (PARITY_REPORT_HEADER, u8::MAX),
        MESSAGE_REPORT => (MESSAGE_REPORT_HEADER, u8::MAX),
        PARITY => (PARITY_HEADER, BROADCAST | UNSEEN),
        DROPPED | QUESTION => (COMMON, BROADCAST | ANSWER),
        _ if first == SEALED => (crate::sealed::HEADER, crate::sealed::READABLE),
        _ => return None,
    };
    let is_report = matches!(first ^ VERSION, REPORT | PARITY_REPORT | MESSAGE_REPORT);
    let seen = if !is_report && flags & UNSEEN != 0 { SEEN_FIELD } else { 0 };
    let tag = if first ^ VERSION == OPENING && flags & TAGGED != 0 { TAG_FIELD } else { 0 };
    (flags & !allowed == 0).then_some(own + tag + seen)
}

/// The rank that a packet with this header comes from.
pub(crate) fn source(header: &[u8]) -> Option<Rank> {
    let [_, _, high, low, ..] = header else { return None };
    Some(Rank(u32::from(u16::from_be_bytes([*high, *low]))))
}

/// Whether a packet with this header carries a part of a message, or parity from which one is computed.
pub(crate) fn carries_message(header: &[u8]) -> bool {
    header.first().is_some_and(|first| matches!(first ^ VERSION, OPENING | FRAGMENT | PARITY))
}

/// The first `seen` bytes of `all` as bytes, and the rest only as a size.
fn cut(all: &Message, seen: u64) -> Result<Message, Unreadable> {
    let there = all.size().0 - all.unseen().0;
    if seen > there {
        return Err(Unreadable::Field);
    }
    let length = usize::try_from(seen).map_err(|_| Unreadable::Field)?;
    Ok(match all.content() {
        Some(content) if length > 0 => Message::beginning_with(content.slice(..length), all.size()),
        _ => Message::of_size(all.size()),
    })
}

/// Writes how much of `payload` is bytes, if not all of it is.
fn write_seen(payload: &Message, header: &mut DatagramHeader) {
    if payload.unseen() > Size(0) {
        let seen = payload.size().0 - payload.unseen().0;
        header.write(&low_48(seen)[4..]);
    }
}

fn checksum(header: &[u8], payload: &Message) -> u32 {
    let [before, after] = [&header[..CHECKSUM.start], header.get(CHECKSUM.end..).unwrap_or_default()];
    let sum = crc32c::crc32c_append(crc32c::crc32c_append(crc32c::crc32c(before), &[0; 4]), after);
    payload.content().map_or(sum, |content| crc32c::crc32c_append(sum, content))
}

const fn set(condition: bool, flag: u8) -> u8 {
    if condition { flag } else { 0 }
}

/// No world has more than [`MOST_RANKS`] ranks.
fn low_16(rank: Rank) -> [u8; 2] {
    let [_, _, high, low] = rank.0.to_be_bytes();
    [high, low]
}

/// No message is larger than [`LARGEST_MESSAGE`].
fn low_48(number: u64) -> [u8; 6] {
    let [_, _, low @ ..] = number.to_be_bytes();
    low
}

/// The unread rest of a header.
struct PacketReader<'a>(&'a [u8]);

impl PacketReader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        let (&first, rest) = self.0.split_first_chunk().ok_or(Unreadable::Header)?;
        self.0 = rest;
        Ok(first)
    }
    fn u32(&mut self) -> Result<u32, Unreadable> {
        Ok(u32::from_be_bytes(self.take()?))
    }
    /// The payload in `all`: bytes, as far as the header says so, followed by what is only a size.
    fn payload(&mut self, flags: u8, all: &Message) -> Result<Message, Unreadable> {
        let seen = if flags & UNSEEN != 0 { u64::from(u16::from_be_bytes(self.take()?)) } else { all.size().0 };
        let payload = cut(all, seen)?;
        let fits = (flags & UNSEEN != 0) == (payload.unseen() > Size(0));
        if fits { Ok(payload) } else { Err(Unreadable::Field) }
    }
    fn u48(&mut self) -> Result<u64, Unreadable> {
        let [a, b, c, d, e, f] = self.take()?;
        Ok(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }
}
