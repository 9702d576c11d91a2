//! Reduce along a binomial tree.

use std::ops::Range;

use endpoint::{Endpoint, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::Group;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call, OperandOrder};

/// Combines blocks of all ranks at the root: in each round every other rank that is left sends what it has combined to
/// the one before.
///
/// ```text
///   round 1     1 -> 0   3 -> 2   5 -> 4   7 -> 6        numbered from the root
///   round 2     2 -> 0   6 -> 4
///   round 3     4 -> 0
/// ```
///
/// P ranks: P - 1 messages. Under LogGP, without the cost of combining, T = ceil(log2 P) (o + (s-1) G + L + o).
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.4.
pub(crate) async fn along_binomial_tree<E: Endpoint, C: Combine>(
    endpoint: &E,
    call: &Call<'_, C>,
    blocks: &mut Blocks<'_>,
    all: Range<u32>,
) -> Result<()> {
    let numbers = Group::from_source(call.root, endpoint.size())?;
    let Some(me) = numbers.place_of(endpoint.rank()) else { return Ok(()) };
    let mut distance = 1;
    while distance < numbers.len() {
        if me & distance != 0 {
            return endpoint.send(numbers.rank_at(me - distance), blocks.take(all)?).await;
        }
        if numbers.len() - me > distance {
            let received = endpoint.receive(numbers.rank_at(me + distance)).await?;
            blocks.combine(all.clone(), call.operator, &received, OperandOrder::After)?;
        }
        distance = distance.saturating_mul(2);
    }
    Ok(())
}

/// The binomial tree in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binomial;

impl BlockAlgorithm for Binomial {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "binomial",
        "Along a binomial tree, half of the nodes in every round",
        "ceil(log2 n) (o + (s-1) G + L + o)",
        |_| Ok(Binomial.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        along_binomial_tree(endpoint, call, blocks, 0..1).await
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let chain = vec![Stretch::of(0.0, f64::from(halvings(ranks)), bytes)];
        Cost::of(f64::from(ranks.saturating_sub(1)), bytes, chain)
    }
}
