//! Amounts of data.

use std::fmt;
use std::str::FromStr;

use crate::notation::{self, Kind, ParseError, Unit};

/// An amount of data in bytes. [B]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

const UNITS: [Unit; 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

static BYTES: Kind = Kind {
    quantity: "an amount of data",
    example: "4 KiB",
    value_name: "B",
    units: &UNITS,
    other_spellings: &[("TB", 1_000_000_000_000), ("TiB", 1 << 40)],
    suggestion,
    unit_left_out: Some(("B", 1)),
    finest: "a byte",
    greatest: u64::MAX,
    too_large: "it is too large",
};

/// A `b` is a bit, an eighth of the unit nearest in spelling.
fn suggestion(unit: &str) -> String {
    let may_be_bits = !unit.to_ascii_lowercase().contains("byte")
        && (unit.to_ascii_lowercase().contains("bit") || (unit.contains('b') && !unit.contains('B')));
    if may_be_bits {
        return ", a `b` is a bit, and amounts of data are in bytes, `B`".to_string();
    }
    notation::did_you_mean(notation::nearest_unit(unit, &UNITS))
}

impl FromStr for Bytes {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Bytes, ParseError> {
        BYTES.parse(text).map(Bytes)
    }
}

/// In the binary unit that leaves the smallest whole number: `4 KiB`, `1000 B`. Decimal units are read, but not
/// written: beside `1 KiB`, a `1 kB` would be taken for the same.
impl fmt::Display for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let divides = |unit: &&Unit| self.0 > 0 && self.0.is_multiple_of(unit.1);
        let binary = |unit: &&Unit| unit.1.is_power_of_two();
        let unit = UNITS.iter().filter(binary).filter(divides).max_by_key(|unit| unit.1).unwrap_or(&UNITS[0]);
        notation::print(out, self.0, *unit)
    }
}

notation::as_text!(Bytes, BYTES);
