//! Addresses with a special meaning.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null_mut, without_provenance_mut};

use crate::MPI_Status;

/// The base of absolute addresses.
pub const MPI_BOTTOM: *mut c_void = null_mut();
/// In place of a buffer of a collective: data are sent from the receive buffer, or received in the send buffer.
pub const MPI_IN_PLACE: *mut c_void = without_provenance_mut(1);
/// In place of a buffer for buffered sends: the library is to provide one.
pub const MPI_BUFFER_AUTOMATIC: *mut c_void = without_provenance_mut(2);
/// No arguments for a program.
pub const MPI_ARGV_NULL: *mut *mut c_char = null_mut();
/// No arguments for any program.
pub const MPI_ARGVS_NULL: *mut *mut *mut c_char = null_mut();
/// Error codes are not wanted.
pub const MPI_ERRCODES_IGNORE: *mut c_int = null_mut();
/// A status is not wanted.
pub const MPI_STATUS_IGNORE: *mut MPI_Status = null_mut();
/// Statuses are not wanted.
pub const MPI_STATUSES_IGNORE: *mut MPI_Status = null_mut();
/// A graph whose edges all have the same weight.
pub const MPI_UNWEIGHTED: *mut c_int = without_provenance_mut(10);
/// The weights of no edges.
pub const MPI_WEIGHTS_EMPTY: *mut c_int = without_provenance_mut(11);
