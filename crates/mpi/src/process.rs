//! This process, as one of those of MPI.

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::rc::Rc;

use mpi_abi::*;

use crate::functions::Functions;
use crate::library::text_of;
use crate::request::Request;
use crate::{Communicator, Library, MpiError, Result};

/// That MPI has begun and not ended: whatever calls it has one, and there is no end before the last is gone. It can't leave the thread on which
/// MPI began.
#[derive(Clone, Debug)]
pub(crate) struct Begun(Rc<()>);

/// A process in which MPI has begun.
#[derive(Debug)]
pub struct Process {
    library: Library,
    /// Whether MPI was begun here, and not by another part of the program.
    begun_here: bool,
    begun: Begun,
}

impl Process {
    /// Begins MPI, unless it has begun; errors are values from now on.
    ///
    /// # Errors
    /// What the library says. Some libraries end the process themselves where nobody can start MPI.
    pub fn begin(library: Library) -> Result<Process> {
        let functions = library.functions;
        let (mut has_begun, mut provided) = (0, 0);
        // SAFETY: it can be called at any time, and writes an integer.
        check(functions, "MPI_Initialized", unsafe { (functions.initialized)(&raw mut has_begun) })?;
        if has_begun == 0 {
            // SAFETY: MPI has not begun; that there are no arguments is allowed.
            let code =
                unsafe { (functions.init_thread)(null_mut(), null_mut(), MPI_THREAD_FUNNELED, &raw mut provided) };
            check(functions, "MPI_Init_thread", code)?;
        }
        for communicator in [MPI_COMM_WORLD, MPI_COMM_SELF] {
            // SAFETY: MPI has begun, and both handles are predefined.
            let code = unsafe { (functions.comm_set_errhandler)(communicator, MPI_ERRORS_RETURN) };
            check(functions, "MPI_Comm_set_errhandler", code)?;
        }
        Ok(Process { library, begun_here: has_begun == 0, begun: Begun(Rc::new(())) })
    }

    /// A process in which somebody else has begun MPI: what becomes of errors on its communicators is as they have said.
    ///
    /// # Errors
    /// What the library says; that MPI has not begun.
    pub fn of_program(library: Library) -> Result<Process> {
        let mut has_begun = 0;
        // SAFETY: it can be called at any time, and writes an integer.
        let code = unsafe { (library.functions.initialized)(&raw mut has_begun) };
        check(library.functions, "MPI_Initialized", code)?;
        if has_begun == 0 {
            return Err(MpiError { call: "MPI_Initialized", text: "MPI has not begun".to_owned() });
        }
        Ok(Process { library, begun_here: false, begun: Begun(Rc::new(())) })
    }

    /// A communicator of the same processes as `communicator`, whose messages are apart and whose errors are values; all of them call this
    /// together.
    ///
    /// # Errors
    /// What the library says.
    ///
    /// # Safety
    /// The handle must be of a communicator of this library.
    pub unsafe fn duplicate_of(&self, communicator: MPI_Comm) -> Result<Communicator> {
        let (functions, mut other) = (self.library.functions, MPI_COMM_NULL);
        // SAFETY: the caller vouches for the handle, and the call writes another.
        check(functions, "MPI_Comm_dup", unsafe { (functions.comm_dup)(communicator, &raw mut other) })?;
        self.apart(other)
    }

    /// Begins to make one as [`Process::duplicate_of`] does: all processes of the communicator call this, in their order of collectives, and
    /// wait for nobody.
    ///
    /// # Errors
    /// What the library says.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn begin_duplicate_of(&self, communicator: MPI_Comm) -> Result<Duplicate> {
        let functions = self.library.functions;
        // Its address must stay, since MPI writes there later.
        let mut other = ManuallyDrop::new(Box::new(MPI_COMM_NULL));
        let mut request = MPI_REQUEST_NULL;
        // SAFETY: the caller vouches for the handle, and the place for the other is there until the request is over.
        let code = unsafe { (functions.comm_idup)(communicator, &raw mut **other, &raw mut request) };
        check(functions, "MPI_Comm_idup", code)?;
        Ok(Duplicate { request: Request::new(functions, request, self.begun.clone()), other })
    }

    /// A communicator that was made here, from which errors come as values.
    fn apart(&self, handle: MPI_Comm) -> Result<Communicator> {
        let functions = self.library.functions;
        // SAFETY: both handles are valid.
        let code = unsafe { (functions.comm_set_errhandler)(handle, MPI_ERRORS_RETURN) };
        check(functions, "MPI_Comm_set_errhandler", code)?;
        Communicator::new(functions, handle, self.begun.clone())
    }

    /// Its library.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// All processes, `MPI_COMM_WORLD`.
    ///
    /// # Errors
    /// What the library says.
    pub fn world(&self) -> Result<Communicator> {
        Communicator::new(self.library.functions, MPI_COMM_WORLD, self.begun.clone())
    }

    /// The name of the computer that it runs on.
    pub fn processor_name(&self) -> String {
        text_of(MPI_MAX_PROCESSOR_NAME, |text, length| {
            // SAFETY: MPI has begun; the text has the length that the standard asks for.
            unsafe { (self.library.functions.get_processor_name)(text, length) }
        })
    }

    /// Ends MPI, together with all other processes, if it was begun here. Nothing may be under way any more.
    ///
    /// # Errors
    /// That a communicator or a request is still there; what the library says.
    pub fn finalize(self) -> Result<()> {
        if Rc::strong_count(&self.begun.0) > 1 {
            return Err(MpiError {
                call: "MPI_Finalize",
                text: "a communicator, or a request, is still there".to_owned(),
            });
        }
        if !self.begun_here {
            return Ok(());
        }
        let functions = self.library.functions;
        // SAFETY: MPI has begun here, this consumes the only value that can end it, and nothing is left that could call it.
        check(functions, "MPI_Finalize", unsafe { (functions.finalize)() })
    }

    /// Ends all processes of MPI with that exit status, as far as the library can, and this one in any case.
    pub fn abort(&self, status: c_int) -> ! {
        // SAFETY: MPI has begun, and the handle is predefined.
        let _ = unsafe { (self.library.functions.abort)(MPI_COMM_WORLD, status) };
        std::process::exit(status)
    }
}

/// A communicator that is being made.
#[derive(Debug)]
pub struct Duplicate {
    request: Request,
    other: ManuallyDrop<Box<MPI_Comm>>,
}

impl Duplicate {
    /// The communicator, once it is there. It is not to be asked again.
    ///
    /// # Errors
    /// What the library says.
    pub fn test(&mut self, process: &Process) -> Result<Option<Communicator>> {
        if self.request.test()?.is_none() {
            return Ok(None);
        }
        // SAFETY: the request is over, so that MPI writes there no more; it is not asked again.
        let other = unsafe { ManuallyDrop::take(&mut self.other) };
        process.apart(*other).map(Some)
    }
}

/// An error value of a code that a call has returned.
pub(crate) fn check(functions: &Functions, call: &'static str, code: c_int) -> Result<()> {
    if code == MPI_SUCCESS {
        return Ok(());
    }
    let text = text_of(MPI_MAX_ERROR_STRING, |text, length| {
        // SAFETY: it can be called at any time with a code that a call has returned; the text has the length that is asked for.
        unsafe { (functions.error_string)(code, text, length) }
    });
    let text = if text.is_empty() { format!("error {code}") } else { text.trim_end().replace('\n', "; ") };
    Err(MpiError { call, text })
}
