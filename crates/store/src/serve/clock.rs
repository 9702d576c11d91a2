//! The time of day and how long something takes, by one look at a clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::record::Milliseconds;

/// Says what time of day it is at an instant. It is to be set now and then, as the time of day may be set.
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
    #[allow(clippy::disallowed_methods)] // a store is asked when keys expire
    pub fn set() -> Clock {
        let now = Instant::now();
        Clock { set: now, unix: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(), start: now }
    }

    /// Sets it again.
    pub fn set_again(&mut self) {
        *self = Clock { start: self.start, ..Clock::set() };
    }

    /// How long it was set for the first time before an instant, whatever the time of day was set to meanwhile. [ms]
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
