//! The events of ranks whose processors take messages in on arrival.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use endpoint::executor::{Machine, OperationEvent, number_of, request_of};
use endpoint::{
    Error, Event as RequestEvent, Message, Operation, Outcome, Passage, Received, Request, Result, StartStatus, Tag,
    Unexpected,
};
use machines::model::LogGp;
use quantities::{Duration, Rank, Time};

use super::resources::{Resources, WaitingTask};
use super::task::{Kind, Task, Tasks};
use crate::answer::{Activity, Answer, MessageRecord, RankStatistics, Span, Timeline, Unreceived};
use crate::events::EventQueue;
use crate::horizon::beyond;
use crate::loggp::costs::Costs;
use crate::loggp::no_hardware;
use crate::matching::{MatchPattern, Matching};
use crate::stop::{ProgressSnapshot, Stop};

/// All ranks, and their tasks.
#[derive(Debug)]
pub(super) struct OnArrival {
    costs: Costs,
    ranks: Vec<RankState>,
    tasks: Tasks,
    /// The deadlines of receives that have one, by number.
    deadlines: BTreeMap<u32, Time>,
    queue: EventQueue<TaskEvent>,
    instant: Instant,
    /// The tasks begun since the last event.
    begun: Vec<u32>,
    /// Whether a receive waits for its event among those, or has waited: none begun later may be posted before it.
    receives_wait: bool,
    /// The sequence number of the next operation begun or message sent.
    sequence: u64,
    events: VecDeque<OperationEvent>,
    messages: u64,
    timeline: Option<Timeline>,
    stop: Stop,
}

/// One rank as it runs.
#[derive(Debug, Default)]
struct RankState {
    resources: Resources,
    matching: Matching<Posted>,
    statistics: RankStatistics,
}

/// A receive that was posted.
#[derive(Clone, Copy, Debug)]
struct Posted {
    number: u32,
    at: Time,
}

/// An event; of events at one time, the lowest sequence number is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TaskEvent {
    sequence: u64,
    task: u32,
    action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    /// A task is to begin.
    Begin,
    /// The head of a queue tries again.
    TryAgain,
    /// A rank is notified that a task is over.
    Report,
    /// The deadline of one of a rank's receives passes: the rank's number stands in place of the task's.
    Deadline,
}

/// Deadlines come last in an instant: a message that is taken in at that time is in time.
const LAST: u64 = u64::MAX;

/// The events of the present time, in order.
#[derive(Debug, Default)]
struct Instant {
    /// Those known when it began, and how many of them have been processed.
    known: Vec<TaskEvent>,
    happened: usize,
    /// Those added since.
    added: BinaryHeap<Reverse<TaskEvent>>,
    taken: Vec<TaskEvent>,
}

impl Instant {
    #[inline]
    fn next(&mut self, queue: &mut EventQueue<TaskEvent>) -> Option<TaskEvent> {
        if queue.has_present() {
            queue.take_instant(&mut self.taken);
            self.added.extend(self.taken.drain(..).map(Reverse));
        }
        let known = self.known.get(self.happened).copied();
        match (known, self.added.peek()) {
            (Some(known), Some(Reverse(added))) if *added < known => self.added.pop().map(|Reverse(added)| added),
            (Some(known), _) => {
                self.happened += 1;
                Some(known)
            }
            (None, Some(_)) => self.added.pop().map(|Reverse(added)| added),
            (None, None) => {
                self.known.clear();
                queue.take_instant(&mut self.known)?;
                if let [_, _, ..] = self.known[..] {
                    self.known.sort_unstable();
                }
                self.happened = 1;
                self.known.first().copied()
            }
        }
    }
}

impl OnArrival {
    pub(super) fn new(model: &LogGp, ranks: u32, with_timeline: bool, stop: Stop) -> OnArrival {
        OnArrival {
            costs: Costs::new(model),
            ranks: (0..ranks).map(|_| RankState::default()).collect(),
            tasks: Tasks::default(),
            deadlines: BTreeMap::new(),
            queue: EventQueue::default(),
            instant: Instant::default(),
            begun: Vec::new(),
            receives_wait: false,
            sequence: 0,
            events: VecDeque::new(),
            messages: 0,
            timeline: with_timeline.then(|| Timeline { by_processor: true, ..Timeline::default() }),
            stop,
        }
    }

    /// The messages that no receive took, by receiver, sender and tag.
    pub(super) fn unexpected(&self) -> Vec<Unexpected> {
        let of = |(to, rank): (Rank, &RankState)| {
            let request = |message: u32| request_of(self.tasks[message].number);
            let unexpected = move |(from, tag, message)| Unexpected {
                to,
                from: Rank(from),
                tag: Tag(tag),
                request: request(message),
            };
            rank.matching.kept().map(unexpected).collect::<Vec<_>>()
        };
        (0..).map(Rank).zip(&self.ranks).flat_map(of).collect()
    }

    /// The answer of the run, when it is over.
    pub(super) fn end(self) -> Answer {
        let unreceived = Unreceived::counted(self.unexpected().iter().map(|message| (message.from, message.to)));
        let timeline = self.timeline.map(Timeline::in_order);
        Answer {
            finish: self.ranks.iter().map(|rank| rank.resources.all_free_from()).collect(),
            messages: self.messages,
            packets: self.messages,
            ranks: self.ranks.iter().map(|rank| rank.statistics).collect(),
            timeline,
            unreceived,
            ..Answer::default()
        }
    }

    /// Checks that nothing would happen later than can be counted; once nothing more is `left`, that no deadline is too
    /// late, either.
    fn check_end_of_time(&self, left: bool) -> Result<()> {
        if let Some(TaskEvent { task, action, .. }) = self.queue.beyond() {
            let rank = if action == Action::Deadline { Rank(task) } else { self.tasks[task].rank };
            return Err(beyond(format_args!("what rank {rank} does")));
        }
        if left {
            return Ok(());
        }
        let waits = |rank: &RankState| rank.matching.posted().any(|posted| self.deadlines.contains_key(&posted.number));
        match (0..).map(Rank).zip(&self.ranks).find(|(_, rank)| waits(rank)) {
            Some((rank, _)) => Err(beyond(format_args!("a wait of rank {rank}"))),
            None => Ok(()),
        }
    }

    fn rank(&mut self, rank: Rank) -> &mut RankState {
        &mut self.ranks[rank.0 as usize]
    }

    /// Schedules an event for every operation that was begun: by rank, then sends before receives before computations,
    /// then in the order in which they were begun.
    fn schedule_begun(&mut self) {
        let OnArrival { begun, tasks, .. } = self;
        if let [_, _, ..] = begun[..] {
            begun.sort_by_key(|&task| (tasks[task].rank, tasks[task].kind));
        }
        for place in 0..self.begun.len() {
            let number = self.begun[place];
            let task = &self.tasks[number];
            let free = self.ranks[task.rank.0 as usize].resources.processor_free_from(task.processor);
            let time = task.time.max(free).max(self.queue.now());
            let sequence = self.next_sequence();
            self.queue.put(time, TaskEvent { sequence, task: number, action: Action::Begin });
        }
        self.begun.clear();
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Begins a task if the resources it needs are free; otherwise the task waits. A receive needs none.
    fn begin_task(&mut self, number: u32, sequence: u64) {
        let (now, task) = (self.queue.now(), self.tasks[number]);
        match task.kind {
            Kind::Receive | Kind::ReceiveUntil => return self.receive(number, task),
            Kind::Probe | Kind::ProbeUntil => return self.probe(number, task),
            _ => {}
        }
        let (needs, rank) = (task.needs(), task.processor_rank());
        let resources = &mut self.rank(rank).resources;
        let free_from = resources.free_from(needs);
        if free_from <= now {
            self.start_task(number, task, now);
        } else if resources.wait(needs, WaitingTask { sequence, task: number, since: now }) {
            self.queue.put(free_from, TaskEvent { sequence, task: number, action: Action::TryAgain });
        }
    }

    /// Begins the head of a queue, if it is still the task with that number and the resources it needs are now free.
    fn try_again(&mut self, event: TaskEvent) {
        let (now, task) = (self.queue.now(), self.tasks[event.task]);
        let (needs, rank) = (task.needs(), task.processor_rank());
        let resources = &mut self.rank(rank).resources;
        let Some(head) = resources.head(needs).filter(|head| head.sequence == event.sequence) else { return };
        let free_from = resources.free_from(needs);
        if free_from > now {
            return self.queue.put(free_from, event);
        }
        resources.take_head(needs);
        self.start_task(event.task, task, head.since);
        let resources = &self.rank(rank).resources;
        if let Some(next) = resources.head(needs) {
            let free_from = resources.free_from(needs).max(now);
            self.queue.put(free_from, TaskEvent { sequence: next.sequence, task: next.task, action: Action::TryAgain });
        }
    }

    /// Starts a task whose resources are free; it has waited for them since `since`.
    fn start_task(&mut self, number: u32, task: Task, since: Time) {
        match task.kind {
            Kind::Send => self.send(number, task, since),
            Kind::Message => self.arrive(number, task, since),
            _ => self.compute(number, task),
        }
    }

    fn compute(&mut self, number: u32, task: Task) {
        let Task { rank, amount, .. } = task;
        let start = self.queue.now();
        let end = start + Duration::from_picoseconds(amount);
        self.rank(rank).resources.keep(task.needs(), end, end);
        self.tasks.release(number);
        self.started(task);
        self.finished(task, end);
        self.record(rank, Activity::Compute, None, [start, end]);
    }

    /// Sends a message: its first byte arrives o + L later. The message was ready when its processor had nothing else
    /// left to do; since then it has waited for its interface.
    fn send(&mut self, number: u32, task: Task, since: Time) {
        let (costs, start, size, needs) = (self.costs, self.queue.now(), task.size(), task.needs());
        let end = start + costs.sending(size);
        let RankState { resources, statistics, .. } = self.rank(task.rank);
        let ready = since.max(resources.processor_free_from(needs.processor));
        let away = (start + costs.leaving(size)).since(ready);
        resources.keep(needs, end, start + costs.occupying(size));
        statistics.packets += 1;
        statistics.send_away += away;
        self.messages += 1;
        self.tasks[number] = Task { kind: Kind::Message, time: start, ..task };
        let sequence = self.next_sequence();
        self.queue.put(costs.arrival(start), TaskEvent { sequence, task: number, action: Action::Begin });
        self.started(task);
        if !costs.waits_for_receiver(size) {
            self.finished(task, end);
        }
        self.record(task.rank, Activity::Send, Some(Rank(task.partner)), [start, end]);
    }

    /// Takes in a message that arrived at `came`: it occupies the processor even if no receive has asked for it yet.
    fn arrive(&mut self, number: u32, message: Task, came: Time) {
        let (costs, now, size, to) = (self.costs, self.queue.now(), message.size(), Rank(message.partner));
        let end = now + costs.receiving(size);
        let RankState { resources, matching, statistics } = self.rank(to);
        resources.keep(message.needs(), end, now + costs.occupying(size));
        let receive = matching.match_receive(message.rank.0, message.tag);
        let found_by = match receive {
            Some(posted) => {
                statistics.receive_idle += came.since(posted.at);
                Vec::new()
            }
            None => {
                matching.keep(message.rank.0, message.tag, number);
                matching.probes_of(message.rank.0, message.tag)
            }
        };
        for probe in found_by {
            self.rank(to).statistics.receive_idle += came.since(probe.at);
            self.deadlines.remove(&probe.number);
            self.probed(message, probe.number, end);
        }
        self.record(to, Activity::Receive, Some(message.rank), [now, end]);
        if let Some(posted) = receive {
            if !self.deadlines.is_empty() {
                self.deadlines.remove(&posted.number);
            }
            self.deliver(number, message, posted.number, end);
        }
    }

    /// Posts a receive, or takes a message that has arrived, at no further cost.
    fn receive(&mut self, number: u32, task: Task) {
        let now = self.queue.now();
        self.tasks.release(number);
        self.started(task);
        let pattern = task.pattern();
        let matching = &mut self.rank(task.rank).matching;
        if let Some(message) = matching.find(pattern) {
            return self.deliver(message, self.tasks[message], task.number, now);
        }
        matching.post(pattern, Posted { number: task.number, at: now });
        self.wait_until(task);
    }

    /// Finds a message that has arrived, or waits for one.
    fn probe(&mut self, number: u32, task: Task) {
        let now = self.queue.now();
        self.tasks.release(number);
        let matching = &mut self.rank(task.rank).matching;
        match matching.probe(task.pattern()) {
            Some(message) => self.probed(self.tasks[message], task.number, now),
            None => {
                matching.post_probe(task.pattern(), Posted { number: task.number, at: now });
                self.wait_until(task);
            }
        }
    }

    /// A probe has found a message, which stays where it is; its rank is notified at `end`.
    fn probed(&mut self, message: Task, probe: u32, end: Time) {
        let found = self.tasks.add(Task { kind: Kind::Probed, number: probe, ..message });
        self.report_at(found, end);
    }

    /// A receive or a probe that has a deadline waits until then.
    fn wait_until(&mut self, task: Task) {
        let now = self.queue.now();
        if let Kind::ReceiveUntil | Kind::ProbeUntil = task.kind {
            let deadline = Time::from_picoseconds(task.amount).max(now);
            self.deadlines.insert(task.number, deadline);
            if deadline < Time::NEVER {
                self.queue.put(deadline, TaskEvent { sequence: LAST, task: task.rank.0, action: Action::Deadline });
            }
        }
    }

    /// Hands a message that is taken now to a receive that finishes at `end`; a sender that waited for this goes on.
    fn deliver(&mut self, number: u32, message: Task, receive: u32, end: Time) {
        let (now, Task { rank: from, partner, time: sent, .. }) = (self.queue.now(), message);
        let (to, size) = (Rank(partner), message.size());
        if self.costs.waits_for_receiver(size) {
            let needs = Task { kind: Kind::Send, ..message }.needs();
            self.rank(from).resources.keep(needs, now, now);
            self.finished(message, now);
        }
        if let Some(timeline) = &mut self.timeline {
            let arrived = self.costs.arrival(sent);
            timeline.messages.push(MessageRecord { from, to, size, sent, arrived, received: end });
        }
        self.tasks[number] = Task { kind: Kind::Received, number: receive, ..message };
        match request_of(receive) {
            Some(_) => self.report(number, end),
            None => self.report_at(number, end),
        }
    }

    /// A deadline passes: a receive that has matched no message by then ends.
    fn deadline(&mut self, rank: Rank) {
        let OnArrival { queue, ranks, deadlines, .. } = self;
        let now = queue.now();
        let matching = &mut ranks[rank.0 as usize].matching;
        let posted = matching.withdraw(|posted| deadlines.get(&posted.number) == Some(&now));
        if let Some(Posted { number, .. }) = posted {
            self.deadlines.remove(&number);
            self.events.push_back(OperationEvent {
                rank,
                number,
                at: now,
                event: RequestEvent::Completed(Err(Error::Deadline(now))),
            });
        }
    }

    fn started(&mut self, task: Task) {
        if task.reports_start {
            let at = self.queue.now();
            self.events.push_back(OperationEvent {
                rank: task.rank,
                number: task.number,
                at,
                event: RequestEvent::Started,
            });
        }
    }

    /// An operation will be over at `end`. The end of a request is reported at once.
    fn finished(&mut self, task: Task, end: Time) {
        let Task { rank, number, .. } = task;
        if request_of(number).is_some() {
            self.events.push_back(OperationEvent {
                rank,
                number,
                at: end,
                event: RequestEvent::Completed(Ok(Outcome::Done)),
            });
        } else {
            let number = self.tasks.add(Task { kind: Kind::Over, ..task });
            self.report_at(number, end);
        }
    }

    fn report_at(&mut self, task: u32, time: Time) {
        let sequence = self.next_sequence();
        self.queue.put(time, TaskEvent { sequence, task, action: Action::Report });
    }

    /// Notifies the rank that began a task that it is over at `at`.
    fn report(&mut self, task: u32, at: Time) {
        let Task { kind, rank, number, partner, tag, time: sent, .. } = self.tasks[task];
        let (rank, outcome) = match kind {
            Kind::Received => {
                let received = Received { from: rank, tag: Tag(tag), message: self.tasks.take_message(task) };
                (Rank(partner), Outcome::Received(received, Passage { sent, arrived: self.costs.arrival(sent) }))
            }
            Kind::Probed => {
                let message = Message::of_size(self.tasks[task].size());
                (Rank(partner), Outcome::Probed(Received { from: rank, tag: Tag(tag), message }))
            }
            _ => (rank, Outcome::Done),
        };
        self.tasks.release(task);
        self.events.push_back(OperationEvent { rank, number, at, event: RequestEvent::Completed(Ok(outcome)) });
    }

    fn record(&mut self, rank: Rank, activity: Activity, partner: Option<Rank>, [start, end]: [Time; 2]) {
        if let Some(timeline) = &mut self.timeline {
            timeline.spans.push(Span { rank, activity, partner, start, end });
        }
    }

    /// Adds a task of a rank. Waiting for a time needs no resources: it begins at once.
    fn add(&mut self, rank: Rank, number: u32, task: Task, operation: Operation) {
        let task = Task { rank, number, ..task };
        match operation {
            Operation::Sleep(until) => {
                self.started(task);
                self.finished(task, until.max(task.time).max(self.queue.now()));
            }
            Operation::Receive { from, tags, deadline: None }
                if self.sequence == 0 && task.time == Time::ZERO && !task.reports_start && !self.receives_wait =>
            {
                // Nothing has happened yet, so no message can have arrived.
                let posted = Posted { number, at: self.queue.now() };
                self.rank(rank).matching.post(MatchPattern::new(from, tags), posted);
            }
            operation => {
                self.receives_wait |= matches!(operation, Operation::Receive { .. } | Operation::Probe { .. });
                self.begun.extend(self.tasks.add_operation(task, operation));
            }
        }
    }
}

impl Machine for OnArrival {
    fn now(&self) -> Time {
        self.queue.now()
    }

    fn check(&self, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Multicast(_) | Operation::ReceiveMulticast(_) => Err(no_hardware()),
            Operation::Send { .. }
            | Operation::Receive { .. }
            | Operation::Probe { .. }
            | Operation::Compute(_)
            | Operation::Sleep(_) => Ok(()),
        }
    }

    fn begin(&mut self, rank: Rank, number: u32, operation: Operation) {
        self.add(rank, number, Task::BLANK, operation);
    }

    /// A rank has as many processors and interfaces as its requests name.
    fn start(&mut self, rank: Rank, request: Request) -> Result<StartStatus> {
        let number = number_of(&request);
        let Request { operation, processor, interface, not_before: time, reports_start, .. } = request;
        self.add(rank, number, Task { processor, interface, time, reports_start, ..Task::BLANK }, operation);
        Ok(StartStatus::Later)
    }

    fn reports_starts(&self) -> bool {
        true
    }

    fn next_event(&mut self) -> Result<Option<OperationEvent>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            self.schedule_begun();
            self.stop.go_on(|| ProgressSnapshot { time: self.queue.now(), messages: self.messages, packets: 0 })?;
            let next = self.instant.next(&mut self.queue);
            self.check_end_of_time(next.is_some())?;
            let Some(event) = next else { return Ok(None) };
            match event.action {
                Action::Begin => self.begin_task(event.task, event.sequence),
                Action::TryAgain => self.try_again(event),
                Action::Report => self.report(event.task, self.queue.now()),
                Action::Deadline => self.deadline(Rank(event.task)),
            }
        }
    }
}
