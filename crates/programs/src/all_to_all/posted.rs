//! An exchange in which everything is begun at once.

use endpoint::{Endpoint, Message, Result, join, join_all};
use quantities::Rank;

/// Every rank begins to receive from all of `senders`, then to send to all of `receivers`, and waits for all of it. `message_for` makes the message for a
/// rank, `take` is given each message with its sender. Where each knows from whom something comes, nothing is sent but what there is.
///
/// ```text
///   rank 2 of 4     from 1, from 0, from 3, and meanwhile to 3, to 0, to 1
/// ```
///
/// What MPI libraries do for `MPI_Alltoallv`, and for `MPI_Alltoall` of a middling size. P (P - 1) messages at most; under LogGP with messages of
/// s bytes T = 2 (P - 1) o + L + (P - 1) (s-1) G at least. Ranks overlap operations, so the program has to need that.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", International Journal of
/// High Performance Computing Applications 19(1), 2005, section 4.2.
///
/// # Errors
/// Those of sending and receiving.
pub async fn posted<E: Endpoint>(
    endpoint: &E,
    senders: &[Rank],
    receivers: &[Rank],
    message_for: impl Fn(Rank) -> Message,
    mut take: impl FnMut(Rank, Message),
) -> Result<()> {
    let receives = join_all(senders.iter().map(|&from| endpoint.receive(from)));
    let sends = join_all(receivers.iter().map(|&to| endpoint.send(to, message_for(to))));
    let (received, sent) = join(receives, sends).await;
    for (&from, message) in senders.iter().zip(received) {
        take(from, message?);
    }
    sent.into_iter().collect()
}
