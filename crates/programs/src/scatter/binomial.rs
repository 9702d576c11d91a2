//! Scatter along a binomial tree.

use endpoint::{Endpoint, Message, Result};
use quantities::Bytes;

use crate::Group;
use crate::pieces::piece;

/// Scatters the source's `message`, which has a part of `part` bytes for each rank of `group`: every rank ends with its part.
/// The others' own `message` is overwritten. A rank that has the parts of a block of ranks sends those of the block's second half to the
/// first rank of that half.
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
/// When the group has ranks outside the program, and the errors of sending and receiving.
pub async fn binomial<E: Endpoint>(endpoint: &E, group: &Group, part: Bytes, message: &mut Message) -> Result<()> {
    group.check(endpoint.size())?;
    let Some(me) = group.place_of(endpoint.rank()) else { return Ok(()) };
    let (n, start) = (u64::from(group.len()), u64::from(me));
    // How many ranks, from this one on, get their parts through it, if the group has that many.
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
