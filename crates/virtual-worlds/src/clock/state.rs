//! The clocks of all ranks and the messages between them.

use std::collections::VecDeque;

use endpoint::{Message, WaitsFor};
use quantities::{Duration, Rank, Time};

use super::costs::{Costs, later, sum};
use super::mailbox::{Letter, Letters, Mailbox};
use crate::answer::{Activity, Answer, MessageRecord, RankStatistics, Span, Timeline};

/// All that the ranks of a run share.
#[derive(Debug)]
pub(super) struct State {
    costs: Costs,
    ranks: Vec<RankState>,
    letters: Letters,
    /// Ranks that can go on, in the order in which they came to.
    ready: VecDeque<Rank>,
    messages: u64,
    timeline: Option<Timeline>,
}

/// One rank's clock, network interface and mailbox.
#[derive(Clone, Copy, Debug)]
struct RankState {
    now: Time,
    /// From when on the network interface can send the next message.
    may_send: Time,
    /// From when on it can receive the next one.
    may_receive: Time,
    mailbox: Mailbox,
    waits_for: Option<WaitsFor>,
    statistics: RankStatistics,
}

impl State {
    pub(super) fn new(costs: Costs, size: u32, with_timeline: bool) -> State {
        let rank = RankState {
            now: Time::ZERO,
            may_send: Time::ZERO,
            may_receive: Time::ZERO,
            mailbox: Mailbox::EMPTY,
            waits_for: None,
            statistics: RankStatistics::default(),
        };
        State {
            costs,
            ranks: vec![rank; size as usize],
            letters: Letters::new(),
            ready: VecDeque::new(),
            messages: 0,
            timeline: with_timeline.then(Timeline::default),
        }
    }

    pub(super) fn size(&self) -> u32 {
        self.ranks.len() as u32
    }

    pub(super) fn now(&self, rank: Rank) -> Time {
        self.ranks[rank.0 as usize].now
    }

    /// What `rank` waits for; nothing when it was woken, has not begun or has ended.
    pub(super) fn waits_for(&self, rank: Rank) -> Option<WaitsFor> {
        self.ranks[rank.0 as usize].waits_for
    }

    /// A rank that can go on.
    pub(super) fn next_ready(&mut self) -> Option<Rank> {
        self.ready.pop_front()
    }

    pub(super) fn compute(&mut self, rank: Rank, work: Duration) {
        let here = &mut self.ranks[rank.0 as usize];
        let start = here.now;
        here.now = later(start, work);
        let end = here.now;
        self.record(rank, Activity::Compute, start, end);
    }

    /// Sends `message`; whether the sender now waits for its receiver.
    ///
    /// The send starts when both processor and network interface are free. It keeps the one for o + (s-1) O and the
    /// other for g + (s-1) G.
    pub(super) fn send(&mut self, from: Rank, to: Rank, message: Message) -> bool {
        let size = message.size();
        let waits = self.costs.waits_for_receiver(size);
        let sender = &mut self.ranks[from.0 as usize];
        let called = sender.now;
        let start = called.max(sender.may_send);
        sender.now = later(start, self.costs.sending(size));
        sender.may_send = later(start, self.costs.occupying(size));
        sender.statistics.packets += 1;
        let away = later(start, self.costs.leaving(size)).since(called);
        sender.statistics.send_away = sum(sender.statistics.send_away, away);
        if waits {
            sender.waits_for = Some(WaitsFor::Receiver(to));
        } else {
            let end = sender.now;
            self.record(from, Activity::Send, called, end);
        }
        let receiver = &mut self.ranks[to.0 as usize];
        let letter = Letter::new(from, called, self.costs.arrival(start), message);
        self.letters.post(to, &mut receiver.mailbox, letter);
        if receiver.waits_for == Some(WaitsFor::MessageFrom(from)) {
            receiver.waits_for = None;
            self.ready.push_back(to);
        }
        self.messages += 1;
        waits
    }

    /// The next message from `from`, if it was sent; otherwise `rank` waits for it.
    ///
    /// It is taken when it has arrived and both processor and network interface are free, and keeps the one for o +
    /// max((s-1) O, (s-1) G) and the other for g + (s-1) G.
    pub(super) fn receive(&mut self, rank: Rank, from: Rank) -> Option<Message> {
        let here = &mut self.ranks[rank.0 as usize];
        let Some(letter) = self.letters.take(rank, &mut here.mailbox, from) else {
            here.waits_for = Some(WaitsFor::MessageFrom(from));
            return None;
        };
        let asked = here.now;
        let taken = asked.max(letter.arrival).max(here.may_receive);
        here.now = later(taken, self.costs.receiving(letter.size()));
        here.may_receive = later(taken, self.costs.occupying(letter.size()));
        here.statistics.receive_idle = sum(here.statistics.receive_idle, letter.arrival.since(asked));
        let received = here.now;
        if self.costs.waits_for_receiver(letter.size()) {
            self.release_sender(from, taken, letter.called);
        }
        if let Some(timeline) = &mut self.timeline {
            let size = letter.size();
            timeline.messages.push(MessageRecord { from, to: rank, size, sent: letter.called, received });
        }
        self.record(rank, Activity::Receive, asked, received);
        Some(letter.into_message())
    }

    /// Lets the sender of a message go on that was taken at `taken`: it has waited until then.
    fn release_sender(&mut self, from: Rank, taken: Time, called: Time) {
        let sender = &mut self.ranks[from.0 as usize];
        sender.now = sender.now.max(taken);
        sender.may_send = sender.may_send.max(taken);
        sender.waits_for = None;
        let end = sender.now;
        self.ready.push_back(from);
        self.record(from, Activity::Send, called, end);
    }

    fn record(&mut self, rank: Rank, activity: Activity, start: Time, end: Time) {
        if let Some(timeline) = &mut self.timeline {
            timeline.spans.push(Span { rank, activity, start, end });
        }
    }

    /// What the run tells, when it is over.
    pub(super) fn into_answer(self) -> Answer {
        let mut timeline = self.timeline;
        if let Some(timeline) = &mut timeline {
            // Ranks ran one after the other; the sorts are stable, so that the order of equal times is settled too.
            timeline.spans.sort_by_key(|span| (span.end, span.rank));
            timeline.messages.sort_by_key(|message| (message.received, message.to));
        }
        Answer {
            finish: self.ranks.iter().map(|rank| rank.now).collect(),
            messages: self.messages,
            packets: self.messages,
            ranks: self.ranks.iter().map(|rank| rank.statistics).collect(),
            timeline,
            ..Answer::default()
        }
    }

    /// Whether a clock has come to the end of time.
    pub(super) fn ran_out_of_time(&self) -> bool {
        self.ranks.iter().any(|rank| rank.now == Time::NEVER)
    }
}
