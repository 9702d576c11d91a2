//! Pseudorandom numbers from a seed, the same on every machine: SplitMix64.
//!
//! Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

/// The odd number nearest to 2^64 divided by the golden ratio: the gamma of the default generator.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The next 64 bits, and the state after them.
#[inline]
pub const fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(GAMMA);
    mix64(*state)
}

/// Mixes 64 bits: every bit of the result depends on every bit of the input, and no two inputs have the same result.
#[inline]
pub const fn mix64(bits: u64) -> u64 {
    let bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// A generator, started from a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws(
    /// The seed; from then on, the state.
    pub u64,
);

impl Draws {
    /// The next 64 bits.
    #[inline]
    pub const fn next(&mut self) -> u64 {
        draw(&mut self.0)
    }

    /// A number below `limit`, or 0 if there is none. Its bias is below `limit` / 2^64.
    #[inline]
    pub const fn below(&mut self, limit: u64) -> u64 {
        let drawn = self.next();
        if limit == 0 { 0 } else { drawn % limit }
    }

    /// True in `percent` of a hundred cases.
    #[inline]
    pub const fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A number from 0 to less than 1: the highest 53 bits of a draw.
    #[inline]
    pub const fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_its_published_first_draws() {
        // The first three draws from seed 1234567, as the authors' reference program prints them.
        let mut state = 1_234_567;
        let draws = [draw(&mut state), draw(&mut state), draw(&mut state)];
        assert_eq!(draws, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
