//! How ranks wait, which depends on whether each has a processor for itself.

use std::ffi::c_int;

use mpi_abi::*;
use real_worlds::Waiting;

use crate::functions;

/// The size of a set of processors. [B]
const SET: usize = size_of::<libc::cpu_set_t>();

/// How a rank waits on this computer, whose ranks call this together: there may be more of them than processors
/// available to them.
pub(crate) fn waiting() -> Waiting {
    let mut beside = MPI_COMM_NULL;
    // SAFETY: MPI has begun, and all ranks call this together.
    let code =
        unsafe { functions::comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &raw mut beside) };
    if code != MPI_SUCCESS {
        return Waiting::Sleeping;
    }
    let (own, mut all, mut ranks) = (allowed(), [0_u8; SET], 0);
    // SAFETY: the communicator was just made, and both sets have this many bytes.
    unsafe {
        functions::comm_size(beside, &raw mut ranks);
        functions::allreduce(own.as_ptr().cast(), all.as_mut_ptr().cast(), SET as c_int, MPI_BYTE, MPI_BOR, beside);
        functions::comm_free(&raw mut beside);
    }
    let processors: u32 = all.iter().map(|byte| byte.count_ones()).sum();
    if u32::try_from(ranks).is_ok_and(|ranks| ranks <= processors) { Waiting::Busy } else { Waiting::Sleeping }
}

/// The processors that this process may run on.
fn allowed() -> [u8; SET] {
    let mut set = [0_u8; SET];
    // SAFETY: there is room for a set; 0 means this process.
    unsafe { libc::sched_getaffinity(0, SET, set.as_mut_ptr().cast()) };
    set
}
