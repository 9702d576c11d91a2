//! Calls that no replay can follow: a trace with one names it, and is refused.

use std::ffi::{c_int, c_void};

use trace_format::Call;

use crate::wrapped::{EntryTime, note};
use mpi_preload::Function;

/// Functions with at most as many arguments as are passed in registers or in words on the stack, all treated alike:
/// their meaning does not matter here.
macro_rules! unsupported {
    ($($name:ident)+) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            ///
            /// # Safety
            /// As required by the MPI standard.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub unsafe extern "C" fn $name(
                a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word, i: Word, j: Word, k: Word, l: Word,
            ) -> c_int {
                static NEXT: Function = Function::named(
                    // SAFETY: its only zero is at its end.
                    unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(concat!("P", stringify!($name), "\0").as_bytes()) }
                );
                // SAFETY: integers and pointers are passed as words on all systems of 64 bits that run Linux; a
                // function that has fewer arguments does not look at the others.
                let next: Any = unsafe { std::mem::transmute(NEXT.address()) };
                let entered = EntryTime::now();
                // SAFETY: these are the program's arguments.
                let error = unsafe { next(a, b, c, d, e, f, g, h, i, j, k, l) };
                note(entered, error, |recorder| recorder.write(&Call::Unsupported(stringify!($name).into())))
            }
        )+
    };
}

/// An argument of any kind.
type Word = *mut c_void;
type Any = unsafe extern "C" fn(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word) -> c_int;

// One-sided communication: what it waits for is not a call of any process.
unsupported! {
    MPI_Win_create MPI_Win_create_c MPI_Win_allocate MPI_Win_allocate_c MPI_Win_allocate_shared MPI_Win_allocate_shared_c
    MPI_Win_create_dynamic
}

// Processes started later, and intercommunicators.
unsupported! {
    MPI_Comm_spawn MPI_Comm_spawn_multiple MPI_Comm_accept MPI_Comm_connect MPI_Comm_join
    MPI_Intercomm_create MPI_Intercomm_create_from_groups MPI_Intercomm_merge
}

// Partitioned messages, and requests that stand for two messages.
unsupported! {
    MPI_Psend_init MPI_Precv_init MPI_Isendrecv MPI_Isendrecv_c MPI_Isendrecv_replace MPI_Isendrecv_replace_c
}

// Neighbourhood collectives.
unsupported! {
    MPI_Neighbor_allgather MPI_Neighbor_allgather_c MPI_Neighbor_allgatherv MPI_Neighbor_allgatherv_c MPI_Neighbor_alltoall
    MPI_Neighbor_alltoall_c MPI_Neighbor_alltoallv MPI_Neighbor_alltoallv_c MPI_Neighbor_alltoallw MPI_Neighbor_alltoallw_c
    MPI_Ineighbor_allgather MPI_Ineighbor_allgather_c MPI_Ineighbor_allgatherv MPI_Ineighbor_allgatherv_c MPI_Ineighbor_alltoall
    MPI_Ineighbor_alltoall_c MPI_Ineighbor_alltoallv MPI_Ineighbor_alltoallv_c MPI_Ineighbor_alltoallw MPI_Ineighbor_alltoallw_c
}

// Collectives with a datatype for each rank, and persistent collectives.
unsupported! {
    MPI_Alltoallw MPI_Alltoallw_c MPI_Ialltoallw MPI_Ialltoallw_c MPI_Barrier_init MPI_Bcast_init MPI_Bcast_init_c MPI_Reduce_init
    MPI_Reduce_init_c MPI_Allreduce_init MPI_Allreduce_init_c MPI_Gather_init MPI_Gather_init_c MPI_Scatter_init MPI_Scatter_init_c
    MPI_Allgather_init MPI_Allgather_init_c MPI_Alltoall_init MPI_Alltoall_init_c MPI_Scan_init MPI_Scan_init_c MPI_Exscan_init
    MPI_Exscan_init_c
}
