//! Broadcast along a binomial tree.

use endpoint::{Endpoint, Message, Needs, Program, Result};
use quantities::{Bytes, Rank};

use super::algorithm::{Algorithm, BroadcastAlgorithm};
use crate::Group;
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::postal::Lambda;

/// Broadcast of `message` from rank `root` to all ranks along a binomial tree: every rank that has it passes it on in
/// every round. The other ranks' own `message` is overwritten.
///
/// ```text
///   round 1      0 -> 1
///   round 2      0 -> 2   1 -> 3
///   round 3      0 -> 4   1 -> 5   2 -> 6   3 -> 7      numbered from the root
/// ```
///
/// P ranks: P - 1 messages, ceil(log2 P) rounds. Under LogGP, with g <= o and a message of s bytes whose send takes o:
/// T = ceil(log2 P) (o + (s-1) G + L + o).
///
/// Source: the recursive doubling of Johnsson and Ho, "Optimum broadcasting and personalized communication in
/// hypercubes", IEEE Transactions on Computers 38(9), 1989 (their spanning binomial tree).
///
/// # Errors
/// When `root` is not a rank of the program, and the errors of sending and receiving.
pub async fn binomial<E: Endpoint>(endpoint: &E, root: Rank, message: &mut Message) -> Result<()> {
    binomial_among(endpoint, &Group::from_source(root, endpoint.size())?, message).await
}

/// [`binomial`] from the source of `group` to its other ranks, in the order of their places. A rank that is not in the
/// group does nothing.
///
/// # Errors
/// When the group has ranks outside the program, and the errors of sending and receiving.
pub async fn binomial_among<E: Endpoint>(endpoint: &E, group: &Group, message: &mut Message) -> Result<()> {
    group.check(endpoint.size())?;
    let Some(me) = group.place_of(endpoint.rank()).map(u64::from) else { return Ok(()) };
    let size = u64::from(group.len());
    let numbered = |from_root: u64| group.rank_at(from_root as u32);

    let mut reach = 1; // how many ranks have the message before this round
    while reach <= me {
        reach *= 2;
    }
    if me > 0 {
        *message = endpoint.receive(numbered(me - reach / 2)).await?;
    }
    while me + reach < size {
        endpoint.send(numbered(me + reach), message.clone()).await?;
        reach *= 2;
    }
    Ok(())
}

/// [`binomial`] as a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinomialBroadcast {
    /// The rank that has the message at first.
    pub root: Rank,
    /// The message.
    pub message: Message,
}

impl Program for BinomialBroadcast {
    /// The message as this rank has it at the end.
    type Output = Message;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Message> {
        let mut message = if endpoint.rank() == self.root { self.message.clone() } else { Message::default() };
        binomial(endpoint, self.root, &mut message).await?;
        Ok(message)
    }
}

/// [`binomial_among`] in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binomial;

impl BroadcastAlgorithm for Binomial {
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "binomial",
        about: "Whoever has the message sends it on, twice as far in every round",
        formula: "ceil(log2 n) lambda t0",
        parameters: &[],
        needs: Needs::NOTHING,
        make: |_| Ok(Binomial.into()),
    }];

    async fn run<E: Endpoint>(&self, endpoint: &E, group: &Group, _: Bytes, message: &mut Message) -> Result<()> {
        binomial_among(endpoint, group, message).await
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        Cost::of(f64::from(ranks), bytes, vec![Stretch::of(0.0, f64::from(halvings(ranks)), bytes)])
    }

    fn messages(&self, ranks: u32) -> Option<u64> {
        Some(u64::from(ranks) - 1)
    }
}
