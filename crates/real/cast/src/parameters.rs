//! The messaging parameters for long transfers.

use messaging::{Losses, Parameters};
use quantities::Duration;

use crate::manifest::{LONGEST, PIECE};

/// A rank counts as gone when it is silent for this long.
const PATIENCE: Duration = Duration::from_microseconds(4_000_000);
/// A receiver is too slow when it gets no further for this long.
const SLOWEST: Duration = Duration::from_microseconds(30_000_000);

/// The longest message that a receiver is sent: a piece, or a list of files. [B]
pub const LARGEST_TO_RECEIVER: u64 =
    (if PIECE[1] as usize > LONGEST { PIECE[1] as usize } else { LONGEST }) as u64 + 64;

/// The longest message to a sender, with this many pieces. [B]
pub fn largest_to_sender(pieces: u32) -> u64 {
    u64::from(pieces) * 36 + 1_024
}

/// The parameters of session `session`, with datagrams of at most `datagram` bytes and received messages of at most
/// `largest`.
pub fn parameters(session: u32, datagram: usize, largest: u64) -> Parameters {
    Parameters {
        session,
        datagram,
        // One piece is being sent and another waits behind it, so that the wire is never idle.
        send_queue: 2,
        // Pieces that arrive before the last one has been handled.
        pushed_buffer: 2 * u64::from(PIECE[1]),
        largest,
        patience: PATIENCE,
        losses: Losses::GoOn,
        slowest: Some(SLOWEST),
        ..Parameters::for_bulk()
    }
}
