//! Reduce of a long message by reduce-scatter and gather.

use endpoint::{Endpoint, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::all_reduce::Parts;
use crate::blocks::WHOLE;
use crate::catalogue::{Cost, Entry, part};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call, Sizes, gather, reduce_scatter};

/// The data are divided into P parts, one for each rank: a reduce-scatter by recursive halving combines them, and the
/// root gathers them along a binomial tree.
///
/// Under LogGP with s bytes, without the cost of combining, T = 2 log2 P (o + L + o) + 2 s (P - 1) / P G where P is a
/// power of two: for long messages less than a tree, which passes all of it on in every round.
///
/// Source: Rabenseifner's algorithm: Thakur, Rabenseifner and Gropp, "Optimization of collective communication
/// operations in MPICH", International Journal of High Performance Computing Applications 19(1), 2005, section 4.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScatterGather;

impl BlockAlgorithm for ScatterGather {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "scatter-gather",
        "Every node combines a part; then the root gathers them",
        "2 log2 n (o + L + o) + 2 s (n - 1) / n G where n is a power of two",
        |_| Ok(ScatterGather.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let ranks = endpoint.size();
        let message = blocks.take([WHOLE])?;
        let cut = Parts::of(call.operator, &message, ranks);
        let sizes = Sizes::Each((0..ranks).map(|part| Bytes(cut.start(part + 1) - cut.start(part))).collect());
        let mut parts = Blocks::new(&sizes);
        parts.put(0..ranks, &message)?;
        reduce_scatter::RecursiveHalving.run(endpoint, call, &mut parts).await?;
        gather::Binomial.run(endpoint, call, &mut parts).await?;
        if endpoint.rank() == call.root { blocks.put([WHOLE], &parts.take(0..ranks)?) } else { Ok(()) }
    }

    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let each = part(bytes, ranks.into());
        let scattered = reduce_scatter::RecursiveHalving.cost(lambda, ranks, each);
        let gathered = gather::Binomial.cost(lambda, ranks, each);
        let chain = scattered.chain.into_iter().chain(gathered.chain).collect();
        let (messages, bytes) = (scattered.messages + gathered.messages, scattered.bytes + gathered.bytes);
        Cost { messages, bytes, chain, ..Cost::default() }
    }
}
