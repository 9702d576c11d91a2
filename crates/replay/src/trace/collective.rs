//! A collective of a trace, performed by its algorithm.

use endpoint::{Endpoint, Error, Message, Result};
use quantities::{Bytes, Rank};
use trace_format::{Collective, CollectiveKind};

use super::algorithms::Algorithms;
use collectives::all_reduce::{Operator, Sends};
use collectives::all_to_all::posted;
use collectives::catalogue::Parameters;
use collectives::{self, Blocks, Call, Performs as _, Sizes, Subgroup};

/// The operator that combines messages that are only a size: on elements of one byte, so that any size is a whole
/// number of them.
const OPERATOR: Operator = Operator::Xor;

/// Performs a collective at a rank of its communicator, with messages that are only a size.
pub(super) async fn perform<E: Endpoint>(
    algorithms: &Algorithms,
    endpoint: &Subgroup<'_, E>,
    collective: &Collective,
) -> Result<()> {
    let ranks = endpoint.size();
    if ranks == 1 {
        return Ok(());
    }
    let Collective { kind, root, ref counts, .. } = *collective;
    match kind {
        CollectiveKind::AllToAllv => exchange_some(endpoint, counts).await,
        kind => {
            let root = Rank(if kind.has_root() { root } else { 0 });
            listed(algorithms, kind, endpoint, root, &sizes(collective, endpoint.rank(), ranks)).await
        }
    }
}

/// The sizes of the blocks, as far as this rank knows them: where only the root does, its own.
fn sizes(collective: &Collective, Rank(me): Rank, ranks: u32) -> Sizes {
    let bytes = Bytes(collective.bytes);
    if !collective.counts.is_empty() {
        return Sizes::Each(collective.counts.iter().copied().map(Bytes).collect());
    }
    if collective.kind.is_of_one_size() {
        return Sizes::Same(bytes);
    }
    Sizes::Each((0..ranks).map(|rank| if rank == me { bytes } else { Bytes(0) }).collect())
}

/// Performs a collective of the list of all, by the algorithm that was asked for or by its usual one.
async fn listed<E: Endpoint>(
    algorithms: &Algorithms,
    kind: CollectiveKind,
    endpoint: &E,
    root: Rank,
    sizes: &Sizes,
) -> Result<()> {
    let unknown = || Error::Unfit(format!("{} has no algorithm for a replay", kind.name()));
    let row = collectives::Collective::of_mpi(kind.name()).ok_or_else(unknown)?;
    let ranks = endpoint.size();
    // Where only the root knows the sizes, no other rank can pass blocks on.
    let straight = kind.has_root() && !kind.is_of_one_size();
    let algorithm = match algorithms.of(row) {
        Some(algorithm) => algorithm,
        None => {
            let name = if straight { "linear" } else { row.usual_in_mpi(ranks, sizes.largest()) };
            let made = row.algorithm(name, &mut Parameters::of(ranks)).ok_or_else(unknown)?;
            made.map_err(|missing| Error::Unfit(missing.to_string()))?
        }
    };
    let call = Call { root, operator: &OPERATOR, sends: Sends::default() };
    algorithm.perform(endpoint, &call, &mut Blocks::without_contents(sizes)).await
}

/// A message of the size listed for `rank`.
fn of_count(counts: &[u64], Rank(rank): Rank) -> Message {
    Message::of_size(Bytes(counts.get(rank as usize).copied().unwrap_or(0)))
}

/// Every rank has messages for some ranks: `counts` are the sizes of those that this rank sends, and then of those that
/// it receives. It begins all non-empty messages at once: first those to the nearest ranks ahead, and from the nearest
/// ranks behind.
async fn exchange_some<E: Endpoint>(endpoint: &E, counts: &[u64]) -> Result<()> {
    let (Rank(me), size) = (endpoint.rank(), endpoint.size());
    let (sent, received) = counts.split_at(counts.len() / 2);
    let further = |distance: u32| (u64::from(me) + u64::from(distance)) % u64::from(size);
    let named = |counts: &[u64], rank: u64| (counts[rank as usize] > 0).then_some(Rank(rank as u32));
    let receivers: Vec<Rank> = (1..size).filter_map(|distance| named(sent, further(distance))).collect();
    let senders: Vec<Rank> = (1..size).filter_map(|distance| named(received, further(size - distance))).collect();
    posted(endpoint, &senders, &receivers, |rank| of_count(counts, rank), |_, _| ()).await
}
