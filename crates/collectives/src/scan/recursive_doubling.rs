//! Scan in few steps.

use endpoint::{Endpoint, Message, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::all_reduce::combined;
use crate::barrier::distances;
use crate::blocks::WHOLE;
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call, exscan};

/// In each step a rank sends the combination that it has to the rank 1, 2, 4, ... places further on, so that each step
/// doubles the number of ranks whose data a combination covers. Returns that of all ranks before, if there are any, and
/// that with its own.
///
/// ```text
///   step 1     0 -> 1   1 -> 2   2 -> 3   3 -> 4        P = 5
///   step 2     0 -> 2   1 -> 3   2 -> 4
///   step 3     0 -> 4
/// ```
///
/// Fewer than P ceil(log2 P) messages. Under LogGP, without the cost of combining, T = ceil(log2 P) (o + (s-1) G + L +
/// o).
///
/// Source: Hillis and Steele, "Data parallel algorithms", Communications of the ACM 29(12), 1986.
async fn prefixes_by_doubling<E: Endpoint, C: Combine>(
    endpoint: &E,
    call: &Call<'_, C>,
    own: Message,
) -> Result<(Option<Message>, Message)> {
    let (Rank(me), size) = (endpoint.rank(), endpoint.size());
    let (mut ranks_before, mut with_own): (Option<Message>, Message) = (None, own);
    for distance in distances(size) {
        let further = (size - me > distance).then(|| Rank(me + distance));
        let before = me.checked_sub(distance).map(Rank);
        let received = match (further, before) {
            (Some(to), Some(from)) => Some(endpoint.sendrecv(to, with_own.clone(), from).await?),
            (Some(to), None) => {
                endpoint.send(to, with_own.clone()).await?;
                None
            }
            (None, Some(from)) => Some(endpoint.receive(from).await?),
            (None, None) => None,
        };
        if let Some(received) = received {
            with_own = combined(call.operator, &received, &with_own)?;
            ranks_before = Some(match ranks_before {
                Some(nearer) => combined(call.operator, &received, &nearer)?,
                None => received,
            });
        }
    }
    Ok((ranks_before, with_own))
}

/// Prefixes by doubling, in the catalogue.
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

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let (_, prefix) = prefixes_by_doubling(endpoint, call, blocks.take([WHOLE])?).await?;
        blocks.put([WHOLE], &prefix)
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let steps = f64::from(halvings(ranks));
        Cost::of(f64::from(ranks) * steps, bytes, vec![Stretch::of(0.0, steps, bytes)])
    }
}

/// As [`RecursiveDoubling`]; a rank ends with what it has received, without its own data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecursiveDoublingBefore;

impl BlockAlgorithm for RecursiveDoublingBefore {
    type All = exscan::Algorithm;
    const ENTRIES: &'static [Entry<exscan::Algorithm>] = &[Entry::plain(
        "recursive-doubling",
        "Each step doubles the number of nodes that a combination covers",
        "ceil(log2 n) (o + (s-1) G + L + o)",
        |_| Ok(RecursiveDoublingBefore.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let (before, _) = prefixes_by_doubling(endpoint, call, blocks.take([WHOLE])?).await?;
        before.map_or(Ok(()), |before| blocks.put([WHOLE], &before))
    }

    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        RecursiveDoubling.cost(lambda, ranks, bytes)
    }
}
