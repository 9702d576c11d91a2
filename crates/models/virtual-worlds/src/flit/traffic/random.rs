//! Random numbers that follow from a seed and are the same on every machine.
//!
//! Uses only integers and the four basic operations: a library's logarithm differs from machine to machine.

use quantities::splitmix64::{self, GAMMA, mix64};

/// Two to the power of 64.
const WHOLE: f64 = 18_446_744_073_709_551_616.0;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// Stream `number` of those derived from `seed`.
    pub fn new(seed: u64, number: u64) -> Stream {
        Stream { state: mix64(seed ^ mix64(number.wrapping_add(1).wrapping_mul(GAMMA))) }
    }

    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        splitmix64::draw(&mut self.state)
    }

    /// One of the numbers below `bound`, all equally likely.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.draw()) * u128::from(bound)) >> 64) as u32
    }
}

/// A chance, as the share of all draws that count as a hit.
#[derive(Clone, Copy, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The chance `share`, from 0 to 1.
    pub fn new(share: f64) -> Chance {
        // The cast ends at the largest number, which is one draw short of certainty.
        Chance((share * WHOLE) as u64)
    }

    /// Whether this draw is a hit.
    #[inline]
    pub fn falls(self, stream: &mut Stream) -> bool {
        stream.draw() < self.0
    }
}

/// The gaps between the hits of a coin that is tossed once a cycle.
///
/// A gap of n cycles more than one has a probability in proportion to q^n, q being the chance of a miss. As q^n is a
/// product with one factor for each binary digit of n, the digits are independent of each other: digit j is 1 with the
/// probability q^(2^j) / (1 + q^(2^j)). So a gap takes as many draws as it may have digits, however rare hits are.
#[derive(Clone, Debug)]
pub struct Gaps {
    digits: Vec<Chance>,
}

impl Gaps {
    /// Gaps between hits of chance `hit`, more than 0 and at most 1.
    pub fn new(hit: f64) -> Gaps {
        let mut digits = Vec::new();
        // The chance of as many misses as the digit is worth.
        let mut misses = 1.0 - hit;
        while misses * WHOLE >= 1.0 && digits.len() < 48 {
            digits.push(Chance::new(misses / (1.0 + misses)));
            misses *= misses;
        }
        Gaps { digits }
    }

    /// Cycles from a hit to the next: at least one.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let digit = |(place, chance): (usize, &Chance)| u64::from(chance.falls(stream)) << place;
        1 + self.digits.iter().enumerate().map(digit).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with the geometric distribution: its mean, its variance, and the share of its shortest gap.
    #[test]
    fn gaps_are_those_of_a_coin() {
        for hit in [1.0, 0.5, 0.3, 0.01, 0.0007] {
            let gaps = Gaps::new(hit);
            let mut stream = Stream::new(11, 3);
            let draws = 400_000;
            let (mut sum, mut squares, mut shortest) = (0.0, 0.0, 0.0);
            for _ in 0..draws {
                let gap = gaps.draw(&mut stream) as f64;
                sum += gap;
                squares += gap * gap;
                shortest += f64::from(u8::from(gap == 1.0));
            }
            let many = f64::from(draws);
            let (mean, variance) = (sum / many, squares / many - (sum / many) * (sum / many));
            let deviation = (1.0 - hit).sqrt() / hit;
            assert!((mean - 1.0 / hit).abs() <= 5.0 * deviation / many.sqrt(), "{hit}: mean {mean}");
            assert!((variance - deviation * deviation).abs() <= 0.03 * deviation * deviation, "{hit}: {variance}");
            assert!((shortest / many - hit).abs() <= 5.0 * (hit * (1.0 - hit) / many).sqrt(), "{hit}: {shortest}");
        }
    }

    #[test]
    fn numbers_below_a_bound_are_equally_likely() {
        let mut stream = Stream::new(1, 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_600..10_400).contains(&count)), "{counts:?}");
    }

    #[test]
    fn streams_differ_and_come_again() {
        let first = |seed, number| Stream::new(seed, number).draw();
        assert_eq!(first(7, 3), first(7, 3));
        assert!(first(7, 3) != first(7, 4) && first(7, 3) != first(8, 3) && first(0, 1) != first(1, 0));
    }
}
