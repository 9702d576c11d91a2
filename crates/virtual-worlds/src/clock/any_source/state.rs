//! The clocks of all ranks and the messages between them, in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use endpoint::{Error, Message, Result, WaitsFor};
use quantities::{Duration, Rank, Time};

use super::letters::Letters;
use crate::answer::{Activity, Answer};
use crate::clock::costs::Costs;
use crate::clock::mailbox::Letter;
use crate::clock::rank_clock::RankClock;
use crate::clock::ranks::Turns;
use crate::clock::record::Record;
use crate::stop::Reached;

/// What a rank asks of its endpoint.
#[derive(Debug)]
pub(super) enum Verb {
    Send(Rank, Message),
    Receive(Rank),
    ReceiveAny(Option<Time>),
    Compute(Duration),
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A send or a computation is over.
    Done,
    /// A message was received.
    Received(Rank, Message),
}

/// All that the ranks of a run share.
#[derive(Debug)]
pub(super) struct State {
    costs: Costs,
    ranks: Vec<RankState>,
    events: BinaryHeap<Reverse<Event>>,
    /// How many events there were: among those of one time and kind the first is first.
    sequence: u64,
    record: Record,
}

#[derive(Debug, Default)]
struct RankState {
    clock: RankClock,
    letters: Letters,
    waits_for: Option<WaitsFor>,
    /// How often it has waited: a deadline belongs to one wait.
    waits: u64,
    /// What the rank is told when its time has come.
    outcome: Option<Result<Outcome>>,
}

/// Time, kind, sequence number, rank.
type Event = (Time, Kind, u64, Rank);

/// What happens, in the order in which it does at one time: a message that arrives is in time for a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A message is there.
    Arrival,
    /// The rank begins or goes on.
    Resume,
    /// The deadline of the wait with this number passes.
    Deadline(u64),
}

impl State {
    pub(super) fn new(costs: Costs, size: u32, with_timeline: bool) -> State {
        let mut ranks = Vec::new();
        ranks.resize_with(size as usize, RankState::default);
        let events = BinaryHeap::new();
        let mut state = State { costs, ranks, events, sequence: 0, record: Record::new(with_timeline) };
        for rank in (0..size).map(Rank) {
            state.put(Time::ZERO, Kind::Resume, rank);
        }
        state
    }

    pub(super) fn size(&self) -> u32 {
        self.ranks.len() as u32
    }

    pub(super) fn now(&self, rank: Rank) -> Time {
        self.ranks[rank.0 as usize].clock.now
    }

    /// What came of the verb that `rank` began last.
    pub(super) fn take_outcome(&mut self, rank: Rank) -> Option<Result<Outcome>> {
        self.ranks[rank.0 as usize].outcome.take()
    }

    /// Begins a verb at the rank's present, which is the present of the whole run.
    pub(super) fn begin(&mut self, rank: Rank, verb: Verb) {
        match verb {
            Verb::Send(to, message) => self.send(rank, to, message),
            Verb::Receive(from) => self.receive(rank, from),
            Verb::ReceiveAny(deadline) => self.receive_any(rank, deadline),
            Verb::Compute(work) => {
                let clock = &mut self.ranks[rank.0 as usize].clock;
                let start = clock.now;
                clock.compute(work);
                self.record.span(rank, Activity::Compute, start, clock.now);
                self.resume(rank, Ok(Outcome::Done));
            }
        }
    }

    fn send(&mut self, from: Rank, to: Rank, message: Message) {
        let size = message.size();
        let sender = &mut self.ranks[from.0 as usize];
        let called = sender.clock.now;
        let arrival = sender.clock.send(&self.costs, size);
        self.record.message_sent();
        if self.costs.waits_for_receiver(size) {
            sender.waits_for = Some(WaitsFor::Receiver(to));
        } else {
            self.record.span(from, Activity::Send, called, sender.clock.now);
            self.resume(from, Ok(Outcome::Done));
        }
        let letter = Letter::new(from, called, arrival, message);
        match self.ranks[to.0 as usize].waits_for {
            Some(WaitsFor::MessageFrom(sender)) if sender == from => return self.deliver(to, letter),
            Some(WaitsFor::AnyMessage) => self.put(arrival, Kind::Arrival, to),
            _ => {}
        }
        self.sequence += 1;
        self.ranks[to.0 as usize].letters.post(self.sequence, letter);
    }

    fn receive(&mut self, rank: Rank, from: Rank) {
        let here = &mut self.ranks[rank.0 as usize];
        match here.letters.take_from(from) {
            Some(letter) => self.deliver(rank, letter),
            None => here.waits_for = Some(WaitsFor::MessageFrom(from)),
        }
    }

    fn receive_any(&mut self, rank: Rank, deadline: Option<Time>) {
        let here = &mut self.ranks[rank.0 as usize];
        let now = here.clock.now;
        if let Some(letter) = here.letters.take_arrived(now) {
            return self.deliver(rank, letter);
        }
        here.waits_for = Some(WaitsFor::AnyMessage);
        here.waits += 1;
        let wait = here.waits;
        if let Some(arrival) = here.letters.next_arrival() {
            self.put(arrival, Kind::Arrival, rank);
        }
        if let Some(deadline) = deadline {
            self.put(deadline.max(now), Kind::Deadline(wait), rank);
        }
    }

    /// Gives a message to a rank that has asked for it; a sender that waited for this goes on.
    fn deliver(&mut self, to: Rank, letter: Letter) {
        let receiver = &mut self.ranks[to.0 as usize];
        let asked = receiver.clock.now;
        let taken = receiver.clock.receive(&self.costs, letter.size(), letter.arrival);
        let received = receiver.clock.now;
        self.record.message_received(&letter, to, received);
        self.record.span(to, Activity::Receive, asked, received);
        let from = letter.from;
        if self.costs.waits_for_receiver(letter.size()) {
            let clock = &mut self.ranks[from.0 as usize].clock;
            clock.released(taken);
            self.record.span(from, Activity::Send, letter.called, clock.now);
            self.resume(from, Ok(Outcome::Done));
        }
        self.resume(to, Ok(Outcome::Received(from, letter.into_message())));
    }

    /// Lets a rank go on when its clock says so.
    fn resume(&mut self, rank: Rank, outcome: Result<Outcome>) {
        let here = &mut self.ranks[rank.0 as usize];
        here.waits_for = None;
        here.outcome = Some(outcome);
        let now = here.clock.now;
        self.put(now, Kind::Resume, rank);
    }

    fn put(&mut self, time: Time, kind: Kind, rank: Rank) {
        self.sequence += 1;
        self.events.push(Reverse((time, kind, self.sequence, rank)));
    }

    /// A message is there: a rank that waits for any takes it.
    fn arrival(&mut self, rank: Rank, time: Time) {
        let here = &mut self.ranks[rank.0 as usize];
        if here.waits_for == Some(WaitsFor::AnyMessage)
            && let Some(letter) = here.letters.take_arrived(time)
        {
            self.deliver(rank, letter);
        }
    }

    /// A deadline passes: a rank that still waits goes on without a message.
    fn deadline(&mut self, rank: Rank, wait: u64, time: Time) {
        let here = &mut self.ranks[rank.0 as usize];
        if here.waits_for == Some(WaitsFor::AnyMessage) && here.waits == wait {
            here.clock.now = time;
            self.resume(rank, Err(Error::Deadline(time)));
        }
    }

    /// What the run tells, when it is over.
    pub(super) fn into_answer(self) -> Answer {
        self.record.into_answer(self.ranks.iter().map(|rank| &rank.clock))
    }
}

impl Turns for State {
    fn next_turn(&mut self) -> Option<Rank> {
        while let Some(Reverse((time, kind, _, rank))) = self.events.pop() {
            match kind {
                Kind::Arrival => self.arrival(rank, time),
                Kind::Resume => return Some(rank),
                Kind::Deadline(wait) => self.deadline(rank, wait, time),
            }
        }
        None
    }

    fn waits_for(&self, rank: Rank) -> Option<WaitsFor> {
        self.ranks[rank.0 as usize].waits_for
    }

    fn reached(&self, rank: Rank) -> Reached {
        Reached { time: self.now(rank), messages: self.record.messages(), packets: 0 }
    }
}
