//! Exclusive scan from rank to rank.

use endpoint::{Endpoint, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::catalogue::{Cost, Entry};
use crate::collectives::scan::{self, prefixes_in_turn};
use crate::collectives::{BlockAlgorithm, Blocks, Call};
use crate::postal::Lambda;

/// As the [linear scan](scan::Linear); a rank ends with what it has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear;

impl BlockAlgorithm for Linear {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] =
        &[Entry::plain("linear", "From each node to the next", "(n - 1) (o + (s-1) G + L + o)", |_| Ok(Linear.into()))];

    async fn run<E: Endpoint>(&self, endpoint: &E, call: &Call, blocks: &mut Blocks<'_>) -> Result<()> {
        let (before, _) = prefixes_in_turn(endpoint, call, blocks.take([0])?).await?;
        before.map_or(Ok(()), |before| blocks.put([0], &before))
    }

    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        scan::Linear.cost(lambda, ranks, bytes)
    }
}
