//! All-gather in which pairs of ranks exchange all that they have.

use endpoint::{Endpoint, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use super::bruck::doubling;
use crate::all_reduce::Combine;
use crate::all_reduce::Fold;
use crate::catalogue::{Cost, Entry};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call};

/// In step i, ranks whose numbers differ in bit i exchange all blocks that they have.
///
/// ```text
///   step 1     0 <-> 1   2 <-> 3   4 <-> 5   6 <-> 7        one block each way
///   step 2     0 <-> 2   1 <-> 3   4 <-> 6   5 <-> 7        two
///   step 3     0 <-> 4   1 <-> 5   2 <-> 6   3 <-> 7        four
/// ```
///
/// P log2 P messages. Under LogGP with blocks of s bytes T = log2 P (o + L + o) + s (P - 1) G. If P is not a power of
/// two, some ranks hand their block over first and get all others at the end: two more messages.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecursiveDoubling;

impl BlockAlgorithm for RecursiveDoubling {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "recursive-doubling",
        "Pairs exchange all that they have",
        "log2 n (o + L + o) + s (n - 1) G where n is a power of two",
        |_| Ok(RecursiveDoubling.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(&self, endpoint: &E, _: &Call<'_, C>, blocks: &mut Blocks<'_>) -> Result<()> {
        let (Rank(me), size) = (endpoint.rank(), endpoint.size());
        let fold = Fold::of(size);
        let Some(number) = fold.number(me) else {
            let partner = me + 1;
            endpoint.send(Rank(partner), blocks.take([me])?).await?;
            let received = endpoint.receive(Rank(partner)).await?;
            return blocks.put((0..size).filter(|&block| block != me), &received);
        };
        let folded = fold.partner(me);
        if let Some(partner) = folded {
            let received = endpoint.receive(Rank(partner)).await?;
            blocks.put([partner], &received)?;
        }
        let mut bit = 1;
        while bit < fold.power {
            let partner = number ^ bit;
            let rank = Rank(fold.place(partner));
            // The numbers whose blocks a rank has are those that differ from its own in lower bits only.
            let of = |number: u32| fold.places(number & !(bit - 1)..(number | (bit - 1)) + 1);
            let received = endpoint.sendrecv(rank, blocks.take(of(number))?, rank).await?;
            blocks.put(of(partner), &received)?;
            bit *= 2;
        }
        if let Some(partner) = folded {
            let all = blocks.take((0..size).filter(|&block| block != partner))?;
            endpoint.send(Rank(partner), all).await?;
        }
        Ok(())
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        doubling(ranks, bytes)
    }
}
