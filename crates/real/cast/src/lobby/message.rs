//! The messages of the lobby, and their encoding.
//!
//! ```text
//!     open     M Q C 3 | version 1 | 1 | CRC-32C of the rest 4 | the message, by postcard
//!     sealed   M Q C 3 | version 1 | 2 | random nonce       24 | the message, encrypted | tag 16
//!     notice   M Q C 0 | version 1 | reason why the datagram that it answers could not be read 1
//! ```
//!
//! Version 1 of the protocol had no version on the wire: its datagrams begin with `M Q C 1` and `M Q C 2`. A notice is
//! the same in all versions, is never sealed, and is trusted for nothing but a warning to a person.
//!
//! Source of the sealing: ChaCha20-Poly1305 of RFC 8439 with the longer nonce of S. Arciszewski, XChaCha, an IRTF draft
//! of 2020, so that all who have the secret can draw random nonces.

use chacha20poly1305::aead::AeadInPlace;
use chacha20poly1305::{KeyInit, Tag, XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};

use crate::VERSION;
use crate::manifest::Id;

/// The longest datagram of the lobby. [B]
pub const LONGEST: usize = 1_400;

const MAGIC: [u8; 3] = *b"MQC";
const NOTICE: u8 = 0;
const VERSIONED: u8 = 3;
const OPEN: [u8; 6] = [MAGIC[0], MAGIC[1], MAGIC[2], VERSIONED, VERSION, 1];
const SEALED: [u8; 6] = [MAGIC[0], MAGIC[1], MAGIC[2], VERSIONED, VERSION, 2];
const NONCE: usize = 24;
const TAG: usize = 16;

/// A number that nobody else draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Token(pub [u8; 16]);

impl Token {
    /// The next token, which only the process that drew this one may use.
    pub(super) const fn next(self) -> Token {
        Token(u128::from_be_bytes(self.0).wrapping_add(1).to_be_bytes())
    }
}

/// A message in the lobby.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LobbyMessage {
    /// From the sender, to all.
    Announce(Announce),
    /// From a receiver that heard an announcement, which may be an old one: is its sender alive?
    Ask(Ask),
    /// From the sender, to a receiver that asked or joined: it is alive.
    Answer(Answer),
    /// From a receiver: it wants the transfer.
    Join(Join),
    /// From the sender: a round begins, and the receiver takes part in it.
    Call(Call),
    /// From a receiver: it is present.
    Present(Present),
    /// From a receiver: it gives up.
    Leave(Token),
}

/// An offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announce {
    /// The transfer.
    pub transfer: Id,
    /// The run of the sender.
    pub run: Token,
    /// Its title.
    pub title: String,
    /// How many files.
    pub files: u64,
    /// The size of all files. [B]
    pub bytes: u64,
}

/// Is the sender of this run alive?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The run of the sender.
    pub run: Token,
    /// Drawn anew by the receiver for each sender that it waits for.
    pub nonce: Token,
    /// Counts the receiver's questions with this nonce.
    pub number: u64,
}

/// The sender is alive: nobody else can know the nonce and have the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What it announces.
    pub announce: Announce,
    /// The nonce of the receiver that asked or joined.
    pub nonce: Token,
    /// The number of the question that this answers.
    pub number: u64,
}

/// A receiver wants the transfer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// The run of the sender.
    pub run: Token,
    /// The receiver's identity, which stays the same when it resumes after an interruption.
    pub member: Token,
    /// The nonce that the sender has answered.
    pub nonce: Token,
    /// Counts the receiver's questions with this nonce: a join with a number seen before is a replay.
    pub number: u64,
    /// Its name.
    pub name: String,
    /// The port of its socket for rounds.
    pub port: u16,
    /// The last round that it took part in; zero for none.
    pub last: u32,
}

/// A receiver's part in a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The nonce of the receiver to which this is sent.
    pub nonce: Token,
    /// The session of the messaging.
    pub session: u32,
    /// The receiver's rank.
    pub rank: u16,
    /// How many ranks there are.
    pub ranks: u16,
    /// The port of the sender's socket for rounds.
    pub port: u16,
    /// The longest datagram of the round. [B]
    pub datagram: u16,
    /// The salt for the keys of the round.
    pub salt: Token,
}

/// A receiver is present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Present {
    /// The nonce of the receiver.
    pub nonce: Token,
    /// The session.
    pub session: u32,
}

/// Why a datagram could not be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strange {
    /// It does not belong to the lobby, or is damaged.
    Unreadable,
    /// It belongs to the lobby, but cannot be read.
    Mismatch(Mismatch),
    /// It is a notice: somebody could not read what was sent to the group.
    Notice(Mismatch),
}

/// Why two that meet in a lobby cannot read each other's datagrams. In a notice it is what the other has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mismatch {
    /// It is sealed, and there is no key.
    Sealed,
    /// It is not sealed, and there is a key.
    Open,
    /// It is sealed with another key, as far as can be told: it may also be damaged.
    OtherKey,
    /// It is of this version of the protocol.
    Version(u8),
}

impl Mismatch {
    /// The notice to the sender of a datagram that could not be read.
    pub fn notice(self) -> [u8; 6] {
        let reason = match self {
            Mismatch::Sealed => 1,
            Mismatch::Open => 2,
            Mismatch::OtherKey => 3,
            Mismatch::Version(_) => 4,
        };
        [MAGIC[0], MAGIC[1], MAGIC[2], NOTICE, VERSION, reason]
    }

    fn of_notice(version: u8, reason: u8) -> Option<Mismatch> {
        match reason {
            1 => Some(Mismatch::Sealed),
            2 => Some(Mismatch::Open),
            3 => Some(Mismatch::OtherKey),
            4 => Some(Mismatch::Version(version)),
            _ => None,
        }
    }
}

/// How messages are encoded: openly or, with a key, sealed.
#[derive(Clone)]
pub struct Envelope {
    cipher: Option<XChaCha20Poly1305>,
}

impl std::fmt::Debug for Envelope {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Envelope {{ sealed: {} }}", self.cipher.is_some())
    }
}

impl Envelope {
    /// Sealed with `key` if there is one.
    pub fn new(key: Option<&[u8; 32]>) -> Envelope {
        Envelope { cipher: key.map(|key| XChaCha20Poly1305::new(key.into())) }
    }

    /// Encodes a message. No two messages may be sealed with the same `nonce`.
    pub fn write(&self, message: &LobbyMessage, nonce: [u8; NONCE]) -> Vec<u8> {
        // A vector grows as needed.
        let mut text = postcard::to_allocvec(message).unwrap_or_default();
        let Some(cipher) = &self.cipher else {
            return [&OPEN[..], &crc32c::crc32c(&text).to_be_bytes(), &text].concat();
        };
        let tag = cipher.encrypt_in_place_detached(XNonce::from_slice(&nonce), &SEALED, &mut text);
        // Only something far longer than any message can't be encrypted.
        [&SEALED[..], &nonce, &text, &tag.unwrap_or_default()].concat()
    }

    /// Decodes a message. Whatever the datagram holds, the result is a message or an error.
    ///
    /// # Errors
    /// [`Strange`].
    pub fn read(&self, datagram: &[u8]) -> Result<LobbyMessage, Strange> {
        let ([magic @ .., kind], rest) = datagram.split_first_chunk::<4>().ok_or(Strange::Unreadable)?;
        if *magic != MAGIC || datagram.len() > LONGEST {
            return Err(Strange::Unreadable);
        }
        match (*kind, rest) {
            (NOTICE, [version, reason]) => {
                Err(Mismatch::of_notice(*version, *reason).map_or(Strange::Unreadable, Strange::Notice))
            }
            (VERSIONED, [VERSION, ..]) => self.read_of_this_version(datagram),
            (VERSIONED, [version, ..]) => Err(Strange::Mismatch(Mismatch::Version(*version))),
            _ => Err(Strange::Unreadable),
        }
    }

    fn read_of_this_version(&self, datagram: &[u8]) -> Result<LobbyMessage, Strange> {
        let (kind, rest) = datagram.split_first_chunk::<6>().ok_or(Strange::Unreadable)?;
        match (*kind, &self.cipher) {
            (OPEN, None) => {
                let (sum, text) = rest.split_first_chunk::<4>().ok_or(Strange::Unreadable)?;
                if crc32c::crc32c(text).to_be_bytes() != *sum {
                    return Err(Strange::Unreadable);
                }
                read(text)
            }
            (SEALED, Some(cipher)) => {
                let (nonce, rest) = rest.split_first_chunk::<NONCE>().ok_or(Strange::Unreadable)?;
                let (text, tag) = rest.split_last_chunk::<TAG>().ok_or(Strange::Unreadable)?;
                let mut text = text.to_vec();
                let opened = cipher.decrypt_in_place_detached(
                    XNonce::from_slice(nonce),
                    &SEALED,
                    &mut text,
                    Tag::from_slice(tag),
                );
                opened.map_err(|_| Strange::Mismatch(Mismatch::OtherKey))?;
                read(&text)
            }
            (OPEN, Some(_)) => Err(Strange::Mismatch(Mismatch::Open)),
            (SEALED, None) => Err(Strange::Mismatch(Mismatch::Sealed)),
            _ => Err(Strange::Unreadable),
        }
    }
}

fn read(text: &[u8]) -> Result<LobbyMessage, Strange> {
    match postcard::take_from_bytes(text) {
        Ok((message, [])) => Ok(message),
        _ => Err(Strange::Unreadable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn all() -> Vec<LobbyMessage> {
        let token = Token([7; 16]);
        let title = "a".repeat(200);
        let announce = Announce { transfer: Id([1; 16]), run: token, title, files: 3, bytes: 1 << 40 };
        let name = "host".to_string();
        vec![
            LobbyMessage::Announce(announce.clone()),
            LobbyMessage::Ask(Ask { run: token, nonce: token, number: 1 }),
            LobbyMessage::Answer(Answer { announce, nonce: token, number: u64::MAX }),
            LobbyMessage::Join(Join { run: token, member: token, nonce: token, number: 2, name, port: 9, last: 4 }),
            LobbyMessage::Call(Call {
                nonce: token,
                session: 5,
                rank: 2,
                ranks: 9,
                port: 80,
                datagram: 1_472,
                salt: token,
            }),
            LobbyMessage::Present(Present { nonce: token, session: 5 }),
            LobbyMessage::Leave(token),
        ]
    }

    #[test]
    fn messages_are_understood_with_the_same_key_or_if_both_have_none() {
        let (open, sealed, other) = (Envelope::new(None), Envelope::new(Some(&[1; 32])), Envelope::new(Some(&[2; 32])));
        for message in all() {
            let (openly, secretly) = (open.write(&message, [3; 24]), sealed.write(&message, [3; 24]));
            assert!(openly.len().max(secretly.len()) <= LONGEST);
            assert_eq!((open.read(&openly), sealed.read(&secretly)), (Ok(message.clone()), Ok(message)));
            let mismatch = |why| Err(Strange::Mismatch(why));
            assert_eq!(open.read(&secretly), mismatch(Mismatch::Sealed));
            assert_eq!(sealed.read(&openly), mismatch(Mismatch::Open));
            assert_eq!(other.read(&secretly), mismatch(Mismatch::OtherKey));
        }
    }

    #[test]
    fn another_version_is_named_and_so_is_a_notice() {
        let envelope = Envelope::new(None);
        let mut written = envelope.write(&all()[0], [3; 24]);
        written[4] = VERSION + 1;
        assert_eq!(envelope.read(&written), Err(Strange::Mismatch(Mismatch::Version(VERSION + 1))));
        assert_eq!(envelope.read(b"MQC\x01...."), Err(Strange::Unreadable), "a kind of datagram that there is not");
        for why in [Mismatch::Sealed, Mismatch::Open, Mismatch::OtherKey, Mismatch::Version(VERSION)] {
            assert_eq!(envelope.read(&why.notice()), Err(Strange::Notice(why)));
        }
        let answer = envelope.read(&Mismatch::Version(VERSION + 1).notice());
        assert_eq!(answer, Err(Strange::Notice(Mismatch::Version(VERSION))), "it says its own version");
    }

    #[test]
    fn a_flipped_bit_is_found() {
        for envelope in [Envelope::new(None), Envelope::new(Some(&[1; 32]))] {
            let written = envelope.write(&all()[1], [3; 24]);
            for bit in 0..8 * written.len() {
                let mut damaged = written.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert!(envelope.read(&damaged).is_err(), "bit {bit}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_read_or_are_not(text in vec(any::<u8>(), 0..120)) {
            let datagram = [&OPEN[..], &crc32c::crc32c(&text).to_be_bytes(), &text].concat();
            if let Ok(message) = Envelope::new(None).read(&datagram) {
                let written = Envelope::new(None).write(&message, [0; 24]);
                prop_assert_eq!(Envelope::new(None).read(&written), Ok(message));
            }
        }
    }
}
