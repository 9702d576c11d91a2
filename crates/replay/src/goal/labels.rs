//! The labels of a rank's operations: a hash table whose entries are only ever removed all at once.
//!
//! A label of up to eight letters is its own key, as a number. The key of a longer one is a hash whose highest bit is
//! set (no letter's is), and its letters are stored separately.

use super::OperationId;

#[derive(Debug, Default)]
pub(super) struct Labels {
    /// In the order in which they were defined.
    labels: Vec<Label>,
    /// Open addressing with linear probing: the place of a label in `labels`, plus 1; 0 if free.
    places: Vec<u32>,
    /// The letters of all long labels, one after the other.
    letters: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Label {
    key: u64,
    operation: OperationId,
    /// Where its letters begin, if there are more than eight, and how many there are.
    letters: (u32, u32),
}

/// The least size of the table.
const FEWEST: usize = 64;
/// 2^64 divided by the golden ratio: Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
const LONG: u64 = 1 << 63;

impl Labels {
    /// Forgets all labels. The next rank often has a similar number.
    pub(super) fn clear(&mut self) {
        if self.places.len() > FEWEST.max(16 * self.labels.len()) {
            self.places = Vec::new();
        }
        self.places.fill(0);
        self.labels.clear();
        self.letters.clear();
    }

    /// The operation with that label.
    #[inline]
    pub(super) fn find(&self, name: &[u8]) -> Option<OperationId> {
        if self.places.is_empty() {
            return None;
        }
        let number = self.places[self.place_of(name, key(name))];
        self.labels.get((number as usize).checked_sub(1)?).map(|label| label.operation)
    }

    /// Labels an operation, unless the name is taken: then returns the operation that has it.
    #[inline]
    pub(super) fn define(&mut self, name: &[u8], operation: OperationId) -> Option<OperationId> {
        if 2 * self.labels.len() >= self.places.len() {
            self.grow();
        }
        let key = key(name);
        let place = self.place_of(name, key);
        if let Some(number) = (self.places[place] as usize).checked_sub(1) {
            return Some(self.labels[number].operation);
        }
        let mut letters = (0, 0);
        if key & LONG != 0 {
            letters = (self.letters.len() as u32, name.len() as u32);
            self.letters.extend_from_slice(name);
        }
        self.labels.push(Label { key, operation, letters });
        self.places[place] = self.labels.len() as u32;
        None
    }

    /// All labels, in the order in which they were defined.
    pub(super) fn all(&self) -> impl Iterator<Item = (String, OperationId)> {
        self.labels.iter().map(|label| {
            let short = label.key.to_le_bytes();
            let length = short.iter().position(|&letter| letter == 0).unwrap_or(short.len());
            let name = if label.key & LONG == 0 { &short[..length] } else { self.long_name(label) };
            (String::from_utf8_lossy(name).into_owned(), label.operation)
        })
    }

    fn long_name(&self, label: &Label) -> &[u8] {
        let (start, length) = label.letters;
        &self.letters[start as usize..][..length as usize]
    }

    /// The place where the search for a label begins.
    #[inline]
    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(GOLDEN) >> (64 - self.places.len().trailing_zeros())) as usize
    }

    /// The place of a label, or the free place for it.
    #[inline]
    fn place_of(&self, name: &[u8], key: u64) -> usize {
        let mut place = self.home(key);
        while let Some(number) = (self.places[place] as usize).checked_sub(1) {
            let label = &self.labels[number];
            if label.key == key && (key & LONG == 0 || self.long_name(label) == name) {
                break;
            }
            place = (place + 1) & (self.places.len() - 1);
        }
        place
    }

    fn grow(&mut self) {
        self.places = vec![0; (4 * self.labels.len()).next_power_of_two().max(FEWEST)];
        for (number, label) in (1..).zip(&self.labels) {
            let mut place = self.home(label.key);
            while self.places[place] != 0 {
                place = (place + 1) & (self.places.len() - 1);
            }
            self.places[place] = number;
        }
    }
}

/// The key of a label.
#[inline]
fn key(name: &[u8]) -> u64 {
    if name.len() <= 8 {
        return name.iter().rev().fold(0, |key, &letter| key << 8 | u64::from(letter));
    }
    let hashed =
        name.chunks(8).fold(name.len() as u64, |hash, piece| (hash ^ key(piece)).wrapping_mul(GOLDEN).rotate_left(29));
    hashed | LONG
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// It finds what a map finds, for any number of blocks.
        #[test]
        fn finds_what_a_map_finds(blocks in prop::collection::vec(prop::collection::vec("[a-c]{1,10}", 0..200), 1..4)) {
            let mut labels = Labels::default();
            for block in blocks {
                labels.clear();
                let mut map = BTreeMap::new();
                for (number, name) in (0..).zip(&block) {
                    prop_assert_eq!(labels.find(name.as_bytes()), map.get(name).copied());
                    prop_assert_eq!(labels.define(name.as_bytes(), OperationId(number)), map.get(name).copied());
                    map.entry(name.clone()).or_insert(OperationId(number));
                }
                prop_assert_eq!(labels.all().collect::<BTreeMap<_, _>>(), map);
            }
        }
    }
}
