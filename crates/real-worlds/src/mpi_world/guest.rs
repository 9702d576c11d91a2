//! Programs of ours within a program that has begun MPI by itself.

use endpoint::{Error, Program, Result, executor};
use mpi::{Communicator, MpiError, Place};
use quantities::{Duration, Rank};

use super::machine::MpiMachine;
use super::polling::Waiting;
use super::transport::Transport;
use crate::Clock;

/// This process's rank among those of a communicator of somebody else's program, between whose calls programs of ours run.
///
/// Unlike a [`super::MpiWorld`] it neither begins MPI nor ends it, and it waits without limit, as MPI does: a rank may come as late as it
/// will. Programs that broadcast in hardware can't be run.
#[derive(Debug)]
pub struct MpiGuest {
    transport: Transport,
    clock: Clock,
    waiting: Waiting,
}

impl MpiGuest {
    /// On two communicators of the same processes that nobody else uses.
    pub fn new(small: Communicator, large: Communicator, waiting: Waiting) -> MpiGuest {
        MpiGuest { transport: Transport::over(small, large), clock: Clock::starting_now(), waiting }
    }

    /// Which rank this process is.
    pub fn rank(&self) -> Rank {
        self.transport.rank()
    }

    /// How many there are.
    pub fn size(&self) -> u32 {
        self.transport.size()
    }

    /// Runs `program`, as all ranks do. Nothing of it is under way when it has ended.
    ///
    /// The first message of a rank that is long, and as long as one of the `places` that are lent for it, is received there: what the program gets
    /// lies in that place.
    ///
    /// # Errors
    /// What this rank ends with.
    pub fn run<P: Program>(&mut self, program: &P, places: Vec<(Rank, Place)>) -> Result<P::Output> {
        if P::NEEDS.multicast() {
            return Err(Error::Unfit("a guest of somebody else's MPI does not broadcast in hardware".to_owned()));
        }
        let (rank, size) = (self.rank(), self.size());
        self.transport.lend(places);
        let mut machine = MpiMachine::new(&mut self.transport, None, self.clock, FOR_EVER, self.waiting);
        let ended = executor::run_one(&mut machine, rank, size, program);
        self.transport.lend(Vec::new());
        ended
    }

    /// Gives everything back to MPI; all ranks do so together.
    ///
    /// # Errors
    /// What the library says.
    pub fn end(self) -> std::result::Result<(), MpiError> {
        self.transport.end()
    }
}

/// How long it waits for a message.
const FOR_EVER: Duration = Duration::from_picoseconds(u64::MAX);
