//! How the messaging is set for long transfers.

use messaging::{Losses, Parameters};
use quantities::Duration;

use crate::manifest::{LONGEST, PIECE};

/// A rank is gone when it is silent for so long.
const PATIENCE: Duration = Duration::from_microseconds(4_000_000);
/// A receiver is too slow when it gets no further for so long.
const SLOWEST: Duration = Duration::from_microseconds(30_000_000);

/// The longest message that a receiver is sent: a piece, or a list of files. [B]
pub const LARGEST_TO_RECEIVER: u64 =
    (if PIECE[1] as usize > LONGEST { PIECE[1] as usize } else { LONGEST }) as u64 + 64;

/// The longest message that a sender is sent, about so many pieces. [B]
pub fn largest_to_sender(pieces: u32) -> u64 {
    u64::from(pieces) * 36 + 1_024
}

/// The parameters of session `session`, in datagrams of at most `datagram` bytes, where no message is larger than `largest` that is
/// received.
pub fn parameters(session: u32, datagram: usize, largest: u64) -> Parameters {
    Parameters {
        session,
        datagram,
        // One piece is on its way, and another waits behind it, so that the wire is never idle.
        send_queue: 2,
        // Pieces that came before the last one was looked at.
        pushed_buffer: 2 * u64::from(PIECE[1]),
        largest,
        patience: PATIENCE,
        losses: Losses::GoOn,
        slowest: Some(SLOWEST),
        ..Parameters::for_bulk()
    }
}
