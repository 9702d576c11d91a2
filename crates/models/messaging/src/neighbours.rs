//! Ranks that share memory, as processes of one node do. The same packets go between them, but nothing is lost,
//! repeated or overtaken.

use std::ops::Range;

use quantities::{Bytes, Duration, Rank};

use crate::parameters::LARGEST_DATAGRAM;
use crate::{Parameters, Probe, Push, Repeat, Reporting};

/// What it costs to copy bytes within a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyCost {
    /// Of each byte.
    pub byte: Duration,
    /// How many of the bytes that are copied at once a cache holds, if not all.
    pub cache: Option<Bytes>,
    /// Of each byte that it does not hold.
    pub uncached: Duration,
}

impl CopyCost {
    /// Of `bytes` that are copied at once.
    pub fn of(self, bytes: Bytes) -> Duration {
        let held = self.cache.map_or(bytes, |cache| cache.min(bytes));
        self.byte * held.0 + self.uncached * (bytes.0 - held.0)
    }
}

/// The ranks that share memory with one, and how messages go between them.
#[derive(Clone, Debug)]
pub(crate) struct Neighbours {
    /// All ranks of the node, the one itself included.
    ranks: Range<u32>,
    /// Boxed, as most ranks have none.
    pub(crate) parameters: Box<Parameters>,
}

impl Neighbours {
    /// Those among `ranks` of a rank whose other messages go with these parameters.
    ///
    /// As much of a message as the pushed buffer holds is pushed, and the rest is pulled, in parts that are as long as
    /// they can be. A sender sees at once what has been taken, so a report follows each part. A timeout means that a
    /// rank is busy: it is only asked.
    pub(crate) fn new(ranks: Range<u32>, parameters: &Parameters) -> Neighbours {
        let parameters = Parameters {
            datagram: LARGEST_DATAGRAM,
            repeat: Repeat::GoBackN,
            push: Push { first: u32::try_from(parameters.pushed_buffer).unwrap_or(u32::MAX), second: 0 },
            probe: Probe::Alone,
            reporting: Reporting { packets: 1, delay: Duration::ZERO },
            ..*parameters
        };
        Neighbours { ranks, parameters: Box::new(parameters) }
    }

    pub(crate) fn include(&self, rank: Rank) -> bool {
        self.ranks.contains(&rank.0)
    }

    pub(crate) fn ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        self.ranks.clone().map(Rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_a_cache_does_not_hold_cost_more() {
        let ns = Duration::from_nanoseconds;
        let plain = CopyCost { byte: ns(2), cache: None, uncached: Duration::ZERO };
        assert_eq!(plain.of(Bytes(5_000)), ns(10_000));
        let cached = CopyCost { cache: Some(Bytes(4_000)), uncached: ns(5), ..plain };
        assert_eq!([0, 4_000, 5_000].map(|bytes| cached.of(Bytes(bytes))), [ns(0), ns(8_000), ns(13_000)]);
    }
}
