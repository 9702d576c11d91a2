//! What equal-dist and unequal-dist share: ranks in fixed pairs that take turns.

use endpoint::{Endpoint, Error, Message, Result};
use quantities::{Bytes, Rank};

/// Sends `count` messages to `partner` and receives as many from it, alternately; the lower of the two ranks begins.
///
/// ```text
///   lower   --bytes-->   upper
///   lower   <--bytes--   upper       count times
/// ```
pub(super) async fn alternate<E: Endpoint>(endpoint: &E, partner: Rank, bytes: Bytes, count: u32) -> Result<()> {
    for _ in 0..count {
        if endpoint.rank() < partner {
            endpoint.send(partner, Message::of_size(bytes)).await?;
            endpoint.receive(partner).await?;
        } else {
            endpoint.receive(partner).await?;
            endpoint.send(partner, Message::of_size(bytes)).await?;
        }
    }
    Ok(())
}

/// How many of `messages` messages each of `size` ranks sends.
///
/// # Errors
/// When the ranks can't be paired, or when there are fewer messages than ranks.
pub(super) fn share(benchmark: &str, messages: u32, size: u32) -> Result<u32> {
    if size == 0 || !size.is_multiple_of(2) {
        return Err(Error::Unfit(format!("{benchmark} pairs its ranks: it needs an even number of them, not {size}")));
    }
    if messages < size {
        return Err(Error::Unfit(format!(
            "{benchmark} shares {messages} messages out among its ranks: it needs at most {messages} of them, not {size}"
        )));
    }
    Ok(messages / size)
}
