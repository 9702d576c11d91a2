//! A collective of a trace, performed by its algorithm.

use endpoint::{Endpoint, Message, Result};
use quantities::{Bytes, Duration, Rank};
use trace_format::{Collective, CollectiveKind};

use super::algorithms::{Algorithms, Exchange};
use super::communicator::Communicator;
use crate::all_reduce::{AllReduceContext, Operator, Sends};
use crate::all_to_all::{CompleteExchange, posted};
use crate::barrier::dissemination;
use crate::schedule::SendReceiveOrder;
use crate::{Group, all_gather, gather, reduce, reduce_scatter, scan, scatter};

/// The operator that combines messages that are only a size: on elements of one byte, so that any size is a whole number of them.
const OPERATOR: Operator = Operator::Xor;

/// Performs a collective at a rank of its communicator, with messages that are only a size.
pub(super) async fn perform<E: Endpoint>(
    algorithms: &Algorithms,
    endpoint: &Communicator<'_, E>,
    collective: &Collective,
) -> Result<()> {
    let ranks = endpoint.size();
    if ranks == 1 {
        return Ok(());
    }
    let Collective { kind, root, ref counts, .. } = *collective;
    let bytes = Bytes(collective.bytes);
    let group = Group::from_source(Rank(if kind.has_root() { root } else { 0 }), ranks)?;
    let mut message = Message::of_size(bytes);
    match kind {
        CollectiveKind::Barrier => dissemination(endpoint).await,
        CollectiveKind::Broadcast => {
            let algorithm = algorithms.broadcast(ranks, bytes);
            algorithm.broadcast(endpoint, &group, bytes, &mut message).await
        }
        CollectiveKind::Reduce => reduce::binomial(endpoint, &group, &OPERATOR, &mut message).await,
        CollectiveKind::AllReduce => {
            let context = AllReduceContext { group: &group, operator: &OPERATOR, sends: Sends::default() };
            algorithms.all_reduce(bytes).all_reduce(endpoint, &context, &mut message).await
        }
        CollectiveKind::Gather => gather::binomial(endpoint, &group, &mut message).await,
        CollectiveKind::Gatherv => gather::linear(endpoint, &group, &mut message).await,
        CollectiveKind::Scatter => {
            let mut all = Message::of_size(Bytes(bytes.0.saturating_mul(ranks.into())));
            scatter::binomial(endpoint, &group, bytes, &mut all).await
        }
        CollectiveKind::Scatterv => {
            let part = |place| of_count(counts, group.rank_at(place));
            scatter::linear(endpoint, &group, part).await.map(drop)
        }
        CollectiveKind::AllGather if Algorithms::gathers_in_few_steps(ranks, bytes) => {
            all_gather::bruck(endpoint, &mut message).await
        }
        CollectiveKind::AllGather | CollectiveKind::AllGatherv => all_gather::ring(endpoint, &mut message).await,
        CollectiveKind::AllToAll => exchange(algorithms.all_to_all(ranks, bytes), endpoint, bytes).await,
        CollectiveKind::AllToAllv => exchange_some(endpoint, counts).await,
        CollectiveKind::ReduceScatter => {
            reduce_scatter::pairwise(endpoint, &OPERATOR, |rank| of_count(counts, rank)).await.map(drop)
        }
        CollectiveKind::ReduceScatterBlock => {
            reduce_scatter::pairwise(endpoint, &OPERATOR, |_| Message::of_size(bytes)).await.map(drop)
        }
        CollectiveKind::Scan | CollectiveKind::Exscan => {
            scan::recursive_doubling(endpoint, &OPERATOR, &mut message).await
        }
    }
}

/// A message of the size listed for `rank`.
fn of_count(counts: &[u64], Rank(rank): Rank) -> Message {
    Message::of_size(Bytes(counts.get(rank as usize).copied().unwrap_or(0)))
}

/// Every rank has a message of `bytes` for every other.
async fn exchange<E: Endpoint>(exchange: Exchange, endpoint: &E, bytes: Bytes) -> Result<()> {
    match exchange {
        Exchange::Posted => {
            let counts = vec![bytes.0.max(1); 2 * endpoint.size() as usize];
            posted_of(endpoint, &counts, |_| Message::of_size(bytes)).await
        }
        Exchange::By(algorithm) => {
            algorithm.check(endpoint.size())?;
            let order = SendReceiveOrder::Sendrecv;
            let exchange = CompleteExchange { algorithm, bytes, order, reshuffle: Duration::ZERO };
            exchange.exchange(endpoint, |_| Message::of_size(bytes), |_, _| ()).await
        }
    }
}

/// Every rank has messages for some ranks: `counts` are the sizes of those that this rank sends, and then of those that it receives.
async fn exchange_some<E: Endpoint>(endpoint: &E, counts: &[u64]) -> Result<()> {
    posted_of(endpoint, counts, |rank| of_count(counts, rank)).await
}

/// Begins all non-empty messages at once: first those to the nearest ranks ahead, and from the nearest ranks behind.
async fn posted_of<E: Endpoint>(endpoint: &E, counts: &[u64], message_for: impl Fn(Rank) -> Message) -> Result<()> {
    let (Rank(me), size) = (endpoint.rank(), endpoint.size());
    let (sent, received) = counts.split_at(counts.len() / 2);
    let further = |distance: u32| (u64::from(me) + u64::from(distance)) % u64::from(size);
    let named = |counts: &[u64], rank: u64| (counts[rank as usize] > 0).then_some(Rank(rank as u32));
    let receivers: Vec<Rank> = (1..size).filter_map(|distance| named(sent, further(distance))).collect();
    let senders: Vec<Rank> = (1..size).filter_map(|distance| named(received, further(size - distance))).collect();
    posted(endpoint, &senders, &receivers, message_for, |_, _| ()).await
}
