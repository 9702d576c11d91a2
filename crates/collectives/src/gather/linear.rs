//! Gather without a tree.

use endpoint::{Endpoint, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::Group;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call};

/// Every rank sends its block to the root, which receives them in order of rank.
///
/// ```text
///   1 -> 0   2 -> 0   3 -> 0   ...                       with root 0
/// ```
///
/// P ranks: P - 1 messages, all to one receiver. Under LogGP, with s bytes in all, T = o + L + (P - 1) o + s G.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear;

impl BlockAlgorithm for Linear {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] =
        &[Entry::plain("linear", "Every node sends straight to the root", "(n - 1) o + L + o + s (n - 1) G", |_| {
            Ok(Linear.into())
        })];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let me = endpoint.rank();
        if me != call.root {
            return endpoint.send(call.root, blocks.take([me.0])?).await;
        }
        let numbers = Group::from_source(call.root, endpoint.size())?;
        for from in (1..numbers.len()).map(|place| numbers.rank_at(place)) {
            let received = endpoint.receive(from).await?;
            blocks.put([from.0], &received)?;
        }
        Ok(())
    }

    /// Each block goes straight from its sender to its receiver.
    fn needs_sizes(&self) -> bool {
        false
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let others = f64::from(ranks.saturating_sub(1));
        Cost::of(others, bytes, vec![Stretch::of(others, 1.0, bytes)])
    }
}
