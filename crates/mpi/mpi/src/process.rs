//! This process, as one of MPI's processes.

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::rc::Rc;

use mpi_abi::*;

use crate::functions::Functions;
use crate::library::read_text;
use crate::request::MpiRequest;
use crate::{Communicator, Library, MpiError, Result};

/// Proof that MPI has begun and not ended: every value that calls MPI holds one, and MPI can't end before the last is
/// gone. It can't leave the thread on which MPI began.
#[derive(Clone, Debug)]
pub(crate) struct ActiveLibrary(Rc<()>);

/// A process in which MPI has begun.
#[derive(Debug)]
pub struct Process {
    library: Library,
    /// Whether this crate began MPI, and not another part of the program.
    must_finalize: bool,
    active: ActiveLibrary,
}

impl Process {
    /// Initializes MPI, with calls that return their errors. If the program has initialized it already, see
    /// [`Process::of_program`].
    ///
    /// # Errors
    /// The library's error. Some libraries end the process where MPI can't be started.
    pub fn begin(library: Library) -> Result<Process> {
        if library.is_initialized() {
            return Process::of_program(library);
        }
        let (functions, mut provided) = (library.functions, 0);
        // SAFETY: MPI has not begun; that there are no arguments is allowed.
        let code = unsafe { (functions.init_thread)(null_mut(), null_mut(), MPI_THREAD_FUNNELED, &raw mut provided) };
        check(functions, "MPI_Init_thread", code)?;
        for communicator in [MPI_COMM_WORLD, MPI_COMM_SELF] {
            errors_are_values(functions, communicator)?;
        }
        Ok(Process { library, must_finalize: true, active: ActiveLibrary(Rc::new(())) })
    }

    /// A process in which another part of the program has begun MPI: that part decides how errors on its communicators
    /// are handled.
    ///
    /// # Errors
    /// The library's error; MPI has not begun.
    pub fn of_program(library: Library) -> Result<Process> {
        if !library.is_initialized() {
            return Err(MpiError { call: "MPI_Initialized", text: "MPI has not begun".to_owned() });
        }
        Ok(Process { library, must_finalize: false, active: ActiveLibrary(Rc::new(())) })
    }

    /// A communicator of the same processes as `communicator`, with separate messages and with errors as values;
    /// collective over its processes.
    ///
    /// # Errors
    /// The library's error.
    ///
    /// # Safety
    /// The handle must be of a communicator of this library.
    pub unsafe fn duplicate_of(&self, communicator: MPI_Comm) -> Result<Communicator> {
        let (functions, mut other) = (self.library.functions, MPI_COMM_NULL);
        // SAFETY: the caller vouches for the handle, and the call writes another.
        check(functions, "MPI_Comm_dup", unsafe { (functions.comm_dup)(communicator, &raw mut other) })?;
        self.isolate(other)
    }

    /// Begins to create one as [`Process::duplicate_of`] does: all processes of the communicator call this, in the
    /// order of their collectives, without waiting for each other.
    ///
    /// # Errors
    /// The library's error.
    ///
    /// # Safety
    /// As for [`Process::duplicate_of`].
    pub unsafe fn begin_duplicate_of(&self, communicator: MPI_Comm) -> Result<Duplicate> {
        let functions = self.library.functions;
        // The address must stay valid, since MPI writes there later.
        let mut other = ManuallyDrop::new(Box::new(MPI_COMM_NULL));
        let mut request = MPI_REQUEST_NULL;
        // SAFETY: the caller vouches for the handle, and the memory for the new one exists until the request is over.
        let code = unsafe { (functions.comm_idup)(communicator, &raw mut **other, &raw mut request) };
        check(functions, "MPI_Comm_idup", code)?;
        Ok(Duplicate { request: MpiRequest::new(functions, request, self.active.clone()), other })
    }

    /// A communicator that this crate has created, with errors as values.
    fn isolate(&self, handle: MPI_Comm) -> Result<Communicator> {
        errors_are_values(self.library.functions, handle)?;
        Communicator::new(self.library.functions, handle, self.active.clone())
    }

    /// Its library.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// All processes, `MPI_COMM_WORLD`.
    ///
    /// # Errors
    /// The library's error.
    pub fn world(&self) -> Result<Communicator> {
        Communicator::new(self.library.functions, MPI_COMM_WORLD, self.active.clone())
    }

    /// The name of the computer that this process runs on.
    pub fn processor_name(&self) -> String {
        read_text(MPI_MAX_PROCESSOR_NAME, |text, length| {
            // SAFETY: MPI has begun; the text has the length that the standard requires.
            unsafe { (self.library.functions.get_processor_name)(text, length) }
        })
    }

    /// Ends MPI, together with all other processes, if this crate began it. Nothing may be under way any more.
    ///
    /// # Errors
    /// A communicator or a request still exists; the library's error.
    pub fn finalize(self) -> Result<()> {
        if Rc::strong_count(&self.active.0) > 1 {
            return Err(MpiError {
                call: "MPI_Finalize",
                text: "a communicator, or a request, is still there".to_owned(),
            });
        }
        if !self.must_finalize {
            return Ok(());
        }
        let functions = self.library.functions;
        // SAFETY: this crate has begun MPI, this consumes the only value that can end it, and no value that could call
        // it is left.
        check(functions, "MPI_Finalize", unsafe { (functions.finalize)() })
    }

    /// Ends all processes of MPI with this exit status, as far as the library can, and this one in any case.
    pub fn abort(&self, status: c_int) -> ! {
        // SAFETY: MPI has begun, and the handle is predefined.
        let _ = unsafe { (self.library.functions.abort)(MPI_COMM_WORLD, status) };
        std::process::exit(status)
    }
}

/// A communicator that is being created.
#[derive(Debug)]
pub struct Duplicate {
    request: MpiRequest,
    other: ManuallyDrop<Box<MPI_Comm>>,
}

impl Duplicate {
    /// The communicator, once it is created. Must not be called again after that.
    ///
    /// # Errors
    /// The library's error.
    pub fn test(&mut self, process: &Process) -> Result<Option<Communicator>> {
        if self.request.test()?.is_none() {
            return Ok(None);
        }
        // SAFETY: the request is over, so MPI no longer writes there; it is not tested again.
        let other = unsafe { ManuallyDrop::take(&mut self.other) };
        process.isolate(*other).map(Some)
    }
}

/// Has calls on a communicator return their errors from now on.
pub(crate) fn errors_are_values(functions: &Functions, handle: MPI_Comm) -> Result<()> {
    // SAFETY: MPI has begun, and both handles are valid.
    let code = unsafe { (functions.comm_set_errhandler)(handle, MPI_ERRORS_RETURN) };
    check(functions, "MPI_Comm_set_errhandler", code)
}

/// Turns the code that a call has returned into a result.
pub(crate) fn check(functions: &Functions, call: &'static str, code: c_int) -> Result<()> {
    if code == MPI_SUCCESS {
        return Ok(());
    }
    let text = read_text(MPI_MAX_ERROR_STRING, |text, length| {
        // SAFETY: it can be called at any time with a code that a call has returned; the text has the required length.
        unsafe { (functions.error_string)(code, text, length) }
    });
    let text = if text.is_empty() { format!("error {code}") } else { text.trim_end().replace('\n', "; ") };
    Err(MpiError { call, text })
}
