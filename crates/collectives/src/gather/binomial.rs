//! Gather along a binomial tree.

use endpoint::{Endpoint, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::Group;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call};

/// A rank that has the blocks of a run of ranks sends them to the first rank of the run before, which then has both.
///
/// ```text
///   round 1     1 -> 0   3 -> 2   5 -> 4   7 -> 6        one block each          numbered from the root
///   round 2     2 -> 0   6 -> 4                          two
///   round 3     4 -> 0                                   four
/// ```
///
/// P ranks with s bytes each: P - 1 messages. Under LogGP T = ceil(log2 P) (o + L + o) + s (P - 1) G.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binomial;

impl BlockAlgorithm for Binomial {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "binomial",
        "Runs of nodes join, each twice as long as in the round before",
        "ceil(log2 n) (o + L + o) + s (n - 1) G",
        |_| Ok(Binomial.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let numbers = Group::from_source(call.root, endpoint.size())?;
        let Some(me) = numbers.place_of(endpoint.rank()) else { return Ok(()) };
        let size = numbers.len();
        let mut run = 1; // how many ranks' blocks have been joined before this round
        while run < size {
            if me & run != 0 {
                let own = blocks.take(numbers.ranks_at(me..me + run.min(size - me)))?;
                return endpoint.send(numbers.rank_at(me - run), own).await;
            }
            if size - me > run {
                let next = me + run;
                let received = endpoint.receive(numbers.rank_at(next)).await?;
                blocks.put(numbers.ranks_at(next..next + run.min(size - next)), &received)?;
            }
            run = run.saturating_mul(2);
        }
        Ok(())
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let rounds = (0..halvings(ranks)).map(|round| Stretch::of(0.0, 1.0, Bytes(bytes.0.saturating_mul(1 << round))));
        let moved = f64::from(halvings(ranks)) * f64::from(ranks) / 2.0 * bytes.0 as f64;
        Cost { messages: f64::from(ranks.saturating_sub(1)), bytes: moved, chain: rounds.collect(), ..Cost::default() }
    }
}
