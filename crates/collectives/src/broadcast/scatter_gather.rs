//! Broadcast of a long message by scatter and all-gather.

use endpoint::{Endpoint, Message, Needs, Result};
use quantities::Bytes;

use super::algorithm::{Algorithm, BroadcastAlgorithm};
use super::segmented::of_known_size;
use crate::Group;
use crate::catalogue::{Cost, Entry, Stretch, halvings, part};
use crate::pieces::{Gathered, block_start, piece};
use crate::postal::Lambda;
use crate::shift::Shift;

/// Broadcast of `message`, which is of `size`, from the source of `group`: its n blocks are scattered along a binomial
/// tree, one to each rank, and then go round the ring of all ranks. The others' own `message` is overwritten; a rank
/// that is not in the group does nothing.
///
/// ```text
///   scatter       0 has abcd    0 -> 2 cd      0 -> 1 b   2 -> 3 d
///   all-gather    step i: rank p sends block p - i to p + 1          p in 0..n, modulo n
///                 a b c d  ->  ad ba cb dc  ->  adc bad cba dcb  ->  all
/// ```
///
/// n ranks, s bytes: n - 1 messages of up to s / 2, and n (n - 1) of s / n. Every rank sends and receives no more than
/// about 2 s (n - 1) / n. Under LogGP T = (ceil(log2 n) + n - 1) (o + L + o) + 2 s (n - 1) / n G.
///
/// Source: van de Geijn's broadcast for long vectors: Barnett, Gupta, Payne, Shuler, van de Geijn and Watts,
/// "Interprocessor collective communication library (InterCom)", Scalable High-Performance Computing Conference, 1994.
///
/// # Errors
/// When the source's `message` has another size, the group has ranks outside the program, and the errors of sending and
/// receiving.
pub async fn scatter_gather<E: Endpoint>(
    endpoint: &E,
    group: &Group,
    size: Bytes,
    message: &mut Message,
) -> Result<()> {
    group.check(endpoint.size())?;
    let Some(me) = group.place_of(endpoint.rank()) else { return Ok(()) };
    of_known_size(group, endpoint, message, size)?;
    let own = scatter(endpoint, group, me, size, message).await?;
    let whole = all_gather(endpoint, group, me, own).await?;
    if me > 0 {
        *message = whole.joined();
    }
    Ok(())
}

/// Sends every rank its block of the source's `message` through the leaders of the halves; returns this rank's block.
async fn scatter<E: Endpoint>(endpoint: &E, group: &Group, me: u32, size: Bytes, message: &Message) -> Result<Message> {
    let start_of = |place: u32| block_start(size.0, group.len(), place);
    let (mut source, mut n) = (0, group.len());
    // The blocks of all places that are not split yet, at their source.
    let mut blocks = message.clone();
    while n > 1 {
        let kept = n - n / 2;
        let leader = source + kept;
        let (begin, middle, end) = (start_of(source), start_of(leader), start_of(source + n));
        if me == source {
            endpoint.send(group.rank_at(leader), piece(&blocks, middle - begin..end - begin)).await?;
            blocks = piece(&blocks, 0..middle - begin);
        } else if me == leader {
            blocks = endpoint.receive(group.rank_at(source)).await?;
        }
        (source, n) = if me < leader { (source, kept) } else { (leader, n - kept) };
    }
    Ok(blocks)
}

/// Passes the blocks round the ring; returns all of them.
async fn all_gather<E: Endpoint>(endpoint: &E, group: &Group, me: u32, own: Message) -> Result<Gathered> {
    let n = group.len();
    let mut blocks = Gathered::default();
    let (mut block, mut passing) = (me, own);
    if n > 1 {
        let Shift { to, from } = Shift::of_places(me, 1, group);
        for _ in 1..n {
            blocks.put(block, passing.clone());
            passing = endpoint.sendrecv(to, passing, from).await?;
            block = block.checked_sub(1).unwrap_or(n - 1);
        }
    }
    blocks.put(block, passing);
    Ok(blocks)
}

/// [`scatter_gather`] in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScatterGather;

impl BroadcastAlgorithm for ScatterGather {
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "scatter-gather",
        about: "A block to each node; then the blocks go round",
        formula: "(ceil(log2 n) + n - 1) (o + L + o) + 2 s (n - 1) / n G",
        parameters: &[],
        needs: Needs::NOTHING,
        make: |_| Ok(ScatterGather.into()),
    }];

    async fn run<E: Endpoint>(&self, endpoint: &E, group: &Group, size: Bytes, message: &mut Message) -> Result<()> {
        scatter_gather(endpoint, group, size, message).await
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let n = f64::from(ranks);
        let halves = (1..=halvings(ranks)).map(|step| Stretch::of(0.0, 1.0, part(bytes, 1 << step)));
        let ring = Stretch::of(0.0, n - 1.0, part(bytes, u64::from(ranks)));
        let chain = halves.chain([ring]).collect();
        Cost { messages: n * n, bytes: 2.0 * n * bytes.0 as f64, to_next_rank: true, chain }
    }

    fn needs_sizes(&self) -> bool {
        true
    }
}
