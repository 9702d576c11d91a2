//! Constants that are integers.

/// Declares constants, and a table of them by name.
macro_rules! integers {
    ($(#[$doc:meta])* $table:ident $($name:ident = $value:literal,)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            pub const $name: std::ffi::c_int = $value;
        )*

        $(#[$doc])*
        pub const $table: &[(&str, std::ffi::c_int)] = &[$((stringify!($name), $name)),*];
    };
}
pub(crate) use integers;

integers! {
    /// Wildcards of source and tag, ranks that stand for no process, and the undefined value.
    WILDCARDS
    MPI_ANY_SOURCE = -1,
    MPI_ANY_TAG = -2,
    MPI_PROC_NULL = -3,
    MPI_ROOT = -4,
    MPI_UNDEFINED = -32766,
}

integers! {
    /// How many threads may call the library, in increasing order.
    THREAD_LEVELS
    MPI_THREAD_SINGLE = 0,
    MPI_THREAD_FUNNELED = 1024,
    MPI_THREAD_SERIALIZED = 2048,
    MPI_THREAD_MULTIPLE = 4096,
}

integers! {
    /// How two communicators or groups compare.
    COMPARISONS
    MPI_IDENT = 201,
    MPI_CONGRUENT = 202,
    MPI_SIMILAR = 203,
    MPI_UNEQUAL = 204,
}

integers! {
    /// Kinds of topology that a communicator can have.
    TOPOLOGIES
    MPI_CART = 211,
    MPI_GRAPH = 212,
    MPI_DIST_GRAPH = 213,
}

integers! {
    /// The criteria of `MPI_Comm_split_type`.
    SPLIT_TYPES
    MPI_COMM_TYPE_SHARED = 221,
    MPI_COMM_TYPE_HW_UNGUIDED = 222,
    MPI_COMM_TYPE_HW_GUIDED = 223,
    MPI_COMM_TYPE_RESOURCE_GUIDED = 224,
}

integers! {
    /// How a datatype was constructed from others.
    COMBINERS
    MPI_COMBINER_NAMED = 101,
    MPI_COMBINER_DUP = 102,
    MPI_COMBINER_CONTIGUOUS = 103,
    MPI_COMBINER_VECTOR = 104,
    MPI_COMBINER_HVECTOR = 105,
    MPI_COMBINER_INDEXED = 106,
    MPI_COMBINER_HINDEXED = 107,
    MPI_COMBINER_INDEXED_BLOCK = 108,
    MPI_COMBINER_HINDEXED_BLOCK = 109,
    MPI_COMBINER_STRUCT = 110,
    MPI_COMBINER_SUBARRAY = 111,
    MPI_COMBINER_DARRAY = 112,
    MPI_COMBINER_F90_REAL = 113,
    MPI_COMBINER_F90_COMPLEX = 114,
    MPI_COMBINER_F90_INTEGER = 115,
    MPI_COMBINER_RESIZED = 116,
    MPI_COMBINER_VALUE_INDEX = 117,
}

integers! {
    /// Classes of Fortran datatypes.
    TYPE_CLASSES
    MPI_TYPECLASS_INTEGER = 192,
    MPI_TYPECLASS_REAL = 193,
    MPI_TYPECLASS_COMPLEX = 194,
}

integers! {
    /// Orders and distributions of arrays.
    ARRAYS
    MPI_ORDER_C = 12,
    MPI_ORDER_FORTRAN = 15,
    MPI_DISTRIBUTE_NONE = 16,
    MPI_DISTRIBUTE_BLOCK = 17,
    MPI_DISTRIBUTE_CYCLIC = 18,
    MPI_DISTRIBUTE_DFLT_DARG = 19,
}

integers! {
    /// File access modes and window assertions: powers of two, to be added.
    MODES
    MPI_MODE_APPEND = 1,
    MPI_MODE_CREATE = 2,
    MPI_MODE_DELETE_ON_CLOSE = 4,
    MPI_MODE_EXCL = 8,
    MPI_MODE_RDONLY = 16,
    MPI_MODE_RDWR = 32,
    MPI_MODE_SEQUENTIAL = 64,
    MPI_MODE_UNIQUE_OPEN = 128,
    MPI_MODE_WRONLY = 256,
    MPI_MODE_NOCHECK = 1024,
    MPI_MODE_NOPRECEDE = 2048,
    MPI_MODE_NOPUT = 4096,
    MPI_MODE_NOSTORE = 8192,
    MPI_MODE_NOSUCCEED = 16384,
}

integers! {
    /// The origin of a position in a file.
    SEEKS
    MPI_SEEK_CUR = 401,
    MPI_SEEK_END = 402,
    MPI_SEEK_SET = 403,
}

integers! {
    /// Locks, flavours and memory models of windows.
    WINDOWS
    MPI_LOCK_EXCLUSIVE = 301,
    MPI_LOCK_SHARED = 302,
    MPI_WIN_FLAVOR_CREATE = 311,
    MPI_WIN_FLAVOR_ALLOCATE = 312,
    MPI_WIN_FLAVOR_DYNAMIC = 313,
    MPI_WIN_FLAVOR_SHARED = 314,
    MPI_WIN_UNIFIED = 321,
    MPI_WIN_SEPARATE = 322,
}

integers! {
    /// Keys of predefined attributes of communicators and windows.
    ATTRIBUTES
    MPI_KEYVAL_INVALID = 0,
    MPI_TAG_UB = 501,
    MPI_IO = 502,
    MPI_HOST = 503,
    MPI_WTIME_IS_GLOBAL = 504,
    MPI_APPNUM = 505,
    MPI_LASTUSEDCODE = 506,
    MPI_UNIVERSE_SIZE = 507,
    MPI_WIN_BASE = 601,
    MPI_WIN_DISP_UNIT = 602,
    MPI_WIN_SIZE = 603,
    MPI_WIN_CREATE_FLAVOR = 604,
    MPI_WIN_MODEL = 605,
}

integers! {
    /// The maximum lengths of texts, including the final zero, and what a buffered send needs in addition to its data.
    /// [B]
    LENGTHS
    MPI_MAX_DATAREP_STRING = 128,
    MPI_MAX_ERROR_STRING = 512,
    MPI_MAX_INFO_KEY = 256,
    MPI_MAX_INFO_VAL = 1024,
    MPI_MAX_LIBRARY_VERSION_STRING = 8192,
    MPI_MAX_OBJECT_NAME = 128,
    MPI_MAX_PORT_NAME = 1024,
    MPI_MAX_PROCESSOR_NAME = 256,
    MPI_MAX_STRINGTAG_LEN = 1024,
    MPI_MAX_PSET_NAME_LEN = 1024,
    MPI_BSEND_OVERHEAD = 512,
}

integers! {
    /// The versions of the standard and its ABI to which these constants belong.
    VERSIONS
    MPI_VERSION = 5,
    MPI_SUBVERSION = 0,
    MPI_ABI_VERSION = 1,
    MPI_ABI_SUBVERSION = 0,
}
