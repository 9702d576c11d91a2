//! Keys where there is no list of words.

use super::{Key, KeyHash, Table};
use crate::shuffle::below;

/// As many letters as a word has at least.
const SHORTEST: u32 = 6;
/// And how many more it has at most.
const MORE: u32 = 8;

/// So many words of 6 to 14 random letters, none of them twice.
pub fn random_words(count: u32, seed: u64) -> Vec<Key> {
    let (mut state, mut seen, mut words) = (seed, Table::new(0), Vec::new());
    while words.len() < count as usize {
        let letters = SHORTEST + below(&mut state, MORE + 1);
        let word: Key = (0..letters).map(|_| b'a' + below(&mut state, 26) as u8).collect();
        let number = word.iter().fold(0_u128, |number, &letter| number << 8 | u128::from(letter));
        if seen.insert(KeyHash::Uniform.of(&word), number, ()) == Ok(true) {
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
