//! Content to all receivers at once: what somebody lacks of it is broadcast once, piece by piece, and everything is
//! checked.
//!
//! ```text
//!     Cast           content in memory, as a program of ranks
//!     |  round         who has what, the pieces, the hash of all, over any endpoint
//!     |  |  manifest      what is sent, and how it is cut into pieces
//!     |  |  |  names         file names that come from another machine
//!     |  memory        where pieces come from, and where they go
//! ```
//!
//! `maquette cast` runs the same rounds, with files and with receivers that come and go.

pub mod links;
pub mod manifest;
mod memory;
pub mod names;
mod program;
pub mod round;

pub use memory::{FromMemory, InMemory};
pub use program::{Cast, CastEnd};

/// The version of the protocol between senders and receivers. Different versions do not understand each other, but say
/// so.
pub const VERSION: u8 = 3;
