//! The same world where a processor takes a message in when it arrives, whether it was asked for or not: the semantics
//! that LogGOPSim (Hoefler, Schneider and Lumsdaine, 2010) gives to LogGOPS, so that results can be compared.
//!
//! - A computation needs its processor, a send its processor for o + (s-1) O and its network interface for g + (s-1) G,
//!   both at once. Its message arrives o + L after it started.
//! - A message that arrives needs the receiver's processor for o + max((s-1) O, (s-1) G) and its interface for g +
//!   (s-1) G, whether it was asked for or not: the processor and interface with the numbers given in the send.
//! - A receive costs nothing itself. It is posted when it is ready and its processor has finished its current work. It
//!   finishes when the message that it takes has been taken in; at once, if that has already happened.
//! - A send finishes when its processor is free again; from S bytes on, when a receive takes its message.
//! - Of several things that could start at the same time, the one that became ready, or was sent, first starts.
//! - A rank is done when its processors are.
//!
//! Where a rank has several processors, an operation waits until its dependencies have finished on its own processor;
//! LogGOPSim looks only at the processor on which the operation is to run. And S is the smallest size at which a send
//! waits, where LogGOPSim's is the largest at which it does not.

mod machine;
mod resources;
mod task;

use endpoint::{Program, executor};

use super::Clock;
use crate::answer::{Answer, Run};
use crate::horizon::counted;
use machine::OnArrival;

impl Clock {
    /// Runs a program whose messages are taken in on arrival.
    pub(super) fn run_on_arrival<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output> {
        let mut machine = OnArrival::new(&self.model, ranks, self.with_timeline, self.stop);
        // The machine knows when its processors finish.
        let mut ended = executor::run(&mut machine, ranks, program, false)?;
        let finish = std::mem::take(&mut ended.finish);
        let results = ended.all_of(program, &machine.unexpected())?;
        let answer = machine.end();
        let finish = finish.into_iter().zip(answer.finish).map(|(ended, free)| ended.max(free)).collect();
        Ok((results, counted(Answer { finish, ..answer })?))
    }
}
