//! Reduce-scatter by way of one rank.

use endpoint::{Endpoint, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::postal::Lambda;
use crate::reduce::along_binomial_tree;
use crate::{BlockAlgorithm, Blocks, Call, scatter};

/// All blocks are combined at rank 0, which scatters them, both along a binomial tree.
///
/// 2 (P - 1) messages. Under LogGP with blocks of s bytes, without the cost of combining, T = 2 ceil(log2 P) (o + L +
/// o) + s P ceil(log2 P) G + s (P - 1) G.
///
/// Source: collectives by composition: Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory,
/// practice, and experience", Concurrency and Computation: Practice and Experience 19(13), 2007, section 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceThenScatter;

impl BlockAlgorithm for ReduceThenScatter {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "reduce-then-scatter",
        "One node combines all data and scatters the result",
        "2 ceil(log2 n) (o + L + o) + s n ceil(log2 n) G + s (n - 1) G",
        |_| Ok(ReduceThenScatter.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let call = Call { root: Rank(0), ..*call };
        along_binomial_tree(endpoint, &call, blocks, 0..endpoint.size()).await?;
        scatter::Binomial.run(endpoint, &call, blocks).await
    }

    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let all = Bytes(bytes.0.saturating_mul(ranks.into()));
        let Cost { messages, bytes: scattered, chain, .. } = scatter::Binomial.cost(lambda, ranks, bytes);
        let reduced = Stretch::of(0.0, f64::from(halvings(ranks)), all);
        let chain = [reduced].into_iter().chain(chain).collect();
        Cost { messages: 2.0 * messages, bytes: scattered + messages * all.0 as f64, chain, ..Cost::default() }
    }
}
