//! Broadcast by recursive splitting: the lambda tree.

use endpoint::{Endpoint, Error, Message, Result};

use super::Links;
use crate::Group;
use crate::postal::Splitting;

/// Broadcast of `message` from the source of `group` along the tree that `splitting` makes. The others' own `message` is
/// overwritten; a rank that is not in the group does nothing.
///
/// ```text
///   bcast(S, n, s, m, alpha):
///     n = 1:   done
///     split S in S' of n' = min(round(alpha n), n - 1) ranks, s among them, and S'' of the others
///     s sends m to a leader s' of S''
///     bcast(S', n', s, m, alpha) and bcast(S'', n - n', s', m, alpha) at once
/// ```
///
/// Every rank follows the splitting down to itself, so nothing is built in advance. An alpha of 1/2 makes the binomial tree
/// of any size; the look-up table for lambda makes a lambda tree, the quickest there is in the postal model:
///
/// ```text
///   lambda = 2, n = 8, alpha = 0.618      sent                           received
///                                         at 0   0 -> 5                      at 2
///             0                           at 1   0 -> 3                      at 3
///      .----.-'-.----.                    at 2   0 -> 2   5 -> 7             at 4
///      5    3   2    1                    at 3   0 -> 1   5 -> 6   3 -> 4    at 5
///     / \   |
///    7   6  4
/// ```
///
/// n ranks: n - 1 messages. In the postal model T = T_lambda(n) t0 with the table for lambda.
///
/// Source: the postal paper, section 2.4.
///
/// # Errors
/// When the group has ranks that the program has not, or more than the table goes to; and what sending and receiving can
/// end with.
pub async fn bcast<E: Endpoint>(
    endpoint: &E,
    group: &Group,
    splitting: &Splitting,
    message: &mut Message,
) -> Result<()> {
    group.check(endpoint.size())?;
    reaches(splitting, group.len())?;
    let Some(me) = group.place_of(endpoint.rank()) else { return Ok(()) };
    Links::by_splitting(splitting, group.len(), me).pass_on(endpoint, group, message).await
}

/// Says whether `splitting` goes to `size` ranks.
pub(crate) fn reaches(splitting: &Splitting, size: u32) -> Result<()> {
    match splitting {
        Splitting::Table(table) if table.most() < u64::from(size) => Err(Error::Unfit(format!(
            "the look-up table of alphas for a latency of {} goes to {} ranks, the group has {size}",
            table.lambda(),
            table.most()
        ))),
        Splitting::Table(_) | Splitting::Fixed(_) => Ok(()),
    }
}
