//! Exclusive scan in few steps.

use endpoint::{Endpoint, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::catalogue::{Cost, Entry};
use crate::collectives::scan::{self, prefixes_by_doubling};
use crate::collectives::{BlockAlgorithm, Blocks, Call};
use crate::postal::Lambda;

/// As the [scan in few steps](scan::RecursiveDoubling); a rank also keeps what it has received without its own data, and ends with that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecursiveDoubling;

impl BlockAlgorithm for RecursiveDoubling {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "recursive-doubling",
        "Each step doubles the number of nodes that a combination covers",
        "ceil(log2 n) (o + (s-1) G + L + o)",
        |_| Ok(RecursiveDoubling.into()),
    )];

    async fn run<E: Endpoint>(&self, endpoint: &E, call: &Call, blocks: &mut Blocks<'_>) -> Result<()> {
        let (before, _) = prefixes_by_doubling(endpoint, call, blocks.take([0])?).await?;
        before.map_or(Ok(()), |before| blocks.put([0], &before))
    }

    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        scan::RecursiveDoubling.cost(lambda, ranks, bytes)
    }
}
