//! Runs ranks as futures on a simulated machine: written once for every world whose ranks share one clock.
//!
//! A world is a [`Machine`]: it begins a rank's operation, and says which operation is over next. The executor does the
//! rest: it keeps the futures, decides which rank may go on, reports what a stuck rank waits for, and records the
//! timeline. It takes the machine as a trait object, so that a program is compiled once for all machines.
//!
//! An operation begins when its future is first polled, and a rank may have several under way at once. A rank is polled
//! when one of its operations is over, and at no other time. Dropping a future that has begun leaves its operation
//! under way, and its outcome is lost.
//!
//! Requests ([`Request`]) have no futures: the rank's one future is polled when there is a report for it.

mod requests;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use quantities::{Duration, Rank, Time};

use self::requests::Requests;
use crate::handles::{Handles, Pending};
use crate::timeline::{Activity, MessageRecord, Span, Timeline};
use crate::{
    Endpoint, Error, Event, Message, Needs, Operation, Outcome, Passage, Program, Received, Report, Request, Result,
    Source, StartStatus, Tag, Tags, Unexpected, WaitsFor, check_partner, deadlock_of, join,
};

/// A running machine, on which ranks begin operations.
pub trait Machine {
    /// The time.
    fn now(&self) -> Time;
    /// Whether it can carry `operation` out at all.
    ///
    /// # Errors
    /// [`Error::Unfit`] when it can't, for any rank and at any time.
    fn check(&self, operation: &Operation) -> Result<()>;
    /// Begins `operation` of `rank`. When it is over, [`Machine::next_event`] returns its `number`.
    fn begin(&mut self, rank: Rank, number: u32, operation: Operation);
    /// Begins a request of `rank`, whose number among the operations is given by [`number_of`].
    ///
    /// This default is for machines whose ranks have one processor each, which don't know when operations start, except
    /// that receives are posted at once, and which carry no message from a rank to itself.
    ///
    /// # Errors
    /// [`Error::Unfit`] when the machine can't do it as requested.
    fn start(&mut self, rank: Rank, request: Request) -> Result<StartStatus> {
        if request.operation.partner() == Some(rank) {
            return Err(Error::ToItself(rank));
        }
        let receives = matches!(request.operation, Operation::Receive { .. });
        if request.processor > 0 {
            let problem =
                format!("a rank of this machine has one processor: it has no processor {}", request.processor);
            return Err(Error::Unfit(problem));
        }
        if request.reports_start && !receives {
            return Err(Error::Unfit("this machine cannot tell when an operation starts".to_owned()));
        }
        self.begin(rank, number_of(&request), request.operation);
        Ok(if receives { StartStatus::Started } else { StartStatus::Later })
    }
    /// Whether it can tell when sends and computations start.
    fn reports_starts(&self) -> bool {
        false
    }
    /// The next event of an operation; none when nothing more can happen.
    ///
    /// # Errors
    /// What ends the whole run, such as a request to stop.
    fn next_event(&mut self) -> Result<Option<OperationEvent>>;
    /// All ranks have ended. A machine that does anything without them must bring it to an end.
    fn all_ended(&mut self) {}
    /// The program of `rank` has ended. Operations that it left under way go on.
    fn ended(&mut self, _rank: Rank) {}
}

/// An event of an operation: for most, that it is over.
#[derive(Debug)]
pub struct OperationEvent {
    /// The rank that began it.
    pub rank: Rank,
    /// The number with which it was begun.
    pub number: u32,
    /// When it happens. This is the present, except for requests: see [`Report::at`]. [ps]
    pub at: Time,
    /// What happens. Only requests report that they start.
    pub event: Event,
}

/// Set in the numbers of requests, and in no others.
const REQUEST: u32 = 1 << 31;

/// The number by which a machine knows a request.
pub const fn number_of(request: &Request) -> u32 {
    request.number | REQUEST
}

/// The request that a machine knows by that number, if it is a request's.
pub const fn request_of(number: u32) -> Option<u32> {
    if number & REQUEST == 0 { None } else { Some(number & !REQUEST) }
}

/// How the ranks of a run ended.
#[derive(Debug)]
pub struct RunResults<T> {
    /// Each rank's result; nothing for those that wait for ever.
    pub results: Vec<Option<Result<T>>>,
    /// When each rank ended. [ps]
    pub finish: Vec<Time>,
    /// The ranks that wait for ever, once for each thing they wait for, in order of rank.
    pub waiting: Vec<(Rank, WaitsFor)>,
    /// What every rank did and when, if requested.
    pub timeline: Option<Timeline>,
}

impl<T> RunResults<T> {
    /// Each rank's result, when all have ended.
    ///
    /// # Errors
    /// [`Error::Deadlock`] saying who waits for whom, each by its `name`.
    pub fn all(self, name: impl Fn(Rank) -> String) -> Result<Vec<Result<T>>> {
        if self.waiting.is_empty() {
            return Ok(self.results.into_iter().flatten().collect());
        }
        let failed = (0u32..).zip(&self.results).find_map(|(rank, result)| match result {
            Some(Err(error)) => Some((Rank(rank), error)),
            _ => None,
        });
        Err(deadlock_of(name, &self.waiting, failed))
    }

    /// Each rank's result, when all have ended and `program`, given the messages that no receive has taken, has no
    /// objection.
    ///
    /// # Errors
    /// The program's objection; [`Error::Deadlock`] saying who waits for whom.
    pub fn all_of<P: Program<Output = T>>(self, program: &P, unexpected: &[Unexpected]) -> Result<Vec<Result<T>>> {
        match program.ended(unexpected, !self.waiting.is_empty()) {
            Some(error) => Err(error),
            None => self.all_checked(program),
        }
    }

    /// Each rank's result, when all have ended; an error for each that fails [`Program::check`].
    ///
    /// # Errors
    /// [`Error::Deadlock`] saying who waits for whom.
    pub fn all_checked<P: Program<Output = T>>(self, program: &P) -> Result<Vec<Result<T>>> {
        Ok(checked(program, self.all(|rank| program.name_of(rank))?))
    }
}

/// The results of all ranks, with an error for each that fails [`Program::check`].
pub fn checked<P: Program>(program: &P, results: Vec<Result<P::Output>>) -> Vec<Result<P::Output>> {
    let check = |rank, output: P::Output| program.check(rank, &output).map(|()| output);
    (0..).zip(results).map(|(rank, result)| result.and_then(|output| check(Rank(rank), output))).collect()
}

/// Runs `program` on `ranks` ranks of `machine` until nothing more happens.
///
/// # Errors
/// Those of [`Machine::next_event`].
pub fn run<P: Program>(
    machine: &mut dyn Machine,
    ranks: u32,
    program: &P,
    with_timeline: bool,
) -> Result<RunResults<P::Output>> {
    run_local(machine, 0..ranks, ranks, program, with_timeline)
}

/// Runs `program` on one of `ranks` ranks, while the others run elsewhere, until it has ended. Returns the rank's
/// result, which the caller must [check](Program::check).
///
/// # Errors
/// Those of [`Machine::next_event`]; that of the rank.
pub fn run_one<P: Program>(machine: &mut dyn Machine, rank: Rank, ranks: u32, program: &P) -> Result<P::Output> {
    let ended = run_local(machine, rank.0..rank.0 + 1, ranks, program, false)?;
    let results = ended.all(|rank| program.name_of(rank))?;
    results.into_iter().next().unwrap_or(Err(Error::Stopped))
}

/// Runs `program` on the `local` ones of `ranks` ranks.
fn run_local<P: Program>(
    machine: &mut dyn Machine,
    local: Range<u32>,
    ranks: u32,
    program: &P,
    with_timeline: bool,
) -> Result<RunResults<P::Output>> {
    let shared = RefCell::new(Shared {
        machine,
        operations: Operations::default(),
        under_way: vec![0; ranks as usize],
        failed: BTreeMap::new(),
        requests: Requests::new(with_timeline),
        timeline: with_timeline.then(Timeline::default),
    });
    let ended = drive(&shared, local, ranks, program)?;
    let Shared { timeline, failed, .. } = shared.into_inner();
    let mut results = ended.results;
    for (rank, error) in failed {
        if let Some(result) = &mut results[rank.0 as usize] {
            *result = Err(error);
        }
    }
    Ok(RunResults { results, timeline: timeline.map(Timeline::in_order), ..ended })
}

/// Polls ranks until nothing more happens.
fn drive<P: Program>(
    shared: &RefCell<Shared<'_>>,
    local: Range<u32>,
    ranks: u32,
    program: &P,
) -> Result<RunResults<P::Output>> {
    let start = async |rank| program.run(&RankEndpoint { shared, rank, size: ranks, needs: P::NEEDS }).await;
    let mut all = Ranks {
        running: (0..ranks).map(|rank| local.contains(&rank).then(|| Box::pin(start(Rank(rank))))).collect(),
        results: (0..ranks).map(|_| None).collect(),
        finish: vec![Time::ZERO; ranks as usize],
        left: local.end - local.start,
    };
    let mut poll = |rank: usize| {
        let end = |rank: usize| {
            let machine = &mut shared.borrow_mut().machine;
            machine.ended(Rank(rank as u32));
            machine.now()
        };
        if all.poll(rank, end) && all.left == 0 {
            shared.borrow_mut().machine.all_ended();
        }
    };
    local.clone().for_each(|rank| poll(rank as usize));
    loop {
        let event = shared.borrow_mut().machine.next_event()?;
        let Some(OperationEvent { rank, number, at, event }) = event else { break };
        match (request_of(number), event) {
            (Some(number), event) => shared.borrow_mut().deliver(rank, Report { number, at, event }),
            (None, Event::Completed(result)) => {
                let waker = shared.borrow_mut().end(number, result);
                waker.wake();
            }
            (None, Event::Started) => continue,
        }
        poll(rank.0 as usize);
    }
    let Ranks { running, results, finish, .. } = all;
    // Before the futures are dropped, which would abandon their operations.
    let mut waiting = shared.borrow().waiting(&results);
    waiting.retain(|(rank, _)| local.contains(&rank.0));
    drop(running);
    Ok(RunResults { results, finish, waiting, timeline: None })
}

/// The ranks of a run: those that have not ended, the results of the others, and when they ended.
struct Ranks<F, T> {
    running: Vec<Option<Pin<Box<F>>>>,
    results: Vec<Option<Result<T>>>,
    finish: Vec<Time>,
    /// How many have not ended.
    left: u32,
}

impl<T, F: Future<Output = Result<T>>> Ranks<F, T> {
    /// Polls a rank; returns whether that ended it, and asks `end` for the time if so.
    fn poll(&mut self, rank: usize, end: impl Fn(usize) -> Time) -> bool {
        let Some(future) = &mut self.running[rank] else { return false };
        let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { return false };
        self.running[rank] = None;
        self.results[rank] = Some(result);
        self.finish[rank] = end(rank);
        self.left -= 1;
        true
    }
}

/// What the ranks of a run share.
struct Shared<'run> {
    machine: &'run mut dyn Machine,
    operations: Operations,
    /// How many operations of each rank are under way.
    under_way: Vec<u32>,
    /// Why ranks could not compute, for those that could not.
    failed: BTreeMap<Rank, Error>,
    requests: Requests,
    timeline: Option<Timeline>,
}

impl Shared<'_> {
    fn begin(&mut self, rank: Rank, operation: Operation, waker: Waker) -> u32 {
        self.under_way[rank.0 as usize] += 1;
        let activity = operation.activity();
        let began = self.time_for_timeline();
        let (turn, waits_for) = (self.operations.begun, operation.waits_for());
        self.operations.begun += 1;
        let entry = PendingRequest { rank, activity, waits_for, began, turn, state: RequestState::UnderWay(waker) };
        let number = self.operations.add(entry);
        self.machine.begin(rank, number, operation);
        number
    }

    /// The time, if there is a timeline to record it in: reading a real clock is not free.
    fn time_for_timeline(&self) -> Time {
        if self.timeline.is_some() { self.machine.now() } else { Time::ZERO }
    }

    /// Records that an operation is over; returns the waker to wake.
    fn end(&mut self, number: u32, result: Result<Outcome>) -> Waker {
        let end = self.time_for_timeline();
        let entry = &self.operations.entries[number as usize];
        let PendingRequest { rank, activity, began, .. } = *entry;
        self.under_way[rank.0 as usize] -= 1;
        self.record(rank, activity, [began, end], &result);
        let entry = &mut self.operations.entries[number as usize];
        match std::mem::replace(&mut entry.state, RequestState::Completed(result)) {
            RequestState::UnderWay(waker) => waker,
            RequestState::Dropped | RequestState::Completed(_) => {
                self.operations.remove(number);
                Waker::noop().clone()
            }
        }
    }

    /// Records in the timeline, if there is one, what a rank did, and the message that it received.
    fn record(
        &mut self,
        rank: Rank,
        activity: Option<ActivityAndPartner>,
        [start, end]: [Time; 2],
        result: &Result<Outcome>,
    ) {
        let Some(timeline) = &mut self.timeline else { return };
        let sender = if let Ok(Outcome::Received(received, _)) = result { Some(received.from) } else { None };
        timeline.spans.extend(activity.map(|(activity, partner)| {
            let partner = sender.or(partner);
            Span { rank, activity, partner, start, end }
        }));
        if let Ok(Outcome::Received(Received { from, message, .. }, Passage { sent, arrived })) = result {
            let (from, sent, arrived, size) = (*from, *sent, *arrived, message.size());
            timeline.messages.push(MessageRecord { from, to: rank, size, sent, arrived, received: end });
        }
    }

    /// What each rank that has not ended waits for, in order of rank and, for one rank, in the order in which the
    /// operations began.
    fn waiting<T>(&self, results: &[Option<Result<T>>]) -> Vec<(Rank, WaitsFor)> {
        let under_way = |entry: &&PendingRequest| matches!(entry.state, RequestState::UnderWay(_));
        let mut operations: Vec<&PendingRequest> = self.operations.entries.iter().filter(under_way).collect();
        operations.sort_unstable_by_key(|entry| (entry.rank, entry.turn));
        let mut operations = operations.into_iter().peekable();
        let mut waiting: Vec<(Rank, WaitsFor)> = Vec::new();
        for (rank, _) in (0..).map(Rank).zip(results).filter(|(_, result)| result.is_none()) {
            let others = waiting.len();
            while let Some(&PendingRequest { rank: of, waits_for, .. }) =
                operations.next_if(|operation| operation.rank <= rank)
            {
                // Ranks that have ended may have left operations under way.
                if of == rank && !waiting[others..].contains(&(rank, waits_for)) {
                    waiting.push((rank, waits_for));
                }
            }
            if waiting.len() == others {
                let has_requests = self.under_way[rank.0 as usize] > 0;
                waiting.push((rank, if has_requests { WaitsFor::Requests } else { WaitsFor::Unknown }));
            }
        }
        waiting
    }
}

/// The operations that are under way, or whose outcome has not been fetched yet, by number; numbers are reused.
#[derive(Default)]
struct Operations {
    entries: Vec<PendingRequest>,
    unused: Vec<u32>,
    /// How many have begun so far.
    begun: u64,
}

/// What a rank does, and with which other rank, if that is known.
type ActivityAndPartner = (Activity, Option<Rank>);

struct PendingRequest {
    rank: Rank,
    /// What the timeline shows; nothing if it takes no processor.
    activity: Option<ActivityAndPartner>,
    waits_for: WaitsFor,
    began: Time,
    /// How many operations began before it.
    turn: u64,
    state: RequestState,
}

enum RequestState {
    /// With the waker to wake when it is over.
    UnderWay(Waker),
    /// Nobody waits for it any more.
    Dropped,
    Completed(Result<Outcome>),
}

impl Operations {
    fn add(&mut self, entry: PendingRequest) -> u32 {
        if let Some(number) = self.unused.pop() {
            self.entries[number as usize] = entry;
            return number;
        }
        self.entries.push(entry);
        self.entries.len() as u32 - 1
    }

    fn remove(&mut self, number: u32) {
        self.entries[number as usize].state = RequestState::Dropped;
        self.unused.push(number);
    }

    /// The outcome of an operation, once it is over; until then `waker` replaces the waker to wake.
    fn take(&mut self, number: u32, waker: &Waker) -> Option<Result<Outcome>> {
        match std::mem::replace(&mut self.entries[number as usize].state, RequestState::Dropped) {
            RequestState::Completed(result) => {
                self.unused.push(number);
                Some(result)
            }
            RequestState::UnderWay(_) | RequestState::Dropped => {
                self.entries[number as usize].state = RequestState::UnderWay(waker.clone());
                None
            }
        }
    }

    fn abandon(&mut self, number: u32) {
        match self.entries[number as usize].state {
            RequestState::Completed(_) => self.remove(number),
            RequestState::UnderWay(_) | RequestState::Dropped => {
                self.entries[number as usize].state = RequestState::Dropped
            }
        }
    }
}

/// One rank's endpoint.
struct RankEndpoint<'a, 'run> {
    shared: &'a RefCell<Shared<'run>>,
    rank: Rank,
    size: u32,
    needs: Needs,
}

impl<'run> RankEndpoint<'_, 'run> {
    /// An operation: it begins when it is first polled, after a check that it may.
    fn operation(&self, operation: Operation) -> Pending<'_, Self> {
        Pending::new(self, operation)
    }

    /// An operation that has no result to carry an error, so that the rank's own result must.
    async fn without_result(&self, operation: Operation) {
        if let Err(error) = self.operation(operation).await {
            self.shared.borrow_mut().failed.entry(self.rank).or_insert(error);
        }
    }

    /// Begins an operation alongside `others` that belong to it.
    fn begin_alongside(&self, others: u32, operation: Operation, waker: &Waker) -> Result<u32> {
        self.check(&operation, others)?;
        Ok(self.shared.borrow_mut().begin(self.rank, operation, waker.clone()))
    }

    /// Checks that the operation may begin alongside `others` that belong to it.
    fn check(&self, operation: &Operation, others: u32) -> Result<()> {
        self.check_alone(operation)?;
        let under_way = self.shared.borrow().under_way[self.rank.0 as usize];
        if under_way > others { self.needs.check_overlap() } else { Ok(()) }
    }

    /// Checks that the operation may begin when no other is under way.
    fn check_alone(&self, operation: &Operation) -> Result<()> {
        if let Operation::Send { tag, .. }
        | Operation::Receive { tags: Tags::Only(tag), .. }
        | Operation::Probe { tags: Tags::Only(tag), .. } = operation
            && *tag > Tag::OF_COLLECTIVES
        {
            return Err(Error::Unfit(format!("{} is no tag: the largest is {}", tag.0, Tag::LARGEST.0)));
        }
        match *operation {
            Operation::Send { to, .. } => check_partner(self.rank, to, self.size)?,
            Operation::Receive { from: Source::Rank(from), deadline: None, .. } => {
                check_partner(self.rank, from, self.size)?;
            }
            Operation::Receive { from, .. } | Operation::Probe { from, .. } => {
                self.needs.check_any_source()?;
                if let Source::Rank(from) = from {
                    check_partner(self.rank, from, self.size)?;
                }
            }
            Operation::Multicast(_) | Operation::ReceiveMulticast(_) => self.needs.check_multicast()?,
            Operation::Compute(_) | Operation::Sleep(_) => {}
        }
        let shared = self.shared.borrow();
        shared.machine.check(operation)?;
        if let Operation::ReceiveMulticast(from) = *operation {
            check_partner(self.rank, from, self.size)?;
        }
        Ok(())
    }
}

impl Handles for RankEndpoint<'_, '_> {
    fn begin(&self, operation: Operation, waker: &Waker) -> Result<u32> {
        self.begin_alongside(0, operation, waker)
    }

    fn poll_outcome(&self, handle: u32, waker: &Waker) -> Poll<Result<Outcome>> {
        let outcome = self.shared.borrow_mut().operations.take(handle, waker);
        outcome.map_or(Poll::Pending, Poll::Ready)
    }

    fn free(&self, handle: u32) {
        self.shared.borrow_mut().operations.abandon(handle);
    }
}

/// The endpoint of a rank whose next operation belongs to the one that it began before: together they are a sendrecv.
struct SecondHalf<'a, 'run>(&'a RankEndpoint<'a, 'run>);

impl Handles for SecondHalf<'_, '_> {
    fn begin(&self, operation: Operation, waker: &Waker) -> Result<u32> {
        self.0.begin_alongside(1, operation, waker)
    }

    fn poll_outcome(&self, handle: u32, waker: &Waker) -> Poll<Result<Outcome>> {
        self.0.poll_outcome(handle, waker)
    }

    fn free(&self, handle: u32) {
        self.0.free(handle);
    }
}

impl Endpoint for RankEndpoint<'_, '_> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn now(&self) -> Time {
        self.shared.borrow().machine.now()
    }

    async fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Result<()> {
        self.operation(Operation::Send { to, tag, message }).await.map(|_| ())
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.operation(Operation::Receive { from, tags, deadline }).await?.received()
    }

    async fn probe(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.operation(Operation::Probe { from, tags, deadline }).await?.received()
    }

    async fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> Result<Received> {
        let receive = Operation::Receive { from: Source::Rank(from), tags, deadline: None };
        // Before anything begins: half of it alone might wait for ever.
        self.check(&receive, 0)?;
        check_partner(self.rank, to, self.size)?;
        let send = self.operation(Operation::Send { to, tag, message });
        let (sent, received) = join(send, Pending::new(&SecondHalf(self), receive)).await;
        sent.and(received)?.received()
    }

    async fn compute(&self, work: Duration) {
        self.without_result(Operation::Compute(work)).await;
    }

    async fn sleep_until(&self, time: Time) {
        self.without_result(Operation::Sleep(time)).await;
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        self.operation(Operation::Multicast(message)).await.map(|_| ())
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        self.operation(Operation::ReceiveMulticast(from)).await?.received().map(|received| received.message)
    }

    fn handles(&self) -> Option<&dyn Handles> {
        Some(self)
    }

    fn start(&self, request: Request) -> Result<StartStatus> {
        self.needs.check_requests()?;
        match request.operation.partner() {
            // As in MPI, a request may send to or receive from the rank itself. Whether it can is up to the machine.
            Some(itself) if itself == self.rank => self.shared.borrow().machine.check(&request.operation)?,
            _ => self.check_alone(&request.operation)?,
        }
        self.shared.borrow_mut().start(self.rank, request)
    }

    async fn wait_any(&self) -> Result<Report> {
        self.needs.check_requests()?;
        poll_fn(|_| self.shared.borrow_mut().take_report(self.rank)).await
    }
}
