//! The latency of the postal model.

use std::fmt;
use std::str::FromStr;

use super::ratio::Ratio;

/// The latency lambda of the postal model: the sender of a message is done with it after t0, and its receiver has it
/// lambda t0 after the send began. A rational number u / f in lowest terms, at least 1.
///
/// Thus u is the least common multiple of 1 and lambda, f = u / lambda, and 1 / f is their greatest common
/// divisor: every event in the model happens at a multiple of t0 / f.
///
/// Source: Bruck, De Coster, Dewulf, Ho and Lauwereins, "On the Design and Implementation of Broadcast and Global
/// Combine Operations Using the Postal Model", sections 1 and 2.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lambda(Ratio);

/// Why something is not a [`Lambda`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LambdaError {
    /// It is not a number.
    #[error("`{0}` is not a latency: allowed is a number such as 2, 1.8 or 9/5, from 1 to {LARGEST}")]
    NotANumber(String),
    /// A message can't be received before it is sent.
    #[error("a latency of {0} is too small: allowed is 1 to {LARGEST}")]
    UnderOne(String),
    /// It is larger than the limit.
    #[error("a latency of {0} is too large: allowed is 1 to {LARGEST}")]
    TooLarge(String),
    /// It has more digits than can be represented.
    #[error("a latency of {0} is too fine: allowed is a multiple of 1/f with f up to {FINEST}, such as 1.293 or 9/7")]
    TooFine(String),
}

/// The largest latency.
const LARGEST: u64 = 100_000;
/// The largest denominator.
const FINEST: u64 = 1_000_000;

impl Lambda {
    /// A message is received as soon as its sender is done with it: the one-port model.
    pub const ONE: Lambda = Lambda(Ratio::new(1, 1));

    /// `numerator / denominator`.
    ///
    /// # Errors
    /// When that is not a number, is below 1 or too large, or has too large a denominator in lowest terms.
    pub fn new(numerator: u64, denominator: u64) -> Result<Lambda, LambdaError> {
        let found = || format!("{numerator}/{denominator}");
        if denominator == 0 {
            return Err(LambdaError::NotANumber(found()));
        }
        Lambda::checked(Ratio::new(numerator, denominator), found)
    }

    /// The multiple of 1 / `denominator` nearest to the measured `value`; 1 if that is below 1.
    ///
    /// # Errors
    /// When `value` is not a number or too large, or `denominator` is zero or too large.
    pub fn nearest(value: f64, denominator: u32) -> Result<Lambda, LambdaError> {
        if !value.is_finite() || denominator == 0 {
            return Err(LambdaError::NotANumber(format!("{value} in parts of {denominator}")));
        }
        if value > LARGEST as f64 {
            return Err(LambdaError::TooLarge(value.to_string()));
        }
        let parts = (value.max(1.0) * f64::from(denominator)).round() as u64;
        Lambda::new(parts.max(u64::from(denominator)), u64::from(denominator))
    }

    /// An integer latency; 1 for zero.
    pub(super) const fn whole(latency: u32) -> Lambda {
        Lambda(Ratio::new(if latency == 0 { 1 } else { latency as u64 }, 1))
    }

    fn checked(ratio: Ratio, found: impl Fn() -> String) -> Result<Lambda, LambdaError> {
        if ratio.numerator < ratio.denominator {
            Err(LambdaError::UnderOne(found()))
        } else if ratio > Ratio::new(LARGEST, 1) {
            Err(LambdaError::TooLarge(found()))
        } else if ratio.denominator > FINEST {
            Err(LambdaError::TooFine(found()))
        } else {
            Ok(Lambda(ratio))
        }
    }

    /// u, the least common multiple of 1 and lambda: lambda in units of 1 / f.
    pub const fn scaled(self) -> u64 {
        self.0.numerator
    }

    /// f: how many units of the scaled time there are in t0.
    pub const fn scale(self) -> u64 {
        self.0.denominator
    }

    /// The largest integer not above it.
    pub const fn floor(self) -> u32 {
        (self.0.numerator / self.0.denominator) as u32
    }

    /// The smallest integer not below it.
    pub const fn ceiling(self) -> u32 {
        self.0.numerator.div_ceil(self.0.denominator) as u32
    }

    /// Whether it is an integer.
    pub const fn is_whole(self) -> bool {
        self.0.denominator == 1
    }

    /// The nearest floating-point number.
    pub fn as_f64(self) -> f64 {
        self.0.as_f64()
    }
}

/// As a decimal number where that is exact, otherwise as a fraction: `1.8`, `9/7`.
impl fmt::Display for Lambda {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

impl FromStr for Lambda {
    type Err = LambdaError;

    fn from_str(text: &str) -> Result<Lambda, LambdaError> {
        let trimmed = text.trim();
        let not_a_number = || LambdaError::NotANumber(shortened(trimmed));
        if let Some(positive) = trimmed.strip_prefix('-') {
            let is_number = fraction(positive).is_ok();
            let error = if is_number { LambdaError::UnderOne } else { LambdaError::NotANumber };
            return Err(error(shortened(trimmed)));
        }
        match fraction(trimmed) {
            Ok((numerator, denominator)) if denominator > 0 => {
                Lambda::checked(Ratio::new(numerator, denominator), || shortened(trimmed))
            }
            Ok(_) => Err(not_a_number()),
            Err(Unreadable::Word) => Err(not_a_number()),
            Err(Unreadable::TooLong) => Err(LambdaError::TooLarge(shortened(trimmed))),
            Err(Unreadable::TooFine) => Err(LambdaError::TooFine(shortened(trimmed))),
        }
    }
}

/// Why a text is not a fraction of two representable numbers.
enum Unreadable {
    Word,
    TooLong,
    TooFine,
}

/// The numerator and the denominator of `9/5` or `1.8`.
fn fraction(text: &str) -> Result<(u64, u64), Unreadable> {
    if let Some((numerator, denominator)) = text.split_once('/') {
        return Ok((whole(numerator.trim())?, whole(denominator.trim())?));
    }
    let (before, after) = text.split_once('.').unwrap_or((text, ""));
    if before.is_empty() && after.is_empty() {
        return Err(Unreadable::Word);
    }
    let before = if before.is_empty() { 0 } else { whole(before)? };
    let after = after.trim_end_matches('0');
    let fine = if after.is_empty() { 0 } else { whole(after).map_err(Unreadable::in_the_fraction)? };
    let scale = 10u64.checked_pow(after.len() as u32).ok_or(Unreadable::TooFine)?;
    let sum = before.checked_mul(scale).and_then(|large| large.checked_add(fine));
    Ok((sum.ok_or(if before > LARGEST { Unreadable::TooLong } else { Unreadable::TooFine })?, scale))
}

impl Unreadable {
    fn in_the_fraction(self) -> Unreadable {
        if let Unreadable::TooLong = self { Unreadable::TooFine } else { self }
    }
}

fn whole(digits: &str) -> Result<u64, Unreadable> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Unreadable::Word);
    }
    digits.parse().map_err(|_| Unreadable::TooLong)
}

/// As much of `text` as an error needs.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_string();
    }
    text.chars().take(LONGEST).chain("...".chars()).collect()
}

quantities::written_as_text!(Lambda, "L", "9/5");

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match text.parse::<Lambda>() {
            Ok(lambda) => format!("{}/{}", lambda.scaled(), lambda.scale()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn numbers_and_fractions_are_read() {
        assert_eq!(read("1.8"), "9/5");
        assert_eq!(read(" 9/5 "), "9/5");
        assert_eq!(read("18 / 10"), "9/5");
        assert_eq!(read("2"), "2/1");
        assert_eq!(read("2."), "2/1");
        assert_eq!(read("1.000"), "1/1");
        assert_eq!(read("1.293"), "1293/1000");
        assert_eq!(read("100000"), "100000/1");
    }

    #[test]
    fn what_is_not_a_latency_is_an_error() {
        assert_eq!(read("0.99"), "a latency of 0.99 is too small: allowed is 1 to 100000");
        assert_eq!(read(".5"), "a latency of .5 is too small: allowed is 1 to 100000");
        assert_eq!(read("4/5"), "a latency of 4/5 is too small: allowed is 1 to 100000");
        assert_eq!(read("-2"), "a latency of -2 is too small: allowed is 1 to 100000");
        assert_eq!(read("100001"), "a latency of 100001 is too large: allowed is 1 to 100000");
        assert_eq!(
            read(&"9".repeat(60)),
            format!("a latency of {}... is too large: allowed is 1 to 100000", "9".repeat(40))
        );
        assert!(read("1.0000001").contains("too fine"), "{}", read("1.0000001"));
        assert!(read(&format!("1.{}1", "0".repeat(50))).contains("too fine"));
        for word in ["", "two", "1.8.2", "1/0", "1,8", "nan", "inf", "1e3", "/", "9/", "+2", "--2", "-x", "."] {
            assert!(read(word).contains("is not a latency"), "{word}: {}", read(word));
        }
    }

    #[test]
    fn a_measured_value_is_rounded() {
        assert_eq!(Lambda::nearest(1.8042, 100).unwrap().to_string(), "1.8");
        assert_eq!(Lambda::nearest(0.93, 100), Ok(Lambda::ONE));
        assert!(Lambda::nearest(f64::NAN, 100).is_err());
        assert!(Lambda::nearest(2.0, 0).is_err());
    }

    #[test]
    fn whole_numbers_around_it() {
        let lambda: Lambda = "2.5".parse().unwrap();
        assert_eq!((lambda.floor(), lambda.ceiling(), lambda.is_whole()), (2, 3, false));
        assert_eq!((Lambda::ONE.floor(), Lambda::ONE.ceiling(), Lambda::ONE.is_whole()), (1, 1, true));
    }
}
