//! Maquette programs within a program that has begun MPI itself.

use endpoint::{Error, Program, Result, executor};
use mpi::{Communicator, LentMemory, MpiError};
use quantities::{Duration, Rank};

use super::machine::{Limits, MpiMachine};
use super::polling::Waiting;
use super::transport::Transport;
use crate::Clock;

/// This process's rank in a communicator of a host program, between whose calls Maquette programs run.
///
/// Unlike a [`super::MpiWorld`], it neither begins nor ends MPI, and it waits without limit, as MPI does: a rank may
/// come as late as it likes. Programs that broadcast in hardware can't be run.
#[derive(Debug)]
pub struct MpiGuest {
    transport: Transport,
    clock: Clock,
    waiting: Waiting,
}

impl MpiGuest {
    /// A guest on two communicators of the same processes that nothing else uses.
    pub fn new(small: Communicator, large: Communicator, waiting: Waiting) -> MpiGuest {
        MpiGuest { transport: Transport::over(small, large), clock: Clock::starting_now(), waiting }
    }

    /// The rank of this process.
    pub fn rank(&self) -> Rank {
        self.transport.rank()
    }

    /// The number of ranks.
    pub fn size(&self) -> u32 {
        self.transport.size()
    }

    /// Runs `program`; collective over all ranks. Nothing of it is under way when it has ended.
    ///
    /// If the first long message from a rank is as long as one of the `places` lent for that rank, it is received
    /// there: the message that the program gets lies in that place.
    ///
    /// # Errors
    /// The error with which this rank ends.
    pub fn run<P: Program>(&mut self, program: &P, places: Vec<(Rank, LentMemory)>) -> Result<P::Output> {
        if P::NEEDS.multicast() {
            return Err(Error::Unfit("a guest of somebody else's MPI does not broadcast in hardware".to_owned()));
        }
        let (rank, size) = (self.rank(), self.size());
        self.transport.lend(places);
        let mut machine = MpiMachine::new(&mut self.transport, None, self.clock, WITHOUT_LIMIT, self.waiting);
        let ended = executor::run_one(&mut machine, rank, size, program);
        self.transport.lend(Vec::new());
        ended
    }

    /// Frees all of its MPI resources; collective over all ranks.
    ///
    /// # Errors
    /// The library's error.
    pub fn end(self) -> std::result::Result<(), MpiError> {
        self.transport.end()
    }
}

/// How long it waits for a message: for ever.
const WITHOUT_LIMIT: Limits = Limits { patience: Duration::LONGEST, should_continue: || true };
