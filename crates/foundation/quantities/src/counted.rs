//! Counts in sentences.

use std::fmt::Display;

/// A count with its noun: `1 rank`, `2 ranks`.
pub fn counted(count: impl Display + PartialEq + From<u8>, one: &str) -> String {
    let plural = if count == 1.into() { "" } else { "s" };
    format!("{count} {one}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0_u32, 1, 2].map(|ranks| counted(ranks, "rank")), ["0 ranks", "1 rank", "2 ranks"]);
    }
}
