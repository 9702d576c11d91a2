//! Complete exchange, one partner per step.

use endpoint::{Endpoint, Message, Program, Result};
use quantities::{Bytes, Rank};

use crate::schedule::SendReceiveOrder;
use crate::shift::Shift;

/// Complete exchange in P - 1 steps: in step j every rank exchanges messages with one other. `message_for` makes the
/// message for a rank, `take` is called with each message and its sender.
///
/// With a power of two of ranks, the partner in step j is rank xor j, and `order` says what a rank does first;
/// otherwise rank p sends to (p + j) mod P and receives from (p - j) mod P at once.
///
/// ```text
///   step       1         2         3                P = 4
///           0 <-> 1   0 <-> 2   0 <-> 3
///           2 <-> 3   1 <-> 3   1 <-> 2
/// ```
///
/// P (P - 1) messages. Under LogGP with messages of s bytes T = (P - 1) (o + L + o + (s-1) G), and twice that where
/// ranks take turns.
///
/// Source: CM-5 paper, section 3.2, figure 2 and table 2, which takes it from Bokhari, "Complete exchange on the
/// iPSC-860", ICASE report 91-4, 1991. For other numbers of ranks: Thakur, Rabenseifner and Gropp, "Optimization of
/// collective communication operations in MPICH", International Journal of High Performance Computing Applications
/// 19(1), 2005.
///
/// # Errors
/// Those of sending and receiving.
pub async fn pairwise<E: Endpoint>(
    endpoint: &E,
    order: SendReceiveOrder,
    mut message_for: impl FnMut(Rank) -> Message,
    mut take: impl FnMut(Rank, Message),
) -> Result<()> {
    let (me, size) = (endpoint.rank(), endpoint.size());
    for j in 1..size {
        let node = Rank(me.0 ^ j);
        let in_pairs = size.is_power_of_two();
        let Shift { to, from } = if in_pairs { Shift { to: node, from: node } } else { Shift::new(me, j, size) };
        if in_pairs && order == SendReceiveOrder::Alternating {
            take(node, take_turns(endpoint, node, message_for(node)).await?);
        } else {
            take(from, endpoint.sendrecv(to, message_for(to), from).await?);
        }
    }
    Ok(())
}

/// Exchanges messages with `node`: as in figure 2 of the CM-5 paper, the lower rank receives first. Returns the
/// received message.
pub(super) async fn take_turns<E: Endpoint>(endpoint: &E, node: Rank, message: Message) -> Result<Message> {
    if endpoint.rank() > node {
        endpoint.send(node, message).await?;
        return endpoint.receive(node).await;
    }
    let received = endpoint.receive(node).await?;
    endpoint.send(node, message).await?;
    Ok(received)
}

/// [`pairwise`] as a program, with messages that are only a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairwise {
    /// Size of a message. [B]
    pub bytes: Bytes,
    /// What a rank does first in a step, if the number of ranks is a power of two.
    pub order: SendReceiveOrder,
}

impl Pairwise {
    /// An exchange of messages of `bytes` as in the CM-5 paper: the lower of two partners receives first.
    pub const fn of_size(bytes: Bytes) -> Pairwise {
        Pairwise { bytes, order: SendReceiveOrder::Alternating }
    }
}

impl Program for Pairwise {
    /// Bytes that this rank received.
    type Output = Bytes;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Bytes> {
        let mut received = 0;
        let message_for = |_| Message::of_size(self.bytes);
        pairwise(endpoint, self.order, message_for, |_, message| received += message.size().0).await?;
        Ok(Bytes(received))
    }
}
