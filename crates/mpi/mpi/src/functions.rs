//! The functions of MPI that are called, as they are found in a library.

use std::ffi::{c_char, c_int, c_void};

use mpi_abi::*;

/// Declares the table of functions, each with the name by which it is looked up. All return an error code.
macro_rules! functions {
    ($($field:ident = $name:ident($($argument:ty),* $(,)?);)*) => {
        /// Functions of a library of the standard ABI.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            /// Looks up all functions in a library.
            ///
            /// # Errors
            /// The name of one that the library lacks.
            ///
            /// # Safety
            /// The library must be one of the standard ABI, so that these names denote these functions, and must stay
            /// open.
            pub(crate) unsafe fn of(library: &libloading::Library) -> Result<Functions, &'static str> {
                Ok(Functions {
                    $(
                        // SAFETY: the caller vouches for the library, in which a function of this name has this type.
                        $field: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }
                            .map_err(|_| stringify!($name))?,
                    )*
                })
            }
        }
    };
}

functions! {
    initialized = MPI_Initialized(*mut c_int);
    init_thread = MPI_Init_thread(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    finalize = MPI_Finalize();
    abort = MPI_Abort(MPI_Comm, c_int);
    get_library_version = MPI_Get_library_version(*mut c_char, *mut c_int);
    get_processor_name = MPI_Get_processor_name(*mut c_char, *mut c_int);
    error_string = MPI_Error_string(c_int, *mut c_char, *mut c_int);
    comm_rank = MPI_Comm_rank(MPI_Comm, *mut c_int);
    comm_size = MPI_Comm_size(MPI_Comm, *mut c_int);
    comm_dup = MPI_Comm_dup(MPI_Comm, *mut MPI_Comm);
    comm_split = MPI_Comm_split(MPI_Comm, c_int, c_int, *mut MPI_Comm);
    comm_idup = MPI_Comm_idup(MPI_Comm, *mut MPI_Comm, *mut MPI_Request);
    comm_free = MPI_Comm_free(*mut MPI_Comm);
    comm_set_errhandler = MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler);
    comm_get_attr = MPI_Comm_get_attr(MPI_Comm, c_int, *mut c_void, *mut c_int);
    isend = MPI_Isend_c(*const c_void, MPI_Count, MPI_Datatype, c_int, c_int, MPI_Comm, *mut MPI_Request);
    irecv = MPI_Irecv_c(*mut c_void, MPI_Count, MPI_Datatype, c_int, c_int, MPI_Comm, *mut MPI_Request);
    ibcast = MPI_Ibcast_c(*mut c_void, MPI_Count, MPI_Datatype, c_int, MPI_Comm, *mut MPI_Request);
    test = MPI_Test(*mut MPI_Request, *mut c_int, *mut MPI_Status);
    cancel = MPI_Cancel(*mut MPI_Request);
    test_cancelled = MPI_Test_cancelled(*const MPI_Status, *mut c_int);
    get_count = MPI_Get_count_c(*const MPI_Status, MPI_Datatype, *mut MPI_Count);
}
