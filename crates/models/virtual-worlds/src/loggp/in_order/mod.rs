//! The same world for programs that receive from any rank, or whose operations overlap.
//!
//! Which message is next, and what a processor does first, depends on when everything happens. So ranks can't run ahead
//! of each other: a rank acts only when its time has come, in the order of an event queue. The costs of messages are
//! the same, and a program that receives from named ranks only, one operation after the other, takes the same time in
//! both.

mod machine;

use endpoint::{Program, executor};

use super::Clock;
use crate::answer::{Answer, Run};
use crate::horizon::counted;
use machine::InOrder;

impl Clock {
    /// Runs a program in order of time. Of messages that arrive at the same time, the one sent first is next.
    pub(super) fn run_in_order<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output> {
        let mut machine = InOrder::new(&self.model, ranks, self.stop);
        let mut ended = executor::run(&mut machine, ranks, program, self.with_timeline)?;
        let finish = std::mem::take(&mut ended.finish);
        let timeline = ended.timeline.take();
        let results = ended.all_of(program, &machine.unexpected())?;
        let (messages, unreceived, ranks) = machine.end();
        let answer = Answer { finish, messages, packets: messages, ranks, timeline, ..Answer::default() };
        Ok((results, counted(Answer { unreceived, ..answer })?))
    }
}
