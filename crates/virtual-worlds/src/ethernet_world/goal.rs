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

use endpoint::{Endpoint, Error, Message, Needs, Result};
use programs::goal::{GoalRank, Operation, OperationId, OperationKind, Schedule};
use quantities::{Bytes, Rank, Time};

use super::EthernetWorld;
use super::here::Here;
use crate::answer::{Activity, Answer, MessageRecord};
use crate::clock::goal::deadlock;

impl EthernetWorld<'_> {
    /// Runs a GOAL schedule.
    ///
    /// # Errors
    /// As for a program; a deadlock names the ranks and the lines that wait.
    pub fn run_goal(&self, schedule: &Schedule) -> Result<Answer> {
        let mut ready = Vec::new();
        let ranks = (0..schedule.size()).map(|rank| {
            let mut of_rank = Vec::new();
            let goal = GoalRank::new(schedule.block(Rank(rank)), &mut of_rank);
            ready.push(of_rank.into_iter().map(|ready| ready.operation).collect::<Vec<_>>());
            goal
        });
        let ranks = RefCell::new(ranks.collect::<Vec<_>>());
        let shared = Shared { schedule, ranks, under_way: RefCell::new(BTreeMap::new()) };
        let (ready, of_all) = (&ready, &shared);
        let run = self.setting(schedule.size())?.run(Needs::ANY_SOURCE, async |here| {
            let ready = ready.get(here.rank().0 as usize).cloned().unwrap_or_default();
            Driver::new(here, of_all, ready).run().await
        });
        match run {
            Err(Error::Deadlock(told)) => {
                let ranks = shared.ranks.borrow();
                Err(deadlock(schedule, |rank| ranks.get(rank.0 as usize), &[]).unwrap_or(Error::Deadlock(told)))
            }
            Err(error) => Err(error),
            Ok((ends, answer)) => {
                ends.into_iter().collect::<Result<Vec<()>>>()?;
                Ok(answer)
            }
        }
    }
}

/// What the ranks of a run share.
struct Shared<'a> {
    schedule: &'a Schedule,
    ranks: RefCell<Vec<GoalRank<'a>>>,
    under_way: RefCell<UnderWay>,
}

/// From whom to whom messages are under way: the tag of each, and when it was sent, in order.
type UnderWay = BTreeMap<(Rank, Rank), VecDeque<(u32, Time)>>;

/// A message that has come.
#[derive(Clone, Copy)]
struct Arrived {
    from: Rank,
    tag: u32,
    size: Bytes,
    sent: Time,
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
        self.from.is_none_or(|from| from == message.from) && self.tag.is_none_or(|tag| tag == message.tag)
    }
}

/// One rank of a schedule in motion.
struct Driver<'here, 'run, 'schedule> {
    here: &'here Here<'run>,
    shared: &'here Shared<'schedule>,
    ready: Vec<OperationId>,
    /// Until when which processor calculates, and what.
    calculations: Vec<Calculation>,
    posted: Vec<Posted>,
    /// Messages that no receive has taken yet.
    early: Vec<Arrived>,
}

struct Calculation {
    id: OperationId,
    processor: u8,
    start: Time,
    end: Time,
}

impl<'here, 'run, 'schedule> Driver<'here, 'run, 'schedule> {
    fn new(here: &'here Here<'run>, shared: &'here Shared<'schedule>, ready: Vec<OperationId>) -> Self {
        Driver { here, shared, ready, calculations: Vec::new(), posted: Vec::new(), early: Vec::new() }
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
            match self.here.messenger.receive_any(next).await {
                Ok((from, message)) => self.arrived(from, message.size()).await,
                Err(Error::Deadline(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn operation(&self, id: OperationId) -> Operation {
        *self.shared.schedule.block(self.here.rank()).operation(id)
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
        let (start, Operation { kind, processor, .. }) = (self.here.now(), self.operation(id));
        self.tell(id, start, GoalRank::started);
        match kind {
            OperationKind::Calculate(work) => {
                self.calculations.push(Calculation { id, processor, start, end: start + work });
            }
            OperationKind::Send { to, size, tag } => {
                self.note(to, tag, start);
                self.here.call(self.here.calls.send).await;
                self.here.messenger.send(to, Message::of_size(size)).await?;
                self.finished(id, Activity::Send, start, self.here.now());
            }
            OperationKind::Receive { from, tag, .. } => {
                let posted = Posted { id, from, tag, since: start };
                match self.early.iter().position(|message| posted.takes(message)) {
                    Some(place) => {
                        let message = self.early.remove(place);
                        self.receive(&posted, message).await;
                    }
                    None => self.posted.push(posted),
                }
            }
        }
        Ok(())
    }

    /// A message is sent: its receiver will want to know its tag.
    fn note(&self, to: Rank, tag: u32, sent: Time) {
        let way = (self.here.rank(), to);
        self.shared.under_way.borrow_mut().entry(way).or_default().push_back((tag, sent));
        self.here.record.borrow_mut().messages += 1;
    }

    /// The first receive that takes a message gets it; otherwise it waits for one.
    async fn arrived(&mut self, from: Rank, size: Bytes) {
        let way = (from, self.here.rank());
        let told = self.shared.under_way.borrow_mut().get_mut(&way).and_then(VecDeque::pop_front);
        let Some((tag, sent)) = told else { return };
        let message = Arrived { from, tag, size, sent };
        match self.posted.iter().position(|posted| posted.takes(&message)) {
            Some(place) => {
                let posted = self.posted.remove(place);
                self.receive(&posted, message).await;
            }
            None => self.early.push(message),
        }
    }

    async fn receive(&mut self, posted: &Posted, message: Arrived) {
        self.here.call(self.here.calls.receive).await;
        let (received, Arrived { from, size, sent, .. }) = (self.here.now(), message);
        self.finished(posted.id, Activity::Receive, posted.since, received);
        if let Some(timeline) = &mut self.here.record.borrow_mut().timeline {
            timeline.messages.push(MessageRecord { from, to: self.here.rank(), size, sent, received });
        }
    }

    /// Ends those calculations whose time has come, in the order of time.
    fn end_calculations(&mut self) {
        let now = self.here.now();
        self.calculations.sort_by_key(|calculation| calculation.end);
        let over = self.calculations.partition_point(|calculation| calculation.end <= now);
        for Calculation { id, start, end, .. } in self.calculations.drain(..over).collect::<Vec<_>>() {
            self.finished(id, Activity::Compute, start, end);
        }
    }

    fn finished(&mut self, id: OperationId, activity: Activity, start: Time, end: Time) {
        self.here.did_until(activity, start, end);
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
        if let Some(goal) = self.shared.ranks.borrow_mut().get_mut(self.here.rank().0 as usize) {
            happened(goal, id, at, &mut ready);
        }
        self.ready.extend(ready.into_iter().map(|ready| ready.operation));
    }
}
