//! Reduces any number of ranks to a power of two.

use std::ops::Range;

use endpoint::{Endpoint, Message, Result};

use super::operator::combined;
use super::{AllReduceContext, Combine};

/// The first and last step of algorithms that need a power of two of ranks. Of n = 2^k + r ranks, the first 2 r pair
/// up: the even one of a pair hands its data to the odd one and waits for the result.
///
/// ```text
///   n = 6      place   0 -> 1   2 -> 3   4   5          one message before, and one the other way after
///              number       0        1   2   3
/// ```
///
/// Source: the usual extension, as in Thakur, Rabenseifner and Gropp, "Optimization of collective communication
/// operations in MPICH", International Journal of High Performance Computing Applications 19(1), 2005.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    /// 2^k, how many ranks continue.
    pub(crate) power: u32,
    /// r.
    pairs: u32,
}

impl Fold {
    pub(crate) fn of(n: u32) -> Fold {
        let power = 1 << n.ilog2();
        Fold { power, pairs: n - power }
    }

    /// The place of the rank that continues as `number`.
    pub(crate) fn place(self, number: u32) -> u32 {
        if number < self.pairs { 2 * number + 1 } else { number + self.pairs }
    }

    /// The number under which the rank at a place continues; nothing, if it hands its data to the one after it.
    pub(crate) fn number(self, place: u32) -> Option<u32> {
        match place {
            _ if place >= 2 * self.pairs => Some(place - self.pairs),
            _ => (!place.is_multiple_of(2)).then_some(place / 2),
        }
    }

    /// The place of the other rank of a pair, one of which hands its data to the other.
    pub(crate) fn partner(self, place: u32) -> Option<u32> {
        (place < 2 * self.pairs).then_some(place ^ 1)
    }

    /// The places of the ranks whose data those that continue with `numbers` have.
    pub(crate) fn places(self, numbers: Range<u32>) -> Range<u32> {
        let first = |number: u32| if number < self.pairs { 2 * number } else { number + self.pairs };
        first(numbers.start)..first(numbers.end)
    }

    /// Hands `message` over, or takes another rank's in. Returns the number under which this rank continues, if it
    /// does.
    pub(super) async fn enter<E: Endpoint, C: Combine>(
        self,
        endpoint: &E,
        context: &AllReduceContext<'_, C>,
        me: u32,
        message: &mut Message,
    ) -> Result<Option<u32>> {
        let Some(partner) = self.partner(me) else { return Ok(self.number(me)) };
        if partner > me {
            endpoint.send(context.group.rank_at(partner), message.clone()).await?;
        } else {
            let received = endpoint.receive(context.group.rank_at(partner)).await?;
            *message = combined(context.operator, &received, message)?;
        }
        Ok(self.number(me))
    }

    /// Hands the result back, or receives it.
    pub(super) async fn leave<E: Endpoint, C: Combine>(
        self,
        endpoint: &E,
        context: &AllReduceContext<'_, C>,
        me: u32,
        message: &mut Message,
    ) -> Result<()> {
        let Some(partner) = self.partner(me) else { return Ok(()) };
        if partner < me {
            return endpoint.send(context.group.rank_at(partner), message.clone()).await;
        }
        *message = endpoint.receive(context.group.rank_at(partner)).await?;
        Ok(())
    }
}
