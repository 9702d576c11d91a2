//! Ranks that speak over MPI.

use std::cell::RefCell;
use std::rc::Rc;

use endpoint::executor::Machine;
use endpoint::{Endpoint, Needs, Program, Result};
use quantities::Rank;
use real_worlds::MpiWorld;

use super::{RankLink, SETTLE_TIME, synchronize};
use crate::wire::Record;

/// This process's rank of MPI.
#[derive(Debug)]
pub(super) struct MpiRank {
    world: Rc<RefCell<MpiWorld>>,
}

impl MpiRank {
    pub(super) const fn new(world: Rc<RefCell<MpiWorld>>) -> MpiRank {
        MpiRank { world }
    }
}

impl RankLink for MpiRank {
    fn rank(&self) -> Rank {
        self.world.borrow().rank()
    }

    fn size(&self) -> u32 {
        self.world.borrow().size()
    }

    fn same_clock(&self) -> bool {
        self.world.borrow().same_clock()
    }

    fn synchronize(&mut self, first: Option<Rank>) -> Result<()> {
        let mut world = self.world.borrow_mut();
        // What the last run has left, this one is not to have. Nothing of this one has come: whoever begins it has met
        // this rank.
        world.forget_messages();
        let same_clock = world.same_clock();
        world.run_isolated(&Synchronize { same_clock, first })
    }

    fn run(&mut self, needs: Needs, program: &mut dyn FnMut(&mut dyn Machine) -> Result<()>) -> Result<()> {
        program(&mut self.world.borrow_mut().machine(needs)?)
    }

    fn settle(&mut self) -> Result<()> {
        self.world.borrow_mut().run_isolated(&Settle)
    }

    fn set_should_continue(&mut self, should_continue: fn() -> bool) {
        self.world.borrow_mut().set_should_continue(should_continue);
    }

    fn end(&mut self, _: &mut Record) -> Result<()> {
        Ok(())
    }
}

/// All ranks meet.
struct Synchronize {
    same_clock: bool,
    first: Option<Rank>,
}

impl Program for Synchronize {
    type Output = ();
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        synchronize(endpoint, self.same_clock, self.first).await
    }
}

/// A rank leaves the processor to others.
struct Settle;

impl Program for Settle {
    type Output = ();
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        endpoint.compute(SETTLE_TIME).await;
        Ok(())
    }
}
