//! The same world for programs that receive from anyone.
//!
//! Which message is the next one depends on when all of them arrive. So here ranks can't run ahead of each other: whatever
//! a rank does, it does when its time has come, in the order of an event queue. What messages cost is the same, and a
//! program that receives from named ranks only takes the same time in both.

mod here;
mod letters;
mod state;

use std::cell::RefCell;

use endpoint::{AnySourceProgram, AnySourceWorld, Result};

use super::Clock;
use super::costs::Costs;
use super::ranks::Ranks;
use crate::answer::Answer;
use crate::horizon::counted;
use here::Here;
use state::State;

impl Clock {
    /// As [`Clock::run_with_answer`], for a program that receives from anyone.
    ///
    /// Of messages that arrive at one time the one that was sent first is the next.
    ///
    /// # Errors
    /// As [`Clock::run_with_answer`].
    pub fn run_any_with_answer<P: AnySourceProgram>(
        &self,
        ranks: u32,
        program: &P,
    ) -> Result<(Vec<Result<P::Output>>, Answer)> {
        let state = RefCell::new(State::new(Costs::new(&self.model), ranks, self.with_timeline));
        let results = Ranks::new(ranks, self.stop).run(&state, |rank| {
            let here = Here::new(rank, &state);
            async move { program.run(&here).await }
        })?;
        Ok((results, counted(state.into_inner().into_answer())?))
    }
}

impl AnySourceWorld for Clock {
    fn run_any<P: AnySourceProgram>(&self, ranks: u32, program: &P) -> Result<Vec<Result<P::Output>>> {
        Ok(self.run_any_with_answer(ranks, program)?.0)
    }
}
