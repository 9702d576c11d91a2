//! Quantities on the command line; errors say what is allowed.

use quantities::{Duration, Rate};

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
