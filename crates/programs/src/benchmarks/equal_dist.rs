//! Equal-dist: fixed partners at about equal distance.

use endpoint::{Endpoint, Program, Result};
use quantities::{Bytes, Rank};

use super::alternating::{Pairs, alternate};

/// Every rank p alternately sends to and receives from rank (N/2 + p) mod N.
///
/// ```text
///   p          0   1   2   3   4   5   6   7
///   partner    4   5   6   7   0   1   2   3        N = 8
/// ```
///
/// N ranks, even; each sends `messages` / N messages (rounded down), so that their total does not depend on N. Without
/// contention, and under LogGP, it takes 2 (messages / N) (o + (s-1) G + L + o).
///
/// Source: the *equal-dist* benchmark of the Mesh of Clos study, with 4096 messages in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EqualDist {
    /// Size of a message. [B]
    pub bytes: Bytes,
    /// Messages that all ranks together send.
    pub messages: u32,
}

impl EqualDist {
    /// The study's benchmark: 4096 messages of `bytes` in all.
    pub const fn of_size(bytes: Bytes) -> EqualDist {
        EqualDist { bytes, messages: 4096 }
    }
}

impl Pairs for EqualDist {
    const NAME: &'static str = "equal-dist";

    fn partner(rank: Rank, size: u32) -> Rank {
        partner(rank, size)
    }

    fn bytes(&self) -> Bytes {
        self.bytes
    }

    fn messages(&self) -> u32 {
        self.messages
    }
}

impl Program for EqualDist {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        alternate(endpoint, self).await
    }
}

/// (N/2 + p) mod N.
fn partner(Rank(p): Rank, size: u32) -> Rank {
    let half = size / 2;
    Rank(if p < half { p + half } else { p - half })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_are_mutual_and_half_the_ranks_away() {
        for size in [2, 4, 6, 64, 4096] {
            for p in (0..size).map(Rank) {
                assert_eq!(partner(p, size).0, (size / 2 + p.0) % size);
                assert_eq!(partner(partner(p, size), size), p);
                assert_ne!(partner(p, size), p);
            }
        }
    }
}
