//! Gather along a binomial tree.

use endpoint::{Endpoint, Message, Result};

use crate::Group;
use crate::pieces::joined;

/// Gathers the `message`s of all ranks of a group at its source, which ends with all of them concatenated in the order of the group;
/// the others end with what they passed on. A rank that has the messages of a block of ranks sends them to the block before.
///
/// ```text
///   round 1     1 -> 0   3 -> 2   5 -> 4   7 -> 6        one message each
///   round 2     2 -> 0   6 -> 4                          two
///   round 3     4 -> 0                                   four
/// ```
///
/// n ranks with s bytes each: n - 1 messages. Under LogGP T = ceil(log2 n) (o + L + o) + s (n - 1) G.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", International Journal of
/// High Performance Computing Applications 19(1), 2005, section 4.
///
/// # Errors
/// When the group has ranks outside the program, and the errors of sending and receiving.
pub async fn binomial<E: Endpoint>(endpoint: &E, group: &Group, message: &mut Message) -> Result<()> {
    group.check(endpoint.size())?;
    let Some(me) = group.place_of(endpoint.rank()) else { return Ok(()) };
    let mut block = 1; // how many ranks' messages have been joined before this round
    while block < group.len() {
        if me & block != 0 {
            return endpoint.send(group.rank_at(me - block), message.clone()).await;
        }
        if group.len() - me > block {
            let received = endpoint.receive(group.rank_at(me + block)).await?;
            *message = joined(&[std::mem::take(message), received]);
        }
        block = block.saturating_mul(2);
    }
    Ok(())
}
