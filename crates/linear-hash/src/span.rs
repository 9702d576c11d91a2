//! Keys in the order in which splits divide them.

use serde::{Deserialize, Serialize};

/// Keys from one place to another, both included. The place of the key C is C with its bits reversed: so the keys of
/// every bucket, of any level, are contiguous, and a split divides them in the middle.
///
/// ```text
///   places     0                            2^64 - 1
///   level 0    |                 0                 |
///   level 1    |        0        |        1        |
///   level 2    |   0    |   2    |   1    |   3    |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The first place.
    pub first: u64,
    /// The last place.
    pub last: u64,
}

impl Span {
    /// All keys.
    pub const ALL: Span = Span { first: 0, last: u64::MAX };

    /// The keys of one bucket: those with h_level(C) = residue.
    pub fn of_bucket(residue: u64, level: u32) -> Span {
        let first = residue.reverse_bits();
        Span { first, last: end(first, level) }
    }

    /// The key C of its first place.
    pub const fn c(self) -> u64 {
        self.first.reverse_bits()
    }

    /// Whether it contains the place of the key C.
    pub const fn contains(self, c: u64) -> bool {
        let place = c.reverse_bits();
        self.first <= place && place <= self.last
    }

    /// The part of it that is in the bucket of this level that contains its first place.
    pub fn within(self, level: u32) -> Span {
        Span { last: self.last.min(end(self.first, level)), ..self }
    }

    /// Whether it is all of a bucket of this level.
    pub fn is_bucket(self, level: u32) -> bool {
        self == Span::of_bucket(self.c() & !u64::MAX.checked_shl(level).unwrap_or(0), level)
    }

    /// The part of it after `place`; none if that is its last place.
    pub const fn after(self, place: u64) -> Option<Span> {
        if place < self.last { Some(Span { first: place + 1, last: self.last }) } else { None }
    }
}

/// The last place of the bucket of this level that has `place`.
fn end(place: u64, level: u32) -> u64 {
    place | u64::MAX.checked_shr(level).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Extent, h};

    #[test]
    fn the_keys_of_a_bucket_are_side_by_side() {
        for level in 0..6 {
            for residue in 0..1 << level {
                let span = Span::of_bucket(residue, level);
                assert_eq!(u64::from(h(level, span.c())), residue);
                for c in 0..256 {
                    assert_eq!(span.contains(c), u64::from(h(level, c)) == residue);
                }
            }
        }
    }

    #[test]
    fn the_buckets_of_a_table_make_up_all_keys() {
        for buckets in 1..100 {
            let extent = Extent::of(buckets);
            let (mut rest, mut seen) = (Some(Span::ALL), Vec::new());
            while let Some(span) = rest {
                let bucket = extent.index(span.c());
                let part = span.within(extent.level(bucket));
                assert!(part.is_bucket(extent.level(bucket)) && !part.is_bucket(extent.level(bucket) + 1));
                assert!(!Span { first: part.first + 1, ..part }.is_bucket(extent.level(bucket)));
                assert_eq!(part, Span::of_bucket(u64::from(bucket), extent.level(bucket)));
                seen.push(bucket);
                rest = span.after(part.last);
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..buckets).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn the_finest_bucket_is_one_key() {
        let span = Span::of_bucket(u64::MAX, 64);
        assert_eq!((span.first, span.last, span.after(span.last)), (u64::MAX, u64::MAX, None));
        assert_eq!(Span::ALL.within(64), Span { first: 0, last: 0 });
        assert!(span.is_bucket(64) && !span.is_bucket(63) && Span::ALL.is_bucket(0));
    }
}
