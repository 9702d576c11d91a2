//! What libraries have in common that are preloaded into MPI processes and take the place of some of its functions.
//!
//! Such a library defines functions of MPI, by [`function!`]. Each can call the same function of the MPI library by the
//! name that it has in the profiling interface, `PMPI_...`, which [`Function`] finds.
//!
//! `unsafe` is what this is made of: functions that C calls, with pointers whose meaning only the MPI standard says.

mod library;
mod wrapped;

pub use library::{Function, path_of_library, version_of_library};
pub use wrapped::Count;

use std::ffi::c_void;

/// A handle, as it is passed to a function. Where handles are integers of 32 bits, the upper half is anything.
pub type Handle = usize;
/// Of data, handles, statuses or numbers that the library reads or writes.
pub type Address = *mut c_void;
