//! The clock.

use nix::time::{ClockId, clock_gettime};
use quantities::Time;

/// A monotonic clock that all processes of a machine share.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// What the machine's clock shows at [`Time::ZERO`]. [ns]
    zero: u64,
}

impl Clock {
    /// A clock that begins now.
    pub fn starting_now() -> Clock {
        Clock::starting_at(machine_time())
    }

    /// A clock that begins when the machine's clock shows `zero` nanoseconds: processes of one machine that agree on it
    /// have the same time.
    pub const fn starting_at(zero: u64) -> Clock {
        Clock { zero }
    }

    /// What the machine's clock shows when this one begins. [ns]
    pub const fn zero(&self) -> u64 {
        self.zero
    }

    /// The current time; before its beginning the clock stands still.
    pub fn now(&self) -> Time {
        Time::from_picoseconds(machine_time().saturating_sub(self.zero).saturating_mul(1_000))
    }
}

/// What the machine's clock shows. [ns]
pub fn machine_time() -> u64 {
    // Every Linux has this clock, and it shows no negative times.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| {
        let part = |number: i64| u64::try_from(number).unwrap_or(0);
        part(time.tv_sec()) * 1_000_000_000 + part(time.tv_nsec())
    })
}
