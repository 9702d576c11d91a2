//! A set of keys: those of some local buckets of a table.

use serde::{Deserialize, Serialize};

use super::Extent;

/// The keys of consecutive local buckets of a table, among the keys that the table's server had. They are the same keys
/// wherever they are by now, and whatever shape their table has.
///
/// ```text
///   a key C is in it if   first <= index(C / 2^level) < end      where index is that of `extent`
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BucketRange {
    /// j, the level of the table's server.
    pub level: u32,
    /// The extent of the table.
    pub extent: Extent,
    /// The first bucket.
    pub first: u32,
    /// The bucket after the last one.
    pub end: u32,
}

impl BucketRange {
    /// Whether it has the key C.
    pub const fn contains(&self, c: u64) -> bool {
        let index = self.extent.index(c >> self.level);
        self.first <= index && index < self.end
    }

    /// The buckets that both have, if both are of tables of the same shape. Those of others may have any keys in
    /// common.
    pub fn and(self, other: BucketRange) -> Option<BucketRange> {
        let are_alike = (self.level, self.extent) == (other.level, other.extent);
        are_alike.then(|| BucketRange { first: self.first.max(other.first), end: self.end.min(other.end), ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_of_a_table_divide_its_keys() {
        for buckets in 1..20 {
            let (level, extent) = (2, Extent::of(buckets));
            for middle in 0..=buckets {
                let before = BucketRange { level, extent, first: 0, end: middle };
                let after = BucketRange { level, extent, first: middle, end: buckets };
                let both = before.and(after).expect("they are alike");
                for c in 0..256 {
                    assert!(before.contains(c) != after.contains(c) && !both.contains(c));
                    assert_eq!(before.contains(c), extent.index(c >> level) < middle);
                }
            }
        }
    }

    #[test]
    fn ranges_of_tables_of_other_shapes_are_not_compared() {
        let range = BucketRange { level: 1, extent: Extent::of(8), first: 2, end: 6 };
        let common = |other| range.and(other).map(|both| (both.first, both.end));
        assert_eq!(common(BucketRange { first: 4, end: 8, ..range }), Some((4, 6)));
        assert_eq!(common(BucketRange { level: 2, ..range }), None);
        assert_eq!(common(BucketRange { extent: Extent::of(9), ..range }), None);
    }
}
