//! A barrier along a tree.

use endpoint::{Endpoint, Message, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::broadcast;
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::postal::Lambda;
use crate::reduce::along_binomial_tree;
use crate::{BlockAlgorithm, Blocks, Call};

/// Up a binomial tree each rank signals to the one above it that all below have come, and down the same tree all are
/// released.
///
/// 2 (P - 1) empty messages. Under LogGP T = 2 ceil(log2 P) (o + L + o).
///
/// Source: the combining tree of Yew, Tzeng and Lawrie, "Distributing hot-spot addressing in large-scale
/// multiprocessors", IEEE Transactions on Computers C-36(4), 1987.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binomial;

impl BlockAlgorithm for Binomial {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] =
        &[Entry::plain("binomial", "Up a binomial tree and down again", "2 ceil(log2 n) (o + L + o)", |_| {
            Ok(Binomial.into())
        })];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let call = Call { root: Rank(0), ..*call };
        along_binomial_tree(endpoint, &call, blocks, 0..0).await?;
        broadcast::binomial(endpoint, call.root, &mut Message::default()).await
    }

    fn cost(&self, _: Lambda, ranks: u32, _: Bytes) -> Cost {
        let steps = 2.0 * f64::from(halvings(ranks));
        Cost::of(2.0 * f64::from(ranks.saturating_sub(1)), Bytes(0), vec![Stretch::of(0.0, steps, Bytes(0))])
    }
}
