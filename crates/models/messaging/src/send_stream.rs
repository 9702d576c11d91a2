//! The source's side of a stream to one receiver: what is in flight to it, and what to send again and when.
//!
//! It knows packets only by number. The packets themselves are in a [`crate::SharedQueue`], once for any number of
//! receivers; this is what each receiver needs in addition.

use quantities::{Duration, Time};

use crate::packet::ReceiverReport;
use crate::send_order::SendOrder;
use crate::sequence::near;
use crate::{Parity, Probe, RoundTrip, Timing, go_back_n, selective_repeat};

/// What is sent again when a packet is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// It and all packets after it.
    #[default]
    GoBackN,
    /// It alone.
    Selective,
    /// For broadcasts, parity packets, each of which repairs a different loss at every receiver. For messages to one
    /// rank, it alone.
    Parity(Parity),
}

#[derive(Clone, Debug)]
enum Repeats {
    GoBackN(go_back_n::Repeats),
    Selective(selective_repeat::Repeats),
    /// Only what it is told: losses are mostly repaired otherwise.
    Reported(selective_repeat::Repeats),
}

/// A stream to one receiver.
///
/// ```text
///            base             next
///     ........|################|-------->      # in flight
///     has all |                | not sent yet
/// ```
///
/// The receiver has had a chance to get what was sent before `seen`; the rest is in the network.
#[derive(Clone, Debug)]
pub struct SendStream {
    base: u64,
    next: u64,
    seen: u64,
    repeats: Repeats,
    /// For selective repeat, if what was overtaken is to count as lost.
    order: Option<Box<SendOrder>>,
    round_trip: RoundTrip,
    /// A packet that was sent once, and when: the next round trip to be measured.
    timed: Option<(u64, Time)>,
    /// When the base is sent again if nothing arrives.
    timer: Option<Time>,
    /// How the receiver is asked what it has, and the state of that question.
    probe: Probe,
    question: Question,
    /// The receiver has no room.
    no_room: bool,
    /// Since when the base has been the same with something in flight.
    since: Time,
    /// How many packets were sent again.
    repeated: u64,
}

/// When nothing arrives, one packet is sent again rather than all, or only a question: the answer tells which are
/// needed.
///
/// A question differs from the packet that it may repeat in that it requests an answer: the report that it causes says
/// that it answers. If a report that does not say so advances the base, the packet itself had arrived, and the timeout
/// was too short (the Eifel algorithm, with marks on retransmissions instead of timestamps: RFC 3522). Then nothing
/// counts as lost, and the round trips of packets that were not sent again tell how long to wait.
///
/// If several questions are in flight, it is unknown which of them is answered. Questions without data are mostly asked
/// too soon: then the first is assumed, and nothing is known of what was sent after it. Otherwise the others are
/// assumed lost, and the last is the one answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Nothing,
    /// It is to be asked, perhaps again: when it was first asked, everything before this packet had been sent.
    Pending(Option<u64>),
    /// It was asked when everything before this packet had been sent.
    Sent(u64),
}

impl SendStream {
    /// A stream whose first packet has number `first`.
    pub fn new(first: u64, repeat: Repeat, timing: Timing) -> SendStream {
        let repeats = match repeat {
            Repeat::GoBackN => Repeats::GoBackN(go_back_n::Repeats::default()),
            Repeat::Selective | Repeat::Parity(_) => Repeats::Selective(selective_repeat::Repeats::default()),
        };
        SendStream {
            base: first,
            next: first,
            seen: first,
            repeats,
            order: None,
            round_trip: RoundTrip::new(timing),
            timed: None,
            timer: None,
            probe: Probe::WithPacket,
            question: Question::Nothing,
            no_room: false,
            since: Time::ZERO,
            repeated: 0,
        }
    }

    /// A stream that sends again only those packets that [`SendStream::lost_alone`] is told of, besides asking what the
    /// receiver has.
    pub(crate) fn with_parity(first: u64, timing: Timing) -> SendStream {
        let repeats = Repeats::Reported(selective_repeat::Repeats::default());
        SendStream { repeats, ..SendStream::new(first, Repeat::Selective, timing) }
    }

    /// The same, asking the receiver in this way.
    #[must_use]
    pub fn with_probe(self, probe: Probe) -> SendStream {
        SendStream { probe, ..self }
    }

    /// The same; a packet also counts as lost if one that was sent later has arrived. That takes memory for every
    /// packet in flight.
    #[must_use]
    pub fn with_send_order(self) -> SendStream {
        SendStream { order: Some(Box::new(SendOrder::new(self.round_trip.longest()))), ..self }
    }

    /// The memory for the order in which packets were sent. [B]
    pub(crate) fn size_of_order(&self) -> usize {
        self.order.as_ref().map_or(0, |order| SendOrder::size(order.packets()))
    }

    /// The first packet that the receiver is not known to have.
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// The first packet that the receiver has had no chance to get yet.
    pub(crate) const fn seen(&self) -> u64 {
        self.seen
    }

    /// Whether something is in flight.
    pub const fn is_under_way(&self) -> bool {
        self.base < self.next
    }

    /// How many packets were sent again.
    pub const fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Whether the receiver has reported that it has no room.
    pub const fn has_no_room(&self) -> bool {
        self.no_room
    }

    /// Since when the receiver has got no further although something is in flight.
    pub const fn stuck_since(&self) -> Option<Time> {
        if self.is_under_way() { Some(self.since) } else { None }
    }

    /// Whether no new broadcast may be sent until the receiver has what it lost, or has room. A receiver that keeps
    /// early packets is not waited for as long as it has room.
    pub fn is_behind(&self) -> bool {
        let lost = match &self.repeats {
            Repeats::GoBackN(repeats) => repeats.is_going_back(self.base) || self.question != Question::Nothing,
            Repeats::Selective(_) | Repeats::Reported(_) => false,
        };
        self.is_under_way() && (lost || self.no_room)
    }

    /// Nothing that is in flight is needed any more.
    pub fn give_up(&mut self) {
        (self.base, self.seen) = (self.next, self.next);
        self.order.iter_mut().for_each(|order| order.pass(usize::MAX));
        (self.timer, self.timed, self.no_room) = (None, None, false);
    }

    /// When [`SendStream::wake`] has something to do.
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
        self.order.iter_mut().for_each(|order| order.sent(now));
        self.next += 1;
    }

    /// Sends the base again if its time has come: nothing has arrived in time. Returns whether it has.
    pub fn wake(&mut self, now: Time) -> bool {
        let has_run_out = self.timer.is_some_and(|timer| timer <= now);
        if has_run_out {
            self.round_trip.back_off();
            self.timer = Some(now + self.round_trip.timeout());
            self.question = match self.question {
                Question::Sent(first) => Question::Pending(Some(first)),
                Question::Nothing => Question::Pending(None),
                to_ask @ Question::Pending(_) => to_ask,
            };
        }
        has_run_out
    }

    /// Whether to ask the receiver now what it has, with a question alone.
    pub fn should_ask(&mut self) -> bool {
        match (self.question, self.probe) {
            (Question::Pending(first), Probe::Alone) if self.is_under_way() => {
                self.question = Question::Sent(first.unwrap_or(self.next));
                true
            }
            _ => false,
        }
    }

    /// A packet to send again now, and whether the receiver has to answer at once.
    pub fn repeat(&mut self, now: Time) -> Option<(u64, bool)> {
        if !self.is_under_way() {
            return None;
        }
        let repeat = if let (Question::Pending(_), Probe::WithPacket) = (self.question, self.probe) {
            self.question = Question::Sent(self.next);
            Some((self.base, true))
        } else if self.no_room {
            None
        } else {
            match &mut self.repeats {
                Repeats::GoBackN(repeats) => repeats.pop(self.base),
                Repeats::Selective(repeats) | Repeats::Reported(repeats) => repeats.pop(),
            }
        };
        if let Some((sequence, _)) = repeat {
            // Karn's rule: the answer to a packet that was sent twice tells nothing about the round trip.
            self.timed = self.timed.filter(|(timed, _)| *timed != sequence);
            self.timer = Some(now + self.round_trip.timeout());
            self.order.iter_mut().for_each(|order| order.sent_again((sequence - self.base) as usize, now));
            self.repeated += 1;
        }
        repeat
    }

    /// Takes a receiver's report, unless a later one has arrived before. Returns whether everything that it lacks is
    /// lost, since it was asked, or had no room.
    pub fn report(&mut self, now: Time, report: &ReceiverReport) -> Option<bool> {
        let expected = near(self.base, report.expected)?;
        if expected < self.base || expected > self.next {
            return None;
        }
        self.measure(now, |sequence| sequence < expected || selective_repeat::has(&report.bitmap, expected, sequence));
        if let (Some(order), end) = (&mut self.order, selective_repeat::end(&report.bitmap, expected))
            && let Some(last) = end.checked_sub(self.base + 1)
        {
            order.arrived(last as usize);
        }
        if expected > self.base {
            if self.probe == Probe::Alone {
                // Asking too soon costs next to nothing, and a receiver that has got further can be asked.
                self.round_trip.forget_silence();
            }
            if !report.answers {
                // The packet had been on its way all the time.
                self.question = Question::Nothing;
            }
            self.order.iter_mut().for_each(|order| order.pass((expected - self.base) as usize));
            self.base = expected;
            self.since = now;
            self.timer = self.is_under_way().then(|| now + self.round_trip.timeout());
        }
        self.update_seen(now, expected, report);
        let had_no_room = std::mem::replace(&mut self.no_room, report.no_room);
        if let Repeats::Selective(repeats) | Repeats::Reported(repeats) = &mut self.repeats {
            repeats.acknowledged(expected, |sequence| selective_repeat::has(&report.bitmap, expected, sequence));
        }
        if !self.is_under_way() {
            self.question = Question::Nothing;
            return Some(false);
        }
        if report.no_room {
            return Some(false);
        }
        // What was sent before the question is lost if it has not arrived by the answer.
        let asked = match self.question {
            Question::Sent(end) if report.answers => Some(end),
            _ => None,
        };
        let end = if had_no_room && self.drops_without_room() { Some(self.next) } else { asked };
        if report.missing || end.is_some_and(|end| self.base < end) {
            self.lost(now, report, end);
        }
        self.overtaken(now, report);
        if let Some(end) = end {
            self.question = Question::Nothing;
            self.seen = self.seen.max(end);
        }
        Some(end.is_some())
    }

    /// Whether a receiver without room throws away what arrives. One that keeps early packets keeps this, too.
    const fn drops_without_room(&self) -> bool {
        !matches!(self.repeats, Repeats::Selective(_))
    }

    /// Notes how far the receiver has seen what was sent.
    fn update_seen(&mut self, now: Time, expected: u64, report: &ReceiverReport) {
        let seen = selective_repeat::end(&report.bitmap, expected).min(self.next);
        if seen <= self.seen {
            return;
        }
        self.seen = seen;
        if let Repeats::Reported(_) = self.repeats {
            // What it misses of this is repaired without being asked for, and tells nothing about the round trip when
            // it arrives.
            self.timed = self.timed.filter(|&(timed, _)| timed >= seen);
            self.timer = self.is_under_way().then(|| now + self.round_trip.timeout());
            self.since = now;
        }
    }

    /// These packets have to be sent again; `asked` as [`SendStream::report`] returns it.
    pub(crate) fn lost_alone(&mut self, now: Time, asked: bool, missing: impl Iterator<Item = u64>) {
        let pause = if asked { Duration::ZERO } else { self.round_trip.longest() };
        if let Repeats::Reported(repeats) = &mut self.repeats {
            repeats.lost(now, pause, missing);
        }
    }

    /// Measures the round trip of the packet that is timed, if the receiver `has` it.
    fn measure(&mut self, now: Time, has: impl Fn(u64) -> bool) {
        if let Some((_, sent)) = self.timed.take_if(|(timed, _)| has(*timed)) {
            let measured = now.since(sent);
            self.round_trip.sample(measured);
            self.order.iter_mut().for_each(|order| order.measured(measured));
        }
    }

    /// What the receiver lacks is lost if it has something that was sent later.
    fn overtaken(&mut self, now: Time, report: &ReceiverReport) {
        let (Repeats::Selective(repeats), Some(order), base) = (&mut self.repeats, &self.order, self.base) else {
            return;
        };
        let holes = selective_repeat::holes(&report.bitmap, base);
        repeats.lost(now, Duration::ZERO, holes.filter(|sequence| order.is_overtaken((sequence - base) as usize)));
    }

    /// What the receiver lacks is lost: as far as its report shows, or everything before `end`.
    fn lost(&mut self, now: Time, report: &ReceiverReport, end: Option<u64>) {
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
            (Repeats::Reported(_), _) => {}
        }
    }
}
