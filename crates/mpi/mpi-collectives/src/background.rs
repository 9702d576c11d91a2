//! Nonblocking collectives: a thread does them, one after another, in the order of their communicator.
//!
//! ```text
//!     program                    this thread
//!     MPI_Ibcast    -- job -->   as MPI_Bcast, on communicators of its own
//!     ...                        ...
//!     MPI_Wait      <--------    MPI_Grequest_complete
//! ```
//!
//! All ranks of a communicator begin their collectives in the same order, so every rank does them in that order. The
//! program gets a generalized request, which it can wait for and test in every way that MPI has.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mpi::{Duplicate, MpiError, Process};
use mpi_abi::*;
use mpi_preload::Address;
use real_worlds::{MpiGuest, Waiting};

use crate::communicators::{Communicator, lock};
use crate::data::DatatypeLayout;
use crate::functions;
use crate::job::CollectiveRun;
use crate::session::Session;
use crate::statistics::Collective;

/// The pause between two checks whether communicators are ready.
const PAUSE: Duration = Duration::from_micros(50);

/// The thread of a communicator.
#[derive(Debug)]
pub(crate) struct Background {
    tasks: Sender<Task>,
    thread: JoinHandle<()>,
}

/// A task for the thread.
#[derive(Debug)]
struct Task {
    collective: Collective,
    job: CollectiveRun,
    /// Handles of datatypes that were made for it.
    kept: Vec<DatatypeLayout>,
    request: MPI_Request,
    outcome: Arc<AtomicI32>,
}

/// What the thread starts with: communicators that are being created.
struct Beginning {
    process: Process,
    duplicates: [Duplicate; 2],
}

// SAFETY: all of it moves to the thread, and nothing that it shares without a lock is left behind.
unsafe impl Send for Beginning {}

impl Communicator {
    /// Begins a nonblocking collective, as all its ranks do in the same order; the request is written to `place`.
    ///
    /// # Safety
    /// There is room for a request.
    pub(crate) unsafe fn begin(
        &self,
        session: &Session,
        (collective, job, kept): (Collective, CollectiveRun, Vec<DatatypeLayout>),
        place: Address,
    ) -> Result<(), MpiError> {
        let mut background = lock(&self.background);
        if background.is_none() {
            *background = Some(self.begin_background(session)?);
        }
        let Some(background) = background.as_ref() else { return Ok(()) };
        let outcome = Arc::new(AtomicI32::new(MPI_SUCCESS));
        let mut request = MPI_REQUEST_NULL;
        let state = Arc::into_raw(Arc::clone(&outcome)).cast_mut().cast::<c_void>();
        // SAFETY: these functions have the required types, and their state exists until the last of them is called.
        let code = unsafe { functions::grequest_start(query, free, cancel, state, &raw mut request) };
        if code != MPI_SUCCESS {
            return Err(MpiError { call: "MPI_Grequest_start", text: format!("error {code}") });
        }
        // SAFETY: guaranteed by the caller.
        unsafe { place.cast::<MPI_Request>().write(request) };
        // The thread runs until this sender is dropped.
        let _ = background.tasks.send(Task { collective, job, kept, request, outcome });
        Ok(())
    }

    fn begin_background(&self, session: &Session) -> Result<Background, MpiError> {
        let process = Process::of_program(session.library.clone())?;
        // SAFETY: the program has just begun a collective on this communicator, as all its ranks do in the same order.
        let duplicates =
            unsafe { [process.begin_duplicate_of(self.handle)?, process.begin_duplicate_of(self.handle)?] };
        let beginning = Beginning { process, duplicates };
        let (tasks, receiver) = channel();
        let handle = self.handle;
        let works = move || {
            if let Err(error) = work(beginning, &receiver) {
                eprintln!("maquette: {error}");
                // SAFETY: MPI has begun; no rank could wait for the remaining collectives.
                unsafe { functions::abort(handle, 1) };
            }
        };
        let thread = thread::Builder::new()
            .spawn(works)
            .map_err(|cause| MpiError { call: "can't start a thread", text: cause.to_string() })?;
        Ok(Background { tasks, thread })
    }
}

impl Background {
    /// Finishes the remaining tasks, and ends.
    pub(crate) fn end(self) {
        drop(self.tasks);
        // The thread itself has reported any error.
        let _ = self.thread.join();
    }
}

/// What the thread does.
fn work(beginning: Beginning, tasks: &Receiver<Task>) -> Result<(), MpiError> {
    let Beginning { process, duplicates: [mut small, mut large] } = beginning;
    let (small, large) = (wait_for(&mut small, &process)?, wait_for(&mut large, &process)?);
    // The program's own thread may be busy-waiting on the processor that this thread needs.
    let mut guest = MpiGuest::new(small, large, Waiting::Sleeping);
    for Task { collective, job, kept, request, outcome } in tasks {
        if let Err(error) = guest.run(&job, job.places()) {
            eprintln!("maquette: {}: {error}", collective.name());
            outcome.store(MPI_ERR_OTHER, Ordering::Release);
        }
        drop(job);
        kept.into_iter().for_each(DatatypeLayout::free);
        // SAFETY: the request was begun for this task, and is completed once.
        unsafe { functions::grequest_complete(request) };
    }
    guest.end()
}

fn wait_for(duplicate: &mut Duplicate, process: &Process) -> Result<mpi::Communicator, MpiError> {
    loop {
        if let Some(communicator) = duplicate.test(process)? {
            return Ok(communicator);
        }
        thread::sleep(PAUSE);
    }
}

/// Fills the status of a complete request.
unsafe extern "C" fn query(outcome: *mut c_void, status: *mut MPI_Status) -> c_int {
    // SAFETY: the library passes the state of the request, and a status.
    unsafe {
        (*status).MPI_SOURCE = MPI_UNDEFINED;
        (*status).MPI_TAG = MPI_UNDEFINED;
        functions::status_set_elements(status, MPI_BYTE, 0);
        functions::status_set_cancelled(status, 0);
        (*outcome.cast::<AtomicI32>()).load(Ordering::Acquire)
    }
}

/// Frees the state of a request.
unsafe extern "C" fn free(outcome: *mut c_void) -> c_int {
    // SAFETY: the library calls this once, with the state of the request.
    drop(unsafe { Arc::from_raw(outcome.cast::<AtomicI32>()) });
    MPI_SUCCESS
}

/// Collectives can't be cancelled.
unsafe extern "C" fn cancel(_: *mut c_void, _: c_int) -> c_int {
    MPI_SUCCESS
}
