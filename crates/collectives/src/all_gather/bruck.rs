//! All-gather in the fewest possible steps, for any number of ranks.

use endpoint::{Endpoint, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::barrier::distances;
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::postal::Lambda;
use crate::shift::Shift;
use crate::{BlockAlgorithm, Blocks, Call};

/// Each step doubles how many blocks a rank has: its own and those of the ranks after it round the ring. It sends those
/// that the receiver lacks.
///
/// ```text
///   step 1     from p + 1     1 block                  P = 6
///   step 2     from p + 2     2 blocks
///   step 3     from p + 4     2 blocks, as two are left
/// ```
///
/// P ceil(log2 P) messages; every rank receives s (P - 1) bytes. Under LogGP T = ceil(log2 P) (o + L + o) + s (P - 1)
/// G.
///
/// Source: Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in multiport
/// message-passing systems", IEEE Transactions on Parallel and Distributed Systems 8(11), 1997, section 4
/// (concatenation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bruck;

impl BlockAlgorithm for Bruck {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "bruck",
        "Each step doubles the blocks that a node has, for any number of nodes",
        "ceil(log2 n) (o + L + o) + s (n - 1) G",
        |_| Ok(Bruck.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(&self, endpoint: &E, _: &Call<'_, C>, blocks: &mut Blocks<'_>) -> Result<()> {
        let (me, size) = (endpoint.rank(), endpoint.size());
        for distance in distances(size) {
            let Shift { to: Rank(further), from: Rank(before) } = Shift::new(me, distance, size);
            let count = distance.min(size - distance);
            // So many ranks from one on, round the ring.
            let after = |rank: u32| (0..count).map(move |further| (rank + further) % size);
            let received = endpoint.sendrecv(Rank(before), blocks.take(after(me.0))?, Rank(further)).await?;
            blocks.put(after(further), &received)?;
        }
        Ok(())
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        doubling(ranks, bytes)
    }
}

/// The cost of steps in each of which all ranks send all that they have, twice as much as before.
pub(super) fn doubling(ranks: u32, bytes: Bytes) -> Cost {
    let counts = distances(ranks).map(|distance| u64::from(distance.min(ranks - distance)));
    let chain = counts.map(|count| Stretch::of(0.0, 1.0, Bytes(bytes.0.saturating_mul(count)))).collect();
    let (n, others) = (f64::from(ranks), f64::from(ranks.saturating_sub(1)));
    Cost { messages: n * f64::from(halvings(ranks)), bytes: n * others * bytes.0 as f64, chain, ..Cost::default() }
}
