//! The ranks of a LogGP machine and the messages between them, in the order of time.
//!
//! A rank's processor serves sends and computations in the order in which they were begun, and a message once it has
//! arrived and was asked for, behind what was begun before that.

use std::collections::VecDeque;

use endpoint::executor::{Machine, Over, request_of};
use endpoint::{Error, Operation, Outcome, Passage, Received, Result, Tag, Unexpected};
use machines::model::LogGp;
use quantities::{Duration, Rank, Time};

use crate::answer::{RankStatistics, Unreceived};
use crate::events::EventQueue;
use crate::horizon::beyond;
use crate::loggp::costs::{Costs, later, sum};
use crate::loggp::mailbox::Letter;
use crate::loggp::no_hardware;
use crate::matching::{Matching, Wanted};
use crate::stop::{Reached, Stop};

/// All ranks and what is under way between them.
#[derive(Debug)]
pub(super) struct InOrder {
    costs: Costs,
    ranks: Vec<RankState>,
    queue: EventQueue<Event>,
    instant: Instant,
    flights: Flights,
    messages: u64,
    stop: Stop,
}

#[derive(Debug, Default)]
struct RankState {
    /// From when on the processor is free.
    free: Time,
    /// From when on the network interface can send the next message, and receive the next one.
    may_send: Time,
    may_receive: Time,
    matching: Matching<Posted>,
    statistics: RankStatistics,
}

/// A receive that was posted.
#[derive(Clone, Copy, Debug)]
struct Posted {
    number: u32,
    at: Time,
    deadline: Option<Time>,
}

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The message of that number is there.
    Arrival(u32),
    /// That operation, which brings no message, is over.
    Done(Rank, u32),
    /// That operation is over and has the message of that number.
    Received(u32, u32),
    /// The deadline of one of a rank's receives passes.
    Deadline(Rank),
}

/// What happens at the present instant, in the order in which it does: a message that arrives is in time for a deadline.
#[derive(Debug, Default)]
struct Instant {
    events: Vec<Event>,
    arrivals: VecDeque<u32>,
    over: VecDeque<Event>,
    deadlines: VecDeque<Rank>,
}

/// A message from its send until its receiver has it.
#[derive(Debug)]
struct Flight {
    to: Rank,
    letter: Letter,
    /// The sender's operation.
    number: u32,
    /// If it waits for the receiver, when the sender's processor is done with it.
    sender: Option<Time>,
}

/// The messages under way, by number; numbers are used again.
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

    fn look(&self, number: u32) -> Option<&Flight> {
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
            let request = |message| self.flights.look(message).and_then(|flight| request_of(flight.number));
            let unexpected =
                |(from, tag, message)| Unexpected { to, from: Rank(from), tag: Tag(tag), request: request(message) };
            rank.matching.kept().map(unexpected).collect::<Vec<_>>()
        };
        (0..).map(Rank).zip(&self.ranks).flat_map(of).collect()
    }

    /// How many messages were sent, those that no receive took, and what each rank waited for.
    pub(super) fn end(self) -> (u64, Vec<Unreceived>, Vec<RankStatistics>) {
        let flights = self.flights.flights.iter().flatten();
        let unreceived = Unreceived::counted(flights.map(|flight| (flight.letter.from, flight.to)));
        (self.messages, unreceived, self.ranks.into_iter().map(|rank| rank.statistics).collect())
    }

    /// Nothing happens any more: an error if a rank waits for a deadline that is too late to be counted.
    fn nobody_waits_on(&self) -> Result<()> {
        let waits = |rank: &RankState| rank.matching.posted().any(|posted| posted.deadline.is_some());
        match (0..).map(Rank).zip(&self.ranks).find(|(_, rank)| waits(rank)) {
            Some((rank, _)) => Err(beyond(self.what(Event::Deadline(rank)), Time::HORIZON)),
            None => Ok(()),
        }
    }

    /// What happens by `event`, in words.
    fn what(&self, event: Event) -> String {
        let flight = |number: u32| match self.flights.look(number) {
            Some(Flight { to, letter, .. }) => format!("a message from rank {} to rank {to}", letter.from),
            None => "a message".to_owned(),
        };
        match event {
            Event::Arrival(number) | Event::Received(_, number) => flight(number),
            Event::Done(rank, _) => format!("an operation of rank {rank}"),
            Event::Deadline(rank) => format!("a wait of rank {rank}"),
        }
    }

    fn send(&mut self, from: Rank, to: Rank, tag: Tag, message: endpoint::Message, number: u32) {
        let (called, size) = (self.queue.now(), message.size());
        let sender = &mut self.ranks[from.0 as usize];
        let start = called.max(sender.free).max(sender.may_send);
        let sent = later(start, self.costs.sending(size));
        sender.free = sent;
        sender.may_send = later(start, self.costs.occupying(size));
        sender.statistics.packets += 1;
        let away = later(start, self.costs.leaving(size)).since(called);
        sender.statistics.send_away = sum(sender.statistics.send_away, away);
        let waits = self.costs.waits_for_receiver(size);
        if !waits {
            self.queue.put(sent, Event::Done(from, number));
        }
        self.messages += 1;
        let arrival = self.costs.arrival(start);
        let letter = Letter::new(from, tag, called, arrival, message);
        let flight = self.flights.add(Flight { to, letter, number, sender: waits.then_some(sent) });
        self.queue.put(arrival, Event::Arrival(flight));
    }

    fn receive(&mut self, rank: Rank, wanted: Wanted, deadline: Option<Time>, number: u32) {
        let now = self.queue.now();
        let deadline = deadline.map(|deadline| deadline.max(now));
        let posted = Posted { number, at: now, deadline };
        let matching = &mut self.ranks[rank.0 as usize].matching;
        match matching.find(wanted) {
            Some(flight) => self.deliver(posted, flight),
            None => {
                matching.post(wanted, posted);
                if let Some(deadline) = deadline.filter(|deadline| *deadline <= Time::HORIZON) {
                    self.queue.put(deadline, Event::Deadline(rank));
                }
            }
        }
    }

    fn compute(&mut self, rank: Rank, work: Duration, number: u32) {
        let processor = &mut self.ranks[rank.0 as usize].free;
        *processor = later(self.queue.now().max(*processor), work);
        self.queue.put(*processor, Event::Done(rank, number));
    }

    /// A message is there: a receive that was posted for it takes it.
    fn arrive(&mut self, number: u32) {
        let Some(Flight { to, letter, .. }) = self.flights.look(number) else { return };
        let (from, tag) = (letter.from.0, letter.tag.0);
        let matching = &mut self.ranks[to.0 as usize].matching;
        match matching.meet(from, tag) {
            Some(posted) => self.deliver(posted, number),
            None => matching.keep(from, tag, number),
        }
    }

    /// Gives a message that is there to a receive; a sender that has waited for this goes on.
    fn deliver(&mut self, posted: Posted, number: u32) {
        let now = self.queue.now();
        let Some(Flight { to, letter, number: waiting, sender }) = self.flights.look(number) else { return };
        let size = letter.size();
        let receiver = &mut self.ranks[to.0 as usize];
        let taken = now.max(receiver.free).max(receiver.may_receive);
        receiver.free = later(taken, self.costs.receiving(size));
        receiver.may_receive = later(taken, self.costs.occupying(size));
        let idle = letter.arrival.since(posted.at);
        receiver.statistics.receive_idle = sum(receiver.statistics.receive_idle, idle);
        self.queue.put(receiver.free, Event::Received(posted.number, number));
        if let Some(sent) = *sender {
            let sender = &mut self.ranks[letter.from.0 as usize];
            sender.may_send = sender.may_send.max(taken);
            self.queue.put(sent.max(taken), Event::Done(letter.from, *waiting));
        }
    }

    /// A deadline passes: a receive that has met no message by then ends.
    fn deadline(&mut self, rank: Rank) -> Option<Over> {
        let now = self.queue.now();
        let posted = self.ranks[rank.0 as usize].matching.withdraw(|posted| posted.deadline == Some(now))?;
        let event = endpoint::Event::Over(Err(Error::Deadline(now)));
        Some(Over { rank, number: posted.number, at: now, event })
    }

    /// Sorts the events of the present instant; says whether there were any.
    fn look(&mut self) -> bool {
        let Instant { events, arrivals, over, deadlines } = &mut self.instant;
        let any = self.queue.take_instant(events).is_some();
        for event in events.drain(..) {
            match event {
                Event::Arrival(flight) => arrivals.push_back(flight),
                Event::Done(..) | Event::Received(..) => over.push_back(event),
                Event::Deadline(rank) => deadlines.push_back(rank),
            }
        }
        any
    }

    fn over(&mut self, event: Event) -> Option<Over> {
        let (rank, number, outcome) = match event {
            Event::Done(rank, number) => (rank, number, Outcome::Done),
            Event::Received(number, flight) => {
                let Flight { to, letter, .. } = self.flights.take(flight)?;
                let Letter { from, tag, called: sent, arrival: arrived, .. } = letter;
                let message = letter.into_message();
                (to, number, Outcome::Received(Received { from, tag, message }, Passage { sent, arrived }))
            }
            Event::Arrival(_) | Event::Deadline(_) => return None,
        };
        Some(Over { rank, number, at: self.queue.now(), event: endpoint::Event::Over(Ok(outcome)) })
    }
}

impl Machine for InOrder {
    fn now(&self) -> Time {
        self.queue.now()
    }

    fn check(&self, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Multicast(_) | Operation::ReceiveMulticast(_) => Err(no_hardware()),
            Operation::Send { .. } | Operation::Receive { .. } | Operation::Compute(_) | Operation::Sleep(_) => Ok(()),
        }
    }

    fn begin(&mut self, rank: Rank, number: u32, operation: Operation) {
        match operation {
            Operation::Send { to, tag, message } => self.send(rank, to, tag, message, number),
            Operation::Receive { from, tags, deadline } => {
                self.receive(rank, Wanted::new(from, tags), deadline, number);
            }
            Operation::Compute(work) => self.compute(rank, work, number),
            Operation::Sleep(until) => self.queue.put(until.max(self.queue.now()), Event::Done(rank, number)),
            // Refused before.
            Operation::Multicast(_) | Operation::ReceiveMulticast(_) => {}
        }
    }

    fn next_over(&mut self) -> Result<Option<Over>> {
        loop {
            self.stop.go_on(|| Reached { time: self.queue.now(), messages: self.messages, packets: 0 })?;
            if let Some(event) = self.queue.beyond() {
                return Err(beyond(self.what(event), Time::HORIZON));
            }
            if self.queue.has_present() {
                self.look();
            }
            if let Some(flight) = self.instant.arrivals.pop_front() {
                self.arrive(flight);
            } else if let Some(event) = self.instant.over.pop_front() {
                if let Some(over) = self.over(event) {
                    return Ok(Some(over));
                }
            } else if let Some(rank) = self.instant.deadlines.pop_front() {
                if let Some(over) = self.deadline(rank) {
                    return Ok(Some(over));
                }
            } else if !self.look() {
                return self.nobody_waits_on().map(|()| None);
            }
        }
    }
}
