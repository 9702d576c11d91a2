//! The status of a received message.

use std::ffi::c_int;

/// The source and tag of a message, and the error of receiving it. Its length is in the library's own part, which
/// `MPI_Get_count` reads.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MPI_Status {
    /// The rank of the sender.
    pub MPI_SOURCE: c_int,
    /// Its tag.
    pub MPI_TAG: c_int,
    /// The error of this request, if a call completes several.
    pub MPI_ERROR: c_int,
    /// The library's own part.
    pub MPI_internal: [c_int; 5],
}

// Eight integers of 32 bits, as in Fortran, so that one can be read as the other.
const _: () = assert!(size_of::<MPI_Status>() == 32);
