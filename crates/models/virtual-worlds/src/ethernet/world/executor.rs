//! Programs on nodes of an Ethernet.

use std::cell::RefCell;
use std::collections::BTreeMap;

use endpoint::executor::{self, Machine, OperationEvent, number_of, request_of};
use endpoint::{Event, Operation, Outcome, Program, Received, Request, Result, Tag};
use messaging::{Datagram, Messenger, Messengers};
use quantities::{Bytes, Rank, Time};

use super::port::Port;
use super::record::Record;
use super::setting::{EVENTS_BETWEEN_CHECKS, Setting};
use crate::answer::Run;
use crate::ethernet::{Network, Notice};
use crate::horizon::beyond;
use crate::stop::{ProgressSnapshot, Stop};

/// Nodes that run programs.
struct Running<'run> {
    network: &'run RefCell<Network<Datagram>>,
    messengers: Messengers<'run, Port<'run, Datagram>>,
    record: Record,
    /// The operations under way, by rank and number.
    begun: BTreeMap<(Rank, u32), ActiveOperation>,
    memory: BroadcastMemory,
    events: u64,
    stop: Stop,
}

/// An operation that was begun.
#[derive(Clone, Copy, Debug)]
struct ActiveOperation {
    at: Time,
    receives: Receives,
    /// Of a request that sends, the receiver and the tag, until its processor starts it.
    sends: Option<(Rank, Tag)>,
    /// Whether its rank is notified when it starts.
    reports_start: bool,
}

/// Whether an operation receives something, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receives {
    Nothing,
    Message,
    Broadcast,
}

/// The memory that the broadcasts of ranks take.
struct BroadcastMemory {
    /// For each rank, whether it has broadcast, and the most memory that its broadcasts took at once. [B]
    broadcasts: Vec<bool>,
    most: Vec<Bytes>,
    /// The ranks that have done something since memory was last checked.
    changed: Vec<usize>,
}

impl BroadcastMemory {
    fn update(&mut self, messengers: &[Messenger<Port<'_, Datagram>>]) {
        for rank in self.changed.drain(..) {
            if self.broadcasts[rank] {
                let now = messengers[rank].engine().memory_of_broadcasts();
                self.most[rank] = self.most[rank].max(Bytes(now));
            }
        }
    }
}

impl<'run> Running<'run> {
    fn new(
        setting: &Setting<'_>,
        network: &'run RefCell<Network<Datagram>>,
        messengers: &'run [Messenger<Port<'run, Datagram>>],
    ) -> Running<'run> {
        let ranks = setting.ranks as usize;
        Running {
            network,
            messengers: Messengers::new(messengers),
            record: Record::new(setting.ranks, false),
            begun: BTreeMap::new(),
            memory: BroadcastMemory {
                broadcasts: vec![false; ranks],
                most: vec![Bytes::default(); ranks],
                changed: (0..ranks).collect(),
            },
            events: 0,
            stop: setting.stop,
        }
    }

    /// What was recorded.
    fn end(self) -> (Record, BroadcastMemory) {
        (self.record, self.memory)
    }

    /// Records an operation that begins.
    fn record_begin(&mut self, rank: Rank, operation: &Operation) -> ActiveOperation {
        let (now, place) = (self.now(), rank.0 as usize);
        let mut begun = ActiveOperation { at: now, receives: Receives::Nothing, sends: None, reports_start: false };
        match *operation {
            Operation::Send { to, tag, .. } => begun.sends = Some((to, tag)),
            Operation::Multicast(_) => {
                let others = (0..self.record.ranks.len() as u32).map(Rank).filter(|&other| other != rank);
                self.record.sends(now, None, others.map(|to| (rank, to, None)));
                self.memory.broadcasts[place] = true;
            }
            Operation::Compute(work) => self.note_end(rank, now + work),
            Operation::Sleep(until) => self.note_end(rank, until),
            Operation::Receive { .. } | Operation::Probe { .. } => begun.receives = Receives::Message,
            Operation::ReceiveMulticast(_) => begun.receives = Receives::Broadcast,
        }
        begun
    }

    /// Notes a rank whose operation would end later than can be counted.
    fn note_end(&mut self, rank: Rank, at: Time) {
        if at == Time::NEVER {
            self.record.beyond = Some(rank);
        }
    }

    /// Records the start or end of an operation, and when the message that it received was sent; returns it if its rank
    /// is to be notified.
    fn record_event(&mut self, mut reported: OperationEvent) -> Option<OperationEvent> {
        let (rank, now) = (reported.rank, self.now());
        let key = (rank, reported.number);
        match &mut reported.event {
            Event::Started => {
                let begun = self.begun.get_mut(&key)?;
                let reports_start = begun.reports_start;
                if let Some((to, tag)) = begun.sends.take() {
                    self.record.sends(now, request_of(reported.number), std::iter::once((rank, to, Some(tag))));
                }
                return reports_start.then_some(reported);
            }
            Event::Completed(result) => {
                let ActiveOperation { at, receives, .. } = self.begun.remove(&key)?;
                if receives != Receives::Nothing {
                    self.record.ranks[rank.0 as usize].receive_idle += now.since(at);
                }
                if let Ok(Outcome::Received(Received { from, tag, .. }, passage)) = result {
                    let tag: Option<Tag> = Some(*tag).filter(|_| receives == Receives::Message);
                    passage.sent = self.record.received((*from, rank, tag)).unwrap_or(passage.sent);
                }
            }
        }
        Some(reported)
    }

    /// How far the run has come.
    fn reached(&self) -> ProgressSnapshot {
        let network = self.network.borrow();
        ProgressSnapshot { time: network.now(), messages: self.record.messages, packets: network.arrived() }
    }

    /// Whether no rank can ever go on; checked now and then.
    fn is_stuck(&mut self) -> bool {
        self.events += 1;
        self.events.is_multiple_of(EVENTS_BETWEEN_CHECKS) && self.messengers.are_stuck()
    }
}

impl Machine for Running<'_> {
    fn now(&self) -> Time {
        self.network.borrow().now()
    }

    fn check(&self, _: &Operation) -> Result<()> {
        Ok(())
    }

    fn begin(&mut self, rank: Rank, number: u32, operation: Operation) {
        let mut begun = self.record_begin(rank, &operation);
        if let Some((to, tag)) = begun.sends.take() {
            self.record.sends(begun.at, None, std::iter::once((rank, to, Some(tag))));
        }
        self.begun.insert((rank, number), begun);
        self.messengers.begin(rank, number, operation);
    }

    /// A request sends when its processor starts it: until then other operations of its rank may overtake it.
    fn start(&mut self, rank: Rank, request: Request) -> Result<endpoint::StartStatus> {
        let begun =
            ActiveOperation { reports_start: request.reports_start, ..self.record_begin(rank, &request.operation) };
        let (number, reports_start) = (number_of(&request), begun.reports_start || begun.sends.is_some());
        let started = self.messengers.start(rank, Request { reports_start, ..request })?;
        self.begun.insert((rank, number), begun);
        Ok(started)
    }

    fn reports_starts(&self) -> bool {
        true
    }

    fn next_event(&mut self) -> Result<Option<OperationEvent>> {
        loop {
            if let Some(reported) = self.messengers.next_event() {
                match self.record_event(reported) {
                    Some(reported) => return Ok(Some(reported)),
                    None => continue,
                }
            }
            self.memory.update(self.messengers.all());
            self.stop.go_on(|| self.reached())?;
            if self.messengers.have_ended() || self.is_stuck() {
                return Ok(None);
            }
            if let Some(rank) = self.record.beyond {
                return Err(beyond(format_args!("what rank {rank} computes")));
            }
            let notice = self.network.borrow_mut().next_notice()?;
            let Some(Notice::Room(rank) | Notice::Frame(rank) | Notice::Memory(rank) | Notice::Time(rank)) = notice
            else {
                if self.messengers.are_stuck() {
                    return Ok(None);
                }
                // A rank waits for a deadline that is too late to be counted.
                return Err(beyond("what a rank waits for"));
            };
            self.messengers.wake(rank.0 as usize);
            self.memory.changed.push(rank.0 as usize);
        }
    }

    fn ended(&mut self, rank: Rank) {
        self.messengers.end(rank);
    }
}

/// Runs `program` on every rank until all have ended.
pub(super) fn run<P: Program>(setting: &Setting<'_>, program: &P) -> Run<P::Output> {
    let network = setting.network();
    let messengers = setting.messengers(&network)?;
    let mut running = Running::new(setting, &network, &messengers);
    let mut ended = executor::run(&mut running, setting.ranks, program, setting.with_timeline)?;
    let (mut record, memory) = running.end();
    record.timeline = ended.timeline.take();
    let finish = std::mem::take(&mut ended.finish);
    let results = ended.all_of(program, &record.unexpected())?;
    let messaging = setting.messaging(&messengers, memory.most);
    drop(messengers);
    Ok((results, setting.answer(network.into_inner(), record, finish, messaging)?))
}
