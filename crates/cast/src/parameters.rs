//! How the messaging is set for long transfers.

use messaging::{Losses, Parameters};
use quantities::Duration;

use crate::manifest::PIECE;

/// A rank is gone when it is silent for so long.
const PATIENCE: Duration = Duration::from_microseconds(4_000_000);
/// A receiver is too slow when it gets no further for so long.
const SLOWEST: Duration = Duration::from_microseconds(30_000_000);

/// The parameters of session `session`, in datagrams of at most `datagram` bytes.
pub fn parameters(session: u32, datagram: usize) -> Parameters {
    Parameters {
        session,
        datagram,
        // One piece is on its way, and another waits behind it, so that the wire is never idle.
        send_queue: 2,
        // Pieces that came before the last one was looked at.
        pushed_buffer: 2 * u64::from(PIECE[1]),
        patience: PATIENCE,
        losses: Losses::GoOn,
        slowest: Some(SLOWEST),
        ..Parameters::for_bulk()
    }
}
