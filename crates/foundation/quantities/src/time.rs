//! Instants and lengths of simulated time, in whole picoseconds.
//!
//! Both end at 2^63 - 1 ps, some 106 days: [`Time::NEVER`] and [`Duration::LONGEST`]. Whatever is greater is that
//! value: a sum or product never wraps, and every time fits into the signed 64 bits of files and of other languages.
//! Code that reports a time first checks that it is still below that value.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};
use std::str::FromStr;

use crate::notation::{self, Kind, ParseError, Unit};

/// The greatest number of picoseconds, which stands for every greater one. [ps]
const GREATEST: u64 = i64::MAX as u64;

/// `picoseconds`, or the greatest number of them if they are more.
#[inline]
const fn limited(picoseconds: u64) -> u64 {
    if picoseconds < GREATEST { picoseconds } else { GREATEST }
}

/// An instant of simulated time: picoseconds since the run began. [ps]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of simulated time in picoseconds. [ps]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Time {
    /// The beginning of every run.
    pub const ZERO: Time = Time(0);
    /// Later than every event: 2^63 - 1 ps, some 106 days.
    pub const NEVER: Time = Time(GREATEST);

    /// The instant `picoseconds` after the run began; [`Time::NEVER`] where that is later.
    #[inline]
    pub const fn from_picoseconds(picoseconds: u64) -> Time {
        Time(limited(picoseconds))
    }
    /// Picoseconds since the run began. [ps]
    pub const fn picoseconds(self) -> u64 {
        self.0
    }
    /// How long after `earlier` this instant is; zero when it is not later.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
    /// Seconds since the run began, for printing. [s]
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// Whole days since the run began, for printing. [d]
    pub const fn days(self) -> u64 {
        self.0 / (86_400 * 1_000_000_000_000)
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// The longest that can be represented, which stands for everything longer.
    pub const LONGEST: Duration = Duration(GREATEST);

    /// A length of `picoseconds`; [`Duration::LONGEST`] where that is longer.
    #[inline]
    pub const fn from_picoseconds(picoseconds: u64) -> Duration {
        Duration(limited(picoseconds))
    }
    /// A length of `nanoseconds`.
    pub const fn from_nanoseconds(nanoseconds: u64) -> Duration {
        Duration::from_picoseconds(nanoseconds.saturating_mul(1_000))
    }
    /// A length of `microseconds`.
    pub const fn from_microseconds(microseconds: u64) -> Duration {
        Duration::from_picoseconds(microseconds.saturating_mul(1_000_000))
    }
    /// The length in picoseconds. [ps]
    pub const fn picoseconds(self) -> u64 {
        self.0
    }
    /// The length in microseconds, for printing. [us]
    pub fn microseconds(self) -> f64 {
        self.0 as f64 * 1e-6
    }
    /// The length in seconds, for printing. [s]
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// Whether it is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, length: Duration) -> Time {
        Time(limited(self.0 + length.0))
    }
}
impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, length: Duration) {
        *self = *self + length;
    }
}
impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, length: Duration) -> Time {
        Time(self.0 - length.0)
    }
}
impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(limited(self.0 + other.0))
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}
impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0 - other.0)
    }
}
impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Duration) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, times: u64) -> Duration {
        Duration(limited(self.0.saturating_mul(times)))
    }
}
impl Sum for Duration {
    fn sum<I: Iterator<Item = Duration>>(lengths: I) -> Duration {
        lengths.fold(Duration::ZERO, Add::add)
    }
}

const UNITS: [Unit; 5] = [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];

/// Microseconds with either of the two characters that print as a small mu.
const OTHER_SPELLINGS: [Unit; 2] = [("\u{b5}s", 1_000_000), ("\u{3bc}s", 1_000_000)];

static DURATION: Kind = kind("a duration");
static TIME: Kind = kind("a time");

const fn kind(quantity: &'static str) -> Kind {
    Kind {
        quantity,
        example: "1.5 us",
        value_name: "TIME",
        units: &UNITS,
        other_spellings: &OTHER_SPELLINGS,
        suggestion,
        unit_left_out: None,
        finest: "a picosecond",
        greatest: GREATEST,
        too_large: "it is more than 106 days, the most that picoseconds can count",
    }
}

fn suggestion(unit: &str) -> String {
    notation::did_you_mean(notation::nearest_unit(unit, &UNITS))
}

/// Writes `picoseconds` in the largest unit that is not larger than the value.
fn print(out: &mut fmt::Formatter<'_>, picoseconds: u64) -> fmt::Result {
    let unit = UNITS.iter().rev().find(|unit| picoseconds >= unit.1).unwrap_or(&UNITS[0]);
    notation::print(out, picoseconds, *unit)
}

impl FromStr for Duration {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Duration, ParseError> {
        DURATION.parse(text).map(Duration)
    }
}
impl FromStr for Time {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Time, ParseError> {
        TIME.parse(text).map(Time)
    }
}

/// Exactly, in the largest unit that is not larger than the value: `1.5 us`, `0 ps`.
impl fmt::Display for Duration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(out, self.0)
    }
}
/// As a [`Duration`] since the beginning of the run.
impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(out, self.0)
    }
}

notation::as_text!(Duration, DURATION);
notation::as_text!(Time, TIME);
