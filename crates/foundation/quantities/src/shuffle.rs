//! Seeded permutations and choices: the same seed gives the same order on every machine.

use crate::splitmix64::draw;

/// The numbers from 0 to `length` - 1 in an order that depends only on `seed` (the Fisher-Yates shuffle).
pub fn permutation(length: u32, seed: u64) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..length).collect();
    let mut state = seed;
    for end in (1..length).rev() {
        let other = below(&mut state, end + 1);
        numbers.swap(end as usize, other as usize);
    }
    numbers
}

/// The place of each number in `permutation`.
pub fn inverse(permutation: &[u32]) -> Vec<u32> {
    let mut places = vec![0; permutation.len()];
    for (place, &number) in (0..).zip(permutation) {
        places[number as usize] = place;
    }
    places
}

/// A number below `limit`: the high half of a 64-bit draw, scaled. Its bias is below 2^-32.
pub fn below(state: &mut u64, limit: u32) -> u32 {
    ((u64::from((draw(state) >> 32) as u32) * u64::from(limit)) >> 32) as u32
}

/// A number from 0 to less than 1: the highest 53 bits of a draw.
pub fn share(state: &mut u64) -> f64 {
    (draw(state) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_holds_every_number_once_and_its_inverse_finds_it() {
        for length in [0, 1, 2, 7, 64] {
            let numbers = permutation(length, 42);
            let places = inverse(&numbers);
            for number in 0..length {
                assert_eq!(numbers[places[number as usize] as usize], number);
            }
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        assert_eq!(permutation(100, 1), permutation(100, 1));
        assert_ne!(permutation(100, 1), permutation(100, 2));
    }
}
