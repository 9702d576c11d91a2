//! Stamps, which tell whether a key has changed since a client of another member began to watch it: a stamp is void as
//! soon as its key changes.
//!
//! The member of the watching client keeps the stamp and shows it with the transaction. So nothing has to be revoked
//! when a client or a member goes, and memory is bounded: if there are too many stamps, the oldest become void, and a
//! transaction that shows one of these fails as if its key had changed.

use std::collections::{BTreeMap, VecDeque};

/// The most stamps that are valid at once.
pub(crate) const MOST: usize = 16_384;

/// The stamps that one bucket has issued.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// The valid stamps, by the C of their keys.
    valid: BTreeMap<u64, u64>,
    /// All stamps, in the order in which they were issued; some are void by now.
    issued: VecDeque<(u64, u64)>,
}

impl Stamps {
    /// The stamp of the keys with this C, valid until one of them changes. If there is none yet, `draw` returns a new
    /// one, never issued before.
    pub(crate) fn stamp(&mut self, c: u64, draw: impl FnOnce() -> u64) -> u64 {
        if let Some(stamp) = self.valid.get(&c) {
            return *stamp;
        }
        let stamp = draw();
        self.valid.insert(c, stamp);
        self.issued.push_back((c, stamp));
        if self.issued.len() > MOST
            && let Some((c, oldest)) = self.issued.pop_front()
            && self.is_valid(c, oldest)
        {
            self.valid.remove(&c);
        }
        stamp
    }

    /// Whether no key with this C has changed since the stamp was issued.
    pub(crate) fn is_valid(&self, c: u64, stamp: u64) -> bool {
        self.valid.get(&c) == Some(&stamp)
    }

    /// Whether no stamp is valid, so that none could become void.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.valid.is_empty()
    }

    /// A key with this C has changed.
    pub(crate) fn changed(&mut self, c: u64) {
        self.valid.remove(&c);
    }

    /// Any key may have changed.
    pub(crate) fn all_changed(&mut self) {
        self.valid.clear();
        self.issued.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_valid_until_its_key_changes_and_everyone_who_asks_until_then_gets_the_same() {
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
    fn if_there_are_too_many_stamps_the_oldest_become_void() {
        let mut stamps = Stamps::default();
        // A stamp issued for a key whose former stamp is void counts as a new one.
        stamps.stamp(0, || 7);
        stamps.changed(0);
        for c in 0..MOST as u64 {
            stamps.stamp(c, || c);
        }
        assert!((0..MOST as u64).all(|c| stamps.is_valid(c, c)));
        stamps.stamp(MOST as u64, || 8);
        assert!(!stamps.is_valid(0, 0) && (1..MOST as u64).all(|c| stamps.is_valid(c, c)));
        assert_eq!((stamps.valid.len(), stamps.issued.len()), (MOST, MOST));
    }
}
