//! GOAL schedules under LogGP.
//!
//! Unlike a program, a schedule may have many operations of a rank under way at once, may receive from anyone, and a
//! message may come before it is asked for. So this is a simulation of events, with the meaning that LogGOPSim (Hoefler,
//! Schneider and Lumsdaine, 2010) gives to a schedule, so that results can be compared:
//!
//! - A calculation needs its processor, a send its processor for o + (s-1) O and its network interface for g + (s-1) G,
//!   both at once. Its message arrives o + L after it started.
//! - A message that arrives needs the receiver's processor for o + max((s-1) O, (s-1) G) and its interface for
//!   g + (s-1) G, whether it was asked for or not: those of the numbers that it was sent with.
//! - A receive costs nothing itself. It is posted when it is ready and its processor has done what it was doing. It
//!   finishes when the message that it takes has been taken in; at once, if that was so before.
//! - A send finishes when its processor is free again; from S bytes on when a receive takes its message.
//! - Of several things that could start at one time, the one that became ready, or was sent, first does.
//! - A rank is done when its processors are.
//!
//! Where a rank has several processors, an operation waits until what it requires has finished on its own processor;
//! LogGOPSim only looks at the processor that the operation is to run on. And S is the size from which a send waits, where
//! LogGOPSim's is the largest that does not.

mod matching;
mod report;
mod resources;
mod simulation;

pub use report::Unreceived;
pub(crate) use report::deadlock;

use endpoint::Result;
use programs::goal::Schedule;

use super::Clock;
use super::costs::Costs;
use crate::answer::{self, Answer};
use crate::horizon::counted;
use simulation::Simulation;

/// What the run of a schedule tells.
#[derive(Clone, Debug)]
pub struct GoalAnswer {
    /// Finish times, messages, timeline.
    pub answer: Answer,
    /// Messages that no receive took, by receiver, then by sender and tag: nothing waits for them, but something is amiss.
    pub unreceived: Vec<Unreceived>,
}

impl GoalAnswer {
    /// An answer to which it belongs that no receive took those messages.
    pub(crate) fn new(answer: Answer, unreceived: Vec<Unreceived>) -> GoalAnswer {
        let ends = unreceived.iter().map(|message| (message.from, message.to));
        GoalAnswer { answer: Answer { unreceived: answer::Unreceived::counted(ends), ..answer }, unreceived }
    }
}

impl Clock {
    /// Runs a GOAL schedule.
    ///
    /// # Errors
    /// A deadlock, with the ranks and lines that wait; a run that comes to the end of time.
    pub fn run_goal(&self, schedule: &Schedule) -> Result<GoalAnswer> {
        let mut simulation = Simulation::new(schedule, Costs::new(&self.model), self.with_timeline);
        simulation.run(self.stop)?;
        if let Some(deadlock) = simulation.deadlock() {
            return Err(deadlock);
        }
        let unreceived = simulation.unreceived();
        Ok(GoalAnswer::new(counted(simulation.into_answer())?, unreceived))
    }
}
