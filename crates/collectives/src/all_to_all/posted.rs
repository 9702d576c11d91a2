//! An exchange in which everything is posted at once.

use endpoint::{Endpoint, Message, Result, join, wait_all};
use quantities::Rank;

/// Every rank posts receives from all of `senders`, then sends to all of `receivers`, and waits for all of them.
/// `message_for` makes the message for a rank, `take` is called with each message and its sender. As each rank knows
/// its senders, no empty messages are needed.
///
/// ```text
///   rank 2 of 4     from 1, from 0, from 3, and meanwhile to 3, to 0, to 1
/// ```
///
/// This is what MPI libraries do for `MPI_Alltoallv`, and for `MPI_Alltoall` with messages of medium size. At most
/// P (P - 1) messages; under LogGP with messages of s bytes at least T = 2 (P - 1) o + L + (P - 1) (s-1) G. Operations
/// overlap, so the program must declare that.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.2.
///
/// # Errors
/// Those of sending and receiving.
pub async fn posted<E: Endpoint>(
    endpoint: &E,
    senders: &[Rank],
    receivers: &[Rank],
    mut message_for: impl FnMut(Rank) -> Message,
    mut take: impl FnMut(Rank, Message),
) -> Result<()> {
    let receives = wait_all(senders.iter().map(|&from| endpoint.receive(from)));
    let sends = wait_all(receivers.iter().map(|&to| endpoint.send(to, message_for(to))));
    let (received, sent) = join(receives, sends).await;
    for (&from, message) in senders.iter().zip(received) {
        take(from, message?);
    }
    sent.into_iter().collect()
}
