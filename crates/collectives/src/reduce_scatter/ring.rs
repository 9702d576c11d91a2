//! Reduce-scatter round a ring.

use endpoint::{Endpoint, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;
use crate::shift::Shift;
use crate::{BlockAlgorithm, Blocks, Call, OperandOrder};

/// Each block goes once round the ring of all ranks, and is combined with that of each; it ends at its own rank.
///
/// ```text
///   step i     rank p sends block p - i to p + 1, which adds its own        P - 1 steps, modulo P
/// ```
///
/// P (P - 1) messages, all to the next rank. Under LogGP with blocks of s bytes, without the cost of combining,
/// T = (P - 1) (o + L + o + s G).
///
/// Source: the first half of Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", Journal of Parallel and Distributed Computing 69(2), 2009.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring;

impl BlockAlgorithm for Ring {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "ring",
        "Each block goes once round the ring of all nodes",
        "(n - 1) (o + L + o + s G)",
        |_| Ok(Ring.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let (me, size) = (endpoint.rank(), endpoint.size());
        let before = |block: u32| block.checked_sub(1).unwrap_or(size - 1);
        let mut block = before(me.0);
        for _ in 1..size {
            let Shift { to, from } = Shift::new(me, 1, size);
            let received = endpoint.sendrecv(to, blocks.take([block])?, from).await?;
            block = before(block);
            blocks.combine([block], call.operator, &received, OperandOrder::Before)?;
        }
        Ok(())
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let (n, others) = (f64::from(ranks), f64::from(ranks.saturating_sub(1)));
        Cost { to_next_rank: true, ..Cost::of(n * others, bytes, vec![Stretch::of(0.0, others, bytes)]) }
    }
}
