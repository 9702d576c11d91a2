//! The same world for programs that receive from anyone.
//!
//! Which message is the next one depends on when all of them arrive. So here ranks can't run ahead of each other: whatever
//! a rank does, it does when its time has come, in the order of an event queue. What messages cost is the same, and a
//! program that receives from named ranks only takes the same time in both.

mod here;
mod letters;
mod state;

use std::cell::RefCell;

use endpoint::Program;

use super::costs::Costs;
use super::ranks::Ranks;
use super::{Clock, in_time};
use crate::answer::Run;
use here::Here;
use state::State;

impl Clock {
    /// Runs a program that receives from anyone. Of messages that arrive at one time the one that was sent first is the
    /// next.
    pub(super) fn run_in_order<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output> {
        let state = RefCell::new(State::new(Costs::new(&self.model), ranks, self.with_timeline));
        let results = Ranks::new(ranks, self.stop).run(&state, |rank| {
            let here = Here::new(rank, &state, P::NEEDS);
            async move { program.run(&here).await }
        })?;
        Ok((results, in_time(state.into_inner().into_answer())?))
    }
}
