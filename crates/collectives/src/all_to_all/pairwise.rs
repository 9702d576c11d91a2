//! Complete exchange, one partner per step.

use endpoint::{Endpoint, Message, Needs, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use super::direct::{cost, direct, messages};
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Parameter};
use crate::postal::Lambda;
use crate::schedule::SendReceiveOrder;
use crate::shift::Shift;
use crate::{BlockAlgorithm, Blocks, Call};

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
pub(super) async fn pairwise<E: Endpoint>(
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

/// One partner a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairwise {
    /// What a rank does first in a step; if it is left open, both at once, or one after the other where a send waits
    /// for its receiver.
    pub order: Option<SendReceiveOrder>,
}

impl Pairwise {
    /// As in the CM-5 paper: the lower of two partners receives first.
    pub const fn in_turns() -> Pairwise {
        Pairwise { order: Some(SendReceiveOrder::Alternating) }
    }

    /// Both partners send and receive at once.
    pub const fn at_once() -> Pairwise {
        Pairwise { order: Some(SendReceiveOrder::Sendrecv) }
    }
}

impl BlockAlgorithm for Pairwise {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "pairwise",
        about: "One partner a step",
        formula: "(n - 1) (o + L + o + (s-1) G); twice that if alternating",
        parameters: &[Parameter::Order],
        needs: Needs::NOTHING,
        make: |parameters| Ok(Pairwise { order: parameters.order() }.into()),
    }];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let order = call.order(self.order);
        direct!(blocks of endpoint: |message_for, take| pairwise(endpoint, order, message_for, take))
    }

    fn messages(&self, ranks: u32) -> Option<u64> {
        Some(messages(ranks))
    }

    fn needs_sizes(&self) -> bool {
        false
    }

    fn order(&self, ranks: u32, asked: SendReceiveOrder) -> SendReceiveOrder {
        if ranks.is_power_of_two() { self.order.unwrap_or(asked) } else { SendReceiveOrder::Sendrecv }
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        cost(ranks, bytes)
    }
}
