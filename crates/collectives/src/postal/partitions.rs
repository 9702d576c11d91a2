//! The ways to split the nodes of a broadcast in two without losing time.

use std::ops::RangeInclusive;

use super::{Growth, Lambda};

/// The optimal partitionings of n nodes: the source keeps n' of them for itself and hands n'' = n - n' to the first
/// node that it sends to.
///
/// With t = T(n): any n' with n' <= N(t - 1) and n'' <= N(t - lambda).
///
/// ```text
///   lambda = 2     n = 13      8 + 5
///                  n = 14      6 + 8   7 + 7   8 + 6   ...   13 + 1
/// ```
///
/// Source: the postal paper, section 2.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitions {
    n: u64,
    n_min: u64,
    n_max: u64,
}

impl Partitions {
    /// The optimal partitionings of `n` nodes; none for fewer than two.
    pub fn new(lambda: Lambda, n: u64) -> Option<Partitions> {
        Partitions::of(&Growth::to_nodes(lambda, n), n)
    }

    /// Those of `n` nodes, which must be within `growth`; none for fewer than two.
    pub(super) fn of(growth: &Growth, n: u64) -> Option<Partitions> {
        let level = growth.level_for(n).filter(|_| n > 1)?;
        let n_min = n.saturating_sub(level.handed_over).max(1);
        Some(Partitions { n, n_min, n_max: level.kept.min(n - 1) })
    }

    /// How many nodes are split.
    pub const fn nodes(&self) -> u64 {
        self.n
    }

    /// n_min: the fewest that the source keeps for itself.
    pub const fn fewest(&self) -> u64 {
        self.n_min
    }

    /// n_max: the most that it keeps.
    pub const fn most(&self) -> u64 {
        self.n_max
    }

    /// How many there are: Delta + 1, where Delta = N(t) - n more nodes could be reached in the same time.
    pub const fn count(&self) -> u64 {
        self.n_max - self.n_min + 1
    }

    /// The n' of each.
    pub const fn kept(&self) -> RangeInclusive<u64> {
        self.n_min..=self.n_max
    }

    /// Each as (n', n''), the smallest n' first.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let n = self.n;
        self.kept().map(move |kept| (kept, n - kept))
    }
}
