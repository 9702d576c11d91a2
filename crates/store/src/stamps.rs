//! What tells whether a key has changed since a client of another member began to watch it: a stamp, which is void as soon as the key changes.
//!
//! Whoever watches keeps the stamp, and shows it with its transaction. So nothing has to be taken back when a client or a member goes, and what is
//! kept is bounded: where there are too many stamps the oldest are void, and a transaction that shows such a one fails as if its key had changed.

use std::collections::{BTreeMap, VecDeque};

/// As many stamps are valid at once.
const MOST: usize = 16_384;

/// The stamps that one bucket has given.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// Those that are valid, by the C of their keys.
    valid: BTreeMap<u64, u64>,
    /// All, in the order in which they were given; some are void by now.
    given: VecDeque<(u64, u64)>,
}

impl Stamps {
    /// The stamp of the key C, which is valid as long as no key with this C changes. A new one is drawn, and must be one that nobody was given before.
    pub(crate) fn stamp(&mut self, c: u64, draw: impl FnOnce() -> u64) -> u64 {
        if let Some(stamp) = self.valid.get(&c) {
            return *stamp;
        }
        let stamp = draw();
        self.valid.insert(c, stamp);
        self.given.push_back((c, stamp));
        if self.given.len() > MOST
            && let Some((c, oldest)) = self.given.pop_front()
            && self.is_valid(c, oldest)
        {
            self.valid.remove(&c);
        }
        stamp
    }

    /// Whether nothing with this C has changed since a stamp was given.
    pub(crate) fn is_valid(&self, c: u64, stamp: u64) -> bool {
        self.valid.get(&c) == Some(&stamp)
    }

    /// Whether there is none that could become void.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.valid.is_empty()
    }

    /// A key has changed.
    pub(crate) fn changed(&mut self, c: u64) {
        self.valid.remove(&c);
    }

    /// Any key may have changed.
    pub(crate) fn all_changed(&mut self) {
        self.valid.clear();
        self.given.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_valid_until_its_key_changes_and_all_who_ask_meanwhile_have_the_same() {
        let mut stamps = Stamps::default();
        assert_eq!([stamps.stamp(1, || 10), stamps.stamp(2, || 20), stamps.stamp(1, || 30)], [10, 20, 10]);
        stamps.changed(1);
        assert!(!stamps.is_valid(1, 10) && stamps.is_valid(2, 20));
        assert_eq!(stamps.stamp(1, || 40), 40);
        assert!(!stamps.is_valid(1, 10) && stamps.is_valid(1, 40));
        stamps.all_changed();
        assert!(!stamps.is_valid(2, 20) && stamps.is_empty());
    }

    #[test]
    fn of_too_many_stamps_the_oldest_are_void() {
        let mut stamps = Stamps::default();
        // One that was void and is given again is a new one.
        stamps.stamp(0, || 7);
        stamps.changed(0);
        for c in 0..MOST as u64 {
            stamps.stamp(c, || c);
        }
        assert!((0..MOST as u64).all(|c| stamps.is_valid(c, c)));
        stamps.stamp(MOST as u64, || 8);
        assert!(!stamps.is_valid(0, 0) && (1..MOST as u64).all(|c| stamps.is_valid(c, c)));
        assert_eq!((stamps.valid.len(), stamps.given.len()), (MOST, MOST));
    }
}
