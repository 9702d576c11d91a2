//! The events of a schedule under LogGP.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use endpoint::Result;
use programs::goal::{GoalRank, Operation, OperationId, OperationKind, Ready, Schedule};
use quantities::{Bytes, Rank, Time};

use super::matching::Matching;
use super::resources::{Interface, Needs, Resources, Task};
use crate::answer::{Activity, Answer, MessageRecord, RankStatistics, Span, Timeline};
use crate::loggp::costs::{Costs, later, sum};
use crate::stop::{Reached, Stop};

/// A schedule as it runs.
pub(super) struct Simulation<'schedule> {
    pub(super) schedule: &'schedule Schedule,
    costs: Costs,
    /// The ranks that have something to do or were sent something; made when first needed.
    ranks: Vec<Option<Box<RankState<'schedule>>>>,
    events: BinaryHeap<Reverse<Event>>,
    /// The sequence number of the next operation that becomes ready, or message that is sent.
    sequence: u64,
    flights: Vec<Flight>,
    /// Places in `flights` whose message was received.
    free_flights: Vec<u32>,
    /// What became ready during an event.
    ready: Vec<(Rank, Ready)>,
    messages: u64,
    timeline: Option<Timeline>,
}

/// One rank as it runs.
pub(super) struct RankState<'schedule> {
    pub(super) goal: GoalRank<'schedule>,
    pub(super) matching: Matching,
    resources: Resources,
    statistics: RankStatistics,
}

/// A message from its send to its receive.
#[derive(Clone, Copy, Debug)]
struct Flight {
    from: Rank,
    to: Rank,
    size: Bytes,
    tag: u32,
    /// The send, among the operations of the sender.
    operation: OperationId,
    processor: u8,
    interface: u8,
    started: Time,
}

/// Something that happens at a time; among those of one time the lowest sequence number is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    time: Time,
    sequence: u64,
    rank: Rank,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A task wants to begin.
    Begin(Task),
    /// The head of a queue tries again.
    TryAgain(Needs),
}

impl Ord for Event {
    fn cmp(&self, other: &Event) -> Ordering {
        (self.time, self.sequence).cmp(&(other.time, other.sequence))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'schedule> Simulation<'schedule> {
    pub(super) fn new(schedule: &'schedule Schedule, costs: Costs, with_timeline: bool) -> Simulation<'schedule> {
        let mut ranks = Vec::new();
        ranks.resize_with(schedule.size() as usize, || None);
        Simulation {
            schedule,
            costs,
            ranks,
            events: BinaryHeap::new(),
            sequence: 0,
            flights: Vec::new(),
            free_flights: Vec::new(),
            ready: Vec::new(),
            messages: 0,
            timeline: with_timeline.then(Timeline::default),
        }
    }

    /// Runs until nothing more happens.
    ///
    /// # Errors
    /// That it was asked to end before.
    pub(super) fn run(&mut self, stop: Stop) -> Result<()> {
        let schedule = self.schedule;
        for (rank, _) in schedule.busy_ranks() {
            self.state(rank);
            self.schedule_ready();
        }
        while let Some(Reverse(event)) = self.events.pop() {
            stop.go_on(|| Reached { time: event.time, messages: self.messages, packets: 0 })?;
            match event.what {
                What::Begin(task) => self.begin(event.rank, task, event.time, event.sequence),
                What::TryAgain(needs) => self.try_again(event.rank, needs, event.time, event.sequence),
            }
            self.schedule_ready();
        }
        Ok(())
    }

    /// A rank, if it has something to do or was sent something.
    pub(super) fn rank(&self, rank: Rank) -> Option<&RankState<'schedule>> {
        self.ranks[rank.0 as usize].as_deref()
    }

    /// The send of a message, among the operations of its sender.
    pub(super) fn sender_of(&self, message: u32) -> OperationId {
        self.flights[message as usize].operation
    }

    /// What the run tells, when it is over.
    pub(super) fn into_answer(self) -> Answer {
        let finish = |state: &Option<Box<RankState<'_>>>| state.as_ref().map(|state| state.resources.all_free_from());
        let statistics = |state: &Option<Box<RankState<'_>>>| state.as_ref().map(|state| state.statistics);
        Answer {
            finish: self.ranks.iter().map(|state| finish(state).unwrap_or(Time::ZERO)).collect(),
            messages: self.messages,
            packets: self.messages,
            ranks: self.ranks.iter().map(|state| statistics(state).unwrap_or_default()).collect(),
            timeline: self.timeline.map(in_order),
            ..Answer::default()
        }
    }

    /// A rank, which begins when it is first asked for.
    fn state(&mut self, rank: Rank) -> &mut RankState<'schedule> {
        let (schedule, ready) = (self.schedule, &mut self.ready);
        self.ranks[rank.0 as usize].get_or_insert_with(|| {
            let block = schedule.block(rank);
            let mut first = Vec::new();
            let goal = GoalRank::new(block, &mut first);
            ready.extend(first.into_iter().map(|item| (rank, item)));
            let (matching, resources) = (Matching::new(block), Resources::default());
            Box::new(RankState { goal, matching, resources, statistics: RankStatistics::default() })
        })
    }

    /// Gives every operation that became ready its event: by rank, then sends before receives before calculations, then in
    /// the order in which they became ready.
    fn schedule_ready(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        let schedule = self.schedule;
        let operation = |rank: Rank, item: &Ready| schedule.block(rank).operation(item.operation);
        ready.sort_by_key(|(rank, item)| (*rank, order_of_kind(operation(*rank, item))));
        for (rank, item) in ready.drain(..) {
            let processor = operation(rank, &item).processor;
            let time = item.at.max(self.state(rank).resources.processor_free_from(processor));
            let sequence = self.next_sequence();
            self.put(time, sequence, rank, What::Begin(Task::Operation(item.operation)));
        }
        self.ready = ready; // empty again, with its room
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    fn put(&mut self, time: Time, sequence: u64, rank: Rank, what: What) {
        self.events.push(Reverse(Event { time, sequence, rank, what }));
    }

    /// Begins a task if what it needs is free, and lets it wait if not. A receive needs nothing.
    fn begin(&mut self, rank: Rank, task: Task, time: Time, sequence: u64) {
        let Some(needs) = self.needs(rank, task) else {
            if let Task::Operation(operation) = task {
                self.receive(rank, operation, time);
            }
            return;
        };
        let resources = &mut self.state(rank).resources;
        let free_from = resources.free_from(needs);
        if free_from <= time {
            self.start(rank, task, needs, time, time);
        } else if resources.wait(needs, sequence, task, time) {
            self.put(free_from, sequence, rank, What::TryAgain(needs));
        }
    }

    /// Begins the head of a queue, if it is still the one with that number and what it needs is free now.
    fn try_again(&mut self, rank: Rank, needs: Needs, time: Time, sequence: u64) {
        let resources = &mut self.state(rank).resources;
        if resources.head(needs) != Some(sequence) {
            return;
        }
        let free_from = resources.free_from(needs);
        if free_from > time {
            return self.put(free_from, sequence, rank, What::TryAgain(needs));
        }
        if let Some((task, since)) = resources.take_head(needs) {
            self.start(rank, task, needs, time, since);
        }
        let resources = &mut self.state(rank).resources;
        if let Some(next) = resources.head(needs) {
            let free_from = resources.free_from(needs).max(time);
            self.put(free_from, next, rank, What::TryAgain(needs));
        }
    }

    /// What a task needs. A message that arrives needs the processor and interface of the numbers that it was sent with.
    fn needs(&self, rank: Rank, task: Task) -> Option<Needs> {
        let (processor, interface) = match task {
            Task::Message(message) => {
                let flight = &self.flights[message as usize];
                (flight.processor, Interface::Receiving(flight.interface))
            }
            Task::Operation(id) => {
                let operation = self.schedule.block(rank).operation(id);
                match operation.kind {
                    OperationKind::Calculate(_) => (operation.processor, Interface::None),
                    OperationKind::Send { .. } => (operation.processor, Interface::Sending(operation.interface)),
                    OperationKind::Receive { .. } => return None,
                }
            }
        };
        Some(Needs { processor, interface })
    }

    /// Starts a task whose needs are free, and which has waited for them since `since`.
    fn start(&mut self, rank: Rank, task: Task, needs: Needs, time: Time, since: Time) {
        match task {
            Task::Message(message) => self.arrive(message, needs, time, since),
            Task::Operation(id) => {
                let operation = *self.schedule.block(rank).operation(id);
                match operation.kind {
                    OperationKind::Calculate(work) => {
                        let end = later(time, work);
                        self.state(rank).resources.keep(needs, end, end);
                        self.started(rank, id, time);
                        self.finished(rank, id, end);
                        self.record(rank, Activity::Compute, time, end);
                    }
                    OperationKind::Send { to, size, tag } => {
                        let Operation { processor, interface, .. } = operation;
                        let flight =
                            Flight { from: rank, to, size, tag, operation: id, processor, interface, started: time };
                        self.send(flight, needs, since);
                    }
                    OperationKind::Receive { .. } => {}
                }
            }
        }
    }

    /// Sends a message: its first byte arrives o + L later. It was ready to be sent when its processor had nothing else to
    /// do any more; since then it has waited for its interface.
    fn send(&mut self, flight: Flight, needs: Needs, since: Time) {
        let Flight { from, to, size, operation, started: time, .. } = flight;
        let (costs, end) = (self.costs, later(time, self.costs.sending(size)));
        let state = self.state(from);
        let ready = since.max(state.resources.processor_free_from(needs.processor));
        let away = later(time, costs.leaving(size)).since(ready);
        state.resources.keep(needs, end, later(time, costs.occupying(size)));
        state.statistics.packets += 1;
        state.statistics.send_away = sum(state.statistics.send_away, away);
        self.messages += 1;
        let message = self.take_off(flight);
        let sequence = self.next_sequence();
        self.put(costs.arrival(time), sequence, to, What::Begin(Task::Message(message)));
        self.started(from, operation, time);
        if !costs.waits_for_receiver(size) {
            self.finished(from, operation, end);
        }
        self.record(from, Activity::Send, time, end);
    }

    /// Takes a message in, which came at `came`: the processor is kept for it even when nobody has asked for it yet.
    fn arrive(&mut self, message: u32, needs: Needs, time: Time, came: Time) {
        let flight = self.flights[message as usize];
        let (costs, end) = (self.costs, later(time, self.costs.receiving(flight.size)));
        let state = self.state(flight.to);
        state.resources.keep(needs, end, later(time, costs.occupying(flight.size)));
        let receive = state.matching.arrive(flight.from, flight.tag, message);
        if let Some(receive) = receive {
            state.statistics.receive_idle = sum(state.statistics.receive_idle, came.since(receive.at));
        }
        self.record(flight.to, Activity::Receive, time, end);
        if let Some(receive) = receive {
            self.deliver(message, receive.operation, time, end);
        }
    }

    /// Posts a receive, or takes a message that is there: that costs nothing more.
    fn receive(&mut self, rank: Rank, operation: OperationId, time: Time) {
        self.started(rank, operation, time);
        let OperationKind::Receive { from, tag, .. } = self.schedule.block(rank).operation(operation).kind else {
            return;
        };
        if let Some(message) = self.state(rank).matching.receive(operation, from, tag, time) {
            self.deliver(message, operation, time, time);
        }
    }

    /// Gives a message, taken at `time`, to a receive that finishes at `end`; a sender that waited for this goes on.
    fn deliver(&mut self, message: u32, receive: OperationId, time: Time, end: Time) {
        let flight = self.flights[message as usize];
        self.free_flights.push(message);
        if self.costs.waits_for_receiver(flight.size) {
            let needs = Needs { processor: flight.processor, interface: Interface::Sending(flight.interface) };
            self.state(flight.from).resources.keep(needs, time, time);
            self.finished(flight.from, flight.operation, time);
        }
        self.finished(flight.to, receive, end);
        if let Some(timeline) = &mut self.timeline {
            let Flight { from, to, size, started, .. } = flight;
            timeline.messages.push(MessageRecord { from, to, size, sent: started, received: end });
        }
    }

    fn take_off(&mut self, flight: Flight) -> u32 {
        match self.free_flights.pop() {
            Some(place) => {
                self.flights[place as usize] = flight;
                place
            }
            None => {
                self.flights.push(flight);
                self.flights.len() as u32 - 1
            }
        }
    }

    fn started(&mut self, rank: Rank, operation: OperationId, at: Time) {
        let mut ready = Vec::new();
        self.state(rank).goal.started(operation, at, &mut ready);
        self.ready.extend(ready.into_iter().map(|item| (rank, item)));
    }

    fn finished(&mut self, rank: Rank, operation: OperationId, at: Time) {
        let mut ready = Vec::new();
        self.state(rank).goal.finished(operation, at, &mut ready);
        self.ready.extend(ready.into_iter().map(|item| (rank, item)));
    }

    fn record(&mut self, rank: Rank, activity: Activity, start: Time, end: Time) {
        if let Some(timeline) = &mut self.timeline {
            timeline.spans.push(Span { rank, activity, start, end });
        }
    }
}

/// In which order the kinds of operations that become ready at once are tried.
fn order_of_kind(operation: &Operation) -> u8 {
    match operation.kind {
        OperationKind::Send { .. } => 0,
        OperationKind::Receive { .. } => 1,
        OperationKind::Calculate(_) => 2,
    }
}

/// The timeline in the order in which things ended.
fn in_order(mut timeline: Timeline) -> Timeline {
    timeline.spans.sort_by_key(|span| (span.end, span.rank));
    timeline.messages.sort_by_key(|message| (message.received, message.to));
    timeline
}
