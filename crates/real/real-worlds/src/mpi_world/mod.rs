//! A world of MPI: each rank is a process that `mpiexec`, or a batch system, has started.
//!
//! ```text
//!    program        of this process's rank
//!    MpiMachine     its operations under way, matched with messages             [machine]
//!    Transport      messages, large ones announced                              [transport, envelope]
//!    Broadcasts     by the library's own collective                             [broadcasts]
//!    mpi            a library that is opened at run time
//! ```
//!
//! Inside a host program that has begun MPI, Maquette programs run on communicators of their own [guest].
//!
//! Receives are matched with messages in this crate, not by MPI: Maquette's tags are larger than MPI's, a rank may ask
//! for a message from any rank until a deadline, and the length of the next message is not known in advance.

mod broadcasts;
mod envelope;
mod guest;
mod machine;
mod polling;
mod transport;

use std::path::Path;
use std::rc::Rc;

use endpoint::{Endpoint, Error, Message, Needs, Program, Result, executor};
use mpi::{Communicator, Library, MpiError, OpenError, Process, started_by_another, started_processes};
use quantities::{Duration, Rank};

use self::broadcasts::{Broadcasts, MOST_RANKS};
pub use self::guest::MpiGuest;
use self::machine::Limits;
pub use self::machine::MpiMachine;
pub use self::polling::Waiting;
use self::transport::Transport;
use crate::{Clock, machine_time};

/// How long a rank waits for a message by default.
const DEFAULT_PATIENCE: Duration = Duration::from_microseconds(60_000_000);

/// How long a rank waits before it aborts all others: mpiexec loses output that is still on its way when a job is
/// aborted.
const ABORT_DELAY: std::time::Duration = std::time::Duration::from_millis(200);

/// Why the world of MPI could not begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MpiStartError {
    /// No library was found.
    #[error(transparent)]
    Library(#[from] OpenError),
    /// The library failed.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// The library belongs to another mpiexec than the one that started this process.
    #[error(
        "{starter} has started {started} processes, and {library} does not belong to it: start with the mpiexec that comes with this library, \
         or name the library of that mpiexec with --mpi-library"
    )]
    Mixed {
        /// The library.
        library: String,
        /// The launcher that started this process.
        starter: &'static str,
        /// How many processes it has started.
        started: u32,
    },
    /// The ranks could not agree on a time.
    #[error(transparent)]
    Ranks(#[from] Error),
}

impl MpiStartError {
    /// Whether another library or another mpiexec would help.
    pub const fn is_bad_input(&self) -> bool {
        matches!(self, MpiStartError::Library(_) | MpiStartError::Mixed { .. })
    }
}

/// This process's rank in the world of MPI.
#[derive(Debug)]
pub struct MpiWorld {
    process: Rc<Process>,
    /// The communicator, if this world is a part of all processes.
    part: Option<Communicator>,
    /// For the messages of programs.
    transport: Transport,
    /// For messages between programs: some ranks finish before others, which may still receive from any rank.
    between: Transport,
    broadcasts: Option<Broadcasts>,
    clock: Clock,
    same_clock: bool,
    waiting: Waiting,
    limits: Limits,
}

impl MpiWorld {
    /// Begins MPI with the library at `library`, or with the one that is found; collective over all processes.
    ///
    /// # Errors
    /// [`MpiStartError`].
    pub fn begin(library: Option<&Path>) -> std::result::Result<MpiWorld, MpiStartError> {
        let library = Library::open(library)?;
        let name = library.path().display().to_string();
        if let Some((started, starter)) = started_by_another(&library.version()) {
            return Err(MpiStartError::Mixed { library: name, starter, started });
        }
        let process = Process::begin(library)?;
        let all = process.world()?;
        if let Some((started, starter)) = started_processes()
            && all.size() == 1
            && started > 1
        {
            return Err(MpiStartError::Mixed { library: name, starter, started });
        }
        let limits = Limits { patience: DEFAULT_PATIENCE, should_continue: || true };
        MpiWorld::of(Rc::new(process), &all, limits)
    }

    /// The world of the processes of a communicator; collective over them.
    fn of(process: Rc<Process>, all: &Communicator, limits: Limits) -> std::result::Result<MpiWorld, MpiStartError> {
        let mut world = MpiWorld {
            process,
            part: None,
            transport: Transport::new(all)?,
            between: Transport::new(all)?,
            broadcasts: None,
            clock: Clock::starting_now(),
            same_clock: false,
            waiting: Waiting::Yielding,
            limits,
        };
        world.begin_time()?;
        Ok(world)
    }

    /// A world of the first `ranks` processes, which must end before this one; nothing for the other processes.
    /// Collective over all processes.
    ///
    /// # Errors
    /// The library's error, or that the ranks could not agree on a time.
    pub fn first(&self, ranks: u32) -> std::result::Result<Option<MpiWorld>, MpiStartError> {
        let Some(part) = self.process.world()?.first(ranks)? else { return Ok(None) };
        let world = MpiWorld::of(Rc::clone(&self.process), &part, self.limits)?;
        Ok(Some(MpiWorld { part: Some(part), ..world }))
    }

    /// Sets the longest time that this rank waits for a message.
    pub fn set_patience(&mut self, patience: Duration) {
        self.limits.patience = patience;
    }

    /// Sets what is asked now and then while this rank waits: whether it goes on. Otherwise it ends with
    /// [`Error::Stopped`].
    pub fn set_should_continue(&mut self, should_continue: fn() -> bool) {
        self.limits.should_continue = should_continue;
    }

    /// The rank of this process.
    pub fn rank(&self) -> Rank {
        self.transport.rank()
    }

    /// The number of ranks.
    pub fn size(&self) -> u32 {
        self.transport.size()
    }

    /// Whether all ranks have the same clock, as those on one computer do.
    pub const fn same_clock(&self) -> bool {
        self.same_clock
    }

    /// The name of the computer that this rank runs on.
    pub fn computer(&self) -> String {
        self.process.processor_name()
    }

    /// The library's description of itself.
    pub fn library(&self) -> String {
        self.process.library().version()
    }

    /// Runs `program`; collective over all ranks.
    ///
    /// # Errors
    /// The error with which this rank ends: [`Error::Deadlock`] if nothing that it waits for has come within its
    /// patience.
    pub fn run<P: Program>(&mut self, program: &P) -> Result<P::Output> {
        let (rank, size) = (self.rank(), self.size());
        let output = executor::run_one(&mut self.machine(P::NEEDS)?, rank, size, program)?;
        program.check(rank, &output).map(|()| output)
    }

    /// Runs `program`, apart from the messages of other programs: for communication before and after them. Collective
    /// over all ranks.
    ///
    /// # Errors
    /// As [`MpiWorld::run`].
    pub fn run_isolated<P: Program>(&mut self, program: &P) -> Result<P::Output> {
        let (rank, size) = (self.rank(), self.size());
        let mut machine = MpiMachine::new(&mut self.between, None, self.clock, self.limits, self.waiting);
        executor::run_one(&mut machine, rank, size, program)
    }

    /// The machine on which this rank runs a program with these needs; collective over all ranks.
    ///
    /// # Errors
    /// The library's error.
    pub fn machine(&mut self, needs: Needs) -> Result<MpiMachine<'_>> {
        if needs.multicast() && self.broadcasts.is_none() && self.size() <= MOST_RANKS {
            self.broadcasts = Some(Broadcasts::new(&self.transport)?);
        }
        let mut broadcasts = self.broadcasts.as_mut().filter(|_| needs.multicast());
        broadcasts.iter_mut().for_each(|broadcasts| broadcasts.forget());
        Ok(MpiMachine::new(&mut self.transport, broadcasts, self.clock, self.limits, self.waiting))
    }

    /// Drops messages that have arrived and that no receive took.
    pub fn forget_messages(&mut self) {
        self.transport.forget();
    }

    /// Ends this world, and MPI with the last of its worlds; collective over its ranks. Nothing may be under way any
    /// more.
    ///
    /// # Errors
    /// The library's error.
    pub fn end(self) -> std::result::Result<(), MpiError> {
        self.broadcasts.map_or(Ok(()), Broadcasts::end)?;
        self.transport.end()?;
        self.between.end()?;
        self.part.map_or(Ok(()), Communicator::free)?;
        Rc::into_inner(self.process).map_or(Ok(()), Process::finalize)
    }

    /// Ends all ranks with this exit status, soon.
    pub fn abort(&self, status: i32) -> ! {
        std::thread::sleep(ABORT_DELAY);
        self.process.abort(status)
    }

    /// Restarts time; collective over all ranks. Rank 0 sets the start for the ranks that share its clock. Each rank
    /// learns how many ranks its computer has.
    ///
    /// # Errors
    /// As [`MpiWorld::run`].
    pub fn begin_time(&mut self) -> Result<()> {
        let machine = machine_id(&self.computer());
        let Agreement { zero, beside } = self.run_isolated(&Greeting { machine: &machine })?;
        let processors = std::thread::available_parallelism().map_or(1, |number| number.get() as u64);
        self.waiting = if beside > processors { Waiting::Yielding } else { Waiting::Busy };
        self.same_clock = zero.is_some();
        self.clock = zero.map_or_else(Clock::starting_now, Clock::starting_at);
        Ok(())
    }
}

/// What ranks know after they have exchanged greetings.
#[derive(Clone, Copy, Debug)]
struct Agreement {
    /// The clock's reading when time begins, if all ranks have the same clock. [ns]
    zero: Option<u64>,
    /// How many ranks are on this rank's computer.
    beside: u64,
}

/// All ranks tell rank 0 which computer they are on, and learn how many share it.
struct Greeting<'a> {
    machine: &'a str,
}

impl Program for Greeting<'_> {
    type Output = Agreement;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Agreement> {
        if endpoint.rank() > Rank(0) {
            endpoint.send(Rank(0), Message::from(self.machine.as_bytes().to_vec())).await?;
            let answer = endpoint.receive(Rank(0)).await?;
            let number = |from: usize| {
                let bytes = answer.content().and_then(|content| content.get(from..from + 8)?.try_into().ok());
                bytes.map(u64::from_be_bytes).ok_or_else(|| Error::Network("rank 0 sent no time".to_owned()))
            };
            let (zero, beside) = (number(0)?, number(8)?);
            return Ok(Agreement { zero: Some(zero).filter(|&zero| zero > 0), beside });
        }
        let mut machines = vec![bytes::Bytes::copy_from_slice(self.machine.as_bytes())];
        for rank in (1..endpoint.size()).map(Rank) {
            machines.push(endpoint.receive(rank).await?.content().cloned().unwrap_or_default());
        }
        let zero = machines.iter().all(|machine| *machine == machines[0]).then(machine_time);
        let beside = |rank: usize| machines.iter().filter(|machine| **machine == machines[rank]).count() as u64;
        for rank in 1..machines.len() {
            let answer = [zero.unwrap_or(0), beside(rank)].map(u64::to_be_bytes).concat();
            endpoint.send(Rank(rank as u32), Message::from(answer)).await?;
        }
        Ok(Agreement { zero, beside: beside(0) })
    }
}

/// Identifies a computer since its last start: its parts may have names of their own, and yet one clock. Where the
/// system has no such identifier, the name is used.
fn machine_id(name: &str) -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    boot.map_or_else(|_| name.to_owned(), |boot| boot.trim_end().to_owned())
}
