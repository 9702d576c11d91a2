//! Quantities on the command line; errors say what is allowed.

use std::error::Error;
use std::ops::RangeInclusive;

use quantities::{Duration, Rate};

/// A whole number that is not in the range of its option.
#[derive(Debug, thiserror::Error)]
#[error("allowed is {first} to {last}")]
pub(super) struct OutOfRange {
    pub(super) first: u64,
    pub(super) last: u64,
}

/// Reads a whole number in a range. The parser of command lines can do so, too, but has the range in its sentence only.
pub(super) fn whole<T: Copy + Into<u64> + TryFrom<u64>>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, Box<dyn Error + Send + Sync>> + Clone {
    let (first, last) = ((*range.start()).into(), (*range.end()).into());
    move |text| {
        let number: i128 = text.parse()?;
        let within = u64::try_from(number).ok().filter(|number| (first..=last).contains(number));
        within.and_then(|number| number.try_into().ok()).ok_or_else(|| OutOfRange { first, last }.into())
    }
}

/// Reads a length of time.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    text.parse().map_err(|error: quantities::ParseError| format!("{error}; {}", error.hint()))
}

/// Reads a length of time, in seconds if it has no unit.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        duration(&format!("{text} s"))
    } else {
        duration(text)
    }
}

/// Reads a rate.
pub(super) fn rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|error: quantities::ParseError| format!("{error}; {}", error.hint()))
}
