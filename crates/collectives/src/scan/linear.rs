//! Scan from rank to rank.

use endpoint::{Endpoint, Message, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::all_reduce::combined;
use crate::blocks::WHOLE;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;
use crate::{BlockAlgorithm, Blocks, Call, exscan};

/// Rank p waits for the combination of ranks 0 to p - 1, adds its own data and sends the result to p + 1. Returns both,
/// the former if there are ranks before.
///
/// ```text
///   0 -> 1 -> 2 -> 3 -> ...
/// ```
///
/// P - 1 messages, one after the other. Under LogGP, without the cost of combining, T = (P - 1) (o + (s-1) G + L + o).
///
/// Source: the definition of a prefix sum; Hillis and Steele, "Data parallel algorithms", Communications of the ACM
/// 29(12), 1986.
async fn prefixes_in_turn<E: Endpoint, C: Combine>(
    endpoint: &E,
    call: &Call<'_, C>,
    own: Message,
) -> Result<(Option<Message>, Message)> {
    let (Rank(me), size) = (endpoint.rank(), endpoint.size());
    let before = match me.checked_sub(1) {
        Some(rank) => Some(endpoint.receive(Rank(rank)).await?),
        None => None,
    };
    let with_own = match &before {
        Some(before) => combined(call.operator, before, &own)?,
        None => own,
    };
    if me + 1 < size {
        endpoint.send(Rank(me + 1), with_own.clone()).await?;
    }
    Ok((before, with_own))
}

/// Prefixes in turn, in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear;

impl BlockAlgorithm for Linear {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] =
        &[Entry::plain("linear", "From each node to the next", "(n - 1) (o + (s-1) G + L + o)", |_| Ok(Linear.into()))];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let (_, prefix) = prefixes_in_turn(endpoint, call, blocks.take([WHOLE])?).await?;
        blocks.put([WHOLE], &prefix)
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let others = f64::from(ranks.saturating_sub(1));
        Cost { to_next_rank: true, ..Cost::of(others, bytes, vec![Stretch::of(0.0, others, bytes)]) }
    }
}

/// As [`Linear`]; a rank ends with what it has received, without its own data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinearBefore;

impl BlockAlgorithm for LinearBefore {
    type All = exscan::Algorithm;
    const ENTRIES: &'static [Entry<exscan::Algorithm>] =
        &[Entry::plain("linear", "From each node to the next", "(n - 1) (o + (s-1) G + L + o)", |_| {
            Ok(LinearBefore.into())
        })];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let (before, _) = prefixes_in_turn(endpoint, call, blocks.take([WHOLE])?).await?;
        before.map_or(Ok(()), |before| blocks.put([WHOLE], &before))
    }

    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        Linear.cost(lambda, ranks, bytes)
    }
}
