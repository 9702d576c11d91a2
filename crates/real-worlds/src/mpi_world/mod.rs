//! A world of MPI: each rank is a process that `mpiexec`, or a batch system, has started.
//!
//! ```text
//!    program        of this process's rank
//!    MpiMachine     its operations under way, matched with what comes            [machine]
//!    Transport      messages, large ones announced                              [transport, envelope]
//!    Broadcasts     by the library's own                                        [broadcasts]
//!    mpi            a library that is opened at run time
//! ```
//!
//! Within somebody else's program that has begun MPI, programs run on communicators beside those of its own [guest].
//!
//! Receives are matched with messages here, not by MPI: tags of ours are larger than its, a rank may ask for anyone's message until a time,
//! and nobody says how long the next message is.

mod broadcasts;
mod envelope;
mod guest;
mod machine;
mod polling;
mod transport;

use std::path::Path;
use std::rc::Rc;

use endpoint::{Endpoint, Error, Message, Needs, Program, Result, executor};
use mpi::{Communicator, Library, MpiError, OpenError, Process, started_processes};
use quantities::{Duration, Rank};

use self::broadcasts::{Broadcasts, MOST_RANKS};
pub use self::guest::MpiGuest;
pub use self::machine::MpiMachine;
pub use self::polling::Waiting;
use self::transport::Transport;
use crate::{Clock, machine_time};

/// How long a rank waits for a message, if nothing else is asked for.
const USUAL_PATIENCE: Duration = Duration::from_microseconds(60_000_000);

/// How long a rank that ends all others waits before: what it has said last is then with mpiexec, which loses what is still on its way.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_millis(200);

/// Why there is no world of MPI.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MpiStartError {
    /// There is no library.
    #[error(transparent)]
    Library(#[from] OpenError),
    /// It does not do what it is asked for.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// It belongs to another mpiexec than the one that started this process.
    #[error(
        "{library} takes this process for the only one, but {starter} has started {started}: the two do not belong together; start with the \
         mpiexec that comes with this library, or name the library of that mpiexec with --mpi-library"
    )]
    Mixed {
        /// The library.
        library: String,
        /// Who started this process.
        starter: &'static str,
        /// How many that has started.
        started: u32,
    },
    /// The ranks could not agree on a time.
    #[error(transparent)]
    Ranks(#[from] Error),
}

impl MpiStartError {
    /// Whether another library, or another mpiexec, would do.
    pub const fn is_bad_input(&self) -> bool {
        matches!(self, MpiStartError::Library(_) | MpiStartError::Mixed { .. })
    }
}

/// This process's rank in the world of MPI.
#[derive(Debug)]
pub struct MpiWorld {
    process: Rc<Process>,
    /// Of a part of all processes, their communicator.
    part: Option<Communicator>,
    /// For programs.
    transport: Transport,
    /// For what ranks tell each other between them: some are done before others, which may still receive from anyone.
    between: Transport,
    broadcasts: Option<Broadcasts>,
    clock: Clock,
    same_clock: bool,
    waiting: Waiting,
    patience: Duration,
}

impl MpiWorld {
    /// Begins MPI with the library at `library`, or with the one that is found; all processes do so together.
    ///
    /// # Errors
    /// [`MpiStartError`].
    pub fn begin(library: Option<&Path>) -> std::result::Result<MpiWorld, MpiStartError> {
        let library = Library::open(library)?;
        let name = library.path().display().to_string();
        let process = Process::begin(library)?;
        let all = process.world()?;
        if let Some((started, starter)) = started_processes()
            && all.size() == 1
            && started > 1
        {
            return Err(MpiStartError::Mixed { library: name, starter, started });
        }
        MpiWorld::of(Rc::new(process), &all, USUAL_PATIENCE)
    }

    /// The world of the processes of a communicator, who all ask for it together.
    fn of(
        process: Rc<Process>,
        all: &Communicator,
        patience: Duration,
    ) -> std::result::Result<MpiWorld, MpiStartError> {
        let mut world = MpiWorld {
            process,
            part: None,
            transport: Transport::new(all)?,
            between: Transport::new(all)?,
            broadcasts: None,
            clock: Clock::starting_now(),
            same_clock: false,
            waiting: Waiting::Yielding,
            patience,
        };
        world.begin_time()?;
        Ok(world)
    }

    /// A world of the first `ranks` of all processes, which is to end before this one; nothing for the others. All processes ask for it
    /// together.
    ///
    /// # Errors
    /// What the library says; that the ranks could not agree on a time.
    pub fn first(&self, ranks: u32) -> std::result::Result<Option<MpiWorld>, MpiStartError> {
        let Some(part) = self.process.world()?.first(ranks)? else { return Ok(None) };
        let world = MpiWorld::of(Rc::clone(&self.process), &part, self.patience)?;
        Ok(Some(MpiWorld { part: Some(part), ..world }))
    }

    /// From now on this rank waits at most so long for a message.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Which rank this process is.
    pub fn rank(&self) -> Rank {
        self.transport.rank()
    }

    /// How many there are.
    pub fn size(&self) -> u32 {
        self.transport.size()
    }

    /// Whether all ranks have the same clock, as those of one computer have.
    pub const fn same_clock(&self) -> bool {
        self.same_clock
    }

    /// The name of the computer that this rank runs on.
    pub fn computer(&self) -> String {
        self.process.processor_name()
    }

    /// What the library says of itself.
    pub fn library(&self) -> String {
        self.process.library().version()
    }

    /// Runs `program`, as all ranks do.
    ///
    /// # Errors
    /// What this rank ends with: [`Error::Deadlock`] where nothing that it waits for has come for as long as it has patience.
    pub fn run<P: Program>(&mut self, program: &P) -> Result<P::Output> {
        let (rank, size) = (self.rank(), self.size());
        let output = executor::run_one(&mut self.machine(P::NEEDS)?, rank, size, program)?;
        program.check(rank, &output).map(|()| output)
    }

    /// Runs `program`, as all ranks do, apart from the messages of other programs: what has to be told before and after these.
    ///
    /// # Errors
    /// As [`MpiWorld::run`].
    pub fn run_between<P: Program>(&mut self, program: &P) -> Result<P::Output> {
        let (rank, size) = (self.rank(), self.size());
        let mut machine = MpiMachine::new(&mut self.between, None, self.clock, self.patience, self.waiting);
        executor::run_one(&mut machine, rank, size, program)
    }

    /// The machine on which this rank runs a program that needs so much; all ranks ask for it together.
    ///
    /// # Errors
    /// What the library says.
    pub fn machine(&mut self, needs: Needs) -> Result<MpiMachine<'_>> {
        if needs.multicast() && self.broadcasts.is_none() && self.size() <= MOST_RANKS {
            self.broadcasts = Some(Broadcasts::new(&self.transport)?);
        }
        let mut broadcasts = self.broadcasts.as_mut().filter(|_| needs.multicast());
        broadcasts.iter_mut().for_each(|broadcasts| broadcasts.forget());
        Ok(MpiMachine::new(&mut self.transport, broadcasts, self.clock, self.patience, self.waiting))
    }

    /// Forgets messages that have come and that nobody has received.
    pub fn forget_messages(&mut self) {
        self.transport.forget();
    }

    /// Ends this world, as all of its ranks do together, and MPI with the last of them. Nothing may be under way any more.
    ///
    /// # Errors
    /// What the library says.
    pub fn end(self) -> std::result::Result<(), MpiError> {
        self.broadcasts.map_or(Ok(()), Broadcasts::end)?;
        self.transport.end()?;
        self.between.end()?;
        self.part.map_or(Ok(()), Communicator::free)?;
        Rc::into_inner(self.process).map_or(Ok(()), Process::finalize)
    }

    /// Ends all ranks with that exit status, soon.
    pub fn abort(&self, status: i32) -> ! {
        std::thread::sleep(LAST_WORDS);
        self.process.abort(status)
    }

    /// Time begins anew, as all ranks ask for together: rank 0 says when, to those who have its clock. Each learns how many ranks its computer
    /// has.
    ///
    /// # Errors
    /// As [`MpiWorld::run`].
    pub fn begin_time(&mut self) -> Result<()> {
        let machine = machine_id(&self.computer());
        let Agreed { zero, beside } = self.run_between(&Greeting { machine: &machine })?;
        let processors = std::thread::available_parallelism().map_or(1, |number| number.get() as u64);
        self.waiting = if beside > processors { Waiting::Yielding } else { Waiting::Busy };
        self.same_clock = zero.is_some();
        self.clock = zero.map_or_else(Clock::starting_now, Clock::starting_at);
        Ok(())
    }
}

/// What ranks know after they have greeted each other.
#[derive(Clone, Copy, Debug)]
struct Agreed {
    /// What the clock shows when time begins, if all have the same clock. [ns]
    zero: Option<u64>,
    /// How many ranks this rank's computer has.
    beside: u64,
}

/// All ranks tell rank 0 where they are, and learn who is with them.
struct Greeting<'a> {
    machine: &'a str,
}

impl Program for Greeting<'_> {
    type Output = Agreed;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Agreed> {
        if endpoint.rank() > Rank(0) {
            endpoint.send(Rank(0), Message::from(self.machine.as_bytes().to_vec())).await?;
            let answer = endpoint.receive(Rank(0)).await?;
            let number = |from: usize| {
                let bytes = answer.content().and_then(|content| content.get(from..from + 8)?.try_into().ok());
                bytes.map(u64::from_be_bytes).ok_or_else(|| Error::Network("rank 0 said no time".to_owned()))
            };
            let (zero, beside) = (number(0)?, number(8)?);
            return Ok(Agreed { zero: Some(zero).filter(|&zero| zero > 0), beside });
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
        Ok(Agreed { zero, beside: beside(0) })
    }
}

/// What tells one computer, since it was last started, from others: its parts may have names of their own, and yet one clock. Where the
/// system has nothing like that, it is the name.
fn machine_id(name: &str) -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    boot.map_or_else(|_| name.to_owned(), |boot| boot.trim_end().to_owned())
}
