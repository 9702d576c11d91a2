//! All-gather by way of one rank.

use endpoint::{Endpoint, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::broadcast;
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::gather;
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call};

/// All blocks are gathered at rank 0, which broadcasts them, both along a binomial tree.
///
/// 2 (P - 1) messages. Under LogGP with blocks of s bytes T = 2 ceil(log2 P) (o + L + o) + s (P - 1) G + s P ceil(log2
/// P) G.
///
/// Source: van de Geijn's collectives by composition: Chan, Heimlich, Purkayastha and van de Geijn, "Collective
/// communication: theory, practice, and experience", Concurrency and Computation: Practice and Experience 19(13), 2007,
/// section 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatherBroadcast;

impl BlockAlgorithm for GatherBroadcast {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "gather-broadcast",
        "One node gathers all blocks and broadcasts them",
        "2 ceil(log2 n) (o + L + o) + s (n - 1) G + s n ceil(log2 n) G",
        |_| Ok(GatherBroadcast.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let call = Call { root: Rank(0), ..*call };
        gather::Binomial.run(endpoint, &call, blocks).await?;
        let all = 0..endpoint.size();
        let mut message = if endpoint.rank() == call.root { blocks.take(all.clone())? } else { Default::default() };
        broadcast::binomial(endpoint, call.root, &mut message).await?;
        blocks.put(all, &message)
    }

    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let Cost { messages, bytes: gathered, mut chain, .. } = gather::Binomial.cost(lambda, ranks, bytes);
        let all = Bytes(bytes.0.saturating_mul(ranks.into()));
        chain.push(Stretch::of(0.0, f64::from(halvings(ranks)), all));
        Cost { messages: 2.0 * messages, bytes: gathered + messages * all.0 as f64, chain, ..Cost::default() }
    }
}
