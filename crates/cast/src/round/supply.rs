//! Where the sender's pieces come from.

use endpoint::Message;

use super::Digest;

/// A piece, ready to be sent.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Which.
    pub index: u32,
    /// What its bytes hash to.
    pub digest: Digest,
    /// It as a message, made by [`super::piece`].
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

    /// All pieces have been sent: whether they are still what was read.
    ///
    /// # Errors
    /// What has changed.
    fn end(&mut self) -> Result<(), String>;
}
