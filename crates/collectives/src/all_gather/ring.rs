//! All-gather round a ring.

use endpoint::{Endpoint, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;
use crate::shift::Shift;
use crate::{BlockAlgorithm, Blocks, Call};

/// Each block goes once round the ring of all ranks.
///
/// ```text
///   step i     rank p sends block p - i + 1 to p + 1        P - 1 steps, modulo P
/// ```
///
/// P (P - 1) messages; every rank receives only what it lacks. Under LogGP with blocks of s bytes
/// T = (P - 1) (o + L + o + (s-1) G).
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring;

impl BlockAlgorithm for Ring {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "ring",
        "Each block goes once round the ring of all nodes",
        "(n - 1) (o + L + o + (s-1) G)",
        |_| Ok(Ring.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(&self, endpoint: &E, _: &Call<'_, C>, blocks: &mut Blocks<'_>) -> Result<()> {
        let (me, size) = (endpoint.rank(), endpoint.size());
        let mut block = me.0;
        for _ in 1..size {
            let Shift { to, from } = Shift::new(me, 1, size);
            let received = endpoint.sendrecv(to, blocks.take([block])?, from).await?;
            block = block.checked_sub(1).unwrap_or(size - 1);
            blocks.put([block], &received)?;
        }
        Ok(())
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let (n, others) = (f64::from(ranks), f64::from(ranks.saturating_sub(1)));
        Cost { to_next_rank: true, ..Cost::of(n * others, bytes, vec![Stretch::of(0.0, others, bytes)]) }
    }
}
