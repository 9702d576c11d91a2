//! The ranks of a LogGP machine and the messages between them, in order of time.
//!
//! A rank's processor serves sends and computations in the order in which they were begun, and a message once it has
//! arrived and was asked for, after whatever was begun before that. A rank has as many processors and network
//! interfaces as its requests name; a message is taken by those of the receive that asks for it.

use std::collections::VecDeque;

use endpoint::executor::{Machine, OperationEvent, number_of, request_of};
use endpoint::{Error, Message, Operation, Outcome, Passage, Received, Request, Result, StartStatus, Tag, Unexpected};
use machines::model::LogGp;
use quantities::{Duration, Rank, Time};

use crate::answer::{RankStatistics, Unreceived};
use crate::events::EventQueue;
use crate::horizon::beyond;
use crate::loggp::costs::Costs;
use crate::loggp::free_from::FreeFrom;
use crate::loggp::mailbox::Letter;
use crate::loggp::no_hardware;
use crate::matching::{MatchPattern, Matching};
use crate::stop::{ProgressSnapshot, Stop};

/// All ranks and the operations and messages under way.
#[derive(Debug)]
pub(super) struct InOrder {
    costs: Costs,
    ranks: Vec<RankState>,
    queue: EventQueue<MachineEvent>,
    instant: Instant,
    flights: Flights,
    messages: u64,
    stop: Stop,
}

#[derive(Debug, Default)]
struct RankState {
    /// From when on each processor is free.
    processors: FreeFrom,
    /// From when on each network interface can send the next message, and receive the next one.
    may_send: FreeFrom,
    may_receive: FreeFrom,
    matching: Matching<Posted>,
    statistics: RankStatistics,
}

/// The owner of an operation, and the resources that serve it.
#[derive(Clone, Copy, Debug)]
struct Served {
    rank: Rank,
    /// The operation's number.
    number: u32,
    processor: u8,
    interface: u8,
    /// Whether its rank is notified when it starts.
    reports_start: bool,
}

impl Served {
    /// An operation served by the first processor and the first interface.
    fn first(rank: Rank, number: u32) -> Served {
        Served { rank, number, processor: 0, interface: 0, reports_start: false }
    }
}

/// A receive that was posted.
#[derive(Clone, Copy, Debug)]
struct Posted {
    receive: Served,
    at: Time,
    deadline: Option<Time>,
}

/// An event.
#[derive(Clone, Copy, Debug)]
enum MachineEvent {
    /// The message with this number has arrived.
    Arrival(u32),
    /// A processor takes this operation up.
    Started(Rank, u32),
    /// This operation, which receives no message, is over.
    Done(Rank, u32),
    /// The operation (first) is over and has the message (second).
    Received(u32, u32),
    /// The probe (first) is over and has found the message (second).
    Probed(u32, u32),
    /// The deadline of one of a rank's receives passes.
    Deadline(Rank),
}

/// The events of the present instant, in the order in which they happen: a message that arrives is in time for a
/// deadline.
#[derive(Debug, Default)]
struct Instant {
    events: Vec<MachineEvent>,
    arrivals: VecDeque<u32>,
    over: VecDeque<MachineEvent>,
    deadlines: VecDeque<Rank>,
}

/// A message from its send until its receiver has it.
#[derive(Debug)]
struct Flight {
    to: Rank,
    letter: Letter,
    send: Served,
    /// When the sender's processor finished the send, if the send waits for its receiver.
    sent: Option<Time>,
}

/// The messages under way, by number; numbers are reused.
#[derive(Debug, Default)]
struct Flights {
    flights: Vec<Option<Flight>>,
    unused: Vec<u32>,
}

impl Flights {
    fn add(&mut self, flight: Flight) -> u32 {
        if let Some(number) = self.unused.pop() {
            self.flights[number as usize] = Some(flight);
            return number;
        }
        self.flights.push(Some(flight));
        self.flights.len() as u32 - 1
    }

    fn get(&self, number: u32) -> Option<&Flight> {
        self.flights[number as usize].as_ref()
    }

    fn take(&mut self, number: u32) -> Option<Flight> {
        self.unused.push(number);
        self.flights[number as usize].take()
    }
}

impl InOrder {
    pub(super) fn new(model: &LogGp, ranks: u32, stop: Stop) -> InOrder {
        InOrder {
            costs: Costs::new(model),
            ranks: (0..ranks).map(|_| RankState::default()).collect(),
            queue: EventQueue::default(),
            instant: Instant::default(),
            flights: Flights::default(),
            messages: 0,
            stop,
        }
    }

    /// The messages that no receive took, by receiver, sender and tag.
    pub(super) fn unexpected(&self) -> Vec<Unexpected> {
        let of = |(to, rank): (Rank, &RankState)| {
            let request = |message| self.flights.get(message).and_then(|flight| request_of(flight.send.number));
            let unexpected =
                |(from, tag, message)| Unexpected { to, from: Rank(from), tag: Tag(tag), request: request(message) };
            rank.matching.kept().map(unexpected).collect::<Vec<_>>()
        };
        (0..).map(Rank).zip(&self.ranks).flat_map(of).collect()
    }

    /// The number of messages sent, the messages that no receive took, and what each rank waited for.
    pub(super) fn end(self) -> (u64, Vec<Unreceived>, Vec<RankStatistics>) {
        let flights = self.flights.flights.iter().flatten();
        let unreceived = Unreceived::counted(flights.map(|flight| (flight.letter.from, flight.to)));
        (self.messages, unreceived, self.ranks.into_iter().map(|rank| rank.statistics).collect())
    }

    /// Nothing happens any more. An error if a rank waits for a deadline that is too late to be counted.
    fn check_no_deadline_is_left(&self) -> Result<()> {
        let waits = |rank: &RankState| rank.matching.posted().any(|posted| posted.deadline.is_some());
        match (0..).map(Rank).zip(&self.ranks).find(|(_, rank)| waits(rank)) {
            Some((rank, _)) => Err(beyond(self.describe(MachineEvent::Deadline(rank)))),
            None => Ok(()),
        }
    }

    /// What `event` would end, in words.
    fn describe(&self, event: MachineEvent) -> String {
        let flight = |number: u32| match self.flights.get(number) {
            Some(Flight { to, letter, .. }) => format!("a message from rank {} to rank {to}", letter.from),
            None => "a message".to_owned(),
        };
        match event {
            MachineEvent::Arrival(number) | MachineEvent::Received(_, number) | MachineEvent::Probed(_, number) => {
                flight(number)
            }
            MachineEvent::Started(rank, _) | MachineEvent::Done(rank, _) => format!("an operation of rank {rank}"),
            MachineEvent::Deadline(rank) => format!("a wait of rank {rank}"),
        }
    }

    /// A processor takes an operation up at `start`.
    fn start_at(&mut self, start: Time, operation: Served) {
        if operation.reports_start {
            self.queue.put(start, MachineEvent::Started(operation.rank, operation.number));
        }
    }

    fn send(&mut self, send: Served, to: Rank, tag: Tag, message: endpoint::Message) {
        let (called, size) = (self.queue.now(), message.size());
        let Served { rank: from, number, processor, interface, .. } = send;
        let sender = &mut self.ranks[from.0 as usize];
        let start = called.max(sender.processors.get(processor)).max(sender.may_send.get(interface));
        let sent = start + self.costs.sending(size);
        sender.processors.keep(processor, sent);
        sender.may_send.keep(interface, start + self.costs.occupying(size));
        sender.statistics.packets += 1;
        let away = (start + self.costs.leaving(size)).since(called);
        sender.statistics.send_away += away;
        self.start_at(start, send);
        let waits = self.costs.waits_for_receiver(size);
        if !waits {
            self.queue.put(sent, MachineEvent::Done(from, number));
        }
        self.messages += 1;
        let arrival = self.costs.arrival(start);
        let letter = Letter::new(from, tag, called, arrival, message);
        let flight = self.flights.add(Flight { to, letter, send, sent: waits.then_some(sent) });
        self.queue.put(arrival, MachineEvent::Arrival(flight));
    }

    fn receive(&mut self, receive: Served, pattern: MatchPattern, deadline: Option<Time>) {
        let posted = self.posted(receive, deadline);
        let matching = &mut self.ranks[receive.rank.0 as usize].matching;
        match matching.find(pattern) {
            Some(flight) => self.deliver(posted, flight),
            None => {
                matching.post(pattern, posted);
                self.wait_until(posted);
            }
        }
    }

    fn probe(&mut self, probe: Served, pattern: MatchPattern, deadline: Option<Time>) {
        let posted = self.posted(probe, deadline);
        let matching = &mut self.ranks[probe.rank.0 as usize].matching;
        match matching.probe(pattern) {
            Some(flight) => self.probed(posted, flight),
            None => {
                matching.post_probe(pattern, posted);
                self.wait_until(posted);
            }
        }
    }

    fn posted(&self, receive: Served, deadline: Option<Time>) -> Posted {
        let now = self.queue.now();
        Posted { receive, at: now, deadline: deadline.map(|deadline| deadline.max(now)) }
    }

    fn wait_until(&mut self, posted: Posted) {
        if let Some(deadline) = posted.deadline.filter(|deadline| *deadline < Time::NEVER) {
            self.queue.put(deadline, MachineEvent::Deadline(posted.receive.rank));
        }
    }

    /// A probe has found a message, which stays where it is.
    fn probed(&mut self, probe: Posted, flight: u32) {
        let (rank, now) = (probe.receive.rank, self.queue.now());
        self.ranks[rank.0 as usize].statistics.receive_idle += now.since(probe.at);
        self.queue.put(now, MachineEvent::Probed(probe.receive.number, flight));
    }

    fn compute(&mut self, computation: Served, work: Duration) {
        let Served { rank, number, processor, .. } = computation;
        let processors = &mut self.ranks[rank.0 as usize].processors;
        let start = self.queue.now().max(processors.get(processor));
        let end = start + work;
        processors.keep(processor, end);
        self.start_at(start, computation);
        self.queue.put(end, MachineEvent::Done(rank, number));
    }

    /// A message has arrived: a posted receive takes it, if one fits.
    fn arrive(&mut self, number: u32) {
        let Some(Flight { to, letter, .. }) = self.flights.get(number) else { return };
        let (from, tag) = (letter.from.0, letter.tag.0);
        let matching = &mut self.ranks[to.0 as usize].matching;
        match matching.match_receive(from, tag) {
            Some(posted) => self.deliver(posted, number),
            None => {
                matching.keep(from, tag, number);
                for probe in matching.probes_of(from, tag) {
                    self.probed(probe, number);
                }
            }
        }
    }

    /// Hands a message that has arrived to a receive; a sender that waited for this goes on.
    fn deliver(&mut self, posted: Posted, number: u32) {
        let now = self.queue.now();
        let Some(&Flight { to, ref letter, send, sent }) = self.flights.get(number) else { return };
        let (size, Served { processor, interface, .. }) = (letter.size(), posted.receive);
        let receiver = &mut self.ranks[to.0 as usize];
        let taken = now.max(receiver.processors.get(processor)).max(receiver.may_receive.get(interface));
        let end = taken + self.costs.receiving(size);
        receiver.processors.keep(processor, end);
        receiver.may_receive.keep(interface, taken + self.costs.occupying(size));
        let idle = letter.arrival.since(posted.at);
        receiver.statistics.receive_idle += idle;
        self.queue.put(end, MachineEvent::Received(posted.receive.number, number));
        if let Some(sent) = sent {
            self.ranks[send.rank.0 as usize].may_send.keep(send.interface, taken);
            self.queue.put(sent.max(taken), MachineEvent::Done(send.rank, send.number));
        }
    }

    /// A deadline passes: a receive that has matched no message by then ends.
    fn deadline(&mut self, rank: Rank) -> Option<OperationEvent> {
        let now = self.queue.now();
        let posted = self.ranks[rank.0 as usize].matching.withdraw(|posted| posted.deadline == Some(now))?;
        let event = endpoint::Event::Completed(Err(Error::Deadline(now)));
        Some(OperationEvent { rank, number: posted.receive.number, at: now, event })
    }

    /// Sorts the events of the present instant; returns whether there were any.
    fn sort_instant(&mut self) -> bool {
        let Instant { events, arrivals, over, deadlines } = &mut self.instant;
        let any = self.queue.take_instant(events).is_some();
        for event in events.drain(..) {
            match event {
                MachineEvent::Arrival(flight) => arrivals.push_back(flight),
                MachineEvent::Started(..)
                | MachineEvent::Done(..)
                | MachineEvent::Received(..)
                | MachineEvent::Probed(..) => over.push_back(event),
                MachineEvent::Deadline(rank) => deadlines.push_back(rank),
            }
        }
        any
    }

    fn operation_event(&mut self, event: MachineEvent) -> Option<OperationEvent> {
        use endpoint::Event::{Completed as Ended, Started};
        let (rank, number, event) = match event {
            MachineEvent::Started(rank, number) => (rank, number, Started),
            MachineEvent::Done(rank, number) => (rank, number, Ended(Ok(Outcome::Done))),
            MachineEvent::Received(number, flight) => {
                let Flight { to, letter, .. } = self.flights.take(flight)?;
                let Letter { from, tag, called: sent, arrival: arrived, .. } = letter;
                let message = letter.into_message();
                let received = Received { from, tag, message };
                (to, number, Ended(Ok(Outcome::Received(received, Passage { sent, arrived }))))
            }
            MachineEvent::Probed(number, flight) => {
                let Flight { to, letter, .. } = self.flights.get(flight)?;
                let found = Received { from: letter.from, tag: letter.tag, message: Message::of_size(letter.size()) };
                (*to, number, Ended(Ok(Outcome::Probed(found))))
            }
            MachineEvent::Arrival(_) | MachineEvent::Deadline(_) => return None,
        };
        Some(OperationEvent { rank, number, at: self.queue.now(), event })
    }

    fn begin_served(&mut self, operation: Operation, by: Served) {
        match operation {
            Operation::Send { to, tag, message } => self.send(by, to, tag, message),
            Operation::Receive { from, tags, deadline } => self.receive(by, MatchPattern::new(from, tags), deadline),
            Operation::Probe { from, tags, deadline } => self.probe(by, MatchPattern::new(from, tags), deadline),
            Operation::Compute(work) => self.compute(by, work),
            Operation::Sleep(until) => {
                self.start_at(self.queue.now(), by);
                self.queue.put(until.max(self.queue.now()), MachineEvent::Done(by.rank, by.number));
            }
            // Refused earlier.
            Operation::Multicast(_) | Operation::ReceiveMulticast(_) => {}
        }
    }
}

impl Machine for InOrder {
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
        self.begin_served(operation, Served::first(rank, number));
    }

    fn start(&mut self, rank: Rank, request: Request) -> Result<StartStatus> {
        if request.operation.partner() == Some(rank) {
            return Err(Error::ToItself(rank));
        }
        let number = number_of(&request);
        let Request { operation, processor, interface, reports_start, .. } = request;
        let receives = matches!(operation, Operation::Receive { .. });
        // A receive is known to have started at once.
        let reports_start = reports_start && !receives;
        self.begin_served(operation, Served { rank, number, processor, interface, reports_start });
        Ok(if receives { StartStatus::Started } else { StartStatus::Later })
    }

    fn next_event(&mut self) -> Result<Option<OperationEvent>> {
        loop {
            self.stop.go_on(|| ProgressSnapshot { time: self.queue.now(), messages: self.messages, packets: 0 })?;
            if let Some(event) = self.queue.beyond() {
                return Err(beyond(self.describe(event)));
            }
            if self.queue.has_present() {
                self.sort_instant();
            }
            if let Some(flight) = self.instant.arrivals.pop_front() {
                self.arrive(flight);
            } else if let Some(event) = self.instant.over.pop_front() {
                if let Some(over) = self.operation_event(event) {
                    return Ok(Some(over));
                }
            } else if let Some(rank) = self.instant.deadlines.pop_front() {
                if let Some(over) = self.deadline(rank) {
                    return Ok(Some(over));
                }
            } else if !self.sort_instant() {
                return self.check_no_deadline_is_left().map(|()| None);
            }
        }
    }
}
