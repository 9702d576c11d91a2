//! Further functions of the library, besides those of the `mpi` crate, under their names in the profiling interface.

use std::ffi::{CStr, c_char, c_int, c_void};

use mpi_abi::*;
use mpi_preload::Function;

/// Declares functions of the profiling interface, which are looked up when first called.
macro_rules! functions {
    ($($name:ident = $symbol:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        $(
            #[doc = concat!("`", stringify!($symbol), "`")]
            ///
            /// # Safety
            /// As required by the MPI standard.
            pub(crate) unsafe fn $name($($argument: $type),*) -> c_int {
                // SAFETY: in a library of the standard ABI, which the session has made sure of, the function has this
                // type.
                let function: unsafe extern "C" fn($($type),*) -> c_int = unsafe {
                    std::mem::transmute($name::FUNCTION.address())
                };
                // SAFETY: guaranteed by the caller.
                unsafe { function($($argument),*) }
            }

            mod $name {
                pub(super) static FUNCTION: super::Function = super::Function::named(super::named(concat!(stringify!($symbol), "\0")));
            }
        )*

        /// The name of a function that the library lacks, if any.
        pub(crate) fn missing() -> Option<&'static str> {
            [$((stringify!($symbol), &$name::FUNCTION)),*].into_iter().find(|(_, it)| !it.exists()).map(|(name, _)| name)
        }
    };
}

const fn named(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

/// Fills the status of a generalized request.
pub(crate) type Query = unsafe extern "C" fn(*mut c_void, *mut MPI_Status) -> c_int;
/// Frees the state of a generalized request.
pub(crate) type Free = unsafe extern "C" fn(*mut c_void) -> c_int;
/// Called when a generalized request is cancelled.
pub(crate) type Cancel = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

functions! {
    init_thread = PMPI_Init_thread(arguments: *mut c_int, values: *mut *mut *mut c_char, required: c_int, provided: *mut c_int);
    comm_rank = PMPI_Comm_rank(communicator: MPI_Comm, rank: *mut c_int);
    comm_size = PMPI_Comm_size(communicator: MPI_Comm, size: *mut c_int);
    comm_test_inter = PMPI_Comm_test_inter(communicator: MPI_Comm, flag: *mut c_int);
    comm_get_parent = PMPI_Comm_get_parent(parent: *mut MPI_Comm);
    comm_split_type = PMPI_Comm_split_type(
        communicator: MPI_Comm, kind: c_int, key: c_int, info: MPI_Info, new: *mut MPI_Comm,
    );
    comm_free = PMPI_Comm_free(communicator: *mut MPI_Comm);
    comm_call_errhandler = PMPI_Comm_call_errhandler(communicator: MPI_Comm, code: c_int);
    barrier = PMPI_Barrier(communicator: MPI_Comm);
    bcast = PMPI_Bcast(data: *mut c_void, count: c_int, datatype: MPI_Datatype, root: c_int, communicator: MPI_Comm);
    abort = PMPI_Abort(communicator: MPI_Comm, status: c_int);
    allreduce = PMPI_Allreduce(
        sent: *const c_void, received: *mut c_void, count: c_int, datatype: MPI_Datatype, operator: MPI_Op, communicator: MPI_Comm,
    );
    reduce = PMPI_Reduce(
        sent: *const c_void, received: *mut c_void, count: c_int, datatype: MPI_Datatype, operator: MPI_Op, root: c_int,
        communicator: MPI_Comm,
    );
    reduce_local = PMPI_Reduce_local_c(
        other: *const c_void, into: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, operator: MPI_Op,
    );
    op_commutative = PMPI_Op_commutative(operator: MPI_Op, flag: *mut c_int);
    type_size = PMPI_Type_size_c(datatype: MPI_Datatype, size: *mut MPI_Count);
    type_get_extent = PMPI_Type_get_extent_c(datatype: MPI_Datatype, lower: *mut MPI_Count, extent: *mut MPI_Count);
    type_dup = PMPI_Type_dup(datatype: MPI_Datatype, new: *mut MPI_Datatype);
    type_free = PMPI_Type_free(datatype: *mut MPI_Datatype);
    pack_size = PMPI_Pack_size_c(count: MPI_Count, datatype: MPI_Datatype, communicator: MPI_Comm, size: *mut MPI_Count);
    pack = PMPI_Pack_c(
        data: *const c_void, count: MPI_Count, datatype: MPI_Datatype, packed: *mut c_void, size: MPI_Count, place: *mut MPI_Count,
        communicator: MPI_Comm,
    );
    unpack = PMPI_Unpack_c(
        packed: *const c_void, size: MPI_Count, place: *mut MPI_Count, data: *mut c_void, count: MPI_Count, datatype: MPI_Datatype,
        communicator: MPI_Comm,
    );
    grequest_start = PMPI_Grequest_start(query: Query, free: Free, cancel: Cancel, state: *mut c_void, request: *mut MPI_Request);
    grequest_complete = PMPI_Grequest_complete(request: MPI_Request);
    status_set_elements = PMPI_Status_set_elements_c(status: *mut MPI_Status, datatype: MPI_Datatype, count: MPI_Count);
    status_set_cancelled = PMPI_Status_set_cancelled(status: *mut MPI_Status, flag: c_int);
}
