//! The link between two members: bytes in, messages out, and the other way round. It is a session of Noise,
//! `Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s`, whose pre-shared key is the pool's secret.
//!
//! ```text
//!   initiator                                   responder
//!     "maquette store 7\n"             <------>  "maquette store 7\n"     whom each has met; the prologue
//!     psk, e                           ------->
//!                                      <-------  e, ee
//!     its identity, then its messages  <------>  its identity, then its messages
//! ```
//!
//! A message travels in fragments, so that a value of many megabytes does not keep others waiting for the memory of all
//! of it. Each is a message of Noise behind its length; the first begins with the length of the whole message. A
//! fragment that is lost, repeated, reordered or changed does not open, and ends the link. If the pool has no secret of
//! its own, everybody knows the key, which is meant for the loopback.

mod noise;

use std::fmt;

use snow::{HandshakeState, TransportState};

use crate::large::Pieces;
use crate::member::Peer;

/// The secret that the members of a pool share.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    /// The secret derived from a text; from an empty one, a secret that everybody knows.
    pub fn of(text: &[u8]) -> Secret {
        Secret(blake3::derive_key("maquette 2026 store, secret of a pool", text))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

/// Random numbers that are used for one link only, and that nobody else knows: its ephemeral private key.
pub type EphemeralKey = [u8; 32];

/// The first bytes on a link.
const PREAMBLE: &[u8] = b"maquette store 7\n";
/// The first bytes from a TLS endpoint that does not understand the preamble: an alert.
const ALERT: &[u8] = &[21, 3];
/// The size of each message of the handshake: an ephemeral public key, and a tag. [B]
const HANDSHAKE: usize = 32 + TAG;
/// What sealing adds to a fragment. [B]
const TAG: usize = 16;
/// The most that a fragment holds: a message of Noise has 65,535 bytes at most. [B]
const MOST_OF_FRAGMENT: usize = u16::MAX as usize - TAG;
/// The size of the length before each fragment. [B]
const LENGTH: usize = size_of::<u16>();
/// The size of the length at the beginning of each message. [B]
const LENGTH_OF_MESSAGE: usize = size_of::<u32>();
/// The longest message: the largest value that clients may store, and what goes with it. [B]
pub(crate) const LONGEST: usize = (512 << 20) + (1 << 20);
/// Sent bytes are dropped when there are more of them than this, and than unsent ones. [B]
const MOST_SENT: usize = 256 << 10;
/// So much memory is kept for what is sent next. Giving it back and asking for it again each time would cost more. [B]
const MOST_KEPT: usize = 2 << 20;

/// Why a link has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The other side is not a member of this version.
    #[error("no maquette store of this version listens for members there")]
    Stranger,
    /// The other side expects TLS.
    #[error("the other side speaks TLS; this member has no --tls-members-ca")]
    Tls,
    /// What arrived was not sealed by a peer that knows the secret, or was changed on the way.
    #[error("it has another secret, or its message was changed on the way")]
    Sealed,
    /// A message is longer than allowed.
    #[error("it sent more than {LONGEST} bytes at once")]
    Long,
    /// The first message does not say who the other side is.
    #[error("it does not say who it is")]
    Unnamed,
}

/// What arrives on a link.
#[derive(Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// The other side has named the member that it is.
    Identified(Peer),
    /// A message from it.
    Message(Vec<u8>),
}

#[derive(Debug)]
enum LinkStage {
    /// The other side's part of the handshake has yet to arrive.
    Handshake(Box<HandshakeState>),
    /// The other side has yet to say who it is.
    Identifying(Box<TransportState>),
    /// Messages may arrive.
    Open(Box<TransportState>),
    /// Nothing may arrive any more.
    Ended,
}

/// A message that is arriving.
#[derive(Debug, Default)]
struct Arriving {
    /// What of it has arrived.
    content: Vec<u8>,
    /// Its length, once that has arrived.
    length: Option<usize>,
}

/// One side of a link.
#[derive(Debug)]
pub struct Link {
    stage: LinkStage,
    /// This member, as the other side is to know it.
    own: Vec<u8>,
    received: Vec<u8>,
    /// How much of it was taken.
    taken: usize,
    arriving: Arriving,
    /// A message that was sealed only in part, and how much of it was.
    sealing: Option<(Pieces, usize)>,
    /// The fragment that is being sealed, where it does not lie in one piece.
    fragment: Vec<u8>,
    unsent: Vec<u8>,
    sent: usize,
}

impl Link {
    /// A link that this side begins, or that the other side has begun. The key must be new.
    pub fn new(is_initiator: bool, secret: &Secret, key: EphemeralKey, own: &Peer) -> Link {
        let mut link = Link {
            stage: LinkStage::Ended,
            // A peer consists of plain values, which postcard can always encode.
            own: postcard::to_stdvec(own).unwrap_or_default(),
            received: Vec::new(),
            taken: 0,
            arriving: Arriving::default(),
            sealing: None,
            fragment: Vec::new(),
            unsent: PREAMBLE.to_vec(),
            sent: 0,
        };
        // With fixed parameters this does not fail.
        if let Ok(mut handshake) = noise::handshake(is_initiator, &secret.0, key)
            && (!is_initiator || link.write_handshake(&mut handshake).is_ok())
        {
            link.stage = LinkStage::Handshake(Box::new(handshake));
        }
        link
    }

    /// Whether the other side has named the member that it is.
    pub const fn is_open(&self) -> bool {
        matches!(self.stage, LinkStage::Open(_))
    }

    /// How much has arrived of a message that is not whole yet. [B]
    pub const fn begun(&self) -> usize {
        self.arriving.content.len()
    }

    /// Whether the other side has begun as a member of this version does.
    pub fn has_met_a_store(&self) -> bool {
        matches!(self.stage, LinkStage::Identifying(_) | LinkStage::Open(_)) || self.received.starts_with(PREAMBLE)
    }

    /// Bytes have arrived.
    pub fn received(&mut self, bytes: &[u8]) {
        // Drops at once all that was taken since the last bytes arrived: what is left is less than a fragment.
        self.received.drain(..std::mem::take(&mut self.taken));
        self.received.extend_from_slice(bytes);
    }

    /// The next event; none until more bytes arrive.
    ///
    /// # Errors
    /// [`Error`]: then whatever arrives has no meaning any more.
    pub fn next_event(&mut self) -> Result<Option<LinkEvent>, Error> {
        if matches!(self.stage, LinkStage::Handshake(_)) && !self.shake_hands()? {
            return Ok(None);
        }
        while self.open_fragment()? {
            if self.arriving.length.is_none() {
                self.begin_message()?;
            }
            let Arriving { content, length } = &self.arriving;
            match length.unwrap_or(0).checked_sub(content.len()) {
                None => return Err(Error::Long),
                Some(0) => {
                    let message = std::mem::take(&mut self.arriving).content;
                    return self.event(message).map(Some);
                }
                Some(_) => {}
            }
        }
        Ok(None)
    }

    /// Takes the other side's part of the handshake, adds this side's, and says who this side is. Returns whether all
    /// of it had arrived.
    fn shake_hands(&mut self) -> Result<bool, Error> {
        // Nothing was taken before.
        let known = self.received.len().min(PREAMBLE.len());
        if self.received[..known] != PREAMBLE[..known] {
            return Err(if self.received.starts_with(ALERT) { Error::Tls } else { Error::Stranger });
        }
        let Some(theirs) = self.received.get(PREAMBLE.len()..PREAMBLE.len() + HANDSHAKE) else { return Ok(false) };
        let LinkStage::Handshake(mut handshake) = std::mem::replace(&mut self.stage, LinkStage::Ended) else {
            return Ok(true);
        };
        handshake.read_message(theirs, &mut []).map_err(|_| Error::Sealed)?;
        self.taken = PREAMBLE.len() + HANDSHAKE;
        if !handshake.is_initiator() {
            self.write_handshake(&mut handshake)?;
        }
        let transport = handshake.into_transport_mode().map_err(|_| Error::Sealed)?;
        self.stage = LinkStage::Identifying(Box::new(transport));
        let own = std::mem::take(&mut self.own);
        self.send(&own);
        Ok(true)
    }

    fn write_handshake(&mut self, handshake: &mut HandshakeState) -> Result<(), Error> {
        let mut message = [0; HANDSHAKE];
        let length = handshake.write_message(&[], &mut message).map_err(|_| Error::Sealed)?;
        self.unsent.extend_from_slice(&message[..length]);
        Ok(())
    }

    /// Opens the next fragment, if all of it has arrived, and adds it to the message that is arriving. Returns whether
    /// it has.
    fn open_fragment(&mut self) -> Result<bool, Error> {
        let (LinkStage::Identifying(transport) | LinkStage::Open(transport)) = &mut self.stage else {
            return Err(Error::Sealed);
        };
        let Some((length, rest)) = self.received[self.taken..].split_first_chunk() else { return Ok(false) };
        let length = usize::from(u16::from_be_bytes(*length));
        let Some(sealed) = rest.get(..length) else { return Ok(false) };
        let content = &mut self.arriving.content;
        let begin = content.len();
        // With room for the tag, too, it is opened in place.
        content.resize(begin + length, 0);
        let opened = transport.read_message(sealed, &mut content[begin..]).map_err(|_| Error::Sealed)?;
        content.truncate(begin + opened);
        self.taken += LENGTH + length;
        Ok(true)
    }

    /// The first fragment of a message has arrived: takes the message's length out.
    fn begin_message(&mut self) -> Result<(), Error> {
        let longest = if self.is_open() { LONGEST } else { MOST_OF_FRAGMENT };
        let content = &mut self.arriving.content;
        let length = content.first_chunk().map(|length| u32::from_be_bytes(*length) as usize);
        let length = length.filter(|length| *length <= longest).ok_or(Error::Long)?;
        content.drain(..LENGTH_OF_MESSAGE);
        self.arriving.length = Some(length);
        Ok(())
    }

    fn event(&mut self, message: Vec<u8>) -> Result<LinkEvent, Error> {
        match std::mem::replace(&mut self.stage, LinkStage::Ended) {
            LinkStage::Identifying(transport) => {
                let peer = postcard::from_bytes(&message).map_err(|_| Error::Unnamed)?;
                self.stage = LinkStage::Open(transport);
                Ok(LinkEvent::Identified(peer))
            }
            stage => {
                self.stage = stage;
                Ok(LinkEvent::Message(message))
            }
        }
    }

    /// Sends a message, of 513 MiB at most. One that is sent before the handshake is lost: wait until the link is open.
    pub fn send(&mut self, message: &[u8]) {
        while !self.seal_more(usize::MAX) {}
        self.seal(&message.to_vec().into(), 0, usize::MAX);
    }

    /// Begins to send a message, after the one before has been sealed: [`Link::seal_more`] seals it piece by piece.
    pub fn begin(&mut self, message: Pieces) {
        self.sealing = Some((message, 0));
    }

    /// Seals about `most` more bytes of the message that was begun. Returns whether nothing is left of it.
    pub fn seal_more(&mut self, most: usize) -> bool {
        let Some((message, at)) = self.sealing.take() else { return true };
        if let Some(at) = self.seal(&message, at, most) {
            self.sealing = Some((message, at));
            return false;
        }
        true
    }

    /// Seals fragments of a message from a place on, of about `most` bytes. Returns where to go on, unless at the end.
    fn seal(&mut self, message: &Pieces, mut at: usize, most: usize) -> Option<usize> {
        let (LinkStage::Identifying(transport) | LinkStage::Open(transport)) = &mut self.stage else { return None };
        let (enough, length) = (at.saturating_add(most), message.len());
        loop {
            self.fragment.clear();
            if at == 0 {
                self.fragment.extend_from_slice(&(length as u32).to_be_bytes());
            }
            let end = length.min(at + MOST_OF_FRAGMENT - self.fragment.len());
            let mut pieces = message.part(at..end);
            let first = pieces.next().unwrap_or_default();
            let is_in_one_piece = self.fragment.is_empty() && first.len() == end - at;
            if !is_in_one_piece {
                [first].into_iter().chain(pieces).for_each(|piece| self.fragment.extend_from_slice(piece));
            }
            seal_fragment(transport, if is_in_one_piece { first } else { &self.fragment }, &mut self.unsent);
            at = end;
            if at == length {
                return None;
            }
            if at >= enough {
                return Some(at);
            }
        }
    }

    /// What is still to be sent.
    pub fn unsent(&self) -> &[u8] {
        &self.unsent[self.sent..]
    }

    /// The first `bytes` bytes of it were sent.
    pub fn was_sent(&mut self, bytes: usize) {
        self.sent += bytes;
        if self.sent == self.unsent.len() || self.sent > MOST_SENT.max(self.unsent.len() / 2) {
            self.unsent.drain(..std::mem::take(&mut self.sent));
            self.unsent.shrink_to(MOST_KEPT);
        }
    }
}

/// Seals a fragment, and appends it to `out`, behind its length.
fn seal_fragment(transport: &mut TransportState, content: &[u8], out: &mut Vec<u8>) {
    let length = content.len() + TAG;
    out.extend_from_slice(&(length as u16).to_be_bytes());
    let begin = out.len();
    out.resize(begin + length, 0);
    // Only after 2^64 fragments nothing more is sealed: what is sent then does not open.
    let _ = transport.write_message(content, &mut out[begin..]);
}
