//! The algorithms for complete exchange, by name.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Duration, Rank};

use super::blocks::Places;
use super::{
    Balanced, Bruck, Irregular, Linear, Pairwise, Recursive, balanced, bruck, irregular, linear, pairwise, recursive,
};
use crate::barrier::distances;
use crate::schedule::{Pattern, PatternError, Schedule, SendReceiveOrder, Transfer};
use crate::shift::Shift;

/// The algorithms for complete exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Complete {
    /// [`super::linear`]: one receiver per step.
    Linear,
    /// [`super::pairwise`]: one partner per step.
    Pairwise,
    /// [`super::recursive`]: store and forward in log2 P steps.
    Recursive,
    /// [`super::balanced`]: one partner per step, far ones in every step.
    Balanced,
    /// [`super::bruck`]: store and forward in ceil(log2 P) steps, for any number of ranks.
    Bruck,
}

impl Complete {
    /// All of them.
    pub const fn all() -> [Complete; 5] {
        [Complete::Linear, Complete::Pairwise, Complete::Recursive, Complete::Balanced, Complete::Bruck]
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Complete::Linear => "linear",
            Complete::Pairwise => "pairwise",
            Complete::Recursive => "recursive",
            Complete::Balanced => "balanced",
            Complete::Bruck => "bruck",
        }
    }

    /// What it does, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Complete::Linear => "One receiver per step",
            Complete::Pairwise => "One partner a step",
            Complete::Recursive => {
                "For equal messages among all: store and forward in log2 P steps; P must be a power of two"
            }
            Complete::Balanced => "One partner a step, far ones in every step",
            Complete::Bruck => "For equal messages among all: store and forward in log2 P steps, for any P",
        }
    }

    /// Whether messages are forwarded by other ranks, so that fewer and longer ones are sent.
    pub const fn forwards(self) -> bool {
        self.irregular().is_none()
    }

    /// How long it takes without contention, in the symbols of LogGP: n ranks, s bytes from each to each, where each
    /// forwarded byte is packed and unpacked at `reshuffle`. Sources: CM-5 paper, tables 1 to 4, and Bruck et al.,
    /// 1997, as cited at the algorithms.
    pub const fn formula(self) -> &'static str {
        match self {
            Complete::Linear => "n (n - 1) (o + L + o + (s-1) G) if a send waits for its receiver, otherwise less",
            Complete::Pairwise => "(n - 1) (o + L + o + (s-1) G); twice that if alternating",
            Complete::Balanced => "(n - 1) (o + L + o + (s-1) G) where n is a power of two; twice that if alternating",
            Complete::Recursive => "log2 n (o + L + o + (s n/2 - 1) G + s n reshuffle); twice that if alternating",
            Complete::Bruck => "ceil(log2 n) (o + L + o + (s n/2 - 1) G + s n reshuffle) at most",
        }
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

    /// What one of `ranks` ranks does first if it both sends and receives in a step: `order` where the CM-5 paper
    /// prescribes one, otherwise both at once.
    pub const fn order(self, ranks: u32, order: SendReceiveOrder) -> SendReceiveOrder {
        match self {
            Complete::Linear | Complete::Balanced | Complete::Recursive => order,
            Complete::Pairwise if ranks.is_power_of_two() => order,
            Complete::Pairwise | Complete::Bruck => SendReceiveOrder::Sendrecv,
        }
    }

    /// Checks that `ranks` ranks can use it.
    ///
    /// # Errors
    /// The number of ranks that it needs.
    pub fn check(self, ranks: u32) -> Result<()> {
        if self == Complete::Recursive { recursive::check(ranks) } else { Ok(()) }
    }

    /// The largest message that it sends among `ranks` ranks with messages of `bytes`. [B]
    pub fn largest_message(self, ranks: u32, bytes: Bytes) -> Bytes {
        if self.forwards() { Bytes(bytes.0.saturating_mul(u64::from(ranks / 2))) } else { bytes }
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
                let packed = Bytes(bytes.0.saturating_mul(u64::from(ranks / 2)));
                let steps = halves.map(|half| step(ranks, packed, |me| Rank(me.0 ^ half)));
                Schedule::new(ranks, steps.collect())
            }
            Complete::Bruck => {
                let steps = distances(ranks).map(|bit| {
                    let places = u64::from(Places { bit, set: true }.among(ranks));
                    step(ranks, Bytes(bytes.0.saturating_mul(places)), |me| Shift::new(me, bit, ranks).to)
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

/// Complete exchange by any algorithm, with messages that are only a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompleteExchange {
    /// The algorithm.
    pub algorithm: Complete,
    /// Size of a message between two ranks. [B]
    pub bytes: Bytes,
    /// What a rank does first if it both sends and receives in a step, where [`Complete::order`] leaves a choice.
    pub order: SendReceiveOrder,
    /// How long it takes to copy a byte into a forwarded message, or out of one. [ps/B]
    pub reshuffle: Duration,
}

impl CompleteExchange {
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
        let CompleteExchange { algorithm, bytes, order, reshuffle } = *self;
        match algorithm {
            Complete::Linear => linear(endpoint, message_for, take).await,
            Complete::Pairwise => pairwise(endpoint, order, message_for, take).await,
            Complete::Recursive => recursive(endpoint, bytes, order, reshuffle, message_for, take).await,
            Complete::Balanced => balanced(endpoint, order, message_for, take).await,
            Complete::Bruck => bruck(endpoint, bytes, reshuffle, message_for, take).await,
        }
    }
}

impl Program for CompleteExchange {
    /// Bytes that this rank received, for itself or for others.
    type Output = Bytes;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Bytes> {
        let CompleteExchange { algorithm, bytes, order, reshuffle } = *self;
        match algorithm {
            Complete::Linear => Linear { bytes }.run(endpoint).await,
            Complete::Pairwise => Pairwise { bytes, order }.run(endpoint).await,
            Complete::Recursive => Recursive { bytes, order, reshuffle }.run(endpoint).await,
            Complete::Balanced => Balanced { bytes, order }.run(endpoint).await,
            Complete::Bruck => Bruck { bytes, reshuffle }.run(endpoint).await,
        }
    }
}

quantities::written_by_name!(Complete);
