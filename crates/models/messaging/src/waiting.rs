//! A receive that waits, and asks from time to time whether the source is still there.

use quantities::{Duration, Time};

use crate::Timing;

/// Whether a receive waits, and when it asks next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    timing: Timing,
    posted: bool,
    /// Since when it has waited, or something last arrived.
    since: Time,
    /// How long until it asks; doubled each time.
    interval: Duration,
    next_question_at: Time,
}

impl Waiting {
    pub(crate) const fn new(timing: Timing) -> Waiting {
        Waiting { timing, posted: false, since: Time::ZERO, interval: timing.first, next_question_at: Time::ZERO }
    }

    pub(crate) const fn is_posted(&self) -> bool {
        self.posted
    }

    pub(crate) fn post(&mut self, now: Time) {
        if !self.posted {
            self.posted = true;
            self.note_arrival(now);
        }
    }

    pub(crate) fn withdraw(&mut self) {
        self.posted = false;
    }

    /// Something has arrived.
    pub(crate) fn note_arrival(&mut self, now: Time) {
        self.since = now;
        self.interval = self.timing.first;
        self.next_question_at = now + self.interval;
    }

    /// It has asked.
    pub(crate) fn note_question(&mut self, now: Time) {
        let twice = self.interval.picoseconds().saturating_mul(2).min(self.timing.most.picoseconds());
        self.interval = Duration::from_picoseconds(twice);
        self.next_question_at = now + self.interval;
    }

    /// When it asks; even without a receive if something is being pulled.
    pub(crate) fn next_question_at(&self, pulls: bool) -> Option<Time> {
        (self.posted || pulls).then_some(self.next_question_at)
    }

    /// Since when it has waited for the source, if it has.
    pub(crate) fn since(&self, pulls: bool) -> Option<Time> {
        (self.posted || pulls).then_some(self.since)
    }
}
