//! The operations that a rank's program has in progress, as one state machine.
//!
//! ```text
//!     send, multicast   call of the program -> room in the send queue -> over
//!     receive           posted -> its message has arrived -> call of the program -> over
//!     probe             there is a message for a receive -> over, without the processor
//!     compute           computing -> over
//!     sleep until       over at its time, without the processor
//! ```
//!
//! The processor does one thing at a time. Sends and computations occupy it from when they are begun, and a message
//! from when it has arrived. Datagrams are handled besides, whatever the program has the processor do.

mod index;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use endpoint::{Error, Event, Message, Operation, Outcome, Passage, Request, Result, Source, Tag, Tags};
use quantities::{Bytes, Duration, Rank, Time};

use self::index::Index;
use crate::engine::Taken;
use crate::ordered::{Keys, Ordered};
use crate::{Awaited, CopyCost, Engine, Posted, Wait};

/// What the program's calls cost the processor, in addition to datagrams.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calls {
    /// For every message sent.
    pub send: Duration,
    /// For every receive that completes.
    pub receive: Duration,
}

/// The operations that a rank's program has in progress.
#[derive(Debug)]
pub(crate) struct Operations {
    calls: Calls,
    /// What it costs the processor to copy a message through memory out of the pushed buffer.
    copy: CopyCost,
    /// How long an operation without a deadline waits, if not for ever.
    patience: Option<Duration>,
    /// By turn: in the order in which they were begun.
    under_way: Ordered<u64, UnderWay>,
    /// How many have been begun.
    turns: u64,
    index: Index,
    /// How often other ranks had departed when operations last advanced.
    departures: u64,
    /// When each processor becomes free.
    processors_free: Vec<Time>,
    /// When the last operation was over, or the first was begun.
    last_over: Time,
    /// The operations that are over once everything has been sent that this turn has to send, and those that are over
    /// now.
    ends: Vec<NumberedEvent>,
    events: VecDeque<NumberedEvent>,
    /// Whether an operation can continue without anything having to arrive.
    can_continue: bool,
    /// Why there is no network any more.
    failed: Option<Error>,
    /// How often an operation has advanced.
    #[cfg(test)]
    advanced: u64,
}

/// An operation that a program begins.
#[derive(Debug)]
pub(crate) struct NewOperation {
    pub(crate) number: u32,
    pub(crate) operation: Operation,
    /// The processor that does it.
    pub(crate) processor: u8,
    /// Whether to report when that processor takes it up.
    pub(crate) reports_start: bool,
    is_request: bool,
}

impl NewOperation {
    /// An operation of a rank with one processor.
    pub(crate) const fn new(number: u32, operation: Operation) -> NewOperation {
        NewOperation { number, operation, processor: 0, reports_start: false, is_request: false }
    }

    /// A request, known by `number`.
    pub(crate) fn of_request(number: u32, request: Request) -> NewOperation {
        let Request { operation, processor, reports_start, .. } = request;
        NewOperation { number, operation, processor, reports_start, is_request: true }
    }
}

/// An event of an operation, by the number with which it was begun.
#[derive(Debug)]
pub(crate) struct NumberedEvent {
    pub(crate) number: u32,
    pub(crate) event: Event,
}

impl NumberedEvent {
    const fn over(number: u32, result: Result<Outcome>) -> NumberedEvent {
        NumberedEvent { number, event: Event::Completed(result) }
    }
}

#[derive(Debug)]
struct UnderWay {
    number: u32,
    processor: u8,
    /// Whether to report when its processor takes it up; then, when that is.
    start: Start,
    stage: OperationStage,
    limit: Limit,
    /// When it continues by itself, as the index has it.
    noted: Option<Time>,
}

/// When an operation stops waiting at the latest, whatever its own deadline.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Never,
    At(Time),
    /// Until no operation of the rank has completed for as long as its patience: requests are begun long before they
    /// can be over.
    OfAll,
}

/// What to report about the start of an operation.
#[derive(Clone, Copy, Debug)]
enum Start {
    /// Nothing, or nothing any more.
    Silent,
    /// When it starts, which is not known yet.
    Wanted,
    /// That it starts at this time.
    At(Time),
}

#[derive(Debug)]
enum OperationStage {
    /// It was begun.
    Begun(Operation),
    /// The processor prepares the send.
    Calls(Time, Sending),
    /// It waits for room in the send queue.
    Submits(Sending),
    /// It receives a broadcast, and has not been posted.
    Queues(Rank),
    /// It waits for what it receives, until a deadline.
    Receives(Posted, Awaited, Option<Time>),
    /// It waits, until a deadline, for a message that a receive would take.
    Probes(Source, Tags, Option<Time>),
    /// What it waits for has not arrived in time.
    IsLate(Posted, Error),
    /// The processor has to take what has arrived, and to copy this much of it.
    HasResult(Bytes, Result<Outcome>),
    /// The processor does the rest of the work.
    Ends(Time, Result<Outcome>),
    IsOver,
}

/// What is sent, and to which rank if not to all.
#[derive(Debug)]
struct Sending {
    to: Option<(Rank, Tag)>,
    message: Message,
}

/// The result of a step of an operation.
enum StepResult {
    To(OperationStage),
    Over(Result<Outcome>),
}

impl Operations {
    pub(crate) fn new() -> Operations {
        Operations {
            calls: Calls::default(),
            copy: CopyCost::default(),
            patience: None,
            under_way: Ordered::default(),
            turns: 0,
            index: Index::default(),
            departures: 0,
            processors_free: vec![Time::ZERO],
            last_over: Time::ZERO,
            ends: Vec::new(),
            events: VecDeque::new(),
            can_continue: false,
            failed: None,
            #[cfg(test)]
            advanced: 0,
        }
    }

    pub(crate) const fn set_calls(&mut self, calls: Calls) {
        self.calls = calls;
    }

    pub(crate) const fn set_copy(&mut self, copy: CopyCost) {
        self.copy = copy;
    }

    pub(crate) const fn set_patience(&mut self, patience: Duration) {
        self.patience = Some(patience);
    }

    pub(crate) fn begin(&mut self, now: Time, new: NewOperation) {
        let NewOperation { number, operation, processor, reports_start, is_request } = new;
        if let Some(error) = &self.failed {
            let result = outcome_without_network(&operation, error);
            self.events.push_back(NumberedEvent::over(number, result));
            return;
        }
        let processors = self.processors_free.len().max(usize::from(processor) + 1);
        self.processors_free.resize(processors, Time::ZERO);
        let waits = !matches!(
            operation,
            Operation::Compute(_)
                | Operation::Sleep(_)
                | Operation::Receive { deadline: Some(_), .. }
                | Operation::Probe { deadline: Some(_), .. }
        );
        self.last_over = if self.under_way.is_empty() { now } else { self.last_over };
        let limit = match self.patience.filter(|_| waits) {
            Some(_) if is_request => Limit::OfAll,
            Some(patience) => Limit::At(self.free(now, processor) + patience),
            None => Limit::Never,
        };
        let start = if reports_start { Start::Wanted } else { Start::Silent };
        let stage = OperationStage::Begun(operation);
        self.turns += 1;
        self.index.enter(self.turns, &stage, limit);
        self.under_way.insert(self.turns, UnderWay { number, processor, start, stage, limit, noted: None });
    }

    /// Whether a receive has been begun but not posted.
    pub(crate) fn has_new_receives(&self) -> bool {
        !self.index.new_receives.is_empty()
    }

    /// Posts the receives that were begun.
    pub(crate) fn post(&mut self, now: Time, engine: &mut Engine) {
        let mut next = self.first_to_post();
        while let Some(turn) = next {
            self.index.next_broadcasts.remove(turn);
            self.post_one(turn, now, engine);
            next = self.first_to_post();
        }
    }

    fn first_to_post(&self) -> Option<u64> {
        let first = |keys: &Keys<u64>| keys.first().map(|(turn, ())| turn);
        [first(&self.index.new_receives), first(&self.index.next_broadcasts)].into_iter().flatten().min()
    }

    fn post_one(&mut self, turn: u64, now: Time, engine: &mut Engine) {
        let Some(it) = self.under_way.get(turn) else { return };
        let (what, deadline) = match it.stage {
            OperationStage::Begun(Operation::Receive { from, tags, deadline }) => {
                (Awaited::Message(from, tags), deadline)
            }
            OperationStage::Begun(Operation::ReceiveMulticast(from)) | OperationStage::Queues(from) => {
                (Awaited::BroadcastOf(from), None)
            }
            _ => return,
        };
        let stage = match what {
            Awaited::BroadcastOf(from) if self.index.first_broadcast(from).is_some_and(|first| first < turn) => {
                OperationStage::Queues(from)
            }
            _ => match engine.post(now, what) {
                Ok(posted) => OperationStage::Receives(posted, what, deadline),
                Err(error) => OperationStage::HasResult(Bytes(0), Err(error)),
            },
        };
        self.set_stage(turn, stage);
        self.index.due.insert(turn, ());
    }

    /// Has an operation enter a stage, and returns the one that it leaves.
    fn set_stage(&mut self, turn: u64, stage: OperationStage) -> OperationStage {
        let Some(it) = self.under_way.get_mut(turn) else { return OperationStage::IsOver };
        self.index.leave(turn, &it.stage, it.limit);
        self.index.enter(turn, &stage, it.limit);
        std::mem::replace(&mut it.stage, stage)
    }

    /// Advances every operation as far as possible at `now`, in the order in which they were begun; but of several
    /// receives whose messages have arrived, first the one whose message was complete first.
    pub(crate) fn advance(&mut self, now: Time, engine: &mut Engine) {
        self.can_continue = false;
        let mut active = self.active(now, engine);
        let order = self.order(&active, engine);
        let mut next = active.first().map(|(turn, ())| turn);
        while let Some(turn) = next {
            active.remove(turn);
            self.advance_one(order.get(turn).copied().unwrap_or(turn), now, engine, &mut active);
            // What this one has let others do: those behind it do it in this round.
            for receive in engine.take_ready() {
                match self.index.receive(receive) {
                    Some(ready) if ready > turn => active.insert(ready, ()),
                    Some(ready) => self.index.due.insert(ready, ()),
                    None => {}
                }
            }
            next = active.first_from(turn).map(|(turn, ())| turn);
        }
    }

    /// The operations that may be able to advance.
    fn active(&mut self, now: Time, engine: &mut Engine) -> Keys<u64> {
        let mut active = std::mem::take(&mut self.index.due);
        let departures = engine.departures();
        let is_late = self.index.has_of_all() && self.limit(Limit::OfAll).is_some_and(|limit| limit <= now);
        if std::mem::replace(&mut self.departures, departures) != departures || is_late {
            self.under_way.iter().for_each(|(turn, _)| active.insert(turn, ()));
        }
        let index = &self.index;
        let timely = index.times.iter().take_while(|((time, _), ())| *time <= now).map(|((_, turn), ())| turn);
        timely.for_each(|turn| active.insert(turn, ()));
        index.broadcasts().chain(index.probes()).for_each(|turn| active.insert(turn, ()));
        let roomier = engine.take_roomier().into_iter().map(Some).chain([None]);
        roomier.filter_map(|queue| index.first_to(queue)).for_each(|turn| active.insert(turn, ()));
        let ready = engine.take_ready().into_iter().chain(engine.open_receives());
        ready.filter_map(|order| index.receive(order)).for_each(|turn| active.insert(turn, ()));
        active
    }

    /// Which operation advances instead of another, where several receives have their messages.
    fn order(&self, active: &Keys<u64>, engine: &Engine) -> Ordered<u64, u64> {
        let mut order = Ordered::default();
        if active.len() > 1 {
            let completion = |turn: u64| match self.under_way.get(turn)?.stage {
                OperationStage::Receives(posted, ..) => engine.completion(posted),
                _ => None,
            };
            let complete = active.iter().filter_map(|(turn, ())| Some((completion(turn)?, turn)));
            let complete: Vec<(u64, u64)> = complete.collect();
            let mut first = complete.clone();
            first.sort_unstable();
            complete.iter().zip(first).for_each(|(&(_, turn), (_, first))| order.insert(turn, first));
        }
        order
    }

    fn advance_one(&mut self, turn: u64, now: Time, engine: &mut Engine, active: &mut Keys<u64>) {
        #[cfg(test)]
        {
            self.advanced += 1;
        }
        self.report_start(turn, now);
        let Some(&UnderWay { processor, limit, .. }) = self.under_way.get(turn) else { return };
        let served = Served { processor, limit: self.limit(limit) };
        let stage = self.set_stage(turn, OperationStage::IsOver);
        let queue = if let OperationStage::Submits(Sending { to, .. }) = &stage { Some(*to) } else { None };
        let is_called = matches!(stage, OperationStage::Calls(until, _) if until <= now);
        let step = self.step(now, stage, served, engine);
        self.take_step(turn, step);
        if is_called {
            self.index.due.insert(turn, ());
        }
        // Behind one that has got into its queue, or is over, the next one may.
        if let Some(next) = queue.and_then(|queue| self.index.first_to(queue)).filter(|&next| next > turn) {
            active.insert(next, ());
        }
    }

    /// Reports that an operation starts, if that is requested and its processor takes it up. Whatever this allows to
    /// begin need not wait until this turn has sent what it has to send.
    fn report_start(&mut self, turn: u64, now: Time) {
        let Some(&UnderWay { number, processor, start, ref stage, .. }) = self.under_way.get(turn) else { return };
        let at = match (start, stage) {
            (Start::Silent, _) => return,
            (Start::At(at), _) => at,
            (Start::Wanted, OperationStage::Begun(Operation::Sleep(_))) => now,
            (Start::Wanted, _) => self.free(now, processor),
        };
        if let Some(it) = self.under_way.get_mut(turn) {
            it.start = if at <= now { Start::Silent } else { Start::At(at) };
        }
        if at <= now {
            self.events.push_back(NumberedEvent { number, event: Event::Started });
        }
    }

    fn take_step(&mut self, turn: u64, step: StepResult) {
        match step {
            StepResult::To(next) => {
                self.set_stage(turn, next);
                if let Some(it) = self.under_way.get_mut(turn) {
                    let time = it.next_time();
                    self.index.note_time(turn, &mut it.noted, time);
                }
            }
            StepResult::Over(result) => {
                self.set_stage(turn, OperationStage::IsOver);
                if let Some(UnderWay { number, mut noted, .. }) = self.under_way.remove(turn) {
                    self.index.note_time(turn, &mut noted, None);
                    self.ends.push(NumberedEvent::over(number, result));
                }
            }
        }
    }

    fn step(&mut self, now: Time, stage: OperationStage, served: Served, engine: &mut Engine) -> StepResult {
        match stage {
            OperationStage::Begun(Operation::Send { to, tag, message }) => {
                self.call(now, Sending { to: Some((to, tag)), message }, served, engine)
            }
            OperationStage::Begun(Operation::Multicast(message)) => {
                self.call(now, Sending { to: None, message }, served, engine)
            }
            OperationStage::Begun(Operation::Compute(work)) => {
                self.process(now, served.processor, work, Ok(Outcome::Done))
            }
            OperationStage::Begun(Operation::Sleep(until)) if until <= now => StepResult::Over(Ok(Outcome::Done)),
            OperationStage::Begun(Operation::Sleep(until)) => {
                StepResult::To(OperationStage::Ends(until, Ok(Outcome::Done)))
            }
            OperationStage::Calls(until, sending) if until <= now => {
                self.can_continue = true;
                StepResult::To(OperationStage::Submits(sending))
            }
            OperationStage::Submits(sending) => self.submit(now, sending, served.limit, engine),
            OperationStage::Receives(posted, what, deadline) => match engine.taken(now, posted) {
                Ok(Some(Taken { received, to_copy })) => {
                    let outcome = Outcome::Received(received, Passage { sent: now, arrived: now });
                    self.take_result(now, served.processor, to_copy, Ok(outcome))
                }
                Err(error) => self.take_result(now, served.processor, Bytes(0), Err(error)),
                Ok(None) => {
                    let late = late(now, deadline, served.limit, engine);
                    StepResult::To(late.map_or(OperationStage::Receives(posted, what, deadline), |error| {
                        OperationStage::IsLate(posted, error)
                    }))
                }
            },
            OperationStage::Begun(Operation::Probe { from, tags, deadline })
            | OperationStage::Probes(from, tags, deadline) => match engine.probed(from, tags) {
                Ok(Some(found)) => StepResult::Over(Ok(Outcome::Probed(found))),
                Err(error) => StepResult::Over(Err(error)),
                Ok(None) => match late(now, deadline, served.limit, engine) {
                    Some(error) => StepResult::Over(Err(error)),
                    None => StepResult::To(OperationStage::Probes(from, tags, deadline)),
                },
            },
            OperationStage::HasResult(to_copy, result) => {
                self.process(now, served.processor, self.calls.receive + self.copy.of(to_copy), result)
            }
            OperationStage::Ends(until, result) if until <= now => StepResult::Over(result),
            stage => StepResult::To(stage),
        }
    }

    /// Occupies the processor for `work` once it is free; then the operation is over.
    fn process(&mut self, now: Time, processor: u8, work: Duration, result: Result<Outcome>) -> StepResult {
        let until = self.occupy(now, processor, work);
        if until <= now { StepResult::Over(result) } else { StepResult::To(OperationStage::Ends(until, result)) }
    }

    /// When an operation stops waiting at the latest.
    fn limit(&self, limit: Limit) -> Option<Time> {
        match limit {
            Limit::Never => None,
            Limit::At(time) => Some(time),
            Limit::OfAll => {
                let busy_until = self.processors_free.iter().fold(self.last_over, |latest, &free| latest.max(free));
                self.patience.map(|patience| busy_until + patience)
            }
        }
    }

    /// From when a processor is free.
    fn free(&self, now: Time, processor: u8) -> Time {
        self.processors_free[usize::from(processor)].max(now)
    }

    /// When a processor will have done `work`.
    fn occupy(&mut self, now: Time, processor: u8, work: Duration) -> Time {
        let until = self.free(now, processor) + work;
        self.processors_free[usize::from(processor)] = until;
        until
    }

    fn call(&mut self, now: Time, sending: Sending, served: Served, engine: &mut Engine) -> StepResult {
        let until = self.occupy(now, served.processor, self.calls.send);
        if until <= now {
            self.submit(now, sending, served.limit, engine)
        } else {
            StepResult::To(OperationStage::Calls(until, sending))
        }
    }

    fn submit(&mut self, now: Time, sending: Sending, limit: Option<Time>, engine: &mut Engine) -> StepResult {
        let Sending { to, message } = sending;
        let submitted = match to {
            Some((to, tag)) => engine.send(to, tag, message),
            None => engine.multicast(message),
        };
        match submitted {
            Ok(None) => StepResult::Over(Ok(Outcome::Done)),
            Ok(Some(_)) if limit.is_some_and(|limit| limit <= now) => StepResult::Over(Err(timed_out(engine.rank()))),
            Ok(Some(message)) => StepResult::To(OperationStage::Submits(Sending { to, message })),
            Err(error) => StepResult::Over(Err(error)),
        }
    }

    /// What a receive waits for has arrived, and this much of it has to be copied.
    fn take_result(&mut self, now: Time, processor: u8, to_copy: Bytes, result: Result<Outcome>) -> StepResult {
        let is_free = self.calls.receive.is_zero() && self.copy.of(to_copy).is_zero();
        if is_free && self.free(now, processor) <= now {
            return StepResult::Over(result);
        }
        self.can_continue = true;
        StepResult::To(OperationStage::HasResult(to_copy, result))
    }

    /// Everything that this turn has to send has been sent: what ends with it is over, and what is too late is
    /// withdrawn.
    pub(crate) fn settle(&mut self, now: Time, engine: &mut Engine) {
        while let Some((turn, ())) = self.index.late.first() {
            let processor = self.under_way.get(turn).map_or(0, |it| it.processor);
            if let OperationStage::IsLate(posted, error) = self.set_stage(turn, OperationStage::IsOver) {
                engine.withdraw(posted);
                let step = self.take_result(now, processor, Bytes(0), Err(error));
                self.take_step(turn, step);
            }
        }
        if !self.ends.is_empty() {
            self.last_over = now;
        }
        self.events.extend(self.ends.drain(..));
    }

    /// Whether something can be done at once.
    pub(crate) fn can_continue(&self) -> bool {
        self.can_continue || !self.events.is_empty() || self.index.has_begun()
    }

    pub(crate) fn take_event(&mut self) -> Option<NumberedEvent> {
        self.events.pop_front()
    }

    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// When an operation continues, or stops waiting, if nothing arrives before.
    pub(crate) fn deadline(&self) -> Option<Time> {
        let of_all = self.limit(Limit::OfAll).filter(|_| self.index.has_of_all());
        [self.index.times.first().map(|((time, _), ())| time), of_all].into_iter().flatten().min()
    }

    /// What the operations wait for, if none can continue by itself and the program has been told of all that are over.
    pub(crate) fn waits_for(&self) -> Option<Vec<Wait>> {
        if !self.ends.is_empty() || !self.events.is_empty() {
            return None;
        }
        self.under_way.iter().map(|(_, it)| it.waits_for()).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Whether something has still to be handed over for sending.
    pub(crate) fn sends(&self) -> bool {
        self.index.sends()
    }

    /// Drops everything that was begun: nobody needs its results.
    pub(crate) fn clear(&mut self, engine: &mut Engine) {
        for (_, it) in std::mem::take(&mut self.under_way) {
            if let OperationStage::Receives(posted, ..) | OperationStage::IsLate(posted, _) = it.stage {
                engine.withdraw(posted);
            }
        }
        self.index = Index::default();
        self.ends.clear();
        self.events.clear();
    }

    /// The network is gone: everything ends with `error`, except what needs no network.
    pub(crate) fn fail(&mut self, error: &Error) {
        self.failed = Some(error.clone());
        self.events.extend(self.ends.drain(..));
        self.index = Index::default();
        for (_, UnderWay { number, stage, .. }) in std::mem::take(&mut self.under_way) {
            let result = match stage {
                OperationStage::Begun(operation) => outcome_without_network(&operation, error),
                OperationStage::HasResult(_, result) | OperationStage::Ends(_, result) => result,
                _ => Err(error.clone()),
            };
            self.events.push_back(NumberedEvent::over(number, result));
        }
    }
}

/// What serves an operation.
#[derive(Clone, Copy, Debug)]
struct Served {
    processor: u8,
    /// When it stops waiting at the latest.
    limit: Option<Time>,
}

impl UnderWay {
    /// When it continues, or stops waiting, if nothing arrives before and it has a time of its own.
    fn next_time(&self) -> Option<Time> {
        let limit = if let Limit::At(time) = self.limit { Some(time) } else { None };
        let continues = match self.stage {
            OperationStage::Calls(until, _) | OperationStage::Ends(until, _) => Some(until),
            OperationStage::Receives(_, _, deadline) | OperationStage::Probes(_, _, deadline) => deadline.or(limit),
            OperationStage::Submits(_) => limit,
            _ => None,
        };
        let starts = if let Start::At(start) = self.start { Some(start) } else { None };
        [continues, starts].into_iter().flatten().min()
    }

    fn waits_for(&self) -> Option<Wait> {
        match &self.stage {
            OperationStage::Receives(_, what, None) => Some(Wait::For(*what)),
            OperationStage::Probes(from, tags, None) => Some(Wait::For(Awaited::Message(*from, *tags))),
            OperationStage::Queues(from) => Some(Wait::For(Awaited::BroadcastOf(*from))),
            OperationStage::Submits(Sending { to: Some((to, _)), .. }) => Some(Wait::Room(*to)),
            _ => None,
        }
    }
}

/// The result of an operation without a network: a computation needs none.
fn outcome_without_network(operation: &Operation, error: &Error) -> Result<Outcome> {
    match operation {
        Operation::Compute(_) | Operation::Sleep(_) => Ok(Outcome::Done),
        _ => Err(error.clone()),
    }
}

/// Why an operation has waited for too long, if it has.
fn late(now: Time, deadline: Option<Time>, limit: Option<Time>, engine: &Engine) -> Option<Error> {
    let passed = |time: Option<Time>| time.filter(|time| *time <= now);
    passed(deadline).map(Error::Deadline).or_else(|| passed(limit).map(|_| timed_out(engine.rank())))
}

pub(crate) fn timed_out(rank: Rank) -> Error {
    Error::Deadlock(format!("rank {rank} has waited for a message for too long"))
}
