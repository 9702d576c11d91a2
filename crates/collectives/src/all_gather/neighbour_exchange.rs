//! All-gather in which neighbours exchange two blocks at a time.

use endpoint::{Endpoint, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use super::ring::Ring;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call};

/// Ranks 2 q and 2 q + 1 exchange their blocks, which are pair q from then on. Then every rank exchanges with its other
/// neighbour and with this one in turn, each time the pair that it had last.
///
/// ```text
///   step 0       2 q <-> 2 q + 1      own blocks
///   step 1, 3 .. 2 q - 1 <-> 2 q      pairs: rank 2 q then has pair q - (i + 1) / 2, and rank 2 q + 1 pair q + (i + 1) / 2
///   step 2, 4 .. 2 q <-> 2 q + 1      pairs: rank 2 q then has pair q + i / 2, and rank 2 q + 1 pair q - i / 2, modulo P / 2
/// ```
///
/// P / 2 steps, half of those of a ring. Under LogGP with blocks of s bytes T = P / 2 (o + L + o) + s (P - 1) G. If P
/// is odd the blocks go round a [`Ring`].
///
/// Source: Chen and Yuan, "Performance evaluation of allgather algorithms on terascale Linux cluster with fast
/// Ethernet", 8th International Conference on High-Performance Computing in Asia-Pacific Region, 2005.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourExchange;

/// The pair that a rank has got in a step from 1 on, of so many.
fn pair_got(rank: u32, step: u32, pairs: u32) -> u32 {
    let (own, by) = (rank / 2, step.div_ceil(2));
    let further = rank.is_multiple_of(2) == step.is_multiple_of(2);
    if further { (own + by) % pairs } else { (own + pairs - by) % pairs }
}

impl BlockAlgorithm for NeighbourExchange {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "neighbour-exchange",
        "Neighbours exchange pairs of blocks: half the steps of a ring",
        "n / 2 (o + L + o) + s (n - 1) G where n is even",
        |_| Ok(NeighbourExchange.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let (Rank(me), size) = (endpoint.rank(), endpoint.size());
        if !size.is_multiple_of(2) {
            return Ring.run(endpoint, call, blocks).await;
        }
        let (mate, pairs) = (me ^ 1, size / 2);
        let other = if me.is_multiple_of(2) { (me + size - 1) % size } else { (me + 1) % size };
        let received = endpoint.sendrecv(Rank(mate), blocks.take([me])?, Rank(mate)).await?;
        blocks.put([mate], &received)?;
        let of = |pair: u32| 2 * pair..2 * pair + 2;
        let mut last = me / 2;
        for step in 1..pairs {
            let neighbour = Rank(if step.is_multiple_of(2) { mate } else { other });
            let received = endpoint.sendrecv(neighbour, blocks.take(of(last))?, neighbour).await?;
            last = pair_got(me, step, pairs);
            blocks.put(of(last), &received)?;
        }
        Ok(())
    }

    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        if !ranks.is_multiple_of(2) {
            return Ring.cost(lambda, ranks, bytes);
        }
        let (n, pairs) = (f64::from(ranks), f64::from(ranks / 2));
        let two = Bytes(bytes.0.saturating_mul(2));
        let chain = vec![Stretch::of(0.0, 1.0, bytes), Stretch::of(0.0, pairs - 1.0, two)];
        Cost { messages: n * pairs, bytes: n * (n - 1.0) * bytes.0 as f64, to_next_rank: true, chain }
    }
}
