//! How fast data flows.

use std::fmt;
use std::str::FromStr;

use crate::notation::{self, Kind, ParseError, Unit};
use crate::{Bytes, Duration};

/// A rate of data in bits per second. [bit/s]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// A rate of `bits` per second.
    pub const fn from_bits_per_second(bits: u64) -> Rate {
        Rate(bits)
    }
    /// Bits per second. [bit/s]
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }
    /// Bytes per second, for printing. [B/s]
    pub fn bytes_per_second(self) -> f64 {
        self.0 as f64 / 8.0
    }
    /// How long `amount` takes at this rate, rounded to the nearest picosecond; [`Duration::LONGEST`] when that is longer.
    pub fn time_of(self, amount: Bytes) -> Duration {
        let numerator = u128::from(amount.0) * 8 * 1_000_000_000_000;
        let rate = u128::from(self.0);
        Duration::from_picoseconds(u64::try_from((numerator + rate / 2) / rate).unwrap_or(u64::MAX))
    }
}

const BYTE_UNITS: [Unit; 7] = [
    ("B/s", 8),
    ("kB/s", 8_000),
    ("MB/s", 8_000_000),
    ("GB/s", 8_000_000_000),
    ("KiB/s", 8 << 10),
    ("MiB/s", 8 << 20),
    ("GiB/s", 8 << 30),
];
const UNITS: [Unit; 11] = [
    BYTE_UNITS[0],
    BYTE_UNITS[1],
    BYTE_UNITS[2],
    BYTE_UNITS[3],
    BYTE_UNITS[4],
    BYTE_UNITS[5],
    BYTE_UNITS[6],
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
];

static RATE: Kind =
    Kind { quantity: "a rate", example: "27 MB/s", units: &UNITS, unit_left_out: None, finest: "a bit per second" };

impl FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Rate, ParseError> {
        match RATE.parse(text)? {
            0 => Err(ParseError::new(text, &RATE, "it must be more than zero".to_string())),
            bits => Ok(Rate(bits)),
        }
    }
}

/// In the largest decimal unit of bytes per second that it has one of: `27 MB/s`, `12.5 MB/s`, `5 bit/s`.
impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = &BYTE_UNITS[..4];
        let unit = decimal.iter().rev().find(|unit| self.0 >= unit.1).unwrap_or(&UNITS[7]);
        notation::print(out, self.0, *unit)
    }
}

notation::as_text!(Rate, RATE);
