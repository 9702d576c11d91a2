//! How the sessions of Noise are set up: the ephemeral key is given, so that a link has no randomness of its own, and
//! messages are sealed by `ring`, which is several times as fast as what `snow` would use otherwise.

use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver, RingResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, Error, HandshakeState};

use super::{EphemeralKey, PREAMBLE};

/// Both sides know a key beforehand, and neither has any other.
const PROTOCOL: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";

/// The handshake of the side that has connected, or of the other.
pub(super) fn handshake(is_initiator: bool, secret: &[u8; 32], key: EphemeralKey) -> Result<HandshakeState, Error> {
    let builder = Builder::with_resolver(PROTOCOL.parse()?, Box::new(Resolver(key)));
    let builder = builder.psk(0, secret)?.prologue(PREAMBLE)?;
    if is_initiator { builder.build_initiator() } else { builder.build_responder() }
}

/// What a session uses for its cryptography.
struct Resolver(EphemeralKey);

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Given(Some(self.0))))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        RingResolver.resolve_cipher(choice)
    }
}

/// The random numbers for an ephemeral key, once.
struct Given(Option<EphemeralKey>);

impl Random for Given {
    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), Error> {
        let key = self.0.take().filter(|key| key.len() == dest.len()).ok_or(Error::Rng)?;
        dest.copy_from_slice(&key);
        Ok(())
    }
}
