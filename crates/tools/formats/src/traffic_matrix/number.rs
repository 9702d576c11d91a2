//! A number of bytes, as people and programs write it.

use super::MOST_BYTES;
use super::error::Problem;
use crate::cells::quoted;

/// The number of bytes in `text`: a whole number, which may be written `1e6` or `12.0`.
pub(super) fn from_text(text: &str) -> Result<u64, Problem> {
    if let Ok(whole) = text.parse::<u64>() {
        return from_whole(i128::from(whole));
    }
    match text.parse::<f64>() {
        Ok(value) => from_float(value).map_err(|_| Problem::Number { found: quoted(text) }),
        Err(_) => Err(Problem::Number { found: quoted(text) }),
    }
}

/// A whole number as a number of bytes.
pub(super) fn from_whole(value: i128) -> Result<u64, Problem> {
    match u64::try_from(value) {
        Ok(bytes) if bytes <= MOST_BYTES => Ok(bytes),
        _ => Err(Problem::Number { found: value.to_string() }),
    }
}

/// A floating-point number as a number of bytes.
pub(super) fn from_float(value: f64) -> Result<u64, Problem> {
    // `MOST_BYTES` is far below 2^53, so every whole number up to it is represented exactly.
    if value.fract() == 0.0 && (0.0..=MOST_BYTES as f64).contains(&value) {
        Ok(value as u64)
    } else {
        Err(Problem::Number { found: value.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_however_they_are_written() {
        for (text, bytes) in [("0", 0), ("-0", 0), ("12", 12), ("12.0", 12), ("1e6", 1_000_000), ("+3", 3)] {
            assert_eq!(from_text(text), Ok(bytes), "{text}");
        }
        assert_eq!(from_text(&MOST_BYTES.to_string()), Ok(MOST_BYTES));
    }

    #[test]
    fn what_is_no_whole_number_of_bytes_is_quoted_as_it_is_written() {
        for text in ["-1", "0.5", "nan", "inf", "-inf", "1e400", "twelve", "1,5", "68719476737", "99999999999999999999"]
        {
            let problem = from_text(text).unwrap_err().to_string();
            assert!(problem.starts_with("found "), "{problem}");
            assert!(problem.contains(text), "{problem}");
        }
        assert!(from_float(f64::NAN).is_err() && from_float(-0.5).is_err() && from_whole(-1).is_err());
    }
}
