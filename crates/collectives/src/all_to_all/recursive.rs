//! Complete exchange in as many steps as a hypercube has dimensions.

use endpoint::{Endpoint, Error, Needs, Result};
use quantities::{Bytes, Duration, Rank};

use super::Algorithm;
use super::forwarding::{copying, cost, half, places, step};
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Parameter};
use crate::postal::Lambda;
use crate::schedule::SendReceiveOrder;
use crate::{BlockAlgorithm, Blocks, Call, of_pair};

/// Complete exchange in log2 P steps, P a power of two: in step i the ranks of each group of k = P / 2^i exchange with
/// those k/2 away everything that they hold for the other half of the group, from any source. `order` says what a
/// rank does first in a step.
///
/// ```text
///   step      1         2         3                 P = 8
///          0 <-> 4   0 <-> 2   0 <-> 1
///          1 <-> 5   1 <-> 3   2 <-> 3
///          2 <-> 6   4 <-> 6   4 <-> 5
///          3 <-> 7   5 <-> 7   6 <-> 7
/// ```
///
/// A rank holds a message in each of P places. The bits of a place that have been exchanged identify the sender of its
/// message, the others the receiver. So in a step the messages in places whose bit k/2 differs from the rank's own
/// leave, and the messages received fill these places.
///
/// P log2 P messages of s P/2 bytes, each of which is packed and unpacked at `reshuffle` [ps/B]. Under LogGP
/// T = log2 P (o + L + o + (s P/2 - 1) G + s P reshuffle), and twice that where ranks take turns.
///
/// Source: CM-5 paper, section 3.3, figure 3 and table 3 (in whose first step 2 exchanges with 6); Johnsson and Ho,
/// "Matrix transposition on Boolean n-cube configured ensemble architectures", SIAM Journal on Matrix Analysis and
/// Applications 9(3), 1988.
///
/// # Errors
/// A number of ranks that is not a power of two, the errors of sending and receiving.
async fn recursive<E: Endpoint>(
    endpoint: &E,
    order: SendReceiveOrder,
    reshuffle: Duration,
    blocks: &mut Blocks<'_>,
) -> Result<()> {
    let (Rank(me), size) = (endpoint.rank(), endpoint.size());
    check(size)?;
    let mut bit = size / 2;
    while bit > 0 {
        let node = Rank(me ^ bit);
        let (leaving, coming) = (leaving(Rank(me), bit, size), leaving(node, bit, size));
        match order {
            SendReceiveOrder::Sendrecv => step(endpoint, blocks, (node, leaving), (node, coming), reshuffle).await?,
            SendReceiveOrder::Alternating => take_turns(endpoint, blocks, node, (leaving, coming), reshuffle).await?,
        }
        bit /= 2;
    }
    Ok(())
}

/// The blocks that leave a rank in the step of a bit, place by place.
fn leaving(Rank(me): Rank, bit: u32, size: u32) -> impl Iterator<Item = u64> + Clone {
    // The bits of a place that have been exchanged say who sends, the others to whom.
    let exchanged = (size - 1) & !(2 * bit - 1);
    let block = move |place: u32| {
        let (from, to) = ((place & exchanged) | (me & !exchanged), (place & !exchanged) | (me & exchanged));
        of_pair(Rank(from), Rank(to), size)
    };
    places(bit, me & bit == 0, size / 2).map(block)
}

/// Exchanges the blocks that leave and come with `node`; as in figure 3 of the paper, the lower rank packs and sends
/// first.
async fn take_turns<E: Endpoint>(
    endpoint: &E,
    blocks: &mut Blocks<'_>,
    node: Rank,
    (leaving, coming): (impl Iterator<Item = u64> + Clone, impl Iterator<Item = u64> + Clone),
    reshuffle: Duration,
) -> Result<()> {
    let packed = blocks.hand_over(leaving)?;
    let packing = copying(&packed, reshuffle);
    let received;
    if endpoint.rank() < node {
        endpoint.compute(packing).await;
        endpoint.send(node, packed).await?;
        received = endpoint.receive(node).await?;
        endpoint.compute(copying(&received, reshuffle)).await;
    } else {
        received = endpoint.receive(node).await?;
        endpoint.compute(copying(&received, reshuffle)).await;
        endpoint.compute(packing).await;
        endpoint.send(node, packed).await?;
    }
    blocks.put(coming, &received)
}

/// Checks that `size` ranks can use it.
fn check(size: u32) -> Result<()> {
    if size.is_power_of_two() {
        return Ok(());
    }
    Err(Error::Unfit(format!("recursive exchange needs a number of ranks that is a power of two, not {size}")))
}

/// Store and forward in log2 P steps, where P is a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recursive {
    /// What a rank does first in a step; if it is left open, both at once, or one after the other where a send waits
    /// for its receiver.
    pub order: Option<SendReceiveOrder>,
    /// How long it takes to copy a byte into a message, or out of one. [ps/B]
    pub reshuffle: Duration,
}

impl BlockAlgorithm for Recursive {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "recursive",
        about: "For equal messages among all: store and forward in log2 P steps; P must be a power of two",
        formula: "log2 n (o + L + o + (s n/2 - 1) G + s n reshuffle); twice that if alternating",
        parameters: &[Parameter::Order, Parameter::Reshuffle],
        needs: Needs::NOTHING,
        make: |parameters| Ok(Recursive { order: parameters.order(), reshuffle: parameters.reshuffle() }.into()),
    }];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        // In a box, as it takes much more room than the algorithms that forward nothing.
        Box::pin(recursive(endpoint, call.order(self.order), self.reshuffle, blocks)).await
    }

    fn check(&self, ranks: u32) -> Result<()> {
        check(ranks)
    }

    fn order(&self, _ranks: u32, asked: SendReceiveOrder) -> SendReceiveOrder {
        self.order.unwrap_or(asked)
    }

    fn largest_message(&self, ranks: u32, bytes: Bytes) -> Bytes {
        half(ranks, bytes)
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        cost(ranks, bytes)
    }
}
