//! The communicators of the program, and our own that belong to them.
//!
//! We send nothing on a communicator of the program, so that its messages and ours never mix. For each communicator on
//! which a planned collective is called we have two with the same processes, created at the first such call and freed
//! when the program's is freed.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mpi::{MpiError, Process};
use mpi_abi::*;
use mpi_preload::{Address, Handle, function};
use plan_format::Plan;
use real_worlds::MpiGuest;

use crate::background::Background;
use crate::functions;
use crate::job::{CollectiveRun, Schedules};
use crate::session::Session;
use crate::statistics::Reason;

/// How many communicators the program has called collectives on.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static KNOWN: Mutex<BTreeMap<Handle, Arc<Communicator>>> = Mutex::new(BTreeMap::new());

/// A communicator of the program.
#[derive(Debug)]
pub(crate) struct Communicator {
    /// How many preceded it.
    number: usize,
    pub(crate) handle: MPI_Comm,
    /// The program's own rank in it.
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    pub(crate) is_inter: bool,
    guest: Mutex<Option<Guest>>,
    pub(crate) background: Mutex<Option<Background>>,
    pub(crate) schedules: Arc<Schedules>,
}

/// Our own communicators.
#[derive(Debug)]
struct Guest(MpiGuest);

// SAFETY: its lock makes sure that one thread at a time has it; nothing that it shares without a lock is anywhere else.
// A program in which several threads call MPI has told the library so.
unsafe impl Send for Guest {}

impl Communicator {
    /// Checks that a plan is for it.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), Reason> {
        match (self.is_inter, self.ranks == plan.ranks) {
            (true, _) => Err(Reason::Intercommunicator),
            (false, false) => Err(Reason::Ranks),
            (false, true) => Ok(()),
        }
    }

    /// The communicator of a handle; none if the handle is null.
    pub(crate) fn of(handle: MPI_Comm) -> Option<Arc<Communicator>> {
        if handle == MPI_COMM_NULL {
            return None;
        }
        let mut known = lock(&KNOWN);
        if let Some(communicator) = known.get(&handle.0) {
            return Some(Arc::clone(communicator));
        }
        let (mut rank, mut size, mut is_inter) = (0, 0, 0);
        // SAFETY: the program has passed a communicator; the library itself rejects an invalid one.
        let codes = unsafe {
            [
                functions::comm_rank(handle, &raw mut rank),
                functions::comm_size(handle, &raw mut size),
                functions::comm_test_inter(handle, &raw mut is_inter),
            ]
        };
        if codes != [MPI_SUCCESS; 3] {
            return None;
        }
        let communicator = Arc::new(Communicator {
            number: COUNT.fetch_add(1, Ordering::Relaxed),
            handle,
            rank: u32::try_from(rank).unwrap_or(0),
            ranks: u32::try_from(size).unwrap_or(0),
            is_inter: is_inter != 0,
            guest: Mutex::new(None),
            background: Mutex::new(None),
            schedules: Arc::default(),
        });
        known.insert(handle.0, Arc::clone(&communicator));
        Some(communicator)
    }

    /// Does a collective, as all its ranks do.
    pub(crate) fn run(&self, session: &Session, job: &CollectiveRun) -> endpoint::Result<()> {
        let failed = |error: MpiError| endpoint::Error::Network(error.to_string());
        let mut guest = lock(&self.guest);
        if guest.is_none() {
            let process = Process::of_program(session.library.clone()).map_err(failed)?;
            // SAFETY: the program has just called a collective on this communicator, as all its ranks do.
            let small = unsafe { process.duplicate_of(self.handle) }.map_err(failed)?;
            // SAFETY: as above.
            let large = unsafe { process.duplicate_of(self.handle) }.map_err(failed)?;
            *guest = Some(Guest(MpiGuest::new(small, large, session.waiting)));
        }
        guest.as_mut().map_or(Ok(()), |guest| guest.0.run(job, job.places()))
    }

    /// Frees its additional communicators, as all its ranks do together.
    fn end(&self) {
        if let Some(background) = lock(&self.background).take() {
            background.end();
        }
        if let Some(guest) = lock(&self.guest).take() {
            // What can't be freed now is freed when MPI ends.
            let _ = guest.0.end();
        }
    }
}

/// Ends all of them, in the order in which they were first used: so ranks that share several free them in the same
/// order.
pub(crate) fn end_all() {
    let mut known: Vec<Arc<Communicator>> = std::mem::take(&mut *lock(&KNOWN)).into_values().collect();
    known.sort_by_key(|communicator| communicator.number);
    known.iter().for_each(|communicator| communicator.end());
}

/// Locks a mutex whose contents stay valid whatever happens while it is locked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the additional communicators of the communicator whose handle is at this address.
///
/// # Safety
/// There is a handle.
unsafe fn forget(communicator: Address) {
    // SAFETY: guaranteed by the caller.
    let handle = unsafe { communicator.cast::<Handle>().read() };
    let known = lock(&KNOWN).remove(&handle);
    known.into_iter().for_each(|communicator| communicator.end());
}

function! {
    small MPI_Comm_free(communicator: Address) next => {
        if Session::current().is_some() && !communicator.is_null() {
            // SAFETY: the program has passed the address of a handle.
            unsafe { forget(communicator) };
        }
        // SAFETY: these are the program's arguments.
        unsafe { next(communicator) }
    }
}

function! {
    small MPI_Comm_disconnect(communicator: Address) next => {
        if Session::current().is_some() && !communicator.is_null() {
            // SAFETY: the program has passed the address of a handle.
            unsafe { forget(communicator) };
        }
        // SAFETY: these are the program's arguments.
        unsafe { next(communicator) }
    }
}

/// Reports an error in the way that the program has requested: through the error handler of its communicator.
pub(crate) fn complain(communicator: MPI_Comm, function: &str, error: &endpoint::Error) -> c_int {
    eprintln!("maquette: {function}: {error}");
    // SAFETY: the program has passed the communicator; a class of errors is a code.
    unsafe { functions::comm_call_errhandler(communicator, MPI_ERR_OTHER) };
    MPI_ERR_OTHER
}
