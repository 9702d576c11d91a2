//! Seeded permutations and choices: the same seed gives the same order on every machine.

/// The numbers from 0 to `length` less one in an order that only `seed` decides (Fisher and Yates's shuffle).
pub(crate) fn permutation(length: u32, seed: u64) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..length).collect();
    let mut state = seed;
    for end in (1..length).rev() {
        let other = below(&mut state, end + 1);
        numbers.swap(end as usize, other as usize);
    }
    numbers
}

/// For each number where it stands in `permutation`.
pub(crate) fn inverse(permutation: &[u32]) -> Vec<u32> {
    let mut places = vec![0; permutation.len()];
    for (place, &number) in (0..).zip(permutation) {
        places[number as usize] = place;
    }
    places
}

/// A number below `limit`: the high half of a 64-bit draw, scaled. Its bias is below 2^-32.
pub(crate) fn below(state: &mut u64, limit: u32) -> u32 {
    ((u64::from((next(state) >> 32) as u32) * u64::from(limit)) >> 32) as u32
}

/// A number from 0 to less than 1: the highest 53 bits of a draw.
pub(crate) fn share(state: &mut u64) -> f64 {
    (next(state) >> 11) as f64 / (1u64 << 53) as f64
}

/// The next 64 bits of Steele, Lea and Flood's SplitMix generator (OOPSLA 2014).
pub(crate) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
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

    #[test]
    fn the_generator_gives_its_published_first_draws() {
        // The first three draws from seed 1234567, as the authors' reference program prints them.
        let mut state = 1_234_567;
        let draws = [next(&mut state), next(&mut state), next(&mut state)];
        assert_eq!(draws, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
