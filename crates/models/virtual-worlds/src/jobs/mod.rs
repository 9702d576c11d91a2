//! Several jobs on one simulated machine, each with its own ranks, on its own nodes.
//!
//! [`placement`] decides on which nodes a job's ranks run; [`crate::Simulated::run_jobs`] runs jobs beside each other,
//! and beside background traffic.

mod job_endpoint;
mod placed;
pub mod placement;
mod program;
mod run;

use endpoint::Result;
use machines::model::NodeId;
use quantities::{Duration, Time};

pub use self::placed::Placed;
use crate::answer::Answer;
pub use crate::flit::traffic::{Background, BackgroundSources};

/// A program to be run on some nodes of a machine.
#[derive(Clone, Debug)]
pub struct Job<P> {
    /// Its name in errors.
    pub name: String,
    /// The program that its ranks run.
    pub program: P,
    /// The node of each rank.
    pub nodes: Vec<NodeId>,
    /// When it starts. Its ranks' clocks start with it, at zero.
    pub start: Time,
}

/// The outcome of several jobs.
#[derive(Debug)]
pub struct JobsRun<T> {
    /// The outcome of each, in the order in which they were given.
    pub jobs: Vec<JobRun<T>>,
    /// What the machine did. Its ranks are nodes, up to the highest that holds a rank.
    pub answer: Answer,
}

/// The outcome of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRun<T> {
    /// The result of each rank.
    pub results: Vec<Result<T>>,
    /// When it started.
    pub start: Time,
    /// When each rank ended. [ps since the beginning of the run]
    pub finish: Vec<Time>,
}

impl<T> JobRun<T> {
    /// From its start until its last rank had ended.
    pub fn makespan(&self) -> Duration {
        self.finish.iter().copied().max().unwrap_or(self.start).since(self.start)
    }

    /// How many times as long it took as when it ran `alone`; none if that took no time.
    pub fn slowdown(&self, alone: &JobRun<T>) -> Option<f64> {
        let alone = alone.makespan();
        (!alone.is_zero()).then(|| self.makespan().picoseconds() as f64 / alone.picoseconds() as f64)
    }
}
