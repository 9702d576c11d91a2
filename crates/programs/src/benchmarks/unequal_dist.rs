//! Unequal-dist: fixed partners at very different distances.

use endpoint::{Endpoint, Program, Result};
use quantities::{Bytes, Rank};

use super::alternating::{Pairs, alternate};

/// Every rank p alternately sends to and receives from rank (N - 1) - p.
///
/// ```text
///   p          0   1   2   3   4   5   6   7
///   partner    7   6   5   4   3   2   1   0        N = 8
/// ```
///
/// N ranks, even; each sends `messages` / N messages (rounded down), so that their total does not depend on N. Without
/// contention, and under LogGP, it takes 2 (messages / N) (o + (s-1) G + L + o).
///
/// Source: the *unequal-dist* benchmark of the Mesh of Clos study, with 4096 messages in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnequalDist {
    /// Size of a message. [B]
    pub bytes: Bytes,
    /// Messages that all ranks together send.
    pub messages: u32,
}

impl UnequalDist {
    /// The study's benchmark: 4096 messages of `bytes` in all.
    pub const fn of_size(bytes: Bytes) -> UnequalDist {
        UnequalDist { bytes, messages: 4096 }
    }
}

impl Pairs for UnequalDist {
    const NAME: &'static str = "unequal-dist";

    fn partner(rank: Rank, size: u32) -> Rank {
        Rank(size - 1 - rank.0)
    }

    fn bytes(&self) -> Bytes {
        self.bytes
    }

    fn messages(&self) -> u32 {
        self.messages
    }
}

impl Program for UnequalDist {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        alternate(endpoint, self).await
    }
}
