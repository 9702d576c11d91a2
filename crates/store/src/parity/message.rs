//! What the members of a group tell each other.

use serde::{Deserialize, Serialize};

use super::column::{Change, Extent, FileName, Piece, as_bytes};
use crate::member::Identity;

/// What goes between a data member and its parity member, and between that and a spare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// The sender wants parity of its files, which the receiver may keep already; this is how often it was rebuilt.
    Hello {
        /// Tells what the sender says from now on from what it said before.
        session: u64,
        /// How often it was rebuilt.
        life: u32,
    },
    /// The receiver's files stand so in the parity.
    Stands {
        /// Of which session.
        session: u64,
        /// All of them.
        files: Vec<(FileName, Extent)>,
        /// Whether the receiver could be rebuilt out of them.
        is_complete: bool,
    },
    /// The sender keeps parity of as many members as it can.
    Full(u64),
    /// The receiver was taken for lost, and rebuilt so often; unless it is what was rebuilt.
    Lost(u32),
    /// The sender has lost what it had of the parity, and asks for it anew.
    Anew,
    /// A file of the sender has changed.
    Change {
        /// In which session.
        session: u64,
        /// How many changes and beats came before within this run.
        number: u64,
        /// What has changed.
        change: Change,
    },
    /// The sender is there.
    Beat {
        /// In which session.
        session: u64,
        /// How many changes and beats came before within this run.
        number: u64,
        /// Whether it has told all that it needs to be rebuilt, and from now on waits for the receiver with all that it tells others.
        is_complete: bool,
    },
    /// The parity holds all up to this number.
    Acknowledged {
        /// Of which session.
        session: u64,
        /// Which number.
        number: u64,
    },
    /// The sender does not have all that the parity has of it.
    Behind,
    /// What does the receiver have there?
    Read {
        /// For which request.
        request: u64,
        /// Where.
        piece: Piece,
    },
    /// That is there.
    Block {
        /// For which request.
        request: u64,
        /// What is there.
        #[serde(with = "as_bytes")]
        bytes: Vec<u8>,
    },
    /// The receiver is to keep this of a lost member.
    Part {
        /// Tells one rebuilding from another.
        rebuilding: u64,
        /// For which request.
        request: u64,
        /// Where it belongs.
        piece: Piece,
        /// What is there.
        #[serde(with = "as_bytes")]
        bytes: Vec<u8>,
    },
    /// The sender keeps that.
    Stored(u64),
    /// The receiver has all of a lost member, and is that member from now on.
    Become(Successor),
}

/// Who takes the place of a lost member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successor {
    /// Which rebuilding this ends.
    pub rebuilding: u64,
    /// Who it is from now on.
    pub identity: Identity,
    /// How often that was rebuilt.
    pub life: u32,
    /// Its files. One that is not whole though it must be is worth nothing, but the parity has it.
    pub files: Vec<(FileName, Extent)>,
}
