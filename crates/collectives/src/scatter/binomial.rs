//! Scatter along a binomial tree.

use endpoint::{Endpoint, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::Group;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call};

/// A rank that has the blocks of a run of ranks sends those of the run's second half to the first rank of that half.
///
/// ```text
///   round 1     0 -> 4                                   four blocks             numbered from the root
///   round 2     0 -> 2   4 -> 6                          two
///   round 3     0 -> 1   2 -> 3   4 -> 5   6 -> 7        one
/// ```
///
/// P ranks: P - 1 messages. Under LogGP with blocks of s bytes T = ceil(log2 P) (o + L + o) + s (P - 1) G.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binomial;

impl BlockAlgorithm for Binomial {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "binomial",
        "Runs of nodes are halved, and half of the blocks sent on",
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
        let Some(me) = numbers.place_of(endpoint.rank()).map(u64::from) else { return Ok(()) };
        let size = u64::from(numbers.len());
        // How many ranks, from this one on, get their blocks through it, if there are that many.
        let mut run = if me == 0 { size.next_power_of_two() } else { me & me.wrapping_neg() };
        let ranks = |first: u64, run: u64| first as u32..(first + run).min(size) as u32;
        if me > 0 {
            let received = endpoint.receive(numbers.rank_at((me - run) as u32)).await?;
            blocks.put(numbers.ranks_at(ranks(me, run)), &received)?;
        }
        while run > 1 {
            run /= 2;
            if me + run < size {
                let half = blocks.take(numbers.ranks_at(ranks(me + run, run)))?;
                endpoint.send(numbers.rank_at((me + run) as u32), half).await?;
            }
        }
        Ok(())
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let rounds = (0..halvings(ranks)).map(|round| Stretch::of(0.0, 1.0, Bytes(bytes.0.saturating_mul(1 << round))));
        let moved = f64::from(halvings(ranks)) * f64::from(ranks) / 2.0 * bytes.0 as f64;
        Cost { messages: f64::from(ranks.saturating_sub(1)), bytes: moved, chain: rounds.collect(), ..Cost::default() }
    }
}
