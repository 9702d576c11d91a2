//! The operations that a rank's program has in progress, as one state machine.
//!
//! ```text
//!     send, multicast   call of the program -> room in the send queue -> over
//!     receive           posted -> its message has arrived -> call of the program -> over
//!     compute           computing -> over
//!     sleep until       over at its time, without the processor
//! ```
//!
//! The processor does one thing at a time. Sends and computations occupy it from when they are begun, and a message from when it has
//! arrived. Datagrams are handled besides, whatever the program has the processor do.

use std::collections::VecDeque;

use endpoint::{Error, Event, Message, Operation, Outcome, Passage, Request, Result, Tag};
use quantities::{Duration, Rank, Time};

use crate::{Awaited, Engine, Posted, Wait};

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
    /// How long an operation without a deadline waits, if not for ever.
    patience: Option<Duration>,
    /// In the order in which they were begun.
    under_way: Vec<UnderWay>,
    /// When each processor becomes free.
    processors_free: Vec<Time>,
    /// When the last operation was over, or the first was begun.
    last_over: Time,
    /// The operations that are over once everything has been sent that this turn has to send, and those that are over now.
    ends: Vec<NumberedEvent>,
    events: VecDeque<NumberedEvent>,
    /// Whether an operation can continue without anything having to arrive.
    can_continue: bool,
    /// Why there is no network any more.
    failed: Option<Error>,
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
    stage: Stage,
    limit: Limit,
}

/// When an operation stops waiting at the latest, whatever its own deadline.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Never,
    At(Time),
    /// Until no operation of the rank has completed for as long as its patience: requests are begun long before they can be over.
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
enum Stage {
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
    /// What it waits for has not arrived in time.
    IsLate(Posted, Error),
    /// The processor has to take what has arrived.
    HasResult(Result<Outcome>),
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
enum Step {
    To(Stage),
    Over(Result<Outcome>),
}

impl Operations {
    pub(crate) fn new() -> Operations {
        Operations {
            calls: Calls::default(),
            patience: None,
            under_way: Vec::new(),
            processors_free: vec![Time::ZERO],
            last_over: Time::ZERO,
            ends: Vec::new(),
            events: VecDeque::new(),
            can_continue: false,
            failed: None,
        }
    }

    pub(crate) const fn set_calls(&mut self, calls: Calls) {
        self.calls = calls;
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
            Operation::Compute(_) | Operation::Sleep(_) | Operation::Receive { deadline: Some(_), .. }
        );
        self.last_over = if self.under_way.is_empty() { now } else { self.last_over };
        let limit = match self.patience.filter(|_| waits) {
            Some(_) if is_request => Limit::OfAll,
            Some(patience) => Limit::At(self.free(now, processor) + patience),
            None => Limit::Never,
        };
        let start = if reports_start { Start::Wanted } else { Start::Silent };
        self.under_way.push(UnderWay { number, processor, start, stage: Stage::Begun(operation), limit });
    }

    /// Whether a receive has been begun but not posted.
    pub(crate) fn has_new_receives(&self) -> bool {
        let receives =
            |operation: &Operation| matches!(operation, Operation::Receive { .. } | Operation::ReceiveMulticast(_));
        self.under_way.iter().any(|it| matches!(&it.stage, Stage::Begun(operation) if receives(operation)))
    }

    /// Posts the receives that were begun.
    pub(crate) fn post(&mut self, now: Time, engine: &mut Engine) {
        for place in 0..self.under_way.len() {
            let (what, deadline) = match self.under_way[place].stage {
                Stage::Begun(Operation::Receive { from, tags, deadline }) => (Awaited::Message(from, tags), deadline),
                Stage::Begun(Operation::ReceiveMulticast(from)) | Stage::Queues(from) => {
                    let receives = |it: &UnderWay| it.receives_broadcasts_of(from);
                    if self.under_way[..place].iter().any(receives) {
                        self.under_way[place].stage = Stage::Queues(from);
                        continue;
                    }
                    (Awaited::BroadcastOf(from), None)
                }
                _ => continue,
            };
            self.under_way[place].stage = match engine.post(now, what) {
                Ok(posted) => Stage::Receives(posted, what, deadline),
                Err(error) => Stage::HasResult(Err(error)),
            };
        }
    }

    /// Advances every operation as far as possible at `now`, in the order in which they were begun; but of several receives whose
    /// messages have arrived, first the one whose message was complete first.
    pub(crate) fn advance(&mut self, now: Time, engine: &mut Engine) {
        self.can_continue = false;
        if self.under_way.len() == 1 {
            self.advance_one(0, now, engine);
        } else {
            self.order(engine).into_iter().for_each(|place| self.advance_one(place, now, engine));
        }
        self.under_way.retain(|it| !matches!(it.stage, Stage::IsOver));
    }

    /// The order in which operations advance.
    fn order(&self, engine: &Engine) -> Vec<usize> {
        let completion = |stage: &Stage| match stage {
            Stage::Receives(posted, ..) => engine.completion(*posted),
            _ => None,
        };
        let complete = (0..).zip(&self.under_way).filter_map(|(place, it)| Some((completion(&it.stage)?, place)));
        let complete: Vec<(u64, usize)> = complete.collect();
        let mut first = complete.clone();
        first.sort_unstable();
        let mut order: Vec<usize> = (0..self.under_way.len()).collect();
        complete.iter().zip(first).for_each(|(&(_, place), (_, first))| order[place] = first);
        order
    }

    fn advance_one(&mut self, place: usize, now: Time, engine: &mut Engine) {
        self.report_start(place, now);
        let limit = self.limit(self.under_way[place].limit);
        let it = &mut self.under_way[place];
        let (served, stage) = (Served { processor: it.processor, limit }, it.take_stage());
        let step = self.step(now, stage, served, engine);
        self.take_step(place, step);
    }

    /// Reports that an operation starts, if that is requested and its processor takes it up. Whatever this allows to begin need not wait
    /// until this turn has sent what it has to send.
    fn report_start(&mut self, place: usize, now: Time) {
        let UnderWay { number, processor, start, ref stage, .. } = self.under_way[place];
        let at = match (start, stage) {
            (Start::Silent, _) => return,
            (Start::At(at), _) => at,
            (Start::Wanted, Stage::Begun(Operation::Sleep(_))) => now,
            (Start::Wanted, _) => self.free(now, processor),
        };
        self.under_way[place].start = if at <= now { Start::Silent } else { Start::At(at) };
        if at <= now {
            self.events.push_back(NumberedEvent { number, event: Event::Started });
        }
    }

    fn take_step(&mut self, place: usize, step: Step) {
        let UnderWay { number, stage, .. } = &mut self.under_way[place];
        match step {
            Step::To(next) => *stage = next,
            Step::Over(result) => {
                *stage = Stage::IsOver;
                self.ends.push(NumberedEvent::over(*number, result));
            }
        }
    }

    fn step(&mut self, now: Time, stage: Stage, served: Served, engine: &mut Engine) -> Step {
        match stage {
            Stage::Begun(Operation::Send { to, tag, message }) => {
                self.call(now, Sending { to: Some((to, tag)), message }, served, engine)
            }
            Stage::Begun(Operation::Multicast(message)) => {
                self.call(now, Sending { to: None, message }, served, engine)
            }
            Stage::Begun(Operation::Compute(work)) => self.process(now, served.processor, work, Ok(Outcome::Done)),
            Stage::Begun(Operation::Sleep(until)) if until <= now => Step::Over(Ok(Outcome::Done)),
            Stage::Begun(Operation::Sleep(until)) => Step::To(Stage::Ends(until, Ok(Outcome::Done))),
            Stage::Calls(until, sending) if until <= now => {
                self.can_continue = true;
                Step::To(Stage::Submits(sending))
            }
            Stage::Submits(sending) => self.submit(now, sending, served.limit, engine),
            Stage::Receives(posted, what, deadline) => match engine.received(now, posted) {
                Ok(Some(received)) => self.take_result(
                    now,
                    served.processor,
                    Ok(Outcome::Received(received, Passage { sent: now, arrived: now })),
                ),
                Err(error) => self.take_result(now, served.processor, Err(error)),
                Ok(None) => {
                    let passed = |time: Option<Time>| time.filter(|time| *time <= now);
                    let late = passed(deadline).map(Error::Deadline);
                    let late = late.or_else(|| passed(served.limit).map(|_| timed_out(engine.rank())));
                    Step::To(late.map_or(Stage::Receives(posted, what, deadline), |error| Stage::IsLate(posted, error)))
                }
            },
            Stage::HasResult(result) => self.process(now, served.processor, self.calls.receive, result),
            Stage::Ends(until, result) if until <= now => Step::Over(result),
            stage => Step::To(stage),
        }
    }

    /// Occupies the processor for `work` once it is free; then the operation is over.
    fn process(&mut self, now: Time, processor: u8, work: Duration, result: Result<Outcome>) -> Step {
        let until = self.occupy(now, processor, work);
        if until <= now { Step::Over(result) } else { Step::To(Stage::Ends(until, result)) }
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

    fn call(&mut self, now: Time, sending: Sending, served: Served, engine: &mut Engine) -> Step {
        let until = self.occupy(now, served.processor, self.calls.send);
        if until <= now {
            self.submit(now, sending, served.limit, engine)
        } else {
            Step::To(Stage::Calls(until, sending))
        }
    }

    fn submit(&mut self, now: Time, sending: Sending, limit: Option<Time>, engine: &mut Engine) -> Step {
        let Sending { to, message } = sending;
        let submitted = match to {
            Some((to, tag)) => engine.send(to, tag, message),
            None => engine.multicast(message),
        };
        match submitted {
            Ok(None) => Step::Over(Ok(Outcome::Done)),
            Ok(Some(_)) if limit.is_some_and(|limit| limit <= now) => Step::Over(Err(timed_out(engine.rank()))),
            Ok(Some(message)) => Step::To(Stage::Submits(Sending { to, message })),
            Err(error) => Step::Over(Err(error)),
        }
    }

    /// What a receive waits for has arrived.
    fn take_result(&mut self, now: Time, processor: u8, result: Result<Outcome>) -> Step {
        if self.calls.receive.is_zero() && self.free(now, processor) <= now {
            return Step::Over(result);
        }
        self.can_continue = true;
        Step::To(Stage::HasResult(result))
    }

    /// Everything that this turn has to send has been sent: what ends with it is over, and what is too late is withdrawn.
    pub(crate) fn settle(&mut self, now: Time, engine: &mut Engine) {
        for place in 0..self.under_way.len() {
            let UnderWay { processor, stage, .. } = &self.under_way[place];
            if let Stage::IsLate(posted, error) = stage {
                engine.withdraw(*posted);
                let (processor, error) = (*processor, error.clone());
                let step = self.take_result(now, processor, Err(error));
                self.take_step(place, step);
            }
        }
        self.under_way.retain(|it| !matches!(it.stage, Stage::IsOver));
        if !self.ends.is_empty() {
            self.last_over = now;
        }
        self.events.extend(self.ends.drain(..));
    }

    /// Whether something can be done at once.
    pub(crate) fn can_continue(&self) -> bool {
        let is_new = |it: &UnderWay| matches!(it.stage, Stage::Begun(_));
        self.can_continue || !self.events.is_empty() || self.under_way.iter().any(is_new)
    }

    pub(crate) fn take_event(&mut self) -> Option<NumberedEvent> {
        self.events.pop_front()
    }

    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// When an operation continues, or stops waiting, if nothing arrives before.
    pub(crate) fn deadline(&self) -> Option<Time> {
        let deadline = |it: &UnderWay| match it.stage {
            Stage::Calls(until, _) | Stage::Ends(until, _) => Some(until),
            Stage::Receives(_, _, deadline) => deadline.or_else(|| self.limit(it.limit)),
            Stage::Submits(_) => self.limit(it.limit),
            _ => None,
        };
        let start = |it: &UnderWay| match it.start {
            Start::At(start) => Some(start),
            Start::Silent | Start::Wanted => None,
        };
        self.under_way.iter().flat_map(|it| [deadline(it), start(it)]).flatten().min()
    }

    /// What the operations wait for, if none can continue by itself and the program has been told of all that are over.
    pub(crate) fn waits_for(&self) -> Option<Vec<Wait>> {
        if !self.ends.is_empty() || !self.events.is_empty() {
            return None;
        }
        self.under_way.iter().map(UnderWay::waits_for).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Whether something has still to be handed over for sending.
    pub(crate) fn sends(&self) -> bool {
        let sends = |operation: &Operation| matches!(operation, Operation::Send { .. } | Operation::Multicast(_));
        self.under_way.iter().any(|it| match &it.stage {
            Stage::Begun(operation) => sends(operation),
            Stage::Calls(..) | Stage::Submits(_) => true,
            _ => false,
        })
    }

    /// Drops everything that was begun: nobody needs its results.
    pub(crate) fn clear(&mut self, engine: &mut Engine) {
        for it in self.under_way.drain(..) {
            if let Stage::Receives(posted, ..) | Stage::IsLate(posted, _) = it.stage {
                engine.withdraw(posted);
            }
        }
        self.ends.clear();
        self.events.clear();
    }

    /// The network is gone: everything ends with `error`, except what needs no network.
    pub(crate) fn fail(&mut self, error: &Error) {
        self.failed = Some(error.clone());
        self.events.extend(self.ends.drain(..));
        for UnderWay { number, stage, .. } in self.under_way.drain(..) {
            let result = match stage {
                Stage::Begun(operation) => outcome_without_network(&operation, error),
                Stage::HasResult(result) | Stage::Ends(_, result) => result,
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
    fn take_stage(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::IsOver)
    }

    fn receives_broadcasts_of(&self, rank: Rank) -> bool {
        match self.stage {
            Stage::Receives(_, what, _) => what == Awaited::BroadcastOf(rank),
            Stage::Queues(from) => from == rank,
            _ => false,
        }
    }

    fn waits_for(&self) -> Option<Wait> {
        match &self.stage {
            Stage::Receives(_, what, None) => Some(Wait::For(*what)),
            Stage::Queues(from) => Some(Wait::For(Awaited::BroadcastOf(*from))),
            Stage::Submits(Sending { to: Some((to, _)), .. }) => Some(Wait::Room(*to)),
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

pub(crate) fn timed_out(rank: Rank) -> Error {
    Error::Deadlock(format!("rank {rank} has waited for a message for too long"))
}
