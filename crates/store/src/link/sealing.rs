//! How fragments of one direction are sealed.

use std::fmt;

use chacha20poly1305::aead::AeadInPlace;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Tag};

use super::{LENGTH, Nonce};

/// What sealing adds to a fragment. [B]
pub(super) const TAG: usize = 16;

/// One direction of a link.
pub(super) struct Half {
    cipher: Option<ChaCha20Poly1305>,
    /// How many fragments there were before.
    count: u64,
}

impl fmt::Debug for Half {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Half({})", self.count)
    }
}

impl Half {
    /// A half that seals and opens nothing.
    pub(super) const NONE: Half = Half { cipher: None, count: 0 };

    /// The direction from the caller.
    pub(super) fn of_caller(secret: &[u8; 32], caller: &Nonce, called: &Nonce) -> Half {
        Half::of("maquette 2026 store link, from the caller", secret, caller, called)
    }

    /// The direction from the side that was called.
    pub(super) fn of_called(secret: &[u8; 32], caller: &Nonce, called: &Nonce) -> Half {
        Half::of("maquette 2026 store link, from the called", secret, caller, called)
    }

    fn of(context: &str, secret: &[u8; 32], caller: &Nonce, called: &Nonce) -> Half {
        let key = blake3::derive_key(context, &[&secret[..], caller, called].concat());
        Half { cipher: Some(ChaCha20Poly1305::new(&key.into())), count: 0 }
    }

    fn nonce(&mut self) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&self.count.to_le_bytes());
        self.count += 1;
        nonce
    }

    /// Seals a fragment of these pieces with this prefix, its length, and appends it to `out`.
    pub(super) fn seal<'a>(&mut self, prefix: u32, content: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
        let nonce = self.nonce();
        let Some(cipher) = &self.cipher else { return };
        let begin = out.len();
        content.for_each(|piece| out.extend_from_slice(piece));
        let prefix: [u8; LENGTH] = prefix.to_le_bytes();
        // Only content longer than 256 GiB can't be sealed.
        if let Ok(tag) = cipher.encrypt_in_place_detached(&nonce.into(), &prefix, &mut out[begin..]) {
            out.extend_from_slice(&tag);
        }
    }

    /// Opens a fragment in place; its content stands before its tag. Returns whether the other side sealed it as its next one.
    pub(super) fn open(&mut self, prefix: u32, sealed: &mut [u8]) -> bool {
        let nonce = self.nonce();
        let (Some(cipher), Some((content, tag))) = (&self.cipher, sealed.split_last_chunk_mut::<TAG>()) else {
            return false;
        };
        let prefix: [u8; LENGTH] = prefix.to_le_bytes();
        cipher.decrypt_in_place_detached(&nonce.into(), &prefix, content, Tag::from_slice(tag)).is_ok()
    }
}
