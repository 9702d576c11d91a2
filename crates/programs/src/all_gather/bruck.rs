//! All-gather in the fewest possible steps, for any number of ranks.

use endpoint::{Endpoint, Message, Result};
use quantities::{Bytes, Rank};

use crate::barrier::distances;
use crate::pieces::{joined, piece};
use crate::shift::Shift;

/// Brings the `message`s of all ranks, all of the same size, to all of them. Every rank ends with all messages concatenated, its own first
/// and then those of the ranks after it round the ring. Each step doubles how many it has; it sends those that the receiver lacks.
///
/// ```text
///   step 1     from p + 1     1 message                P = 6
///   step 2     from p + 2     2 messages
///   step 3     from p + 4     2 messages, as two are left
/// ```
///
/// P ceil(log2 P) messages; every rank receives s (P - 1) bytes. Under LogGP T = ceil(log2 P) (o + L + o) + s (P - 1) G.
///
/// Source: Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in multiport
/// message-passing systems", IEEE Transactions on Parallel and Distributed Systems 8(11), 1997, section 4 (concatenation).
///
/// # Errors
/// Those of sending and receiving.
pub async fn bruck<E: Endpoint>(endpoint: &E, message: &mut Message) -> Result<()> {
    let (size, Bytes(part)) = (endpoint.size(), message.size());
    for distance in distances(size) {
        let Shift { to: Rank(further), from: Rank(before) } = Shift::new(endpoint.rank(), distance, size);
        let count = u64::from(distance.min(size - distance));
        let given = piece(message, 0..count * part);
        let received = endpoint.sendrecv(Rank(before), given, Rank(further)).await?;
        *message = joined(&[std::mem::take(message), received]);
    }
    Ok(())
}
