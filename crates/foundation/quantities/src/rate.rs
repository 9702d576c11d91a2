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
    /// How long `amount` takes at this rate, rounded to the nearest picosecond; [`Duration::LONGEST`] when that is
    /// longer.
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

/// Short forms, larger units and powers of two. A `b` is a bit and a `B` a byte.
const OTHER_SPELLINGS: [Unit; 29] = [
    ("bps", 1),
    ("kbps", 1_000),
    ("Kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
    ("b/s", 1),
    ("kb/s", 1_000),
    ("Kb/s", 1_000),
    ("Mb/s", 1_000_000),
    ("Gb/s", 1_000_000_000),
    ("Tb/s", 1_000_000_000_000),
    ("Kbit/s", 1_000),
    ("Tbit/s", 1_000_000_000_000),
    ("bits/s", 1),
    ("Kib/s", 1 << 10),
    ("Mib/s", 1 << 20),
    ("Gib/s", 1 << 30),
    ("Kibit/s", 1 << 10),
    ("Mibit/s", 1 << 20),
    ("Gibit/s", 1 << 30),
    ("Bps", 8),
    ("kBps", 8_000),
    ("MBps", 8_000_000),
    ("GBps", 8_000_000_000),
    ("TBps", 8_000_000_000_000),
    ("bytes/s", 8),
    ("TB/s", 8_000_000_000_000),
    ("TiB/s", 8 << 40),
];

static RATE: Kind = Kind {
    quantity: "a rate",
    example: "27 MB/s",
    value_name: "RATE",
    units: &UNITS,
    other_spellings: &OTHER_SPELLINGS,
    suggestion,
    unit_left_out: None,
    finest: "a bit per second",
    greatest: u64::MAX,
    too_large: "it is too large",
};

/// Bits and bytes differ by a factor of eight, and only the case of a letter distinguishes them. So a unit of one is
/// never taken for a unit of the other, and where the case may have been lost, both are suggested.
fn suggestion(unit: &str) -> String {
    let nearest = |bytes: bool| {
        let is_alike = |known: &&Unit| (known.0.contains('B') || known.0.contains("byte")) == bytes;
        let alike: Vec<Unit> = UNITS.iter().chain(&OTHER_SPELLINGS).filter(is_alike).copied().collect();
        let (name, scale) = notation::nearest_unit(unit, &alike)?;
        // The first name of the same unit is the one suggested.
        Some(UNITS.iter().find(|known| known.1 == scale).copied().unwrap_or((name, scale)))
    };
    let lower_case = unit.to_ascii_lowercase();
    let has_both_cases = unit != lower_case && unit != unit.to_ascii_uppercase();
    let (bits, bytes) = if lower_case.contains("bit") {
        (nearest(false), None)
    } else if lower_case.contains("byte") || unit.ends_with('B') || (has_both_cases && unit.contains('B')) {
        (None, nearest(true))
    } else if has_both_cases && unit.contains('b') {
        (nearest(false), None)
    } else {
        (nearest(false), nearest(true))
    };
    match (bits, bytes) {
        (Some(bits), Some(bytes)) => format!(", did you mean `{}` (bits) or `{}` (bytes)?", bits.0, bytes.0),
        (one, other) => notation::did_you_mean(one.or(other)),
    }
}

impl FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Rate, ParseError> {
        match RATE.parse(text)? {
            0 => Err(ParseError::new(text, &RATE, "it must be more than zero".to_string())),
            bits => Ok(Rate(bits)),
        }
    }
}

/// In the largest decimal unit of bytes per second that is not larger than the value: `27 MB/s`, `12.5 MB/s`,
/// `5 bit/s`.
impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = &BYTE_UNITS[..4];
        let unit = decimal.iter().rev().find(|unit| self.0 >= unit.1).unwrap_or(&UNITS[7]);
        notation::print(out, self.0, *unit)
    }
}

notation::as_text!(Rate, RATE);
