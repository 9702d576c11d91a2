//! The link between two members: bytes in, messages out, and the other way round.
//!
//! ```text
//!   caller                                  called
//!     "maquette store 6\n", nonce  ------->         a key for each direction follows from the secret and both nonces;
//!                                  <-------  "maquette store 6\n", nonce
//!     sealed: its identity         ------->         what opens was sealed for this link by a peer that knows the secret
//!                                  <-------  sealed: its identity
//!     sealed messages              <------>
//! ```
//!
//! A message travels in fragments, so that a value of many megabytes does not keep others waiting for the memory of all of it. Each fragment is
//! sealed by itself, with the number of those before it as its nonce. A fragment that is lost, repeated, reordered or changed does not open, and
//! ends the link. If the pool has no secret of its own, everybody knows the keys, which is meant for the loopback.

mod sealing;

use std::fmt;
use std::ops::Range;

use crate::large::Pieces;
use crate::member::Peer;
use sealing::{Half, TAG};

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

/// Random numbers that are used for one link only.
pub type Nonce = [u8; 32];

/// The first bytes on a link.
const GREETING: &[u8] = b"maquette store 6\n";
/// The first bytes from a TLS endpoint that does not understand the greeting: an alert.
const ALERT: &[u8] = &[21, 3];
/// The most of a message that a fragment holds. [B]
const MOST_OF_FRAGMENT: usize = 64 << 10;
/// The longest message: the largest value that clients may store, and what goes with it. [B]
const LONGEST: usize = (512 << 20) + (1 << 20);
/// Set in the length of a fragment that others of the same message follow.
const GOES_ON: u32 = 1 << 31;
/// The size of the length before each fragment. [B]
const LENGTH: usize = 4;
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
    /// A fragment or a message is longer than allowed.
    #[error("it sent more than {LONGEST} bytes at once")]
    Long,
    /// The first message does not say who the other side is.
    #[error("it does not say who it is")]
    Unnamed,
}

/// What arrives on a link.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// The other side has named the member that it is.
    Identified(Peer),
    /// A message from it.
    Message(Vec<u8>),
}

#[derive(Debug)]
enum Stage {
    /// The greeting of the other side has yet to arrive.
    Greeting { secret: Secret, nonce: Nonce, own: Vec<u8> },
    /// The other side has yet to say who it is.
    Naming { incoming: Half },
    /// Messages may arrive.
    Open { incoming: Half },
}

/// One side of a link.
#[derive(Debug)]
pub struct Link {
    stage: Stage,
    /// Whether this side has called the other.
    has_called: bool,
    /// Seals what is sent, once both nonces are known.
    outgoing: Option<Half>,
    received: Vec<u8>,
    /// How much of it was taken.
    taken: usize,
    /// The fragments of a message that is not whole yet.
    begun: Vec<u8>,
    /// A message that was sealed only in part, and how much of it was.
    sealing: Option<(Pieces, usize)>,
    unsent: Vec<u8>,
    sent: usize,
}

impl Link {
    /// A link that this side begins, or that the other side has begun. The nonce must be new.
    pub fn new(has_called: bool, secret: Secret, nonce: Nonce, own: &Peer) -> Link {
        // A peer consists of plain values, which postcard can always encode.
        let own = postcard::to_stdvec(own).unwrap_or_default();
        let unsent = [GREETING, &nonce].concat();
        let stage = Stage::Greeting { secret, nonce, own };
        Link {
            stage,
            has_called,
            outgoing: None,
            received: Vec::new(),
            taken: 0,
            begun: Vec::new(),
            sealing: None,
            unsent,
            sent: 0,
        }
    }

    /// Whether the other side has named the member that it is.
    pub const fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open { .. })
    }

    /// How much has arrived of a message that is not whole yet. [B]
    pub const fn begun(&self) -> usize {
        self.begun.len()
    }

    /// Whether the other side has greeted as a member of this version does.
    pub const fn has_met_a_store(&self) -> bool {
        !matches!(self.stage, Stage::Greeting { .. })
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
    pub fn next_event(&mut self) -> Result<Option<Event>, Error> {
        if let Stage::Greeting { .. } = self.stage
            && !self.greet()?
        {
            return Ok(None);
        }
        while let Some((content, goes_on)) = self.fragment()? {
            let longest = if self.is_open() { LONGEST } else { MOST_OF_FRAGMENT };
            if self.begun.len() + content.len() > longest {
                return Err(Error::Long);
            }
            self.begun.extend_from_slice(&self.received[content]);
            if goes_on {
                continue;
            }
            let message = std::mem::take(&mut self.begun);
            return self.event(message).map(Some);
        }
        Ok(None)
    }

    /// Takes the other side's greeting, and says who this side is. Returns whether all of the greeting had arrived.
    fn greet(&mut self) -> Result<bool, Error> {
        let Stage::Greeting { secret, nonce, own } = &self.stage else { return Ok(true) };
        // Nothing was taken before.
        let known = self.received.len().min(GREETING.len());
        if self.received[..known] != GREETING[..known] {
            return Err(if self.received.starts_with(ALERT) { Error::Tls } else { Error::Stranger });
        }
        let Some((theirs, _)) = self.received[known..].split_first_chunk::<32>().filter(|_| known == GREETING.len())
        else {
            return Ok(false);
        };
        let (caller, called) = if self.has_called { (nonce, theirs) } else { (theirs, nonce) };
        let (of_caller, of_called) =
            (Half::of_caller(&secret.0, caller, called), Half::of_called(&secret.0, caller, called));
        let (outgoing, incoming) = if self.has_called { (of_caller, of_called) } else { (of_called, of_caller) };
        let own = own.clone();
        self.taken = GREETING.len() + theirs.len();
        self.outgoing = Some(outgoing);
        self.stage = Stage::Naming { incoming };
        self.send(&own);
        Ok(true)
    }

    /// Opens the next fragment, if all of it has arrived: where its content lies, and whether its message goes on after it.
    fn fragment(&mut self) -> Result<Option<(Range<usize>, bool)>, Error> {
        let (Stage::Naming { incoming } | Stage::Open { incoming }) = &mut self.stage else { return Ok(None) };
        let rest = &mut self.received[self.taken..];
        let Some((prefix, rest)) = rest.split_first_chunk_mut::<LENGTH>() else { return Ok(None) };
        let prefix = u32::from_le_bytes(*prefix);
        let length = (prefix & !GOES_ON) as usize;
        if !(TAG..=MOST_OF_FRAGMENT + TAG).contains(&length) {
            return Err(Error::Long);
        }
        let Some(sealed) = rest.get_mut(..length) else { return Ok(None) };
        if !incoming.open(prefix, sealed) {
            return Err(Error::Sealed);
        }
        let begin = self.taken + LENGTH;
        self.taken = begin + length;
        Ok(Some((begin..self.taken - TAG, prefix & GOES_ON != 0)))
    }

    fn event(&mut self, message: Vec<u8>) -> Result<Event, Error> {
        match std::mem::replace(&mut self.stage, Stage::Naming { incoming: Half::NONE }) {
            Stage::Naming { incoming } => {
                let peer = postcard::from_bytes(&message).map_err(|_| Error::Unnamed)?;
                self.stage = Stage::Open { incoming };
                Ok(Event::Identified(peer))
            }
            stage => {
                self.stage = stage;
                Ok(Event::Message(message))
            }
        }
    }

    /// Sends a message, of 513 MiB at most. One that is sent before the other side has greeted is lost: wait until the link is open.
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
        let outgoing = self.outgoing.as_mut()?;
        let (enough, length) = (at.saturating_add(most), message.len());
        loop {
            let end = length.min(at + MOST_OF_FRAGMENT);
            let goes_on = if end == length { 0 } else { GOES_ON };
            let prefix = (end - at + TAG) as u32 | goes_on;
            self.unsent.extend_from_slice(&prefix.to_le_bytes());
            outgoing.seal(prefix, message.part(at..end), &mut self.unsent);
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
