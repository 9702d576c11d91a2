//! How fast data flows.

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
    /// How long `amount` takes at this rate, rounded to the nearest picosecond.
    pub fn time_of(self, amount: Bytes) -> Duration {
        let numerator = u128::from(amount.0) * 8 * 1_000_000_000_000;
        let rate = u128::from(self.0);
        Duration::from_picoseconds(((numerator + rate / 2) / rate) as u64)
    }
}
