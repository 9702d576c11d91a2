//! Which alphas split the nodes of a broadcast without losing time.

use std::ops::RangeInclusive;

use super::{Alpha, Growth, Lambda, Partitions};

/// The alphas that are optimal for n nodes: those that round alpha n into n_min to n_max.
///
/// ```text
///   (n_min - 1/2) / n  <=  alpha  <  (n_max + 1/2) / n      but alpha < 1 suffices where n_max = n - 1
/// ```
///
/// Source: the postal paper, section 2.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphaRange {
    /// The optimal partitionings.
    pub partitions: Partitions,
    /// The smallest alpha in it, at least a half.
    pub least: Alpha,
    /// The largest alpha in it.
    pub most: Alpha,
}

impl AlphaRange {
    /// The range for `n` nodes; none for fewer than two.
    pub fn new(lambda: Lambda, n: u64) -> Option<AlphaRange> {
        Some(AlphaRange::of(Partitions::new(lambda, n)?))
    }

    pub(super) fn of(partitions: Partitions) -> AlphaRange {
        let n = partitions.nodes();
        let doubled = |count: u64| (count.min(LARGEST) * 2, n.min(LARGEST) * 2);
        let (fewest, parts) = doubled(partitions.fewest());
        let (most, _) = doubled(partitions.most());
        AlphaRange {
            partitions,
            least: Alpha::at_least(fewest - 1, parts),
            most: if partitions.most() == n - 1 { Alpha::LARGEST } else { Alpha::under(most + 1, parts) },
        }
    }

    /// (n_min - 1/2) / n, where the range would begin if alpha could be below a half.
    pub fn lower(&self) -> f64 {
        (self.partitions.fewest() as f64 - 0.5) / self.partitions.nodes() as f64
    }

    /// (n_max + 1/2) / n or 1, the exclusive upper bound of the range.
    pub fn upper(&self) -> f64 {
        ((self.partitions.most() as f64 + 0.5) / self.partitions.nodes() as f64).min(1.0)
    }

    /// Whether `alpha` is in it.
    pub fn contains(&self, alpha: Alpha) -> bool {
        (self.least..=self.most).contains(&alpha)
    }
}

/// More nodes than alphas can distinguish.
const LARGEST: u64 = 1 << 52;

/// The ranges for each number of nodes in `nodes` that is at least two: the data of figures 6 and 7 of the paper.
pub fn alpha_ranges(lambda: Lambda, nodes: RangeInclusive<u64>) -> Vec<AlphaRange> {
    let growth = Growth::to_nodes(lambda, *nodes.end());
    nodes.filter_map(|n| Some(AlphaRange::of(Partitions::of(&growth, n)?))).collect()
}

/// The least and the largest alpha that are optimal for every number of nodes from 2 to `most`, if there are any.
///
/// Within a level of N the range narrows from both sides as n grows, so only the largest n of each level matters.
pub fn alpha_for_all(lambda: Lambda, most: u64) -> Option<(Alpha, Alpha)> {
    let growth = Growth::to_nodes(lambda, most);
    narrowest(&growth, most).map(|range| (range.least, range.most)).try_fold(
        (Alpha::HALF, Alpha::LARGEST),
        |both, (least, most)| {
            let met = (both.0.max(least), both.1.min(most));
            (met.0 <= met.1).then_some(met)
        },
    )
}

/// The ranges for the largest number of nodes of each level, and for `most`, which ends the last.
pub(super) fn narrowest(growth: &Growth, most: u64) -> impl Iterator<Item = AlphaRange> {
    let tops = growth.levels().iter().map(move |level| level.nodes.min(most));
    tops.filter_map(|top| Some(AlphaRange::of(Partitions::of(growth, top)?)))
}
