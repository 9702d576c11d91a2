//! Where a receiver's pieces go.

use bytes::Bytes;

use super::Digest;
use crate::manifest::Manifest;

/// Pieces, on their way to a disk that may be slower than the network.
pub trait Store {
    /// These files are to be received: which pieces of them are here already, and what they hash to.
    ///
    /// # Errors
    /// Why they are not wanted.
    fn open(&mut self, manifest: &Manifest) -> Result<Vec<(u32, Digest)>, String>;

    /// Whether it takes another piece now.
    ///
    /// # Errors
    /// Why it will never.
    fn has_room(&mut self) -> Result<bool, String>;

    /// Takes a piece, checks it, and keeps it if it is what it says; whether it is one that is not here yet.
    fn put(&mut self, index: u32, digest: Digest, content: Bytes) -> bool;

    /// How many pieces are still missing, once all that was put is kept.
    ///
    /// # Errors
    /// Why something could not be kept.
    fn missing(&mut self) -> Result<Option<u32>, String>;

    /// Puts the files in their places, if all pieces together hash to `whole`; whether that is done. If not, it is asked again.
    ///
    /// # Errors
    /// Why it can't be done.
    fn finish(&mut self, whole: Digest) -> Result<bool, String>;
}
