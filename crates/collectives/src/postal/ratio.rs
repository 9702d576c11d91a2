//! Fractions in lowest terms, and how they are written.

use std::cmp::Ordering;
use std::fmt;

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ratio {
    pub(super) numerator: u64,
    pub(super) denominator: u64,
}

impl Ratio {
    /// `numerator / denominator`; the denominator is at least 1.
    pub(super) const fn new(numerator: u64, denominator: u64) -> Ratio {
        let common = greatest_common_divisor(numerator, denominator);
        Ratio { numerator: numerator / common, denominator: denominator / common }
    }

    pub(super) fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// The largest number that divides both; at least one of them is not 0.
pub(crate) const fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        let across = |one: &Ratio, other: &Ratio| u128::from(one.numerator) * u128::from(other.denominator);
        across(self, other).cmp(&across(other, self))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// As a decimal number where that is exact, otherwise as a fraction: `1.8`, `2`, `9/7`.
impl fmt::Display for Ratio {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(digits) = decimal_digits(self.denominator) else {
            return out.pad(&format!("{}/{}", self.numerator, self.denominator));
        };
        let (whole, mut rest) = (self.numerator / self.denominator, self.numerator % self.denominator);
        let mut text = whole.to_string();
        if digits > 0 {
            text.push('.');
        }
        for _ in 0..digits {
            let tens = u128::from(rest) * 10;
            text += &(tens / u128::from(self.denominator)).to_string();
            rest = (tens % u128::from(self.denominator)) as u64;
        }
        out.pad(&text)
    }
}

/// How many digits after the point write every multiple of 1 / `denominator` exactly, if any number of them does.
fn decimal_digits(mut denominator: u64) -> Option<u32> {
    let mut digits_for = |factor: u64| {
        let mut count = 0;
        while denominator.is_multiple_of(factor) {
            denominator /= factor;
            count += 1;
        }
        count
    };
    let digits = digits_for(2).max(digits_for(5));
    (denominator == 1).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::Ratio;

    #[test]
    fn a_fraction_is_written_exactly() {
        let written = |numerator, denominator| Ratio::new(numerator, denominator).to_string();
        assert_eq!(written(9, 5), "1.8");
        assert_eq!(written(4, 2), "2");
        assert_eq!(written(0, 7), "0");
        assert_eq!(written(9, 7), "9/7");
        assert_eq!(written(1293, 1000), "1.293");
        assert_eq!(written(1_000_001, 1_000_000), "1.000001");
        assert_eq!(written(33, 32), "1.03125");
        assert_eq!(format!("[{:>5}]", Ratio::new(5, 2)), "[  2.5]");
    }

    #[test]
    fn fractions_are_compared_as_numbers() {
        assert!(Ratio::new(9, 5) < Ratio::new(2, 1));
        assert!(Ratio::new(u64::MAX, 3) > Ratio::new(u64::MAX - 3, 3));
        assert_eq!(Ratio::new(6, 4), Ratio::new(3, 2));
    }
}
