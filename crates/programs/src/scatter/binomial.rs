//! Scatter along a binomial tree.

use endpoint::{Endpoint, Message, Result};
use quantities::Bytes;

use crate::Group;
use crate::pieces::piece;

/// Shares `message`, which is the source's and has a part of `part` for each rank of `group`, out among them: every rank ends with its part.
/// The others' own `message` is overwritten. Whoever has the parts of a block of ranks sends those of its second half to the first of these.
///
/// ```text
///   round 1     0 -> 4                                   four parts
///   round 2     0 -> 2   4 -> 6                          two
///   round 3     0 -> 1   2 -> 3   4 -> 5   6 -> 7        one
/// ```
///
/// n ranks: n - 1 messages. Under LogGP with parts of s bytes T = ceil(log2 n) (o + L + o) + s (n - 1) G.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", International Journal of
/// High Performance Computing Applications 19(1), 2005, section 4.
///
/// # Errors
/// When the group has ranks that the program has not, and what sending and receiving can end with.
pub async fn binomial<E: Endpoint>(endpoint: &E, group: &Group, part: Bytes, message: &mut Message) -> Result<()> {
    group.check(endpoint.size())?;
    let Some(me) = group.place_of(endpoint.rank()) else { return Ok(()) };
    let (n, start) = (u64::from(group.len()), u64::from(me));
    // As many ranks from this one on have their parts by way of it, if there are so many.
    let mut block = if me == 0 { n.next_power_of_two() } else { start & start.wrapping_neg() };
    if me > 0 {
        *message = endpoint.receive(group.rank_at((start - block) as u32)).await?;
    }
    while block > 1 {
        block /= 2;
        if start + block < n {
            let rest = piece(message, (block * part.0).min(message.size().0)..message.size().0);
            endpoint.send(group.rank_at((start + block) as u32), rest).await?;
            *message = piece(message, 0..(block * part.0).min(message.size().0));
        }
    }
    Ok(())
}
