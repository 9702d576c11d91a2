//! All-to-all: every rank exchanges messages with every other, repeatedly.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Rank};

use quantities::shuffle::{inverse, permutation};

/// In each of `rounds` rounds every rank sends one message to each other rank and receives one from it: N - 1 steps,
/// each a send and then a receive. `rounds` N (N - 1) messages in all.
///
/// ```text
///   step        1       2       3              PartnerOrder::Shift, N = 4
///   rank 0   to 1    to 2    to 3
///   rank 1   to 2    to 3    to 0
///   rank 2   to 3    to 0    to 1
///   rank 3   to 0    to 1    to 2
/// ```
///
/// Without contention, and under LogGP, a round with a partner that is in step takes (N - 1) (o + (s-1) G + L + o).
/// Since every rank sends before it receives (except with `InTurn`), it deadlocks in a world in which a send waits for
/// its receive.
///
/// Source: the *all-to-all* benchmark of the Mesh of Clos study, with 32 rounds. The study does not give the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllPairs {
    /// Size of a message. [B]
    pub bytes: Bytes,
    /// How often every rank sends to every other.
    pub rounds: u32,
    /// The order of the messages.
    pub order: PartnerOrder,
}

/// The order in which a rank goes through the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartnerOrder {
    /// In step i rank p sends to (p + i) mod N and receives from (p - i) mod N.
    Shift,
    /// In step i rank p exchanges with p xor i. N is a power of two.
    ExclusiveOr,
    /// Rank p exchanges with 0, then 1, up to N - 1: at first all ranks turn to the same one.
    Linear,
    /// Rank 0 sends to 1, 2, up to N - 1, then rank 1 to all others, and so on. A rank's turn comes when it has
    /// received the messages of all ranks before it, so that turns overlap; no two ranks ever wait for each other.
    InTurn,
    /// As `Shift`, with the ranks renumbered and the steps reordered at random: each step is still a permutation.
    Shuffled {
        /// The seed of the random order.
        seed: u64,
    },
}

impl AllPairs {
    /// The study's benchmark: 32 rounds with messages of `bytes`.
    pub const fn of_size(bytes: Bytes, order: PartnerOrder) -> AllPairs {
        AllPairs { bytes, rounds: 32, order }
    }
}

impl AllPairs {
    /// One round in which every rank in turn sends to all others.
    async fn in_turn<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        for turn in (0..endpoint.size()).map(Rank) {
            if turn != endpoint.rank() {
                endpoint.receive(turn).await?;
                continue;
            }
            for to in (0..endpoint.size()).map(Rank).filter(|&to| to != turn) {
                endpoint.send(to, Message::of_size(self.bytes)).await?;
            }
        }
        Ok(())
    }
}

impl Program for AllPairs {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let partners = Partners::new(self.order, endpoint.rank().0, endpoint.size())?;
        for _ in 0..self.rounds {
            if self.order == PartnerOrder::InTurn {
                self.in_turn(endpoint).await?;
                continue;
            }
            for step in 1..endpoint.size() {
                let (to, from) = partners.at(step);
                endpoint.send(to, Message::of_size(self.bytes)).await?;
                endpoint.receive(from).await?;
            }
        }
        Ok(())
    }
}

/// The partners of one rank in each step.
struct Partners {
    me: u32,
    size: u32,
    order: PartnerOrder,
    shuffle: Option<Shuffle>,
}

/// A renumbering of the ranks and an order of the steps.
struct Shuffle {
    rank_at: Vec<u32>,
    place_of: Vec<u32>,
    steps: Vec<u32>,
}

impl Partners {
    fn new(order: PartnerOrder, me: u32, size: u32) -> Result<Partners> {
        if order == PartnerOrder::ExclusiveOr && !size.is_power_of_two() {
            return Err(Error::Unfit(format!(
                "all-pairs in exclusive-or order needs a number of ranks that is a power of two, not {size}"
            )));
        }
        let shuffle = match order {
            PartnerOrder::Shuffled { seed } => Some(Shuffle::new(size, seed)),
            PartnerOrder::Shift | PartnerOrder::ExclusiveOr | PartnerOrder::Linear | PartnerOrder::InTurn => None,
        };
        Ok(Partners { me, size, order, shuffle })
    }

    /// The ranks to send to and to receive from in `step`, which counts from 1.
    fn at(&self, step: u32) -> (Rank, Rank) {
        let both = |partner| (Rank(partner), Rank(partner));
        match (self.order, &self.shuffle) {
            (PartnerOrder::ExclusiveOr, _) => both(self.me ^ step),
            (PartnerOrder::Linear | PartnerOrder::InTurn, _) => both(if step <= self.me { step - 1 } else { step }),
            (PartnerOrder::Shift | PartnerOrder::Shuffled { .. }, None) => shifted(self.me, step, self.size),
            (PartnerOrder::Shift | PartnerOrder::Shuffled { .. }, Some(shuffle)) => shuffle.at(self.me, step),
        }
    }
}

impl Shuffle {
    fn new(size: u32, seed: u64) -> Shuffle {
        let rank_at = permutation(size, seed);
        // Another seed, so that the order of the steps is unrelated to that of the ranks.
        let steps = permutation(size.saturating_sub(1), seed ^ 0x5354_4550);
        Shuffle { place_of: inverse(&rank_at), rank_at, steps }
    }

    fn at(&self, me: u32, step: u32) -> (Rank, Rank) {
        let distance = 1 + self.steps[step as usize - 1];
        let (to, from) = shifted(self.place_of[me as usize], distance, self.rank_at.len() as u32);
        (Rank(self.rank_at[to.0 as usize]), Rank(self.rank_at[from.0 as usize]))
    }
}

/// (p + distance) mod N and (p - distance) mod N, without overflow for any N.
fn shifted(p: u32, distance: u32, size: u32) -> (Rank, Rank) {
    let room = size - distance;
    let to = if p < room { p + distance } else { p - room };
    let from = if p >= distance { p - distance } else { p + room };
    (Rank(to), Rank(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [PartnerOrder; 4] =
        [PartnerOrder::Shift, PartnerOrder::ExclusiveOr, PartnerOrder::Linear, PartnerOrder::Shuffled { seed: 7 }];

    #[test]
    fn every_rank_meets_every_other_once_each_way() {
        for (order, size) in ORDERS.into_iter().flat_map(|order| [1, 2, 3, 8, 9].map(|size| (order, size))) {
            for me in 0..size {
                let Ok(partners) = Partners::new(order, me, size) else {
                    assert!(order == PartnerOrder::ExclusiveOr && !size.is_power_of_two());
                    continue;
                };
                let others: Vec<Rank> = (0..size).filter(|&other| other != me).map(Rank).collect();
                let (mut to, mut from): (Vec<Rank>, Vec<Rank>) = (1..size).map(|step| partners.at(step)).unzip();
                to.sort();
                from.sort();
                assert_eq!(to, others, "{order:?} {size}");
                assert_eq!(from, others, "{order:?} {size}");
            }
        }
    }

    #[test]
    fn in_every_step_but_the_linear_ones_senders_and_receivers_agree() {
        for order in [PartnerOrder::Shift, PartnerOrder::ExclusiveOr, PartnerOrder::Shuffled { seed: 3 }] {
            for step in 1..16 {
                for me in 0..16 {
                    let (to, _) = Partners::new(order, me, 16).unwrap().at(step);
                    let (_, from) = Partners::new(order, to.0, 16).unwrap().at(step);
                    assert_eq!(from, Rank(me), "{order:?} step {step}");
                }
            }
        }
    }
}
