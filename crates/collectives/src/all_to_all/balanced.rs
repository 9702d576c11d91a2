//! Complete exchange, one partner per step, with far partners in every step.

use endpoint::{Endpoint, Message, Needs, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use super::direct::{cost, direct, messages};
use super::pairwise::take_turns;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Parameter};
use crate::postal::Lambda;
use crate::schedule::SendReceiveOrder;
use crate::{BlockAlgorithm, Blocks, Call};

/// Pairwise exchange with the ranks numbered from 1, the last one 0: in step j every rank exchanges messages with the
/// rank whose number is its own xor j. `message_for` makes the message for a rank, `take` is called with each message
/// and its sender; `order` says what a rank does first in a step.
///
/// ```text
///   step       1         2         3                P = 4
///           0 <-> 3   0 <-> 2   0 <-> 1
///           1 <-> 2   1 <-> 3   2 <-> 3
/// ```
///
/// In a fat tree whose clusters have a power of two of ranks, pairwise exchange first stays within the clusters, and
/// then all messages leave them at once. In balanced exchange the numbers are shifted against the clusters by one rank,
/// so that messages leave them in every step: few at first, and all in some steps (of eight ranks in clusters of four,
/// in the fourth).
///
/// Steps, messages and time are those of [`super::pairwise`] for a power of two of ranks. Otherwise the numbers go up
/// to the next power of two, and a rank is idle in steps in which it has no partner.
///
/// Source: CM-5 paper, section 3.4, figure 4 and table 4.
///
/// # Errors
/// Those of sending and receiving.
pub(super) async fn balanced<E: Endpoint>(
    endpoint: &E,
    order: SendReceiveOrder,
    mut message_for: impl FnMut(Rank) -> Message,
    mut take: impl FnMut(Rank, Message),
) -> Result<()> {
    let (Rank(me), size) = (endpoint.rank(), endpoint.size());
    let number = if me == size - 1 { 0 } else { me + 1 };
    let numbers = size.checked_next_power_of_two().map_or(u32::MAX, |numbers| numbers - 1);
    for j in 1..=numbers {
        let partner = number ^ j;
        if partner >= size {
            continue;
        }
        let node = Rank(if partner == 0 { size - 1 } else { partner - 1 });
        take(
            node,
            match order {
                SendReceiveOrder::Sendrecv => endpoint.sendrecv(node, message_for(node), node).await?,
                SendReceiveOrder::Alternating => take_turns(endpoint, node, message_for(node)).await?,
            },
        );
    }
    Ok(())
}

/// One partner a step, far ones in every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balanced {
    /// What a rank does first in a step; if it is left open, both at once, or one after the other where a send waits
    /// for its receiver.
    pub order: Option<SendReceiveOrder>,
}

impl BlockAlgorithm for Balanced {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "balanced",
        about: "One partner a step, far ones in every step",
        formula: "(n - 1) (o + L + o + (s-1) G) where n is a power of two; twice that if alternating",
        parameters: &[Parameter::Order],
        needs: Needs::NOTHING,
        make: |parameters| Ok(Balanced { order: parameters.order() }.into()),
    }];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let order = call.order(self.order);
        direct!(blocks of endpoint: |message_for, take| balanced(endpoint, order, message_for, take))
    }

    fn messages(&self, ranks: u32) -> Option<u64> {
        Some(messages(ranks))
    }

    fn needs_sizes(&self) -> bool {
        false
    }

    fn order(&self, _ranks: u32, asked: SendReceiveOrder) -> SendReceiveOrder {
        self.order.unwrap_or(asked)
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        cost(ranks, bytes)
    }
}
