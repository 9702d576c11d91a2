//! Another rank, as this one sees it.

use quantities::{Duration, Rank, Time};

use crate::broadcast;
use crate::packet::{Body, Data, Parity, ReceiverReport};
use crate::push_pull::{Matching, Receiver, Sender};
use crate::waiting::Waiting;
use crate::{Parameters, Timing};

/// The state of another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerState {
    Present,
    /// Its program has ended, and everything that it sent has arrived.
    Ended,
    /// Nothing has arrived from it for too long.
    Gone,
}

/// Everything between this rank and another.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// What it broadcasts.
    pub(crate) broadcasts: broadcast::Receiver,
    /// It broadcasts without this rank.
    pub(crate) dropped: bool,
    pub(crate) state: PeerState,
    /// It was gone before it had everything that was sent to it.
    pub(crate) missed: bool,
    /// Whether it has to pull something before this rank can continue, and when to ask it next whether it is still
    /// there.
    pulls: Waiting,
    /// When something last arrived from it.
    pub(crate) last_heard: Time,
    /// Since this rank has ended: what it still has to tell the peer.
    farewell: Option<Farewell>,
}

/// After this rank has ended: tells the other so until it knows, and asks whether it is still there until it has ended
/// too.
#[derive(Clone, Copy, Debug)]
struct Farewell {
    /// Since when, and when next.
    since: Time,
    at: Time,
    interval: Duration,
    /// Whether the other knows.
    knows: bool,
    /// How many more times it is told once it has ended as well: it may have left.
    left: u32,
    /// It no longer answers.
    in_vain: bool,
}

/// How many times a rank that has ended is told that this one has, if it does not answer.
const FAREWELL_ATTEMPTS: u32 = 5;

impl Peer {
    pub(crate) fn new(me: Rank, size: u32, parameters: &Parameters) -> Peer {
        Peer {
            sender: Sender::new(parameters),
            receiver: Receiver::new(parameters),
            broadcasts: broadcast::Receiver::new(me, size, parameters),
            dropped: false,
            state: PeerState::Present,
            missed: false,
            pulls: Waiting::new(parameters.timing),
            last_heard: Time::ZERO,
            farewell: None,
        }
    }

    /// The same rank, where messages to it and from it, except for broadcasts, go with other parameters.
    pub(crate) fn with_parameters(self, parameters: &Parameters) -> Peer {
        Peer { sender: Sender::new(parameters), receiver: Receiver::new(parameters), ..self }
    }

    /// Whether a message from it has arrived, or begun to, and has not been received.
    pub(crate) fn has_begun(&self) -> bool {
        self.receiver.has_any()
    }

    /// Whether it lacks something that was sent to it.
    pub(crate) fn lacks_data(&self) -> bool {
        self.sender.waiting() > 0
    }

    /// Takes a packet with a part of a message from it, rank `from`.
    pub(crate) fn take(
        &mut self,
        now: Time,
        from: Rank,
        data: Data,
        (broadcast, answer): (bool, bool),
        matching: &mut Matching,
    ) {
        if !broadcast {
            self.receiver.take(now, from, data, answer, matching);
        } else if !self.dropped {
            self.broadcasts.take(now, data, answer);
        }
    }

    /// Takes a parity packet.
    pub(crate) fn take_parity(&mut self, now: Time, parity: &Parity, broadcast: bool) {
        if broadcast && !self.dropped {
            self.broadcasts.take_parity(now, parity);
        }
    }

    /// It asks what has arrived of its messages, or of its broadcasts.
    pub(crate) fn ask(&mut self, now: Time, broadcast: bool) {
        if !broadcast {
            self.receiver.ask(now);
        } else if !self.dropped {
            self.broadcasts.ask(now);
        }
    }

    /// Takes a report on what this rank sent to it.
    pub(crate) fn report(&mut self, now: Time, report: &ReceiverReport) {
        self.sender.report(now, report);
        if let Some(farewell) = &mut self.farewell {
            farewell.knows |= report.knows;
        }
        if report.ended && self.state == PeerState::Present {
            self.state = PeerState::Ended;
            self.sender.clear();
        }
    }

    /// Notes whether it has to pull something: a message or, if `broadcast`, a broadcast for all.
    pub(crate) fn watch(&mut self, now: Time, broadcast: bool) {
        let message = self.sender.waiting() > 0 && !self.sender.window().is_under_way();
        if (message || broadcast) && self.state == PeerState::Present {
            self.pulls.post(now);
        } else {
            self.pulls.withdraw();
        }
    }

    /// This rank has ended, and the other has to be told.
    pub(crate) fn end(&mut self, now: Time, timing: Timing) {
        let interval = timing.first;
        self.farewell =
            Some(Farewell { since: now, at: now, interval, knows: false, left: FAREWELL_ATTEMPTS, in_vain: false });
    }

    /// Whether this rank has ended and the other has to be told.
    pub(crate) const fn needs_farewell(&self) -> bool {
        self.farewell.is_some()
    }

    /// Whether neither has anything left to say to the other.
    pub(crate) fn is_over(&self) -> bool {
        let answered = self.farewell.is_some_and(|farewell| farewell.knows || farewell.in_vain);
        self.state == PeerState::Gone || (self.state == PeerState::Ended && answered)
    }

    /// When to tell it next that this rank has ended.
    fn farewell_at(&self) -> Option<Time> {
        self.farewell.filter(|_| !self.is_over()).map(|farewell| farewell.at)
    }

    /// Sends again what was not acknowledged, and gives up on a farewell that is not answered. Returns whether anything
    /// is to be sent again.
    pub(crate) fn wake(&mut self, now: Time) -> bool {
        let has_run_out = self.sender.wake(now);
        if let Some(farewell) = &mut self.farewell {
            farewell.in_vain |= farewell.left == 0 && farewell.at <= now;
        }
        has_run_out
    }

    /// Whether to tell it now.
    fn farewell_is_due(&mut self, now: Time, most: Duration) -> bool {
        let due = self.farewell_at().is_some_and(|at| at <= now);
        let (has_ended, farewell) = (self.state == PeerState::Ended, self.farewell.as_mut().filter(|_| due));
        if let Some(farewell) = farewell {
            farewell.at = now + farewell.interval;
            let twice = farewell.interval.picoseconds().saturating_mul(2).min(most.picoseconds());
            farewell.interval = Duration::from_picoseconds(twice);
            farewell.left -= u32::from(has_ended);
        }
        due
    }

    /// What to tell it now, and whether it has to answer.
    pub(crate) fn due(&mut self, now: Time, parameters: &Parameters, ended: bool) -> Vec<(Body, bool, bool)> {
        let mut due = Vec::new();
        let mut asks = false;
        if self.farewell_is_due(now, parameters.timing.most) {
            self.receiver.report_at(now);
            asks = true;
        }
        if self.pulls.next_question_at(false).is_some_and(|at| at <= now) {
            self.pulls.note_question(now);
            self.receiver.report_at(now);
            asks = true;
        }
        if let Some((report, answer)) = self.receiver.report(now) {
            let report = ReceiverReport { ended, knows: self.state == PeerState::Ended, ..report };
            due.push((Body::Report(report), false, asks || answer));
        }
        if let Some((report, answer)) = self.broadcasts.report(now).filter(|_| !self.dropped) {
            due.push((Body::Report(report), true, answer));
        }
        due
    }

    /// Since when it should have sent something and has not; `view` is since when it should have reported having a
    /// broadcast.
    pub(crate) fn silent_since(&self, view: Option<Time>) -> Option<Time> {
        let receives = self.receiver.waiting().since(self.receiver.is_pulling());
        let broadcasts = self.broadcasts.waiting().since(false).filter(|_| !self.dropped);
        let farewell = self.farewell.map(|farewell| farewell.since);
        let since = [self.sender.window().stuck_since(), self.pulls.since(false), receives, broadcasts, view, farewell];
        let since = since.into_iter().flatten().min().filter(|_| self.state == PeerState::Present)?;
        Some(since.max(self.last_heard))
    }

    /// When something is due between the two ranks.
    pub(crate) fn deadline(&self) -> Option<Time> {
        let broadcasts = self.broadcasts.deadline().filter(|_| !self.dropped);
        let (sender, pulls) = (self.sender.window().deadline(), self.pulls.next_question_at(false));
        let deadlines = [sender, pulls, self.receiver.deadline(), broadcasts, self.farewell_at()];
        deadlines.into_iter().flatten().min().filter(|_| self.state != PeerState::Gone)
    }

    /// Nothing has arrived from it for too long.
    pub(crate) fn lose(&mut self) {
        self.state = PeerState::Gone;
        self.missed = self.sender.waiting() > 0;
        self.pulls.withdraw();
        self.sender.clear();
    }
}
