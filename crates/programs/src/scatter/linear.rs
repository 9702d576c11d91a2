//! Scatter without a tree.

use endpoint::{Endpoint, Message, Result};

use crate::Group;

/// The source of `group` sends each other rank the part that `part_for` makes for its place, of any size; each rank ends with its part.
/// Only the source has to know how much the others get.
///
/// ```text
///   0 -> 1   0 -> 2   0 -> 3   ...
/// ```
///
/// n ranks: n - 1 messages, all from one sender. Under LogGP, with s bytes in all, T = (n - 1) o + s G + L + o.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", International Journal of
/// High Performance Computing Applications 19(1), 2005.
///
/// # Errors
/// When the group has ranks outside the program, and the errors of sending and receiving.
pub async fn linear<E: Endpoint>(
    endpoint: &E,
    group: &Group,
    mut part_for: impl FnMut(u32) -> Message,
) -> Result<Message> {
    group.check(endpoint.size())?;
    match group.place_of(endpoint.rank()) {
        None => Ok(Message::default()),
        Some(0) => {
            for place in 1..group.len() {
                endpoint.send(group.rank_at(place), part_for(place)).await?;
            }
            Ok(part_for(0))
        }
        Some(_) => endpoint.receive(group.source()).await,
    }
}
