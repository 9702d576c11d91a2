//! Times in the postal model.

use std::fmt;

use quantities::Duration;

use super::Lambda;
use super::ratio::Ratio;

/// An exact time in the postal model, in steps of t0: a multiple of 1 / f. [t0]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Steps(Ratio);

impl Steps {
    /// No time at all.
    pub const ZERO: Steps = Steps(Ratio::new(0, 1));

    /// `scaled / scale` steps; a `scale` of zero counts as one.
    pub const fn new(scaled: u64, scale: u64) -> Steps {
        Steps(Ratio::new(scaled, if scale == 0 { 1 } else { scale }))
    }

    /// The time in units of the scaled time of `lambda`, 1 / f, rounded down.
    pub(super) fn scaled(self, lambda: Lambda) -> u64 {
        let units = u128::from(self.0.numerator) * u128::from(lambda.scale()) / u128::from(self.0.denominator);
        u64::try_from(units).unwrap_or(u64::MAX)
    }

    /// The nearest floating-point number. [t0]
    pub fn as_f64(self) -> f64 {
        self.0.as_f64()
    }

    /// Its duration where a step is `t0`, to the nearest picosecond; saturates at the longest duration.
    pub fn of(self, t0: Duration) -> Duration {
        let (steps, parts) = (u128::from(self.0.numerator), u128::from(self.0.denominator));
        let length = (steps * u128::from(t0.picoseconds()) + parts / 2) / parts;
        Duration::from_picoseconds(u64::try_from(length).unwrap_or(u64::MAX))
    }
}

/// As a decimal number where that is exact, otherwise as a fraction: `7.4`, `37/3`.
impl fmt::Display for Steps {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}
