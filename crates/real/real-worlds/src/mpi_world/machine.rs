//! This process's rank, as the executor sees it.
//!
//! ```text
//!     send              processor free -> under way in MPI -> over
//!     receive           posted -> its message has arrived, perhaps after an announcement -> processor free -> over
//!     probe             there is a message for a receive -> over, without the processor
//!     compute           processor free -> computing -> over
//!     sleep until       over at its time, without the processor
//! ```
//!
//! The processor does one thing at a time, as in every world. MPI makes progress whenever it is called, also while the
//! program computes.

use std::collections::VecDeque;

use endpoint::executor::{Machine, OperationEvent, number_of, request_of};
use endpoint::{
    Error, Event, Message, Operation, Outcome, Passage, Received, Request, Result, Source, StartStatus, Tag, Tags,
};
use quantities::{Duration, Rank, Time};

use super::broadcasts::{Broadcasts, CompletedBroadcast, MOST_RANKS};
use super::polling::{Polling, Waiting};
use super::transport::{Body, Incoming, Sending, Transfer, Transport};
use crate::{Clock, QUESTION_INTERVAL};

/// Polls between two looks at the clock, where no operation waits for a time.
const POLLS_BETWEEN_CLOCK_READINGS: u32 = 256;
/// How often MPI is polled before a receive is late: the library may need several calls to notice a message that has
/// arrived.
const POLLS_BEFORE_LATE: u32 = 16;
/// A rank that only waits for a time wakes this long before it. [ps]
const WAKE_BEFORE: Duration = Duration::from_microseconds(150);

/// How long a rank waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The longest time without anything that it waits for.
    pub(super) patience: Duration,
    /// Asked now and then while it waits: whether it goes on.
    pub(super) should_continue: fn() -> bool,
}

/// A rank that runs a program, and whose messages MPI carries.
#[derive(Debug)]
pub struct MpiMachine<'world> {
    transport: &'world mut Transport,
    broadcasts: Option<&'world mut Broadcasts>,
    clock: Clock,
    limits: Limits,
    /// In the order in which they were begun.
    under_way: Vec<UnderWay>,
    events: VecDeque<OperationEvent>,
    /// Until when each processor is busy; zero if it is known to be idle.
    busy_until: Vec<Time>,
    polling: Polling,
    /// Since when no operation has begun or ended, as far as that was checked.
    quiet_since: Option<Time>,
    /// When it last asked whether to continue.
    asked_at: Time,
    has_ended: bool,
}

#[derive(Debug)]
struct UnderWay {
    number: u32,
    processor: u8,
    /// When it starts, if its start is to be reported.
    start: Option<Time>,
    stage: RequestStage,
}

#[derive(Debug)]
enum RequestStage {
    /// It waits to be sent, or broadcast, when its processor is free.
    Waits(Time, Operation),
    Sends(Sending),
    Receives(Posted),
    /// It waits for a message that a receive would take.
    Probes(Posted),
    Transfers(Transfer),
    /// A broadcast, which [`Broadcasts`] identifies by the same number.
    Broadcasts,
    /// It ends at this time.
    Ends(Time, Result<Outcome>),
    Completed,
}

/// A receive that has matched no message.
#[derive(Clone, Copy, Debug)]
struct Posted {
    from: Source,
    tags: Tags,
    deadline: Option<Time>,
    /// How often MPI was polled since it was begun.
    looks: u32,
}

impl<'world> MpiMachine<'world> {
    pub(super) fn new(
        transport: &'world mut Transport,
        broadcasts: Option<&'world mut Broadcasts>,
        clock: Clock,
        limits: Limits,
        waiting: Waiting,
    ) -> MpiMachine<'world> {
        MpiMachine {
            transport,
            broadcasts,
            clock,
            limits,
            under_way: Vec::new(),
            events: VecDeque::new(),
            busy_until: vec![Time::ZERO],
            polling: Polling::new(waiting),
            quiet_since: None,
            asked_at: clock.now(),
            has_ended: false,
        }
    }

    /// Until when a processor is busy, if it is.
    fn busy(&mut self, processor: u8) -> Option<Time> {
        let processors = self.busy_until.len().max(usize::from(processor) + 1);
        self.busy_until.resize(processors, Time::ZERO);
        let until = &mut self.busy_until[usize::from(processor)];
        if *until == Time::ZERO {
            return None;
        }
        if *until <= self.clock.now() {
            *until = Time::ZERO;
            return None;
        }
        Some(*until)
    }

    /// Begins an operation; a receive is posted at once, and any other operation waits its turn for the processor.
    fn enter(&mut self, number: u32, processor: u8, reports_start: bool, operation: Operation) -> StartStatus {
        self.quiet_since = None;
        let (mut start, mut begun) = (None, StartStatus::Started);
        let stage = match operation {
            Operation::Send { to, tag, ref message } if self.busy(processor).is_none() => {
                self.send_at_once(number, processor, (to, tag), message);
                return begun;
            }
            Operation::Receive { from, tags, deadline } => {
                RequestStage::Receives(Posted { from, tags, deadline, looks: 0 })
            }
            Operation::Probe { from, tags, deadline } => {
                RequestStage::Probes(Posted { from, tags, deadline, looks: 0 })
            }
            Operation::ReceiveMulticast(_) => RequestStage::Waits(Time::ZERO, operation),
            Operation::Sleep(until) => RequestStage::Ends(until, Ok(Outcome::Done)),
            _ => {
                let busy = self.busy(processor);
                start = busy.filter(|_| reports_start);
                begun = if busy.is_some() { StartStatus::Later } else { StartStatus::Started };
                if let Operation::Compute(work) = operation {
                    let until = busy.unwrap_or_else(|| self.clock.now()) + work;
                    self.busy_until[usize::from(processor)] = until;
                    RequestStage::Ends(until, Ok(Outcome::Done))
                } else {
                    RequestStage::Waits(busy.unwrap_or(Time::ZERO), operation)
                }
            }
        };
        self.under_way.push(UnderWay { number, processor, start, stage });
        self.take_first_step();
        begun
    }

    /// Sends from a processor that is free: a small message is over when this returns.
    fn send_at_once(&mut self, number: u32, processor: u8, (to, tag): (Rank, Tag), message: &Message) {
        match self.transport.send(to, tag, message) {
            Ok(None) => self.report(number, Event::Completed(Ok(Outcome::Done))),
            Ok(Some(sending)) => {
                self.under_way.push(UnderWay { number, processor, start: None, stage: RequestStage::Sends(sending) });
            }
            Err(error) => self.report(number, Event::Completed(Err(error))),
        }
    }

    /// The receive that is the only operation under way, if it has no deadline.
    fn only_receive(&self) -> Option<(Source, Tags)> {
        match self.under_way.as_slice() {
            [UnderWay { stage: RequestStage::Receives(Posted { from, tags, deadline: None, .. }), .. }] => {
                Some((*from, *tags))
            }
            _ => None,
        }
    }

    /// Polls MPI once for the message of the only operation under way: less work than a [`MpiMachine::poll`], since a
    /// message of 8 B takes no longer than a few of these steps.
    fn poll_only_receive(&mut self, from: Source, tags: Tags) -> Result<()> {
        self.transport.poll_unfinished()?;
        match self.transport.poll(source_rank(from))? {
            Some(incoming) if incoming.fits(from, tags) => {
                self.match_receive(0, incoming);
                self.remove_completed();
            }
            Some(incoming) => self.transport.keep(incoming),
            None => {}
        }
        Ok(())
    }

    /// Advances the operation just begun as far as possible without reading the clock.
    fn take_first_step(&mut self) {
        let Some(it) = self.under_way.last() else { return };
        let place = self.under_way.len() - 1;
        match it.stage {
            RequestStage::Waits(Time::ZERO, _) => self.step(place, Time::ZERO),
            RequestStage::Receives(Posted { from, tags, .. }) => {
                if let Some(incoming) = self.transport.take_unexpected(from, tags) {
                    self.match_receive(place, incoming);
                }
            }
            RequestStage::Probes(Posted { from, tags, .. }) => {
                if let Some(incoming) = self.transport.unexpected(from, tags) {
                    let found = incoming.without_content();
                    self.finish(place, Ok(Outcome::Probed(found)));
                }
            }
            _ => {}
        }
        self.remove_completed();
    }

    fn remove_completed(&mut self) {
        self.under_way.retain(|it| !matches!(it.stage, RequestStage::Completed));
    }

    /// Matches a message with a receive.
    fn match_receive(&mut self, place: usize, Incoming { from, tag, body }: Incoming) {
        match body {
            Body::Received(message) => self.received(place, Ok(Received { from, tag, message })),
            Body::Announced(envelope, number) => match self.transport.transfer(from, envelope, number) {
                Ok(transfer) => self.under_way[place].stage = RequestStage::Transfers(transfer),
                Err(error) => self.received(place, Err(error)),
            },
        }
    }

    /// The message of a receive has arrived: its processor takes it.
    fn received(&mut self, place: usize, received: Result<Received>) {
        let outcome = outcome_of(received);
        match self.busy(self.under_way[place].processor) {
            Some(until) => self.under_way[place].stage = RequestStage::Ends(until, outcome),
            None => self.finish(place, outcome),
        }
    }

    fn finish(&mut self, place: usize, result: Result<Outcome>) {
        self.under_way[place].stage = RequestStage::Completed;
        self.report(self.under_way[place].number, Event::Completed(result));
    }

    fn report(&mut self, number: u32, event: Event) {
        self.quiet_since = None;
        // For operations other than requests, the caller reads the clock itself.
        let at = if request_of(number).is_some() { self.clock.now() } else { Time::ZERO };
        self.events.push_back(OperationEvent { rank: self.transport.rank(), number, at, event });
    }

    /// Advances one operation as far as possible at `now`.
    fn step(&mut self, place: usize, now: Time) {
        if let Some(start) = self.under_way[place].start.filter(|&start| start <= now) {
            self.under_way[place].start = None;
            let number = self.under_way[place].number;
            self.events.push_back(OperationEvent {
                rank: self.transport.rank(),
                number,
                at: start,
                event: Event::Started,
            });
        }
        match &mut self.under_way[place].stage {
            RequestStage::Waits(until, _) if *until <= now => self.submit(place),
            RequestStage::Sends(sending) => match sending.test() {
                Ok(false) => {}
                Ok(true) => self.finish(place, Ok(Outcome::Done)),
                Err(error) => self.finish(place, Err(error)),
            },
            RequestStage::Receives(posted) | RequestStage::Probes(posted) => {
                posted.looks = posted.looks.saturating_add(1);
                if let Some(deadline) = posted.deadline.filter(|&deadline| deadline <= now)
                    && posted.looks > POLLS_BEFORE_LATE
                {
                    self.received(place, Err(Error::Deadline(deadline)));
                }
            }
            RequestStage::Transfers(transfer) => match transfer.test() {
                Ok(None) => {}
                Ok(Some(received)) => self.received(place, Ok(received)),
                Err(error) => self.received(place, Err(error)),
            },
            RequestStage::Ends(until, _) if *until <= now => {
                if let RequestStage::Ends(_, result) =
                    std::mem::replace(&mut self.under_way[place].stage, RequestStage::Completed)
                {
                    self.finish(place, result);
                }
            }
            RequestStage::Waits(..) | RequestStage::Ends(..) | RequestStage::Broadcasts | RequestStage::Completed => {}
        }
    }

    /// Hands an operation over to MPI.
    fn submit(&mut self, place: usize) {
        let number = self.under_way[place].number;
        let RequestStage::Waits(_, operation) =
            std::mem::replace(&mut self.under_way[place].stage, RequestStage::Broadcasts)
        else {
            return;
        };
        let submitted = match operation {
            Operation::Send { to, tag, message } => self.send(place, to, tag, &message),
            Operation::Multicast(message) => self.broadcasts().and_then(|it| it.send(number, &message)),
            Operation::ReceiveMulticast(from) => self.broadcasts().and_then(|it| it.receive(number, from)),
            _ => Ok(()),
        };
        if let Err(error) = submitted {
            self.finish(place, Err(error));
        }
    }

    fn send(&mut self, place: usize, to: Rank, tag: Tag, message: &Message) -> Result<()> {
        match self.transport.send(to, tag, message)? {
            None => self.finish(place, Ok(Outcome::Done)),
            Some(sending) => self.under_way[place].stage = RequestStage::Sends(sending),
        }
        Ok(())
    }

    fn broadcasts(&mut self) -> Result<&mut Broadcasts> {
        self.broadcasts
            .as_deref_mut()
            .ok_or_else(|| Error::Unfit("no rank has a communicator for broadcasts".to_owned()))
    }

    /// Polls MPI once for everything under way.
    fn poll(&mut self) -> Result<()> {
        self.transport.poll_unfinished()?;
        if let Some(wanted) = self.awaited_source()
            && let Some(incoming) = self.transport.poll(wanted)?
        {
            let takes = |it: &UnderWay| match it.stage {
                RequestStage::Receives(Posted { from, tags, .. }) => incoming.fits(from, tags),
                _ => false,
            };
            match self.under_way.iter().position(takes) {
                Some(place) => self.match_receive(place, incoming),
                None => {
                    self.end_probes(&incoming);
                    self.transport.keep(incoming);
                }
            }
            self.polling.success();
        }
        if let Some(broadcasts) = self.broadcasts.as_deref_mut()
            && let Some(CompletedBroadcast { number, received }) = broadcasts.poll()?
            && let Some(place) = self.under_way.iter().position(|it| it.number == number)
        {
            match received {
                Some((from, message)) => self.received(place, Ok(Received { from, tag: Tag::default(), message })),
                None => self.finish(place, Ok(Outcome::Done)),
            }
        }
        let now = if self.only_waits_for_time() { self.clock.now() } else { Time::ZERO };
        (0..self.under_way.len()).for_each(|place| self.step(place, now));
        if !self.events.is_empty() {
            self.remove_completed();
        }
        Ok(())
    }

    /// Probes find a message that has arrived and that no receive takes.
    fn end_probes(&mut self, incoming: &Incoming) {
        for place in 0..self.under_way.len() {
            if let RequestStage::Probes(Posted { from, tags, .. }) = self.under_way[place].stage
                && incoming.fits(from, tags)
            {
                self.finish(place, Ok(Outcome::Probed(incoming.without_content())));
            }
        }
    }

    /// Whether receives wait for messages, and for which rank's, if all of them name the same one.
    fn awaited_source(&self) -> Option<Option<Rank>> {
        let sources = self.under_way.iter().filter_map(|it| match it.stage {
            RequestStage::Receives(Posted { from, .. }) | RequestStage::Probes(Posted { from, .. }) => {
                Some(source_rank(from))
            }
            _ => None,
        });
        sources.reduce(|one, other| if one == other { one } else { None })
    }

    fn only_waits_for_time(&self) -> bool {
        self.under_way.iter().any(|it| match &it.stage {
            RequestStage::Receives(Posted { deadline, .. }) | RequestStage::Probes(Posted { deadline, .. }) => {
                deadline.is_some()
            }
            RequestStage::Waits(..) | RequestStage::Ends(..) => true,
            _ => false,
        })
    }

    /// When the first operation ends, if all of them only wait for a time: then MPI has nothing to do.
    fn first_end(&self) -> Option<Time> {
        self.under_way.first()?;
        self.under_way.iter().try_fold(Time::NEVER, |first, it| match &it.stage {
            RequestStage::Ends(until, _) => Some(first.min(*until)),
            _ => None,
        })
    }

    /// Nothing has arrived: waits in the best way, and returns whether patience has run out.
    ///
    /// # Errors
    /// [`Error::Stopped`], if it is not to continue.
    fn wait(&mut self) -> Result<bool> {
        if !self.transport.has_unfinished_sends()
            && let Some(first) = self.first_end()
        {
            let left = first.since(self.clock.now().min(first));
            if left > WAKE_BEFORE {
                let left = (left - WAKE_BEFORE).min(QUESTION_INTERVAL).picoseconds() / 1_000;
                std::thread::sleep(std::time::Duration::from_nanos(left));
                self.ask_whether_to_continue()?;
            }
        }
        if !self.polling.failure().is_multiple_of(POLLS_BETWEEN_CLOCK_READINGS) {
            return Ok(false);
        }
        let now = self.ask_whether_to_continue()?;
        if self.only_waits_for_time() {
            self.quiet_since = None;
            return Ok(false);
        }
        let since = *self.quiet_since.get_or_insert(now);
        Ok(now.since(since) > self.limits.patience)
    }

    /// Asks whether to continue, unless it has just done so; returns the time.
    fn ask_whether_to_continue(&mut self) -> Result<Time> {
        let now = self.clock.now();
        if now.since(self.asked_at.min(now)) < QUESTION_INTERVAL {
            return Ok(now);
        }
        self.asked_at = now;
        if (self.limits.should_continue)() { Ok(now) } else { Err(Error::Stopped) }
    }
}

impl Machine for MpiMachine<'_> {
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn check(&self, operation: &Operation) -> Result<()> {
        let broadcasts = matches!(operation, Operation::Multicast(_) | Operation::ReceiveMulticast(_));
        if broadcasts && self.broadcasts.is_none() {
            let reason =
                format!("on MPI, ranks that broadcast each have a communicator: allowed are {MOST_RANKS} ranks");
            return Err(Error::Unfit(reason));
        }
        Ok(())
    }

    fn begin(&mut self, _: Rank, number: u32, operation: Operation) {
        self.enter(number, 0, false, operation);
    }

    fn start(&mut self, rank: Rank, request: Request) -> Result<StartStatus> {
        if request.operation.partner() == Some(rank) {
            return Err(Error::ToItself(rank));
        }
        let number = number_of(&request);
        Ok(self.enter(number, request.processor, request.reports_start, request.operation))
    }

    fn reports_starts(&self) -> bool {
        true
    }

    fn next_event(&mut self) -> Result<Option<OperationEvent>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                self.polling.success();
                return Ok(Some(event));
            }
            // If nothing the program began is still under way, there is nothing to wait for.
            if self.has_ended || self.under_way.is_empty() {
                return Ok(None);
            }
            match self.only_receive() {
                Some((from, tags)) => self.poll_only_receive(from, tags)?,
                None => self.poll()?,
            }
            if self.events.is_empty() && self.wait()? {
                return Ok(None);
            }
        }
    }

    fn ended(&mut self, _: Rank) {
        self.has_ended = true;
    }

    /// Completes sends that were begun; drops receives that are no longer waited for.
    fn all_ended(&mut self) {
        let sends = |it: &UnderWay| match &it.stage {
            RequestStage::Waits(_, operation) => matches!(operation, Operation::Send { .. } | Operation::Multicast(_)),
            RequestStage::Sends(_) => true,
            _ => false,
        };
        self.under_way.retain(sends);
        while (!self.under_way.is_empty() || self.transport.has_unfinished_sends())
            && self.poll().is_ok()
            && self.wait() == Ok(false)
        {}
    }
}

/// The outcome of a receive. MPI doesn't tell when a message was sent or when it arrived.
fn outcome_of(received: Result<Received>) -> Result<Outcome> {
    received.map(|received| Outcome::Received(received, Passage { sent: Time::ZERO, arrived: Time::ZERO }))
}

/// The one rank from which a receive takes a message, if it names one.
const fn source_rank(from: Source) -> Option<Rank> {
    match from {
        Source::Rank(from) => Some(from),
        Source::Any => None,
    }
}
