//! GOAL schedules on an Ethernet.
//!
//! A rank begins what can begin, in the order of the text, and waits for what comes next: a message, or the end of a calculation.
//! A send keeps its rank until the message is in the send queue, a receive is over when its message is there. Each processor that the
//! schedule names calculates by itself; frames, and what calls cost, are the affair of one.
//!
//! Tags do not go over the wire: messages of one rank to another come in the order they were sent, so that the receiver finds the tag
//! of each at the head of a queue.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use endpoint::{Endpoint, Error, Message, Result};
use programs::goal::{GoalAnswer, GoalRank, Operation, OperationId, OperationKind, Schedule, Unreceived, deadlock};
use quantities::{Bytes, Rank, Time};

use super::EthernetWorld;
use super::ethernet_endpoint::EthernetEndpoint;
use crate::answer::{self, Activity, Answer, MessageRecord};

impl EthernetWorld<'_> {
    /// Runs a GOAL schedule.
    ///
    /// # Errors
    /// As for a program; a deadlock names the ranks and the lines that wait.
    pub fn run_goal(&self, schedule: &Schedule) -> Result<GoalAnswer<Answer>> {
        let mut ready = Vec::new();
        let ranks = (0..schedule.size()).map(|rank| {
            let mut of_rank = Vec::new();
            let goal = GoalRank::new(schedule.block(Rank(rank)), &mut of_rank);
            ready.push(of_rank.into_iter().map(|ready| ready.operation).collect::<Vec<_>>());
            goal
        });
        let ranks = RefCell::new(ranks.collect::<Vec<_>>());
        let shared = Shared { schedule, ranks, under_way: RefCell::default(), early: RefCell::default() };
        let (ready, of_all) = (&ready, &shared);
        let run = self.setting(schedule.size())?.run(async |endpoint| {
            let ready = ready.get(endpoint.rank().0 as usize).cloned().unwrap_or_default();
            Driver::new(endpoint, of_all, ready).run().await
        });
        match run {
            Err(Error::Deadlock(told)) => {
                let ranks = shared.ranks.borrow();
                let under_way = |rank: Rank, id| ranks.get(rank.0 as usize).is_some_and(|rank| rank.is_under_way(id));
                let waiting = |rank: Rank, id| ranks.get(rank.0 as usize).is_some_and(|rank| rank.is_waiting(id));
                let deadlock = deadlock(schedule, under_way, waiting, &shared.unreceived());
                Err(deadlock.unwrap_or(Error::Deadlock(told)))
            }
            Err(error) => Err(error),
            Ok((ends, answer)) => {
                ends.into_iter().collect::<Result<Vec<()>>>()?;
                let unreceived = shared.unreceived();
                let ends = unreceived.iter().map(|message| (message.from, message.to));
                let answer = Answer { unreceived: answer::Unreceived::counted(ends), ..answer };
                Ok(GoalAnswer { answer, unreceived })
            }
        }
    }
}

/// What the ranks of a run share.
struct Shared<'a> {
    schedule: &'a Schedule,
    ranks: RefCell<Vec<GoalRank<'a>>>,
    under_way: RefCell<UnderWay>,
    /// Messages that have come and that no receive has taken yet.
    early: RefCell<BTreeMap<Rank, Vec<Arrived>>>,
}

impl Shared<'_> {
    /// The messages that no receive took.
    fn unreceived(&self) -> Vec<Unreceived> {
        let (under_way, early) = (self.under_way.borrow(), self.early.borrow());
        let of_schedule = |to: Rank, from: Rank, Sent { tag, id, .. }: Sent| {
            let line = self.schedule.block(from).operation(id).line;
            Unreceived { from, to, tag, line }
        };
        let came = early.iter().flat_map(|(&to, all)| all.iter().map(move |it| of_schedule(to, it.from, it.sent)));
        let others =
            under_way.iter().flat_map(|(&(from, to), all)| all.iter().map(move |&it| of_schedule(to, from, it)));
        let mut all: Vec<Unreceived> = came.chain(others).collect();
        all.sort_by_key(|message| (message.to, message.from, message.tag, message.line));
        all
    }
}

/// From whom to whom messages are under way, in order.
type UnderWay = BTreeMap<(Rank, Rank), VecDeque<Sent>>;

/// A message that was sent.
#[derive(Clone, Copy)]
struct Sent {
    tag: u32,
    at: Time,
    /// By which operation of its sender.
    id: OperationId,
}

/// A message that has come.
#[derive(Clone, Copy)]
struct Arrived {
    from: Rank,
    size: Bytes,
    sent: Sent,
}

/// A receive that waits.
struct Posted {
    id: OperationId,
    from: Option<Rank>,
    tag: Option<u32>,
    since: Time,
}

impl Posted {
    fn takes(&self, message: &Arrived) -> bool {
        self.from.is_none_or(|from| from == message.from) && self.tag.is_none_or(|tag| tag == message.sent.tag)
    }
}

/// One rank of a schedule in motion.
struct Driver<'endpoint, 'run, 'schedule> {
    endpoint: &'endpoint EthernetEndpoint<'run>,
    shared: &'endpoint Shared<'schedule>,
    ready: Vec<OperationId>,
    /// Until when which processor calculates, and what.
    calculations: Vec<Calculation>,
    posted: Vec<Posted>,
}

struct Calculation {
    id: OperationId,
    processor: u8,
    start: Time,
    end: Time,
}

impl<'endpoint, 'run, 'schedule> Driver<'endpoint, 'run, 'schedule> {
    fn new(
        endpoint: &'endpoint EthernetEndpoint<'run>,
        shared: &'endpoint Shared<'schedule>,
        ready: Vec<OperationId>,
    ) -> Self {
        Driver { endpoint, shared, ready, calculations: Vec::new(), posted: Vec::new() }
    }

    async fn run(mut self) -> Result<()> {
        loop {
            self.end_calculations();
            if let Some(id) = self.next_ready() {
                self.begin(id).await?;
                continue;
            }
            if self.ready.is_empty() && self.calculations.is_empty() && self.posted.is_empty() {
                return Ok(());
            }
            let next = self.calculations.iter().map(|calculation| calculation.end).min();
            match self.endpoint.messenger.receive_any(next).await {
                Ok((from, message)) => self.arrived(from, message.size()).await,
                Err(Error::Deadline(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn operation(&self, id: OperationId) -> Operation {
        self.shared.schedule.block(self.endpoint.rank()).operation(id)
    }

    /// The first that can begin: a receive, or one whose processor does not calculate.
    fn next_ready(&mut self) -> Option<OperationId> {
        let can_begin = |id: &OperationId| {
            let Operation { kind, processor, .. } = self.operation(*id);
            let calculates = self.calculations.iter().any(|other| other.processor == processor);
            matches!(kind, OperationKind::Receive { .. }) || !calculates
        };
        let place = self.ready.iter().position(can_begin)?;
        Some(self.ready.remove(place))
    }

    async fn begin(&mut self, id: OperationId) -> Result<()> {
        let (start, Operation { kind, processor, .. }) = (self.endpoint.now(), self.operation(id));
        self.tell(id, start, GoalRank::started);
        match kind {
            OperationKind::Calculate(work) => {
                self.calculations.push(Calculation { id, processor, start, end: self.endpoint.computes(work) });
            }
            OperationKind::Send { to, size, tag } => {
                self.note(to, Sent { tag, at: start, id });
                self.endpoint.call(self.endpoint.calls.send).await;
                self.endpoint.messenger.send(to, Message::of_size(size)).await?;
                self.finished(id, Activity::Send, start, self.endpoint.now());
            }
            OperationKind::Receive { from, tag, .. } => {
                let posted = Posted { id, from, tag, since: start };
                match self.take_early(&posted) {
                    Some(message) => self.receive(&posted, message).await,
                    None => self.posted.push(posted),
                }
            }
        }
        Ok(())
    }

    /// The first message that has come before that receive was posted, if it takes one.
    fn take_early(&self, posted: &Posted) -> Option<Arrived> {
        let mut early = self.shared.early.borrow_mut();
        let early = early.get_mut(&self.endpoint.rank())?;
        let place = early.iter().position(|message| posted.takes(message))?;
        Some(early.remove(place))
    }

    /// A message is sent: its receiver will want to know its tag.
    fn note(&self, to: Rank, sent: Sent) {
        let way = (self.endpoint.rank(), to);
        self.shared.under_way.borrow_mut().entry(way).or_default().push_back(sent);
        self.endpoint.record.borrow_mut().messages += 1;
    }

    /// The first receive that takes a message gets it; otherwise it waits for one.
    async fn arrived(&mut self, from: Rank, size: Bytes) {
        let way = (from, self.endpoint.rank());
        let told = self.shared.under_way.borrow_mut().get_mut(&way).and_then(VecDeque::pop_front);
        let Some(sent) = told else { return };
        let message = Arrived { from, size, sent };
        match self.posted.iter().position(|posted| posted.takes(&message)) {
            Some(place) => {
                let posted = self.posted.remove(place);
                self.receive(&posted, message).await;
            }
            None => self.shared.early.borrow_mut().entry(self.endpoint.rank()).or_default().push(message),
        }
    }

    async fn receive(&mut self, posted: &Posted, message: Arrived) {
        self.endpoint.call(self.endpoint.calls.receive).await;
        let (received, Arrived { from, size, sent, .. }) = (self.endpoint.now(), message);
        self.finished(posted.id, Activity::Receive, posted.since, received);
        if let Some(timeline) = &mut self.endpoint.record.borrow_mut().timeline {
            let sent = sent.at;
            timeline.messages.push(MessageRecord { from, to: self.endpoint.rank(), size, sent, received });
        }
    }

    /// Ends those calculations whose time has come, in the order of time.
    fn end_calculations(&mut self) {
        let now = self.endpoint.now();
        self.calculations.sort_by_key(|calculation| calculation.end);
        let over = self.calculations.partition_point(|calculation| calculation.end <= now);
        for Calculation { id, start, end, .. } in self.calculations.drain(..over).collect::<Vec<_>>() {
            self.finished(id, Activity::Compute, start, end);
        }
    }

    fn finished(&mut self, id: OperationId, activity: Activity, start: Time, end: Time) {
        self.endpoint.did_until(activity, start, end);
        self.tell(id, end, GoalRank::finished);
    }

    /// Tells the schedule what has `happened` at `at`: what becomes ready by that is noted.
    fn tell(
        &mut self,
        id: OperationId,
        at: Time,
        happened: impl Fn(&mut GoalRank<'schedule>, OperationId, Time, &mut Vec<programs::goal::Ready>),
    ) {
        let mut ready = Vec::new();
        if let Some(goal) = self.shared.ranks.borrow_mut().get_mut(self.endpoint.rank().0 as usize) {
            happened(goal, id, at, &mut ready);
        }
        self.ready.extend(ready.into_iter().map(|ready| ready.operation));
    }
}
