//! A schedule as a program: every operation that can begin is begun as a request, and each report determines what can
//! begin next.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Deref;

use endpoint::{
    Endpoint, Error, Event, Message, Needs, Outcome, Program, Report, Request, Result, Source, StartStatus, Tag, Tags,
    Unexpected, World,
};
use quantities::{Rank, Time};

use super::report::{self, Unreceived};
use super::{OperationId, OperationKind, RankOperations, Schedule};

/// The result of running a schedule.
#[derive(Clone, Debug)]
pub struct GoalAnswer<A> {
    /// The world's answer.
    pub answer: A,
    /// Messages that no receive took, by receiver, then by sender and tag: nothing waits for them, but the schedule is
    /// suspect.
    pub unreceived: Vec<Unreceived>,
}

/// A world that runs schedules: any whose ranks can begin requests.
pub trait RunGoal: World {
    /// Runs a GOAL schedule.
    ///
    /// # Errors
    /// As for a program; a deadlock names the ranks and the lines that wait.
    fn run_goal(&self, schedule: &Schedule) -> Result<GoalAnswer<Self::Answer>> {
        let player = Player::new(schedule);
        let (ends, answer) = self.run(schedule.size(), &player)?;
        ends.into_iter().collect::<Result<Vec<()>>>()?;
        Ok(GoalAnswer { answer, unreceived: player.unreceived() })
    }
}

impl<W: World> RunGoal for W {}

/// A schedule in execution. It can run again after it has ended.
///
/// ```text
///     begin every operation that requires nothing
///     while some are not over:
///         wait for any to start or to be over
///         remove that requirement from each operation that has it; begin the operation if it was the last
/// ```
///
/// The world defines what starting and being over mean: a receive starts when it is posted and is over when it has its
/// message; a send starts when its processor takes it up and is over when the processor is free again, or when its
/// receiver has the message, if it must wait for that.
#[derive(Debug)]
pub struct Player<S> {
    schedule: S,
    course: RefCell<Course>,
}

/// The progress of the operations of all ranks.
#[derive(Debug)]
struct Course {
    /// For each operation, how many of its requirements have not happened yet; [`UNDER_WAY`], [`OVER`].
    missing: Vec<u32>,
    /// For each operation, the latest time at which one of its requirements happened. Empty where every rank has one
    /// processor, since that is occupied until then: [`Report::at`].
    ready_at: Vec<Time>,
    /// What can begin at the current rank, and its earliest time.
    ready: VecDeque<(OperationId, Time)>,
    /// The first error that kept an operation from beginning.
    failure: Option<Error>,
    unexpected: Vec<Unexpected>,
}

const OVER: u32 = u32::MAX;
const UNDER_WAY: u32 = u32::MAX - 1;

impl<S: Deref<Target = Schedule>> Player<S> {
    /// A schedule that is about to begin.
    pub fn new(schedule: S) -> Player<S> {
        let missing = vec![0; schedule.len()];
        let several_processors = schedule.has_several_processors();
        let ready_at = if several_processors { vec![Time::ZERO; missing.len()] } else { Vec::new() };
        let (ready, failure, unexpected) = (VecDeque::new(), None, Vec::new());
        Player { schedule, course: RefCell::new(Course { missing, ready_at, ready, failure, unexpected }) }
    }

    /// Messages that no receive took.
    pub fn unreceived(&self) -> Vec<Unreceived> {
        report::unreceived(&self.schedule, &self.course.borrow().unexpected)
    }

    /// Resets the operations of a rank.
    fn prepare(&self, block: RankOperations<'_>) {
        let mut course = self.course.borrow_mut();
        let Course { missing, ready_at, ready, .. } = &mut *course;
        let places = block.places();
        missing[places.clone()].fill(0);
        if let Some(ready_at) = ready_at.get_mut(places) {
            ready_at.fill(Time::ZERO);
        }
        block.requirements().for_each(|requirement| missing[block.place(requirement.operation)] += 1);
        let free = (0..block.len()).map(OperationId).filter(|&id| missing[block.place(id)] == 0);
        ready.extend(free.map(|id| (id, Time::ZERO)));
    }

    /// Begins everything that can begin at a rank; an operation that starts at once may let others begin.
    fn begin_ready<E: Endpoint>(&self, endpoint: &E, block: RankOperations<'_>) -> Result<()> {
        loop {
            let next = self.course.borrow_mut().ready.pop_front();
            let Some((id, not_before)) = next else { return Ok(()) };
            let begun = endpoint.start(request(block, id, not_before)).map_err(|error| self.fail(error))?;
            let mut course = self.course.borrow_mut();
            course.missing[block.place(id)] = UNDER_WAY;
            if begun == StartStatus::Started {
                course.release_dependents(block, id, true, endpoint.now());
            }
        }
    }

    fn fail(&self, error: Error) -> Error {
        let mut course = self.course.borrow_mut();
        course.ready.clear();
        course.failure.get_or_insert(error).clone()
    }
}

impl Course {
    /// Records a report of an operation; returns whether the operation is over.
    fn note(&mut self, schedule: &Schedule, block: RankOperations<'_>, me: Rank, report: Report) -> Result<bool> {
        let id = OperationId(report.number);
        match report.event {
            Event::Started => {
                self.release_dependents(block, id, true, report.at);
                Ok(false)
            }
            Event::Completed(result) => {
                if let Outcome::Received(received, _) = result? {
                    report::check_room(schedule, block.operation(id), me, received)?;
                }
                self.missing[block.place(id)] = OVER;
                self.release_dependents(block, id, false, report.at);
                Ok(true)
            }
        }
    }

    /// An operation has started, or is over: operations that were only waiting for that become ready.
    fn release_dependents(&mut self, block: RankOperations<'_>, id: OperationId, only_started: bool, at: Time) {
        for requirement in block.dependents(id).filter(|requirement| requirement.only_started == only_started) {
            let place = block.place(requirement.operation);
            let ready_at = match self.ready_at.get_mut(place) {
                Some(ready_at) => {
                    *ready_at = at.max(*ready_at);
                    *ready_at
                }
                None => at,
            };
            self.missing[place] -= 1;
            if self.missing[place] == 0 {
                self.ready.push_back((requirement.operation, ready_at));
            }
        }
    }
}

/// An operation as a request.
fn request(block: RankOperations<'_>, id: OperationId, not_before: Time) -> Request {
    let operation = block.operation(id);
    let asked = match operation.kind {
        OperationKind::Calculate(work) => endpoint::Operation::Compute(work),
        OperationKind::Send { to, size, tag } => {
            endpoint::Operation::Send { to, tag: Tag(tag), message: Message::of_size(size) }
        }
        OperationKind::Receive { from, tag, .. } => {
            let from = from.map_or(Source::Any, Source::Rank);
            let tags = tag.map_or(Tags::Any, |tag| Tags::Only(Tag(tag)));
            endpoint::Operation::Receive { from, tags, deadline: None }
        }
    };
    let reports_start = block.start_is_required(id);
    let (processor, interface) = (operation.processor, operation.interface);
    Request { processor, interface, not_before, reports_start, ..Request::new(id.0, asked) }
}

impl<S: Deref<Target = Schedule>> Program for Player<S> {
    const NEEDS: Needs = Needs::REQUESTS.and(Needs::ANY_SOURCE);
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let block = self.schedule.block(endpoint.rank());
        let mut left = block.len();
        self.prepare(block);
        self.begin_ready(endpoint, block)?;
        while left > 0 {
            let report = endpoint.wait_any().await?;
            let noted = self.course.borrow_mut().note(&self.schedule, block, endpoint.rank(), report);
            left -= u32::from(noted.map_err(|error| self.fail(error))?);
            self.begin_ready(endpoint, block)?;
        }
        Ok(())
    }

    fn ended(&self, unexpected: &[Unexpected], deadlock: bool) -> Option<Error> {
        let mut course = self.course.borrow_mut();
        course.unexpected = unexpected.to_vec();
        if course.failure.is_some() || !deadlock {
            return course.failure.clone();
        }
        let unreceived = report::unreceived(&self.schedule, unexpected);
        let is_under_way = |rank: Rank, id| course.missing[self.schedule.block(rank).place(id)] == UNDER_WAY;
        let waits = |rank: Rank, id| course.missing[self.schedule.block(rank).place(id)] < UNDER_WAY;
        report::deadlock(&self.schedule, is_under_way, waits, &unreceived)
    }
}
