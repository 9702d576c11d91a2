//! The algorithms for complete exchange whose messages, and the steps in which they go, are known in advance.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Duration, Rank};

use super::all_at_once::neighbours;
use super::balanced::balanced;
use super::forwarding::set_places;
use super::linear::linear;
use super::pairwise::pairwise;
use super::{Algorithm, Balanced, Bruck, Irregular, Linear, Pairwise, Recursive, irregular, posted};
use crate::all_reduce::{Operator, Sends};
use crate::barrier::distances;
use crate::catalogue::Catalogue as _;
use crate::schedule::{Pattern, PatternError, Schedule, SendReceiveOrder, Transfer};
use crate::shift::Shift;
use crate::{AnyAlgorithm, Blocks, Call, Performs as _, Sizes, of_pair};

/// The algorithms of the row in which nothing is left to chance: each message goes in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Complete {
    /// [`Linear`]: one receiver per step.
    Linear,
    /// [`Pairwise`]: one partner per step.
    Pairwise,
    /// [`Recursive`]: store and forward in log2 P steps.
    Recursive,
    /// [`Balanced`]: one partner per step, far ones in every step.
    Balanced,
    /// [`Bruck`]: store and forward in ceil(log2 P) steps, for any number of ranks.
    Bruck,
}

impl Complete {
    /// All of them.
    pub const fn all() -> [Complete; 5] {
        [Complete::Linear, Complete::Pairwise, Complete::Recursive, Complete::Balanced, Complete::Bruck]
    }

    /// An algorithm of the list, if it is one of these.
    pub fn of(algorithm: &AnyAlgorithm) -> Option<Complete> {
        let is_exchange = algorithm.collective().shape().is_exchange();
        Complete::all().into_iter().find(|it| is_exchange && it.name() == algorithm.name())
    }

    /// It as the row has it, with what a rank does first in a step, and how long a byte that is forwarded takes.
    pub fn algorithm(self, order: Option<SendReceiveOrder>, reshuffle: Duration) -> Algorithm {
        match self {
            Complete::Linear => Linear.into(),
            Complete::Pairwise => Pairwise { order }.into(),
            Complete::Recursive => Recursive { order, reshuffle }.into(),
            Complete::Balanced => Balanced { order }.into(),
            Complete::Bruck => Bruck { reshuffle }.into(),
        }
    }

    fn plain(self) -> Algorithm {
        self.algorithm(None, Duration::ZERO)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.plain().name()
    }

    /// What it does, in a line.
    pub fn about(self) -> &'static str {
        self.plain().entry().about
    }

    /// How long it takes without contention, in the symbols of LogGP: n ranks, s bytes from each to each.
    pub fn formula(self) -> &'static str {
        self.plain().entry().formula
    }

    /// Whether messages are forwarded by other ranks, so that fewer and longer ones are sent.
    pub const fn forwards(self) -> bool {
        self.irregular().is_none()
    }

    /// The same algorithm for any pattern of messages; none for one that forwards messages.
    pub const fn irregular(self) -> Option<Irregular> {
        match self {
            Complete::Linear => Some(Irregular::Linear),
            Complete::Pairwise => Some(Irregular::Pairwise),
            Complete::Balanced => Some(Irregular::Balanced),
            Complete::Recursive | Complete::Bruck => None,
        }
    }

    /// Checks that `ranks` ranks can use it.
    ///
    /// # Errors
    /// The number of ranks that it needs.
    pub fn check(self, ranks: u32) -> Result<()> {
        self.plain().check(ranks)
    }

    /// The size of the largest message that it sends among `ranks` ranks with messages of `bytes`. [B]
    pub fn largest_message(self, ranks: u32, bytes: Bytes) -> Bytes {
        self.plain().largest_message(ranks, bytes)
    }

    /// Its steps among `ranks` ranks with messages of `bytes`. Those of an algorithm that forwards messages contain
    /// what goes between the ranks, whatever its destination: they are not a schedule of the complete pattern.
    ///
    /// # Errors
    /// A number of ranks that it does not support, or that is too large.
    pub fn schedule(self, ranks: u32, bytes: Bytes) -> Result<Schedule> {
        self.check(ranks)?;
        let unfit = |error: PatternError| Error::Unfit(error.to_string());
        let pattern = || Pattern::complete(ranks, bytes).map_err(unfit);
        Ok(match self {
            Complete::Linear => irregular::linear(&pattern()?),
            Complete::Pairwise => irregular::pairwise(&pattern()?),
            Complete::Balanced => irregular::balanced(&pattern()?),
            Complete::Recursive => {
                let halves = std::iter::successors(Some(ranks / 2), |half| Some(half / 2)).take_while(|&half| half > 0);
                let packed = self.largest_message(ranks, bytes);
                let steps = halves.map(|half| step(ranks, packed, |me| Rank(me.0 ^ half)));
                Schedule::new(ranks, steps.collect())
            }
            Complete::Bruck => {
                let steps = distances(ranks).map(|bit| {
                    let packed = Bytes(bytes.0.saturating_mul(u64::from(set_places(bit, ranks))));
                    step(ranks, packed, |me| Shift::new(me, bit, ranks).to)
                });
                Schedule::new(ranks, steps.collect())
            }
        })
    }
}

/// A step in which each rank sends `bytes` to the rank given by `to`.
fn step(ranks: u32, bytes: Bytes, to: impl Fn(Rank) -> Rank) -> Vec<Transfer> {
    (0..ranks).map(Rank).map(|from| Transfer { from, to: to(from), bytes }).collect()
}

/// Complete exchange by an algorithm, as a part of another program, or alone with messages that are only a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompleteExchange {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Size of a message between two ranks. [B]
    pub bytes: Bytes,
}

impl CompleteExchange {
    /// With these messages, where a rank does both at once in a step unless the algorithm says otherwise.
    pub fn new(algorithm: impl Into<Algorithm>, bytes: Bytes) -> CompleteExchange {
        CompleteExchange { algorithm: algorithm.into(), bytes }
    }

    /// Brings every message to its receiver. `message_for` makes the message for a rank, all of the same size if they
    /// are forwarded; `take` is called with each message and its sender.
    ///
    /// # Errors
    /// A number of ranks that the algorithm does not support, messages of different sizes that it would forward, the
    /// errors of sending and receiving.
    pub async fn exchange<E: Endpoint>(
        &self,
        endpoint: &E,
        message_for: impl FnMut(Rank) -> Message,
        take: impl FnMut(Rank, Message),
    ) -> Result<()> {
        let order = |order: Option<SendReceiveOrder>| order.unwrap_or(SendReceiveOrder::Sendrecv);
        match &self.algorithm {
            Algorithm::Linear(_) => linear(endpoint, message_for, take).await,
            Algorithm::Pairwise(it) => pairwise(endpoint, order(it.order), message_for, take).await,
            Algorithm::Balanced(it) => balanced(endpoint, order(it.order), message_for, take).await,
            Algorithm::AllAtOnce(_) => {
                let (receivers, senders) = neighbours(endpoint);
                posted(endpoint, &senders, &receivers, message_for, take).await
            }
            Algorithm::Recursive(_) | Algorithm::Bruck(_) => self.forward(endpoint, message_for, take).await,
        }
    }

    /// The same by an algorithm that forwards messages.
    async fn forward<E: Endpoint>(
        &self,
        endpoint: &E,
        mut message_for: impl FnMut(Rank) -> Message,
        mut take: impl FnMut(Rank, Message),
    ) -> Result<()> {
        let (me, size, sizes) = (endpoint.rank(), endpoint.size(), Sizes::Same(self.bytes));
        let others = || (0..size).map(Rank).filter(|&rank| rank != me);
        let mut blocks = Blocks::new(&sizes);
        for to in others() {
            let message = message_for(to);
            if message.size() != self.bytes {
                return Err(Error::Unfit(format!(
                    "an exchange that forwards messages needs them all of one size: one is of {}, not of {}",
                    message.size(),
                    self.bytes
                )));
            }
            blocks.put([of_pair(me, to, size)], &message)?;
        }
        self.perform(endpoint, &mut blocks).await?;
        for from in others() {
            take(from, blocks.take([of_pair(from, me, size)])?);
        }
        Ok(())
    }

    async fn perform<E: Endpoint>(&self, endpoint: &E, blocks: &mut Blocks<'_>) -> Result<()> {
        // Nothing is combined, and no rank is the root.
        let call = Call { root: Rank(0), operator: &Operator::Xor, sends: Sends::Early };
        self.algorithm.perform(endpoint, &call, blocks).await
    }
}

impl Program for CompleteExchange {
    /// Bytes that this rank received, for itself or for others.
    type Output = Bytes;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Bytes> {
        let sizes = Sizes::Same(self.bytes);
        let mut blocks = Blocks::without_contents(&sizes);
        self.perform(endpoint, &mut blocks).await?;
        Ok(blocks.received())
    }
}

quantities::written_by_name!(Complete);
