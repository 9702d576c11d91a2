//! A barrier by way of one rank.

use endpoint::{Endpoint, Message, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call};

/// Every rank signals to rank 0 that it has come; when all have, rank 0 releases each of them.
///
/// 2 (P - 1) empty messages. Under LogGP T = 2 (o + L + (P - 1) o).
///
/// Source: the central counter of Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization",
/// International Journal of Parallel Programming 17(1), 1988, with messages in place of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear;

impl BlockAlgorithm for Linear {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] =
        &[Entry::plain("linear", "One node waits for all others and releases them", "2 (o + L + (n - 1) o)", |_| {
            Ok(Linear.into())
        })];

    async fn run<E: Endpoint, C: Combine>(&self, endpoint: &E, _: &Call<'_, C>, _: &mut Blocks<'_>) -> Result<()> {
        if endpoint.rank() != Rank(0) {
            endpoint.send(Rank(0), Message::default()).await?;
            return endpoint.receive(Rank(0)).await.map(drop);
        }
        for from in 1..endpoint.size() {
            endpoint.receive(Rank(from)).await?;
        }
        for to in 1..endpoint.size() {
            endpoint.send(Rank(to), Message::default()).await?;
        }
        Ok(())
    }

    fn cost(&self, _: Lambda, ranks: u32, _: Bytes) -> Cost {
        let others = f64::from(ranks.saturating_sub(1));
        Cost::of(2.0 * others, Bytes(0), vec![Stretch::of(2.0 * others, 2.0, Bytes(0))])
    }
}
