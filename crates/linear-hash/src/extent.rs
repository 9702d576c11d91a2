//! How far a table has grown.

use serde::{Deserialize, Serialize};

/// The most levels: the numbers of buckets fit into 31 bits.
pub(super) const MOST_LEVELS: u32 = 30;

/// The hash function of level i: h_i(C) = C mod 2^i, for a table that begins with one bucket (N = 1).
///
/// Source: LH*LH paper, section 2, equation (1).
pub const fn h(i: u32, c: u64) -> u32 {
    (c & ((1 << i) - 1)) as u32
}

/// How far a table has grown: the buckets before n have already been split on the current level i, those from n on have
/// not.
///
/// ```text
///   0         n           2^i        2^i + n
///   |  split  |  not yet  |  their other halves |
///     level i+1   level i       level i+1
/// ```
///
/// It applies to servers or to the local buckets of one; to the table as it is, or as a client believes it to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "u32", from = "u32")]
pub struct Extent {
    i: u32,
    n: u32,
}

/// A split of a bucket in two, or the merge that undoes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The bucket that is split, and remains after a merge.
    pub from: u32,
    /// The bucket that the split creates, and the merge removes.
    pub to: u32,
    /// The level of both after the split.
    pub level: u32,
}

impl Extent {
    /// The most buckets that a table can have.
    pub const MOST_BUCKETS: u32 = (2 << MOST_LEVELS) - 1;

    /// The extent of a table of `buckets` buckets, at least one and at most [`Extent::MOST_BUCKETS`].
    pub const fn of(buckets: u32) -> Extent {
        let buckets = if buckets == 0 { 1 } else { buckets };
        let buckets = if buckets > Extent::MOST_BUCKETS { Extent::MOST_BUCKETS } else { buckets };
        let i = buckets.ilog2();
        Extent { i, n: buckets - (1 << i) }
    }

    /// The level i on which splits are under way.
    pub const fn i(self) -> u32 {
        self.i
    }

    /// The bucket n that is split next.
    pub const fn n(self) -> u32 {
        self.n
    }

    /// 2^i + n.
    pub const fn buckets(self) -> u32 {
        (1 << self.i) + self.n
    }

    /// The bucket of the key C: the index of linear hashing, and algorithm A1 of a client.
    ///
    /// Source: LH*LH paper, section 2, equation (2).
    pub const fn index(self, c: u64) -> u32 {
        let split = h(self.i, c) < self.n;
        h(self.i + split as u32, c) // avoids an unpredictable branch
    }

    /// The level j of bucket a: it has the keys with h_j(C) = a.
    pub const fn level(self, a: u32) -> u32 {
        if a < self.n || a >= 1 << self.i { self.i + 1 } else { self.i }
    }

    /// The next split; none when the table has the most buckets.
    pub const fn next_split(self) -> Option<Split> {
        if self.buckets() == Extent::MOST_BUCKETS {
            return None;
        }
        Some(Split { from: self.n, to: self.buckets(), level: self.i + 1 })
    }

    /// The last split, which a merge undoes; none when there is one bucket.
    pub const fn last_split(self) -> Option<Split> {
        match self.buckets() {
            1 => None,
            buckets => Extent::of(buckets - 1).next_split(),
        }
    }

    /// Grows by one bucket: n = (n + 1) mod 2^i, and i grows where n wraps around.
    pub const fn grow(&mut self) -> Option<Split> {
        let split = self.next_split();
        if split.is_some() {
            *self = Extent::of(self.buckets() + 1);
        }
        split
    }

    /// Shrinks by one bucket.
    pub const fn shrink(&mut self) -> Option<Split> {
        let split = self.last_split();
        if split.is_some() {
            *self = Extent::of(self.buckets() - 1);
        }
        split
    }
}

impl From<Extent> for u32 {
    fn from(extent: Extent) -> u32 {
        extent.buckets()
    }
}

impl From<u32> for Extent {
    fn from(buckets: u32) -> Extent {
        Extent::of(buckets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_split_in_turn_and_merged_in_the_opposite_order() {
        let mut extent = Extent::default();
        let splits: Vec<Split> = (0..7).map_while(|_| extent.grow()).collect();
        let due = [(0, 1, 1), (0, 2, 2), (1, 3, 2), (0, 4, 3), (1, 5, 3), (2, 6, 3), (3, 7, 3)];
        assert_eq!(splits, due.map(|(from, to, level)| Split { from, to, level }));
        assert_eq!((extent.i(), extent.n()), (3, 0));
        let merges: Vec<Split> = std::iter::from_fn(|| extent.shrink()).collect();
        assert_eq!(merges, splits.into_iter().rev().collect::<Vec<_>>());
        assert_eq!(extent, Extent::default());
    }

    #[test]
    fn every_key_is_in_the_bucket_whose_level_says_so() {
        for buckets in 1..200 {
            let extent = Extent::of(buckets);
            assert_eq!(extent.buckets(), buckets);
            for c in 0..1024 {
                let a = extent.index(c);
                assert!(a < buckets);
                assert_eq!(h(extent.level(a), c), a);
            }
        }
    }

    #[test]
    fn a_split_moves_only_keys_of_its_bucket() {
        for buckets in 1..200 {
            let before = Extent::of(buckets);
            let mut after = before;
            let Split { from, to, level } = after.grow().unwrap();
            for c in 0..1024 {
                if before.index(c) == from {
                    assert_eq!(after.index(c), if h(level, c) == to { to } else { from });
                } else {
                    assert_eq!(after.index(c), before.index(c));
                }
            }
        }
    }

    #[test]
    fn a_table_does_not_grow_past_what_numbers_can_say() {
        let mut largest = Extent::of(u32::MAX);
        assert_eq!((largest.buckets(), largest.grow()), (Extent::MOST_BUCKETS, None));
        assert_eq!(largest.index(u64::MAX), Extent::MOST_BUCKETS / 2);
        assert_eq!(largest.shrink().map(|split| split.to), Some(Extent::MOST_BUCKETS - 1));
        assert_eq!(Extent::of(0).shrink(), None);
    }
}
