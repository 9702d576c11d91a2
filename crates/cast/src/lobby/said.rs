//! What is said in the lobby, and how it is written down.
//!
//! ```text
//!     open     M Q C 1 | CRC-32C of the rest 4 | what is said, by postcard
//!     sealed   M Q C 2 | random nonce       24 | what is said, encrypted | tag 16
//! ```
//!
//! Source of the sealing: ChaCha20-Poly1305 of RFC 8439 with the longer nonce of S. Arciszewski, XChaCha, an IRTF draft of 2020: so that
//! all who have the secret can draw nonces as they like.

use chacha20poly1305::aead::AeadInPlace;
use chacha20poly1305::{KeyInit, Tag, XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};

use crate::manifest::Id;

/// The longest datagram of the lobby. [B]
pub const LONGEST: usize = 1_400;

const OPEN: [u8; 4] = *b"MQC\x01";
const SEALED: [u8; 4] = *b"MQC\x02";
const NONCE: usize = 24;
const TAG: usize = 16;

/// A number that nobody else draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Token(pub [u8; 16]);

/// What is said in the lobby.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// By the sender, to all.
    Announce(Announce),
    /// By a receiver: it wants it.
    Join(Join),
    /// By the sender: a round begins, and the receiver takes part in it.
    Call(Call),
    /// By a receiver: it is there.
    Here(Here),
    /// By a receiver: it gives up.
    Leave(Token),
}

/// What can be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announce {
    /// Which transfer.
    pub transfer: Id,
    /// Which run of the sender.
    pub run: Token,
    /// What it is called.
    pub title: String,
    /// How many files.
    pub files: u64,
    /// How much all files are. [B]
    pub bytes: u64,
}

/// A receiver wants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// Which run of which sender.
    pub run: Token,
    /// Which receiver; the same when it goes on after it was broken off.
    pub member: Token,
    /// Which run of the receiver.
    pub nonce: Token,
    /// What it is called.
    pub name: String,
    /// The port of its socket for rounds.
    pub port: u16,
    /// The last round that it took part in; zero for none.
    pub last: u32,
}

/// A receiver's part in a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// To which run of a receiver this is said.
    pub nonce: Token,
    /// The session of the messaging.
    pub session: u32,
    /// Which rank the receiver is.
    pub rank: u16,
    /// How many ranks there are.
    pub ranks: u16,
    /// The port of the sender's socket for rounds.
    pub port: u16,
    /// The longest datagram of the round. [B]
    pub datagram: u16,
    /// What the keys of the round are made with.
    pub salt: Token,
}

/// A receiver is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Here {
    /// Which run of the receiver.
    pub nonce: Token,
    /// For which session.
    pub session: u32,
}

/// Why a datagram says nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strange {
    /// It is none of the lobby's, or damaged, or sealed with another key.
    Unreadable,
    /// It is sealed, and there is no key.
    Sealed,
    /// It is not sealed, and there is a key.
    Open,
}

/// How what is said is written down: openly or, with a key, sealed.
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

    /// Writes it down. No two things may be sealed with the same `nonce`.
    pub fn write(&self, said: &Said, nonce: [u8; NONCE]) -> Vec<u8> {
        // A vector has room for whatever is written.
        let mut text = postcard::to_allocvec(said).unwrap_or_default();
        let Some(cipher) = &self.cipher else {
            return [&OPEN[..], &crc32c::crc32c(&text).to_be_bytes(), &text].concat();
        };
        let tag = cipher.encrypt_in_place_detached(XNonce::from_slice(&nonce), &SEALED, &mut text);
        // Only what is far longer than anything that is said cannot be encrypted.
        [&SEALED[..], &nonce, &text, &tag.unwrap_or_default()].concat()
    }

    /// Reads it. Whatever the datagram holds, this ends with something said or an error.
    ///
    /// # Errors
    /// [`Strange`].
    pub fn read(&self, datagram: &[u8]) -> Result<Said, Strange> {
        let (kind, rest) = datagram.split_first_chunk::<4>().ok_or(Strange::Unreadable)?;
        match (*kind, &self.cipher) {
            _ if datagram.len() > LONGEST => Err(Strange::Unreadable),
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
                opened.map_err(|_| Strange::Unreadable)?;
                read(&text)
            }
            (OPEN, Some(_)) => Err(Strange::Open),
            (SEALED, None) => Err(Strange::Sealed),
            _ => Err(Strange::Unreadable),
        }
    }
}

fn read(text: &[u8]) -> Result<Said, Strange> {
    match postcard::take_from_bytes(text) {
        Ok((said, [])) => Ok(said),
        _ => Err(Strange::Unreadable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn all() -> Vec<Said> {
        let token = Token([7; 16]);
        vec![
            Said::Announce(Announce {
                transfer: Id([1; 16]),
                run: token,
                title: "a".repeat(200),
                files: 3,
                bytes: 1 << 40,
            }),
            Said::Join(Join { run: token, member: token, nonce: token, name: "host".to_string(), port: 9, last: 4 }),
            Said::Call(Call { nonce: token, session: 5, rank: 2, ranks: 9, port: 80, datagram: 1_472, salt: token }),
            Said::Here(Here { nonce: token, session: 5 }),
            Said::Leave(token),
        ]
    }

    #[test]
    fn who_has_the_same_key_or_none_as_well_understands() {
        let (open, sealed, other) = (Envelope::new(None), Envelope::new(Some(&[1; 32])), Envelope::new(Some(&[2; 32])));
        for said in all() {
            let (openly, secretly) = (open.write(&said, [3; 24]), sealed.write(&said, [3; 24]));
            assert!(openly.len().max(secretly.len()) <= LONGEST);
            assert_eq!((open.read(&openly), sealed.read(&secretly)), (Ok(said.clone()), Ok(said)));
            assert_eq!((open.read(&secretly), sealed.read(&openly)), (Err(Strange::Sealed), Err(Strange::Open)));
            assert_eq!(other.read(&secretly), Err(Strange::Unreadable));
        }
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
            if let Ok(said) = Envelope::new(None).read(&datagram) {
                let written = Envelope::new(None).write(&said, [0; 24]);
                prop_assert_eq!(Envelope::new(None).read(&written), Ok(said));
            }
        }
    }
}
