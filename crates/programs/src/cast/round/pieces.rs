//! Where the pieces of files come from at the sender, and where they go at a receiver.

use bytes::Bytes;
use endpoint::Message;

use super::Digest;
use crate::cast::manifest::Manifest;

/// A piece, ready to be sent.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its index.
    pub index: u32,
    /// The hash of its bytes.
    pub digest: Digest,
    /// The piece as a message, made by [`super::piece`].
    pub message: Message,
}

/// Pieces, read ahead.
pub trait Supply {
    /// These pieces will be asked for, in this order; what was announced before will not.
    fn announce(&mut self, pieces: Vec<u32>);

    /// The next of them, if it has been read.
    ///
    /// # Errors
    /// Why it can't be read.
    fn next(&mut self) -> Result<Option<Piece>, String>;

    /// All pieces have been sent: checks that the files are still what was read.
    ///
    /// # Errors
    /// What has changed.
    fn end(&mut self) -> Result<(), String>;
}

/// Pieces, on their way to a disk that may be slower than the network.
pub trait Store {
    /// These files will be received: returns which of their pieces exist already, and their hashes.
    ///
    /// # Errors
    /// Why they are not wanted.
    fn open(&mut self, manifest: &Manifest) -> Result<Vec<(u32, Digest)>, String>;

    /// Whether it accepts another piece now.
    ///
    /// # Errors
    /// Why it will never.
    fn has_room(&mut self) -> Result<bool, String>;

    /// Takes a piece, checks it, and keeps it if it matches its hash; returns whether it is new.
    fn put(&mut self, index: u32, digest: Digest, content: Bytes) -> bool;

    /// How many pieces are still missing, once everything accepted has been stored.
    ///
    /// # Errors
    /// Why something could not be kept.
    fn missing(&mut self) -> Result<Option<u32>, String>;

    /// Puts the files in place if all pieces together hash to `whole`; returns whether that is done. If not, it is
    /// called again.
    ///
    /// # Errors
    /// Why it can't be done.
    fn finish(&mut self, whole: Digest) -> Result<bool, String>;
}
