//! How MPI begins and ends.

use std::ffi::c_int;

use mpi_abi::{MPI_SUCCESS, MPI_THREAD_MULTIPLE, MPI_THREAD_SINGLE};
use mpi_preload::{Address, function};

use crate::session::{Prepared, Session};
use crate::{communicators, functions};

function! {
    small MPI_Init(count: Address, arguments: Address) next => {
        match Prepared::new() {
            // SAFETY: these are the program's arguments.
            None => unsafe { next(count, arguments) },
            Some(prepared) if !prepared.needs_threads() => {
                // SAFETY: as above.
                let code = unsafe { next(count, arguments) };
                begun(prepared, code, MPI_THREAD_SINGLE)
            }
            Some(prepared) => {
                let mut provided = 0;
                // SAFETY: as above, and with a place for an integer.
                unsafe { begin(prepared, count, arguments, &raw mut provided) }
            }
        }
    }
}

function! {
    small MPI_Init_thread(count: Address, arguments: Address, required: Int, provided: Address) next => {
        match Prepared::new() {
            // SAFETY: these are the program's arguments.
            None => unsafe { next(count, arguments, required, provided) },
            Some(prepared) if !prepared.needs_threads() => {
                // SAFETY: as above.
                let code = unsafe { next(count, arguments, required, provided) };
                begun(prepared, code, MPI_THREAD_SINGLE)
            }
            // SAFETY: as above.
            Some(prepared) => unsafe { begin(prepared, count, arguments, provided.cast()) },
        }
    }
}

/// Initializes MPI, for several threads if the library supports that: nonblocking collectives are done by threads of
/// their own.
///
/// # Safety
/// As for `MPI_Init_thread`.
unsafe fn begin(prepared: Prepared, count: Address, arguments: Address, provided: *mut c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    let code = unsafe { functions::init_thread(count.cast(), arguments.cast(), MPI_THREAD_MULTIPLE, provided) };
    // SAFETY: the library has written it there, if it has succeeded.
    let provided = if code == MPI_SUCCESS { unsafe { provided.read() } } else { MPI_THREAD_SINGLE };
    begun(prepared, code, provided)
}

/// Begins the session if MPI has begun, for so many threads; returns the code with which it has.
fn begun(prepared: Prepared, code: c_int, provided: c_int) -> c_int {
    if code == MPI_SUCCESS {
        prepared.begin(provided);
    }
    code
}

function! {
    small MPI_Finalize() next => {
        if let Some(session) = Session::current() {
            communicators::end_all();
            session.report();
        }
        // SAFETY: it has no arguments.
        unsafe { next() }
    }
}
