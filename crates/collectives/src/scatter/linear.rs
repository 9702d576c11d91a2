//! Scatter without a tree.

use endpoint::{Endpoint, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::Group;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call};

/// The root sends each other rank its block, in order of rank from the root on.
///
/// ```text
///   0 -> 1   0 -> 2   0 -> 3   ...                       with root 0
/// ```
///
/// P ranks: P - 1 messages, all from one sender. Under LogGP, with s bytes in all, T = (P - 1) o + s G + L + o.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear;

impl BlockAlgorithm for Linear {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] =
        &[Entry::plain("linear", "The root sends straight to every node", "(n - 1) o + s (n - 1) G + L + o", |_| {
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
            let received = endpoint.receive(call.root).await?;
            return blocks.put([me.0], &received);
        }
        let numbers = Group::from_source(call.root, endpoint.size())?;
        for to in (1..numbers.len()).map(|place| numbers.rank_at(place)) {
            endpoint.send(to, blocks.take([to.0])?).await?;
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
