//! MPI without MPI at build time: a library of the standard ABI is opened when a program runs, and called by safe functions.
//!
//! ```text
//!     Library          finds `libmpi_abi.so`, opens it, and looks its functions up      [library, search]
//!     Process          MPI_Init_thread, MPI_Finalize, MPI_Abort                        [process]
//!     Communicator     MPI_Comm_dup, MPI_Comm_split, its rank and size                 [communicator]
//!     Send, Receive, Broadcast     operations under way, which own their buffers       [request]
//! ```
//!
//! This is one of the few crates where `unsafe` is allowed: the functions of a library that is found at run time cannot be known to the
//! compiler. What makes each call sound stands beside it. Three rules carry most of it:
//!
//! - A library stays open for ever, since MPI may have threads and handlers of its own in it.
//! - Whatever MPI reads or writes belongs to the request that it was given with, and is freed when that is over. A request that is
//!   dropped before leaves its buffer where it is.
//! - All calls come from the thread that began MPI, and before it ends: what stands for it can't leave that thread, and is counted. Who knows that
//!   the library serves several threads may give all that belongs to one [`Process`] to another.

#![allow(unsafe_code)] // see above
#![warn(clippy::undocumented_unsafe_blocks)]

mod communicator;
mod functions;
mod library;
mod process;
mod request;
mod search;

pub use communicator::Communicator;
pub use library::{Library, OpenError};
pub use process::{Duplicate, Process};
pub use request::{Arrived, Broadcast, Place, Receive, ReceiveInPlace, Send};
pub use search::{LIBRARY_VARIABLE, started_processes};

/// What a call of MPI says when it fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {text}")]
pub struct MpiError {
    /// Which call.
    pub call: &'static str,
    /// The library's words.
    pub text: String,
}

/// A result with [`MpiError`].
pub type Result<T> = std::result::Result<T, MpiError>;
