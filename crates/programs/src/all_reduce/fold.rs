//! Reduces any number of ranks to a power of two.

use endpoint::{Endpoint, Message, Result};

use super::operator::combined;
use super::{AllReduceContext, Combine};

/// The first and last step of algorithms that need a power of two of ranks. Of n = 2^k + r ranks, the first 2 r pair up: the even
/// one of a pair hands its data to the odd one and waits for the result.
///
/// ```text
///   n = 6      place   0 -> 1   2 -> 3   4   5          one message before, and one the other way after
///              number       0        1   2   3
/// ```
///
/// Source: the usual extension, as in Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations
/// in MPICH", International Journal of High Performance Computing Applications 19(1), 2005.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// 2^k, how many ranks continue.
    pub(super) power: u32,
    /// r.
    pairs: u32,
}

impl Fold {
    pub(super) fn of(n: u32) -> Fold {
        let power = 1 << n.ilog2();
        Fold { power, pairs: n - power }
    }

    /// The place of the rank that continues as `number`.
    pub(super) fn place(self, number: u32) -> u32 {
        if number < self.pairs { 2 * number + 1 } else { number + self.pairs }
    }

    /// Hands `message` over, or takes another rank's in. Returns the number under which this rank continues, if it does.
    pub(super) async fn enter<E: Endpoint, C: Combine>(
        self,
        endpoint: &E,
        context: &AllReduceContext<'_, C>,
        me: u32,
        message: &mut Message,
    ) -> Result<Option<u32>> {
        if me >= 2 * self.pairs {
            return Ok(Some(me - self.pairs));
        }
        if me.is_multiple_of(2) {
            endpoint.send(context.group.rank_at(me + 1), message.clone()).await?;
            return Ok(None);
        }
        let received = endpoint.receive(context.group.rank_at(me - 1)).await?;
        *message = combined(context.operator, &received, message)?;
        Ok(Some(me / 2))
    }

    /// Hands the result back, or receives it.
    pub(super) async fn leave<E: Endpoint, C: Combine>(
        self,
        endpoint: &E,
        context: &AllReduceContext<'_, C>,
        me: u32,
        message: &mut Message,
    ) -> Result<()> {
        if me >= 2 * self.pairs {
            return Ok(());
        }
        if me.is_multiple_of(2) {
            *message = endpoint.receive(context.group.rank_at(me + 1)).await?;
            return Ok(());
        }
        endpoint.send(context.group.rank_at(me - 1), message.clone()).await
    }
}
