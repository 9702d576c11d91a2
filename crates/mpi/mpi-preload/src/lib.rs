//! The common part of libraries that are preloaded into MPI processes and replace some of the MPI functions.
//!
//! Such a library defines MPI functions with [`function!`]. Each can call the same function of the MPI library under
//! its name in the profiling interface, `PMPI_...`, which [`Function`] finds.
//!
//! `unsafe` is unavoidable here: functions called by C, with pointers whose meaning only the MPI standard defines.

mod library;
mod references;
mod wrapped;

pub use library::{Function, path_of_library, version_of_library};
pub use references::refers_to_any;
pub use wrapped::Count;

use std::ffi::c_void;

/// A handle, as it is passed to a function. If handles are 32-bit integers, the upper half is undefined.
pub type Handle = usize;
/// The address of data, handles, statuses or numbers that the library reads or writes.
pub type Address = *mut c_void;
