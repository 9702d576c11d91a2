//! MPI without MPI at build time: a library of the standard ABI is opened at run time, and called through safe
//! functions.
//!
//! ```text
//!     Library          finds `libmpi_abi.so`, opens it, and looks its functions up      [library, search]
//!     Process          MPI_Init_thread, MPI_Finalize, MPI_Abort                        [process]
//!     Communicator     MPI_Comm_dup, MPI_Comm_split, its rank and size                 [communicator]
//!     Send, Receive, Broadcast     operations under way, which own their buffers       [request]
//! ```
//!
//! This is one of the few crates where `unsafe` is allowed: the compiler cannot know the functions of a library that is
//! found at run time. A comment at each call says what makes it sound. Three rules carry most of it:
//!
//! - A library stays open for ever, since MPI may have threads and handlers of its own in it.
//! - Memory that MPI reads or writes belongs to the request that it was passed with, and is freed when the request is
//!   over. A request that is dropped earlier leaks its buffer.
//! - All calls come from the thread that began MPI, and before MPI ends: the values that represent MPI can't leave that
//!   thread, and are counted. A caller that knows that the library serves several threads may move everything that
//!   belongs to one [`Process`] to another thread.

#![allow(unsafe_code)] // see above
#![warn(clippy::undocumented_unsafe_blocks)]

mod communicator;
mod companion;
mod functions;
mod library;
mod process;
mod request;
mod search;

pub use communicator::Communicator;
pub use companion::Companion;
pub use library::{Library, OpenError};
pub use process::{Duplicate, Process};
pub use request::{ArrivedMessage, Broadcast, LentMemory, Receive, ReceiveInPlace, Send};
pub use search::{LIBRARY_VARIABLE, started_by_another, started_processes};

/// The error of a failed MPI call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {text}")]
pub struct MpiError {
    /// The name of the call.
    pub call: &'static str,
    /// The library's error text.
    pub text: String,
}

/// A result with [`MpiError`].
pub type Result<T> = std::result::Result<T, MpiError>;
