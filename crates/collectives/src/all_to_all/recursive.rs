//! Complete exchange in as many steps as a hypercube has dimensions.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Duration, Rank};

use super::blocks::{Blocks, Places, copying};
use crate::schedule::SendReceiveOrder;

/// Complete exchange in log2 P steps, P a power of two: in step i the ranks of each group of k = P / 2^i exchange with
/// those k/2 away everything that they hold for the other half of the group, from any source. `message_for` makes the
/// message for a rank, all of `bytes`; `take` is called with each message and its sender; `order` says what a rank does
/// first in a step.
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
/// A number of ranks that is not a power of two, messages of different sizes, the errors of sending and receiving.
pub async fn recursive<E: Endpoint>(
    endpoint: &E,
    bytes: Bytes,
    order: SendReceiveOrder,
    reshuffle: Duration,
    mut message_for: impl FnMut(Rank) -> Message,
    mut take: impl FnMut(Rank, Message),
) -> Result<()> {
    let me = endpoint.rank();
    let message = |rank| if rank == me { Message::of_size(bytes) } else { message_for(rank) };
    let mut blocks = Blocks::new(bytes, (0..endpoint.size()).map(Rank).map(message).collect())?;
    steps(endpoint, order, reshuffle, &mut blocks).await?;
    let from_others = (0..).map(Rank).zip(blocks.into_messages()).filter(|&(from, _)| from != me);
    from_others.for_each(|(from, message)| take(from, message));
    Ok(())
}

async fn steps<E: Endpoint>(
    endpoint: &E,
    order: SendReceiveOrder,
    reshuffle: Duration,
    blocks: &mut Blocks,
) -> Result<()> {
    let (Rank(me), size) = (endpoint.rank(), endpoint.size());
    check(size)?;
    let mut k = size;
    while k > 1 {
        let node = Rank(if me % k < k / 2 { me + k / 2 } else { me - k / 2 });
        let leaves = Places { bit: k / 2, set: me & (k / 2) == 0 };
        match order {
            SendReceiveOrder::Sendrecv => blocks.sendrecv(endpoint, leaves, node, node, reshuffle).await?,
            SendReceiveOrder::Alternating => take_turns(endpoint, leaves, node, reshuffle, blocks).await?,
        }
        k /= 2;
    }
    Ok(())
}

/// Exchanges the messages in `leaves` with `node`; as in figure 3 of the paper, the lower rank packs and sends first.
async fn take_turns<E: Endpoint>(
    endpoint: &E,
    leaves: Places,
    node: Rank,
    reshuffle: Duration,
    blocks: &mut Blocks,
) -> Result<()> {
    let packed = blocks.pack(leaves);
    let work = copying(&packed, reshuffle);
    let received;
    if endpoint.rank() < node {
        endpoint.compute(work).await; // to pack
        endpoint.send(node, packed).await?;
        received = endpoint.receive(node).await?;
        endpoint.compute(work).await; // to unpack
    } else {
        received = endpoint.receive(node).await?;
        endpoint.compute(work).await; // to unpack
        endpoint.compute(work).await; // to pack
        endpoint.send(node, packed).await?;
    }
    blocks.unpack(&received, leaves)
}

/// Checks that `size` ranks can use it.
pub(super) fn check(size: u32) -> Result<()> {
    if size.is_power_of_two() {
        return Ok(());
    }
    Err(Error::Unfit(format!("recursive exchange needs a number of ranks that is a power of two, not {size}")))
}

/// [`recursive`] as a program, with messages that are only a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recursive {
    /// Size of a message between two ranks. [B]
    pub bytes: Bytes,
    /// What a rank does first in a step.
    pub order: SendReceiveOrder,
    /// How long it takes to copy a byte into a message, or out of one. [ps/B]
    pub reshuffle: Duration,
}

impl Program for Recursive {
    /// Bytes that this rank received, for itself or for others.
    type Output = Bytes;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Bytes> {
        let mut blocks = Blocks::of_size(self.bytes, endpoint.size());
        steps(endpoint, self.order, self.reshuffle, &mut blocks).await?;
        let each = self.bytes.0.saturating_mul(u64::from(endpoint.size() / 2));
        Ok(Bytes(each.saturating_mul(u64::from(endpoint.size().ilog2()))))
    }
}
