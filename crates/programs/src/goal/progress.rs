//! What one rank of a schedule can do next.

use quantities::Time;

use super::{Block, OperationId};

/// An operation that can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Which one.
    pub operation: OperationId,
    /// From when on: the latest time that something it requires happened. [ps]
    pub at: Time,
}

/// Where one rank of a schedule stands: a pure state machine, which a world drives.
///
/// A world begins with what [`GoalRank::new`] says is ready. When an operation starts it calls [`GoalRank::started`], when
/// it finishes [`GoalRank::finished`], and begins what these say is ready in turn. It may tell of both as soon as it knows
/// when they happen, even before that time: what becomes ready carries the time from when on it can begin.
///
/// What starts and finishes mean is the world's to say: a receive starts when it is posted and finishes when it has its
/// message; a send starts when its processor takes it up and finishes when that could do something else, or when its
/// receiver has the message, if it must wait for that.
///
/// ```
/// use programs::goal::{GoalRank, OperationId, Schedule};
/// use quantities::{Rank, Time};
/// # use maquette_programs as programs;
///
/// let text = b"num_ranks 1\nrank 0 {\nfirst: calc 5\nthen: calc 6\nthen requires first\n}\n";
/// let schedule = Schedule::parse("two.goal", text).unwrap();
/// let mut ready = Vec::new();
/// let mut rank = GoalRank::new(schedule.block(Rank(0)), &mut ready);
/// assert_eq!(ready.pop().unwrap().operation, OperationId(0));
/// rank.started(OperationId(0), Time::ZERO, &mut ready);
/// assert!(ready.is_empty());
/// rank.finished(OperationId(0), Time::from_picoseconds(5000), &mut ready);
/// assert_eq!((ready[0].operation, ready[0].at.picoseconds()), (OperationId(1), 5000));
/// assert!(!rank.is_done());
/// ```
#[derive(Clone, Debug)]
pub struct GoalRank<'schedule> {
    block: Block<'schedule>,
    /// For each operation, how much that it requires has not happened yet.
    missing: Vec<u32>,
    /// For each operation, the latest time that something it requires happened.
    ready_at: Vec<Time>,
    progress: Vec<Progress>,
    unfinished: u32,
}

/// How far an operation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Waiting,
    Started,
    Finished,
}

impl<'schedule> GoalRank<'schedule> {
    /// A rank that has done nothing yet. What can begin at once is added to `ready`, in the order of the text.
    pub fn new(block: Block<'schedule>, ready: &mut Vec<Ready>) -> GoalRank<'schedule> {
        let count = block.operations().len();
        let mut missing = vec![0; count];
        for requirement in block.requirements() {
            missing[requirement.operation.0 as usize] += 1;
        }
        let free = (0..).zip(&missing).filter(|&(_, &missing)| missing == 0);
        ready.extend(free.map(|(id, _)| Ready { operation: OperationId(id), at: Time::ZERO }));
        GoalRank {
            block,
            missing,
            ready_at: vec![Time::ZERO; count],
            progress: vec![Progress::Waiting; count],
            unfinished: count as u32,
        }
    }

    /// What the rank is to do.
    pub fn block(&self) -> Block<'schedule> {
        self.block
    }

    /// Notes that `operation` starts at `at`. What that makes ready is added to `ready`, in the order of the text.
    pub fn started(&mut self, operation: OperationId, at: Time, ready: &mut Vec<Ready>) {
        if self.progress[operation.0 as usize] == Progress::Waiting {
            self.progress[operation.0 as usize] = Progress::Started;
            self.happened(operation, true, at, ready);
        }
    }

    /// Notes that `operation` finishes at `at`, and that it had started, if that was not told. What that makes ready is
    /// added to `ready`, in the order of the text.
    pub fn finished(&mut self, operation: OperationId, at: Time, ready: &mut Vec<Ready>) {
        self.started(operation, at, ready);
        if self.progress[operation.0 as usize] == Progress::Started {
            self.progress[operation.0 as usize] = Progress::Finished;
            self.unfinished -= 1;
            self.happened(operation, false, at, ready);
        }
    }

    /// Whether all operations have finished.
    pub fn is_done(&self) -> bool {
        self.unfinished == 0
    }

    /// Whether an operation has started and not finished.
    pub fn is_under_way(&self, id: OperationId) -> bool {
        self.progress[id.0 as usize] == Progress::Started
    }

    /// Whether an operation has not started.
    pub fn is_waiting(&self, id: OperationId) -> bool {
        self.progress[id.0 as usize] == Progress::Waiting
    }

    /// The operations that have started and not finished, in the order of the text.
    pub fn under_way(&self) -> impl Iterator<Item = OperationId> {
        self.with(Progress::Started)
    }

    /// The operations that have not started, in the order of the text.
    pub fn not_started(&self) -> impl Iterator<Item = OperationId> {
        self.with(Progress::Waiting)
    }

    fn with(&self, wanted: Progress) -> impl Iterator<Item = OperationId> {
        (0..).zip(&self.progress).filter(move |&(_, &progress)| progress == wanted).map(|(id, _)| OperationId(id))
    }

    fn happened(&mut self, operation: OperationId, only_started: bool, at: Time, ready: &mut Vec<Ready>) {
        for requirement in
            self.block.dependents(operation).filter(|requirement| requirement.only_started == only_started)
        {
            let waiting = requirement.operation;
            let ready_at = &mut self.ready_at[waiting.0 as usize];
            *ready_at = at.max(*ready_at);
            self.missing[waiting.0 as usize] -= 1;
            if self.missing[waiting.0 as usize] == 0 {
                ready.push(Ready { operation: waiting, at: *ready_at });
            }
        }
    }
}
