//! Random keys, for use without a word list.

use std::num::NonZeroU64;

use super::{Key, KeyHash};
use quantities::shuffle::below;

/// The fewest letters of a word.
const SHORTEST: u32 = 6;
/// The most letters beyond that.
const MORE: u32 = 8;

/// The hashes of the words so far, with open addressing: checking one of millions of words takes one memory access. Of
/// two words with the same hash, the second counts as seen.
struct Seen {
    hashes: Vec<Option<NonZeroU64>>,
}

impl Seen {
    fn room_for(count: u32) -> Seen {
        Seen { hashes: vec![None; (2 * count as usize).next_power_of_two()] }
    }

    /// Adds a hash; returns whether it is new.
    fn is_new(&mut self, hash: u64) -> bool {
        let (hash, last) = (NonZeroU64::new(hash).unwrap_or(NonZeroU64::MAX), self.hashes.len() - 1);
        let mut place = hash.get() as usize & last;
        loop {
            match self.hashes.get_mut(place) {
                Some(Some(seen)) if *seen == hash => return false,
                Some(Some(_)) => place = (place + 1) & last,
                Some(free) => {
                    *free = Some(hash);
                    return true;
                }
                None => return false,
            }
        }
    }
}

/// `count` words of 6 to 14 random letters, all different.
pub fn random_words(count: u32, seed: u64) -> Vec<Key> {
    let (mut state, mut seen, mut words) = (seed, Seen::room_for(count), Vec::new());
    while words.len() < count as usize {
        let letters = SHORTEST + below(&mut state, MORE + 1);
        let word: Key = (0..letters).map(|_| b'a' + below(&mut state, 26) as u8).collect();
        if seen.is_new(KeyHash::Uniform.of(&word)) {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn words_are_distinct_and_follow_from_the_seed() {
        let words = random_words(2_000, 7);
        assert_eq!(words.iter().collect::<BTreeSet<&Key>>().len(), 2_000);
        assert!(words.iter().all(|word| (6..=14).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase)));
        assert_eq!(words, random_words(2_000, 7));
        assert_ne!(words, random_words(2_000, 8));
    }
}
