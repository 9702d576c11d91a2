//! How MPI begins and ends.

use std::ffi::c_int;

use mpi_abi::{MPI_SUCCESS, MPI_THREAD_MULTIPLE};
use mpi_preload::{Address, function};

use crate::session::{Prepared, Session};
use crate::{communicators, functions};

function! {
    small MPI_Init(count: Address, arguments: Address) next => {
        match Prepared::new() {
            // SAFETY: with the arguments that the program has given.
            None => unsafe { next(count, arguments) },
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
            // SAFETY: with the arguments that the program has given.
            None => unsafe { next(count, arguments, required, provided) },
            // SAFETY: as above.
            Some(prepared) => unsafe { begin(prepared, count, arguments, provided.cast()) },
        }
    }
}

/// Begins MPI, for several threads if the library can: what is only begun goes on in a thread of its own.
///
/// # Safety
/// As `MPI_Init_thread`.
unsafe fn begin(prepared: Prepared, count: Address, arguments: Address, provided: *mut c_int) -> c_int {
    // SAFETY: as the caller says.
    let code = unsafe { functions::init_thread(count.cast(), arguments.cast(), MPI_THREAD_MULTIPLE, provided) };
    if code == MPI_SUCCESS {
        // SAFETY: the library has written it there.
        prepared.begin(unsafe { provided.read() });
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
