//! Reduce-scatter in which every rank sends each other rank its block.

use endpoint::{Endpoint, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;
use crate::shift::Shift;
use crate::{BlockAlgorithm, Blocks, Call, OperandOrder};

/// In step i rank p sends block p + i to rank p + i, and receives its own block from p - i.
///
/// ```text
///   step 1     0 -> 1   1 -> 2   2 -> 3   3 -> 0         P = 4
///   step 2     0 -> 2   1 -> 3   2 -> 0   3 -> 1
///   step 3     0 -> 3   1 -> 0   2 -> 1   3 -> 2
/// ```
///
/// P (P - 1) messages; every rank sends only what the others need. Under LogGP with blocks of s bytes, without the cost
/// of combining, T = (P - 1) (o + L + o + s G).
///
/// Source: the pairwise exchange of Thakur, Rabenseifner and Gropp, "Optimization of collective communication
/// operations in MPICH", International Journal of High Performance Computing Applications 19(1), 2005, section 4.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairwise;

impl BlockAlgorithm for Pairwise {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] =
        &[Entry::plain("pairwise", "Every node sends each other node its block", "(n - 1) (o + L + o + s G)", |_| {
            Ok(Pairwise.into())
        })];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let (me, size) = (endpoint.rank(), endpoint.size());
        for distance in 1..size {
            let Shift { to, from } = Shift::new(me, distance, size);
            let received = endpoint.sendrecv(to, blocks.take([to.0])?, from).await?;
            blocks.combine([me.0], call.operator, &received, OperandOrder::After)?;
        }
        Ok(())
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let (n, others) = (f64::from(ranks), f64::from(ranks.saturating_sub(1)));
        Cost::of(n * others, bytes, vec![Stretch::of(0.0, others, bytes)])
    }
}
