//! Quantities on the command line, with what is allowed told.

use quantities::Duration;

/// Reads a length of time.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    text.parse().map_err(|error: quantities::ParseError| format!("{error}; {}", error.hint()))
}
