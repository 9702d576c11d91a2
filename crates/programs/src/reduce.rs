//! Reduce: the data of all ranks is combined at one of them.

use endpoint::{Endpoint, Message, Result};

use crate::Group;
use crate::all_reduce::{Combine, combined};

/// Combines the `message`s of all ranks of a group at its source, along a binomial tree; the others end with what they passed on.
///
/// ```text
///   round 1     1 -> 0   3 -> 2   5 -> 4   7 -> 6
///   round 2     2 -> 0   6 -> 4
///   round 3     4 -> 0
/// ```
///
/// n ranks: n - 1 messages. Under LogGP, without the cost of combining, T = ceil(log2 n) (o + (s-1) G + L + o).
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", International Journal of
/// High Performance Computing Applications 19(1), 2005, section 4.4.
///
/// # Errors
/// When the messages are of different sizes, the group has ranks outside the program, and the errors of sending and receiving.
pub async fn binomial<E: Endpoint, C: Combine>(
    endpoint: &E,
    group: &Group,
    operator: &C,
    message: &mut Message,
) -> Result<()> {
    group.check(endpoint.size())?;
    let Some(me) = group.place_of(endpoint.rank()) else { return Ok(()) };
    let mut distance = 1;
    while distance < group.len() {
        if me & distance != 0 {
            return endpoint.send(group.rank_at(me - distance), message.clone()).await;
        }
        if group.len() - me > distance {
            let received = endpoint.receive(group.rank_at(me + distance)).await?;
            *message = combined(operator, message, &received)?;
        }
        distance = distance.saturating_mul(2);
    }
    Ok(())
}
