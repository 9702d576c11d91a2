//! The share of its nodes that a source keeps for itself.

use std::fmt;
use std::str::FromStr;

/// alpha, from 1/2 to below 1: of n nodes the source keeps round(alpha n) for itself; halves are rounded up.
///
/// It is a floating-point number, which in this range is a multiple of 2^-53: so alpha n is rounded without error,
/// and every rank of a broadcast splits the same n in the same way.
///
/// Source: the postal paper, section 2.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alpha {
    /// In units of 2^-53.
    units: u64,
}

/// Why something is not an [`Alpha`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("an alpha of `{0}`: allowed is a number of at least 0.5 and under 1")]
pub struct AlphaError(String);

/// The units in 1.
const ONE: u64 = 1 << 53;

impl Alpha {
    /// Half, the smallest: the binomial tree.
    pub const HALF: Alpha = Alpha { units: ONE / 2 };
    /// The largest.
    pub(super) const LARGEST: Alpha = Alpha { units: ONE - 1 };

    /// `value` as a share.
    ///
    /// # Errors
    /// When it is not a number, is below 0.5, or is not below 1.
    pub fn new(value: f64) -> Result<Alpha, AlphaError> {
        if !(0.5..1.0).contains(&value) {
            return Err(AlphaError(value.to_string()));
        }
        Ok(Alpha { units: (value * ONE as f64) as u64 })
    }

    /// The smallest alpha that is at least `numerator / denominator`, and not below a half.
    pub(super) fn at_least(numerator: u64, denominator: u64) -> Alpha {
        let units = (u128::from(numerator) * u128::from(ONE)).div_ceil(u128::from(denominator));
        Alpha { units: (units as u64).max(Alpha::HALF.units) }
    }

    /// The largest alpha that is below `numerator / denominator`, and below 1. The fraction must exceed a half.
    pub(super) fn under(numerator: u64, denominator: u64) -> Alpha {
        let units = (u128::from(numerator) * u128::from(ONE)).div_ceil(u128::from(denominator)) - 1;
        Alpha { units: (units as u64).min(Alpha::LARGEST.units) }
    }

    /// The alpha midway between two.
    pub(super) const fn between(one: Alpha, other: Alpha) -> Alpha {
        Alpha { units: u64::midpoint(one.units, other.units) }
    }

    /// As a floating-point number, exactly.
    pub fn as_f64(self) -> f64 {
        self.units as f64 / ONE as f64
    }

    /// n' = min(round(alpha n), n - 1): how many of `n` nodes, at least two, the source keeps for itself.
    pub const fn kept_of(self, n: u64) -> u64 {
        let rounded = (self.units as u128 * n as u128 + ONE as u128 / 2) / ONE as u128;
        let most = n.saturating_sub(1);
        if rounded < most as u128 { rounded as u64 } else { most }
    }
}

impl fmt::Display for Alpha {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_f64(), out)
    }
}

impl FromStr for Alpha {
    type Err = AlphaError;

    fn from_str(text: &str) -> Result<Alpha, AlphaError> {
        let not_a_number = || AlphaError(text.chars().take(40).collect());
        Alpha::new(text.trim().parse().map_err(|_| not_a_number())?)
    }
}

quantities::written_as_text!(Alpha, "SHARE", "0.58");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_an_odd_number_is_rounded_up() {
        let kept = |n| Alpha::HALF.kept_of(n);
        assert_eq!([2, 3, 4, 5, 13, u64::MAX].map(kept), [1, 2, 2, 3, 7, 1 << 63]);
    }

    #[test]
    fn something_is_left_for_the_other_side() {
        for n in [2, 3, 1000, 1 << 52] {
            assert_eq!(Alpha::LARGEST.kept_of(n), n - 1);
        }
    }

    #[test]
    fn only_a_share_from_a_half_to_one_is_allowed() {
        for text in ["0.5", "0.58", " 0.999999 ", "5e-1"] {
            assert_eq!(text.parse::<Alpha>().unwrap().to_string(), text.trim().parse::<f64>().unwrap().to_string());
        }
        for text in ["0.49999", "1", "1.0", "-0.6", "nan", "inf", "", "half"] {
            let error = text.parse::<Alpha>().unwrap_err().to_string();
            assert!(error.ends_with("allowed is a number of at least 0.5 and under 1"), "{error}");
        }
    }

    #[test]
    fn bounds_are_exact() {
        // 7.5 / 13 <= alpha < 8.5 / 13 and nothing else rounds 13 alpha to 8.
        let (least, most) = (Alpha::at_least(15, 26), Alpha::under(17, 26));
        let nudged = |alpha: Alpha, by: i64| Alpha { units: alpha.units.saturating_add_signed(by) };
        assert_eq!([least, most].map(|alpha| alpha.kept_of(13)), [8, 8]);
        assert_eq!([nudged(least, -1), nudged(most, 1)].map(|alpha| alpha.kept_of(13)), [7, 9]);
    }
}
