//! Reduce-scatter: the data of all ranks is combined, and each rank gets a part of the result.

use endpoint::{Endpoint, Message, Result};
use quantities::Rank;

use crate::all_reduce::{Combine, combined};
use crate::shift::Shift;

/// Combines the parts that all ranks have for each rank: `part_for` makes this rank's part for a given rank, and every rank ends with the
/// combination of the parts for it. In step i rank p sends rank p + i the part for it, and receives a part for itself from p - i.
///
/// ```text
///   step 1     0 -> 1   1 -> 2   2 -> 3   3 -> 0         P = 4
///   step 2     0 -> 2   1 -> 3   2 -> 0   3 -> 1
///   step 3     0 -> 3   1 -> 0   2 -> 1   3 -> 2
/// ```
///
/// P (P - 1) messages; every rank sends only what the others need. Under LogGP with s bytes in all, without the cost of combining,
/// T = (P - 1) (o + L + o) + s (P - 1) / P G.
///
/// Source: the pairwise exchange of Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.3.
///
/// # Errors
/// When parts for one rank are of different sizes, and the errors of sending and receiving.
pub async fn pairwise<E: Endpoint, C: Combine>(
    endpoint: &E,
    operator: &C,
    mut part_for: impl FnMut(Rank) -> Message,
) -> Result<Message> {
    let (me, size) = (endpoint.rank(), endpoint.size());
    let mut result = part_for(me);
    for distance in 1..size {
        let Shift { to, from } = Shift::new(me, distance, size);
        let received = endpoint.sendrecv(to, part_for(to), from).await?;
        result = combined(operator, &result, &received)?;
    }
    Ok(result)
}
