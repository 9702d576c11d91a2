//! Identifies one of a program's processes.

use std::fmt;
use std::str::FromStr;

use crate::notation::{self, Kind, ParseError};

/// The number of a process of a parallel program, from 0 to one less than its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

static RANK: Kind = Kind {
    quantity: "a rank",
    example: "17",
    value_name: "RANK",
    units: &[],
    other_spellings: &[],
    suggestion: |_| String::new(),
    unit_left_out: Some(("", 1)),
    finest: "a whole number",
    greatest: u64::MAX,
    too_large: "it is too large",
};

impl FromStr for Rank {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Rank, ParseError> {
        let number = RANK.parse(text)?;
        u32::try_from(number).map(Rank).map_err(|_| ParseError::new(text, &RANK, "it is too large".to_string()))
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

notation::as_text!(Rank, RANK);
