//! Opaque handles, which have the size of a pointer, and those that exist before any object is created.
//!
//! A handle below 4096 is predefined, and is the same in every library; only its own library knows the meaning of any
//! other.

/// Declares a type of handle and its predefined ones.
macro_rules! handle {
    ($(#[$doc:meta])* $handle:ident { $($name:ident = $value:literal,)* }) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $handle(pub usize);

        impl $handle {
            /// Whether every library has this handle.
            pub fn is_predefined(self) -> bool {
                self.0 < FIRST_OF_THE_LIBRARY
            }

            /// The predefined handles of this type, by name.
            pub const PREDEFINED: &'static [(&'static str, $handle)] = &[$((stringify!($name), $handle($value))),*];
        }

        $(
            #[doc = concat!("`", stringify!($name), "`")]
            pub const $name: $handle = $handle($value);
        )*
    };
}

/// The zero page: no library has objects of its own there.
const FIRST_OF_THE_LIBRARY: usize = 0x1000;

handle! {
    /// An operation of a reduction.
    MPI_Op {
        MPI_OP_NULL = 0x20,
        MPI_SUM = 0x21,
        MPI_MIN = 0x22,
        MPI_MAX = 0x23,
        MPI_PROD = 0x24,
        MPI_BAND = 0x28,
        MPI_BOR = 0x29,
        MPI_BXOR = 0x2a,
        MPI_LAND = 0x30,
        MPI_LOR = 0x31,
        MPI_LXOR = 0x32,
        MPI_MINLOC = 0x38,
        MPI_MAXLOC = 0x39,
        MPI_REPLACE = 0x3c,
        MPI_NO_OP = 0x3d,
    }
}

handle! {
    /// A communicator.
    MPI_Comm {
        MPI_COMM_NULL = 0x100,
        MPI_COMM_WORLD = 0x101,
        MPI_COMM_SELF = 0x102,
    }
}

handle! {
    /// A group of processes.
    MPI_Group {
        MPI_GROUP_NULL = 0x108,
        MPI_GROUP_EMPTY = 0x109,
    }
}

handle! {
    /// A window of memory that other processes access.
    MPI_Win {
        MPI_WIN_NULL = 0x110,
    }
}

handle! {
    /// An open file.
    MPI_File {
        MPI_FILE_NULL = 0x118,
    }
}

handle! {
    /// A session.
    MPI_Session {
        MPI_SESSION_NULL = 0x120,
    }
}

handle! {
    /// A message that a matched probe has taken out of the queue.
    MPI_Message {
        MPI_MESSAGE_NULL = 0x128,
        MPI_MESSAGE_NO_PROC = 0x129,
    }
}

handle! {
    /// A list of hints.
    MPI_Info {
        MPI_INFO_NULL = 0x130,
        MPI_INFO_ENV = 0x131,
    }
}

handle! {
    /// The action of a library when a call fails.
    MPI_Errhandler {
        MPI_ERRHANDLER_NULL = 0x140,
        MPI_ERRORS_ARE_FATAL = 0x141,
        MPI_ERRORS_ABORT = 0x142,
        MPI_ERRORS_RETURN = 0x143,
    }
}

handle! {
    /// An operation in progress.
    MPI_Request {
        MPI_REQUEST_NULL = 0x180,
    }
}
