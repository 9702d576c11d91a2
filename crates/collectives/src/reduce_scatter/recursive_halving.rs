//! Reduce-scatter in which pairs of ranks exchange halves.

use endpoint::{Endpoint, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::all_reduce::Fold;
use crate::catalogue::{Cost, Entry, Stretch, halvings, part};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call, OperandOrder};

/// In each step a rank sends the half of its blocks that its partner's half of the ranks needs, and combines the other
/// half with what the partner sends.
///
/// ```text
///   step 1     0 <-> 4   1 <-> 5   2 <-> 6   3 <-> 7        four blocks each way
///   step 2     0 <-> 2   1 <-> 3   4 <-> 6   5 <-> 7        two
///   step 3     0 <-> 1   2 <-> 3   4 <-> 5   6 <-> 7        one
/// ```
///
/// P log2 P messages. Under LogGP with blocks of s bytes, without the cost of combining, T = log2 P (o + L + o) +
/// s (P - 1) G. If P is not a power of two, some ranks hand their data over first and get their block at the end: two more
/// messages.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecursiveHalving;

impl BlockAlgorithm for RecursiveHalving {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "recursive-halving",
        "Pairs exchange the halves that the other's half of the nodes needs",
        "log2 n (o + L + o) + s (n - 1) G where n is a power of two",
        |_| Ok(RecursiveHalving.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let (Rank(me), size) = (endpoint.rank(), endpoint.size());
        let fold = Fold::of(size);
        let Some(number) = fold.number(me) else {
            let partner = Rank(me + 1);
            endpoint.send(partner, blocks.take(0..size)?).await?;
            let received = endpoint.receive(partner).await?;
            return blocks.put([me], &received);
        };
        let folded = fold.partner(me);
        if let Some(partner) = folded {
            let received = endpoint.receive(Rank(partner)).await?;
            blocks.combine(0..size, call.operator, &received, OperandOrder::Before)?;
        }
        let mut half = fold.power / 2;
        while half > 0 {
            let partner = number ^ half;
            let rank = Rank(fold.place(partner));
            // The numbers that differ from one in lower bits than this step's only.
            let of = |number: u32| fold.places(number & !(half - 1)..(number | (half - 1)) + 1);
            let received = endpoint.sendrecv(rank, blocks.take(of(partner))?, rank).await?;
            let order = if partner < number { OperandOrder::Before } else { OperandOrder::After };
            blocks.combine(of(number), call.operator, &received, order)?;
            half /= 2;
        }
        if let Some(partner) = folded {
            endpoint.send(Rank(partner), blocks.take([partner])?).await?;
        }
        Ok(())
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let all = Bytes(bytes.0.saturating_mul(ranks.into()));
        let chain = (1..=halvings(ranks)).map(|step| Stretch::of(0.0, 1.0, part(all, 1 << step))).collect();
        let (n, others) = (f64::from(ranks), f64::from(ranks.saturating_sub(1)));
        Cost { messages: n * f64::from(halvings(ranks)), bytes: n * others * bytes.0 as f64, chain, ..Cost::default() }
    }
}
