//! What is known of a message that was received.

use std::ffi::c_int;

/// Who sent a message, with which tag, and how receiving it went. How long it is stands in what is the library's own, which
/// `MPI_Get_count` reads.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MPI_Status {
    /// The rank of its sender.
    pub MPI_SOURCE: c_int,
    /// Its tag.
    pub MPI_TAG: c_int,
    /// The error of this request, where a call completes several.
    pub MPI_ERROR: c_int,
    /// What the library keeps here for itself.
    pub MPI_internal: [c_int; 5],
}

// Eight integers of 32 bits, as of Fortran, so that one can be read as the other.
const _: () = assert!(size_of::<MPI_Status>() == 32);
