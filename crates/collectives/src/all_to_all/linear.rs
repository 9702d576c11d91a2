//! Complete exchange, one receiver per step.

use endpoint::{Endpoint, Message, Result};
use quantities::{Bytes, Rank};

use super::Algorithm;
use super::direct::{direct, messages};
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;
use crate::schedule::SendReceiveOrder;
use crate::{BlockAlgorithm, Blocks, Call};

/// Complete exchange in P steps: in step i all others send rank i their message for it, and it receives them one after
/// the other, from the lowest-numbered sender up. `message_for` makes the message for a rank, `take` is called with
/// each message and its sender.
///
/// ```text
///   step       1         2         3                P = 3
///           0 <- 1    1 <- 0    2 <- 0
///           0 <- 2    1 <- 2    2 <- 1
/// ```
///
/// P (P - 1) messages. Where a send waits for its receiver, one message follows the other: T = P (P - 1) (o + L + o +
/// (s-1) G) at worst, under LogGP with messages of s bytes. Where it does not, ranks run ahead.
///
/// Source: CM-5 paper, section 3.1, table 1.
///
/// # Errors
/// Those of sending and receiving.
pub(super) async fn linear<E: Endpoint>(
    endpoint: &E,
    mut message_for: impl FnMut(Rank) -> Message,
    mut take: impl FnMut(Rank, Message),
) -> Result<()> {
    for receiver in (0..endpoint.size()).map(Rank) {
        if receiver != endpoint.rank() {
            endpoint.send(receiver, message_for(receiver)).await?;
            continue;
        }
        for sender in (0..endpoint.size()).map(Rank).filter(|&sender| sender != receiver) {
            take(sender, endpoint.receive(sender).await?);
        }
    }
    Ok(())
}

/// One receiver a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear;

impl BlockAlgorithm for Linear {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "linear",
        "One receiver per step",
        "n (n - 1) (o + L + o + (s-1) G) if a send waits for its receiver, otherwise less",
        |_| Ok(Linear.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(&self, endpoint: &E, _: &Call<'_, C>, blocks: &mut Blocks<'_>) -> Result<()> {
        direct!(blocks of endpoint: |message_for, take| linear(endpoint, message_for, take))
    }

    fn messages(&self, ranks: u32) -> Option<u64> {
        Some(messages(ranks))
    }

    fn needs_sizes(&self) -> bool {
        false
    }

    /// It makes no difference, as in a step no rank both sends and receives.
    fn order(&self, _ranks: u32, asked: SendReceiveOrder) -> SendReceiveOrder {
        asked
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let n = f64::from(ranks);
        Cost::of(n * n, bytes, vec![Stretch::of(n * n, 0.0, bytes)])
    }
}
