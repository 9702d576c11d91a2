//! Gather without a tree.

use endpoint::{Endpoint, Message, Result};

use crate::Group;
use crate::pieces::joined;

/// Gathers the `message`s of all ranks of a group, of any sizes, at its source, which ends with all of them concatenated in the order of
/// the group. The others send theirs directly to it. Only the source has to know how much the others have.
///
/// ```text
///   1 -> 0   2 -> 0   3 -> 0   ...
/// ```
///
/// n ranks: n - 1 messages, all to one receiver. Under LogGP, with s bytes in all, T = o + L + (n - 1) o + s G.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", International Journal of
/// High Performance Computing Applications 19(1), 2005.
///
/// # Errors
/// When the group has ranks outside the program, and the errors of sending and receiving.
pub async fn linear<E: Endpoint>(endpoint: &E, group: &Group, message: &mut Message) -> Result<()> {
    group.check(endpoint.size())?;
    match group.place_of(endpoint.rank()) {
        None => {}
        Some(0) => {
            let mut messages = vec![std::mem::take(message)];
            for place in 1..group.len() {
                messages.push(endpoint.receive(group.rank_at(place)).await?);
            }
            *message = joined(&messages);
        }
        Some(_) => endpoint.send(group.source(), message.clone()).await?,
    }
    Ok(())
}
