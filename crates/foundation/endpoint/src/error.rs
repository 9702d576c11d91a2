//! What can go wrong between ranks, as values.

use quantities::{Rank, Time};

/// Why a rank could not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The other rank has ended or disappeared.
    #[error("rank {0} is gone")]
    Lost(Rank),
    /// A rank that the program does not have.
    #[error("rank {rank} does not exist: the program has {size}")]
    NoSuchRank {
        /// The rank that was named.
        rank: Rank,
        /// How many ranks there are.
        size: u32,
    },
    /// A rank that names itself as the other end. No world carries such a message: a rank has its own data already.
    #[error("rank {0} cannot send to or receive from itself")]
    ToItself(Rank),
    /// A deadline passed.
    #[error("no message arrived by {} ps", .0.picoseconds())]
    Deadline(Time),
    /// The program can't go on: every rank that is left waits for another.
    #[error("deadlock: {0}")]
    Deadlock(String),
    /// The run was asked to end before it was done.
    #[error("the run was asked to end")]
    Stopped,
    /// The network can't be used any more, with the system's error text.
    #[error("the network failed: {0}")]
    Network(String),
    /// The program does something that its constant `NEEDS` does not name.
    #[error("the program uses what it does not declare: its NEEDS must include Needs::{0}")]
    Undeclared(&'static str),
    /// What two ranks do does not fit together: a message is longer than its receive has room for, or they call
    /// different collectives.
    #[error("{0}")]
    Mismatch(String),
    /// The machine can't run the program.
    #[error("{0}")]
    Unfit(String),
}

impl Error {
    /// The error for a machine that ended a receive without a message, which none should do.
    pub fn without_message() -> Error {
        Error::Unfit("the machine ended a receive without a message".to_owned())
    }
}

/// A result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Checks that messages can go between rank `me` and rank `other` of a program of `size` ranks: every world calls this
/// before it sends or receives.
///
/// # Errors
/// [`Error::NoSuchRank`] and [`Error::ToItself`].
pub fn check_partner(me: Rank, other: Rank, size: u32) -> Result<()> {
    if other.0 >= size {
        return Err(Error::NoSuchRank { rank: other, size });
    }
    if other == me {
        return Err(Error::ToItself(other));
    }
    Ok(())
}
