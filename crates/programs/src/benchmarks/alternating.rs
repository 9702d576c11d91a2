//! What equal-dist and unequal-dist share: ranks in fixed pairs that take turns.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Rank};

/// A benchmark whose ranks are in fixed pairs.
pub trait Pairs {
    /// Its name.
    const NAME: &'static str;

    /// The partner of a rank among `size`.
    fn partner(rank: Rank, size: u32) -> Rank;
    /// Size of a message. [B]
    fn bytes(&self) -> Bytes;
    /// Messages that all ranks together send.
    fn messages(&self) -> u32;
}

/// The partner of a rank, and how many messages it sends.
///
/// # Errors
/// When the ranks can't be paired, or when there are fewer messages than ranks.
fn turns<E: Endpoint, P: Pairs>(endpoint: &E, pairs: &P) -> Result<(Rank, u32)> {
    let size = endpoint.size();
    Ok((P::partner(endpoint.rank(), size), share(P::NAME, pairs.messages(), size)?))
}

/// The same benchmark with both partners of a pair sending first. It needs sends that don't wait until the receiver
/// asks for the message.
///
/// ```text
///   lower   --bytes-->   upper
///           <--bytes--               at once, messages / N times
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BothBegin<P>(pub P);

impl<P: Pairs + Sync> Program for BothBegin<P> {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let BothBegin(pairs) = self;
        let (partner, count) = turns(endpoint, pairs)?;
        for _ in 0..count {
            endpoint.send(partner, Message::of_size(pairs.bytes())).await?;
            endpoint.receive(partner).await?;
        }
        Ok(())
    }
}

/// Sends to the partner and receives from it, alternately; the lower of the two ranks begins.
///
/// ```text
///   lower   --bytes-->   upper
///   lower   <--bytes--   upper       messages / N times
/// ```
pub(super) async fn alternate<E: Endpoint, P: Pairs>(endpoint: &E, pairs: &P) -> Result<()> {
    let (partner, count) = turns(endpoint, pairs)?;
    let bytes = pairs.bytes();
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
fn share(benchmark: &str, messages: u32, size: u32) -> Result<u32> {
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
