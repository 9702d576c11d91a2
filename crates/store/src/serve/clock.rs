//! The time of day and durations, both from one reading of a clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::record::Milliseconds;

/// Returns the time of day at an instant. It has to be set now and then, since the system's time of day may be changed.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    set: Instant,
    /// The time of day when it was set, since 1970.
    unix: Duration,
    /// When it was set for the first time.
    start: Instant,
}

impl Clock {
    /// A clock that is set now.
    #[allow(clippy::disallowed_methods)] // a store needs the time of day for keys that expire
    pub fn set() -> Clock {
        let now = Instant::now();
        Clock { set: now, unix: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(), start: now }
    }

    /// Sets it again.
    pub fn set_again(&mut self) {
        *self = Clock { start: self.start, ..Clock::set() };
    }

    /// The time from when the clock was first set to an instant, whatever the time of day was changed to meanwhile.
    /// [ms]
    pub fn since_start(&self, instant: Instant) -> Milliseconds {
        instant.saturating_duration_since(self.start).as_millis() as Milliseconds
    }

    /// The time of day at an instant.
    pub fn at(&self, instant: Instant) -> Milliseconds {
        (self.unix + instant.saturating_duration_since(self.set)).as_millis() as Milliseconds
    }
}

#[allow(clippy::disallowed_methods)] // how long clients had to wait for others
pub fn instant() -> Instant {
    Instant::now()
}
