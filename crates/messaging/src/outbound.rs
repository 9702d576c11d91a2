//! The source's side of a stream to one receiver: what is under way to it, when to send what again.
//!
//! It knows packets by their numbers only. The packets themselves lie in a [`crate::SharedQueue`], once for however many
//! receivers; this is what each of them needs besides.

use quantities::{Duration, Time};

use crate::packet::Report;
use crate::sequence::near;
use crate::{RoundTrip, Timing, go_back_n, selective_repeat};

/// What is sent again when a packet is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// It and all packets after it.
    #[default]
    GoBackN,
    /// It alone.
    Selective,
}

#[derive(Clone, Debug)]
enum Repeats {
    GoBackN(go_back_n::Repeats),
    Selective(selective_repeat::Repeats),
}

/// A stream to one receiver.
///
/// ```text
///            base             next
///     ........|################|-------->      # under way
///     has all |                | not sent yet
/// ```
#[derive(Clone, Debug)]
pub struct Outbound {
    base: u64,
    next: u64,
    repeats: Repeats,
    round_trip: RoundTrip,
    /// A packet that was sent once, and when: the next round trip that will be measured.
    timed: Option<(u64, Time)>,
    /// When the base is sent again if nothing is heard.
    timer: Option<Time>,
    /// How it stands with asking the receiver what it has.
    asking: Asking,
    /// The receiver has no room.
    no_room: bool,
    /// Since when the base is what it is and something is under way.
    since: Time,
    /// How many packets were sent again.
    repeated: u64,
}

/// When nothing is heard, one packet is sent again rather than all: its answer says which are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asking {
    Nothing,
    ToAsk,
    /// It was asked, when all before this packet had been sent.
    Asked(u64),
}

impl Outbound {
    /// A stream whose first packet has number `first`.
    pub fn new(first: u64, repeat: Repeat, timing: Timing) -> Outbound {
        let repeats = match repeat {
            Repeat::GoBackN => Repeats::GoBackN(go_back_n::Repeats::default()),
            Repeat::Selective => Repeats::Selective(selective_repeat::Repeats::default()),
        };
        Outbound {
            base: first,
            next: first,
            repeats,
            round_trip: RoundTrip::new(timing),
            timed: None,
            timer: None,
            asking: Asking::Nothing,
            no_room: false,
            since: Time::ZERO,
            repeated: 0,
        }
    }

    /// The first packet that the receiver is not known to have.
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// Whether something is under way.
    pub const fn is_under_way(&self) -> bool {
        self.base < self.next
    }

    /// How many packets were sent again.
    pub const fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Whether the receiver has said that it has no room.
    pub const fn has_no_room(&self) -> bool {
        self.no_room
    }

    /// Since when the receiver has got no further although something is under way.
    pub const fn stuck_since(&self) -> Option<Time> {
        if self.is_under_way() { Some(self.since) } else { None }
    }

    /// Whether nothing new is to be broadcast until the receiver has what it lost, or has room. One that keeps what comes early is not
    /// waited for as long as it has room.
    pub fn is_behind(&self) -> bool {
        let lost = match &self.repeats {
            Repeats::GoBackN(repeats) => repeats.is_going_back(self.base) || self.asking != Asking::Nothing,
            Repeats::Selective(_) => false,
        };
        self.is_under_way() && (lost || self.no_room)
    }

    /// Nothing of what is under way is needed any more.
    pub fn give_up(&mut self) {
        self.base = self.next;
        (self.timer, self.timed, self.no_room) = (None, None, false);
    }

    /// When [`Outbound::wake`] has something to do.
    pub const fn deadline(&self) -> Option<Time> {
        self.timer
    }

    /// The next packet was sent for the first time.
    pub fn sent(&mut self, now: Time) {
        if !self.is_under_way() {
            self.since = now;
            self.timer = Some(now + self.round_trip.timeout());
        }
        self.timed = self.timed.or(Some((self.next, now)));
        self.next += 1;
    }

    /// Sends the base again if its time has come.
    pub fn wake(&mut self, now: Time) {
        if self.timer.is_some_and(|timer| timer <= now) {
            self.round_trip.back_off();
            self.timer = Some(now + self.round_trip.timeout());
            self.asking = Asking::ToAsk;
        }
    }

    /// A packet to be sent again now, and whether the receiver is to answer at once.
    pub fn repeat(&mut self, now: Time) -> Option<(u64, bool)> {
        if !self.is_under_way() {
            return None;
        }
        let repeat = if self.asking == Asking::ToAsk {
            self.asking = Asking::Asked(self.next);
            Some((self.base, true))
        } else if self.no_room {
            None
        } else {
            match &mut self.repeats {
                Repeats::GoBackN(repeats) => repeats.pop(self.base),
                Repeats::Selective(repeats) => repeats.pop(),
            }
        };
        if let Some((sequence, _)) = repeat {
            // Karn's rule: the answer to a packet that was sent twice tells no time.
            self.timed = self.timed.filter(|(timed, _)| *timed != sequence);
            self.timer = Some(now + self.round_trip.timeout());
            self.repeated += 1;
        }
        repeat
    }

    /// Takes what the receiver says of itself; whether it has more than was known.
    pub fn report(&mut self, now: Time, report: &Report) -> bool {
        let Some(expected) = near(self.base, report.expected) else { return false };
        if expected < self.base || expected > self.next {
            return false;
        }
        self.measure(now, |sequence| sequence < expected || selective_repeat::has(&report.bitmap, expected, sequence));
        let progress = expected > self.base;
        if progress {
            self.base = expected;
            self.since = now;
            self.timer = self.is_under_way().then(|| now + self.round_trip.timeout());
        }
        let had_no_room = std::mem::replace(&mut self.no_room, report.no_room);
        if let Repeats::Selective(repeats) = &mut self.repeats {
            repeats.acknowledged(expected, |sequence| selective_repeat::has(&report.bitmap, expected, sequence));
        }
        if !self.is_under_way() {
            self.asking = Asking::Nothing;
        } else if !report.no_room {
            // What was sent before the question is lost if it is not there when that is answered.
            let asked = match self.asking {
                Asking::Asked(end) if report.answers => Some(end),
                _ => None,
            };
            let end = if had_no_room { Some(self.next) } else { asked };
            if report.missing || end.is_some_and(|end| self.base < end) {
                self.lost(now, report, end);
            }
            if end.is_some() {
                self.asking = Asking::Nothing;
            }
        }
        progress
    }

    /// Measures the round trip of the packet that is timed, if the receiver `has` it.
    fn measure(&mut self, now: Time, has: impl Fn(u64) -> bool) {
        if let Some((_, sent)) = self.timed.take_if(|(timed, _)| has(*timed)) {
            self.round_trip.sample(now.since(sent));
        }
    }

    /// What the receiver does not have is lost: as far as that can be told from what it has, or all before `end`.
    fn lost(&mut self, now: Time, report: &Report, end: Option<u64>) {
        let pause = if end.is_some() { Duration::ZERO } else { self.round_trip.longest() };
        let (base, next) = (self.base, self.next);
        match (&mut self.repeats, end) {
            (Repeats::GoBackN(repeats), _) => repeats.lost(now, pause, (base, next)),
            (Repeats::Selective(repeats), Some(end)) => {
                let has = |sequence: &u64| selective_repeat::has(&report.bitmap, base, *sequence);
                repeats.lost(now, pause, (base..end).filter(|sequence| !has(sequence)));
            }
            (Repeats::Selective(repeats), None) => {
                let holes = selective_repeat::holes(&report.bitmap, base);
                repeats.lost(now, pause, holes.take_while(|&sequence| sequence < next));
            }
        }
    }
}
