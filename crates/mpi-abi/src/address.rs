//! Addresses that stand for something else than memory.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null_mut, without_provenance_mut};

use crate::MPI_Status;

/// Where addresses count from that are absolute.
pub const MPI_BOTTOM: *mut c_void = null_mut();
/// In place of a buffer of a collective: what is sent lies where it is to be received, or the other way about.
pub const MPI_IN_PLACE: *mut c_void = without_provenance_mut(1);
/// In place of a buffer for buffered sends: the library is to find one.
pub const MPI_BUFFER_AUTOMATIC: *mut c_void = without_provenance_mut(2);
/// No arguments of a program.
pub const MPI_ARGV_NULL: *mut *mut c_char = null_mut();
/// No arguments of any program.
pub const MPI_ARGVS_NULL: *mut *mut *mut c_char = null_mut();
/// Error codes that nobody wants.
pub const MPI_ERRCODES_IGNORE: *mut c_int = null_mut();
/// A status that nobody wants.
pub const MPI_STATUS_IGNORE: *mut MPI_Status = null_mut();
/// Statuses that nobody wants.
pub const MPI_STATUSES_IGNORE: *mut MPI_Status = null_mut();
/// A graph whose edges all weigh the same.
pub const MPI_UNWEIGHTED: *mut c_int = without_provenance_mut(10);
/// The weights of no edges.
pub const MPI_WEIGHTS_EMPTY: *mut c_int = without_provenance_mut(11);
