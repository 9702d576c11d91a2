//! Reduce without a tree.

use endpoint::{Endpoint, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::blocks::WHOLE;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call, OperandOrder};

/// Every rank sends its data to the root, which combines them in order of rank.
///
/// ```text
///   1 -> 0   2 -> 0   3 -> 0   ...                       with root 0
/// ```
///
/// P ranks: P - 1 messages, all to one receiver. Under LogGP, without the cost of combining, T = o + L + (P - 1) (o + s
/// G).
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear;

impl BlockAlgorithm for Linear {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "linear",
        "Every node sends straight to the root, which combines",
        "o + L + (n - 1) (o + s G)",
        |_| Ok(Linear.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let me = endpoint.rank();
        if me != call.root {
            return endpoint.send(call.root, blocks.take([WHOLE])?).await;
        }
        for from in (0..endpoint.size()).map(Rank).filter(|&rank| rank != me) {
            let received = endpoint.receive(from).await?;
            let order = if from < me { OperandOrder::Before } else { OperandOrder::After };
            blocks.combine([WHOLE], call.operator, &received, order)?;
        }
        Ok(())
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let others = f64::from(ranks.saturating_sub(1));
        Cost::of(others, bytes, vec![Stretch::of(others, 1.0, bytes)])
    }
}
