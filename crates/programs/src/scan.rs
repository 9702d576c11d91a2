//! Scan: every rank gets the combination of the data of all ranks up to itself, as in prefix sums.

use endpoint::{Endpoint, Message, Result};
use quantities::Rank;

use crate::all_reduce::{Combine, combined};
use crate::barrier::distances;

/// Combines the `message`s of ranks 0 to p at every rank p. In each step a rank sends the combination that it has to the rank 1, 2, 4, ...
/// places further on, so that each step doubles the number of ranks whose data a combination covers.
///
/// ```text
///   step 1     0 -> 1   1 -> 2   2 -> 3   3 -> 4        P = 5
///   step 2     0 -> 2   1 -> 3   2 -> 4
///   step 3     0 -> 4
/// ```
///
/// Fewer than P ceil(log2 P) messages. Under LogGP, without the cost of combining, T = ceil(log2 P) (o + (s-1) G + L + o).
///
/// Source: Hillis and Steele, "Data parallel algorithms", Communications of the ACM 29(12), 1986.
///
/// # Errors
/// When the messages are of different sizes, and the errors of sending and receiving.
pub async fn recursive_doubling<E: Endpoint, C: Combine>(
    endpoint: &E,
    operator: &C,
    message: &mut Message,
) -> Result<()> {
    let (Rank(me), size) = (endpoint.rank(), endpoint.size());
    for distance in distances(size) {
        let further = (size - me > distance).then(|| Rank(me + distance));
        let before = me.checked_sub(distance).map(Rank);
        let received = match (further, before) {
            (Some(to), Some(from)) => Some(endpoint.sendrecv(to, message.clone(), from).await?),
            (Some(to), None) => {
                endpoint.send(to, message.clone()).await?;
                None
            }
            (None, Some(from)) => Some(endpoint.receive(from).await?),
            (None, None) => None,
        };
        if let Some(received) = received {
            *message = combined(operator, &received, message)?;
        }
    }
    Ok(())
}
