//! A round: the sender advances a fixed set of receivers, over any endpoint that broadcasts.
//!
//! ```text
//!     rank 0, the sender                           each other rank, a receiver
//!
//!     ~~~~ manifest ~~~~~~~~~~~~~~~~~~~~~~~~~~~~>   what is it? what do I have of it already?
//!     <--- has: piece 0 hashes to ..., 1 to ... --  or refuses
//!     ~~~~ piece 2 ~~~~ piece 3 ~~~~ piece 5 ~~~>   checks, keeps         only what some receiver lacks
//!     ~~~~ end, the hash of all ~~~~~~~~~~~~~~~~>   checks, puts the files in their places
//!     <--- done ----------------------------------  or lacks: how many
//!     ~~~~ bye ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~>
//! ```
//!
//! Receivers speak to the sender only. A receiver that comes later waits for the next round, for whose sake this one
//! may end early. A receiver that is gone, or too slow, is left behind by the messaging; in its next round it continues
//! from what it has.
//!
//! Costs of s bytes in pieces that some receiver lacks: s bytes on the wire once, three short broadcasts, and two
//! messages of each receiver: two and a half round trips. [`super::Cast`] has the formula.

mod message;
mod pieces;
mod receiver;
mod sender;

pub use message::{Digest, PIECE_HEADER, ToAll, ToSender, piece, room_for_piece};
pub use pieces::{Piece, Store, Supply};
pub use receiver::{Ended, receive};
pub use sender::{Goal, ReceiverOutcome, Transfer, send};

use quantities::Duration;

/// How long a rank waits for its disk, serving the network meanwhile, before it checks again.
const WAIT_FOR_DISK: Duration = Duration::from_microseconds(500);
