//! What an MPI process has called, and how that is written down.
//!
//! A trace is a folder with a file for each rank, [`file_name`]. A file is a [`Header`] and then [`Call`]s, each with the time that the
//! process computed before it. Whoever records them ([`encode`]) and whoever reads them ([`Calls`]) share this crate, which knows nothing else.
//!
//! Numbers are written in as few bytes as they need, seven bits in each, the lowest first (LEB128); lists as runs of equal numbers. A call
//! with its time takes about ten bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `maqtrace` |
//! | 1 | the version of the format, 1 |
//! | 1 | the clock: 0 for time that passed, 1 for time of the processor |
//! | numbers | the rank; how many there are |
//! | 1, number, numbers | a call: what it is, the time computed before it in nanoseconds, its fields in the order of [`Call`] |
//! | ... | the last is [`Call::Finalize`]; a zero in its place says that the process did not come so far |

mod call;
mod decode;
mod encode;

pub use call::{Call, Collective, CollectiveKind, Message, Transfer};
pub use decode::{Calls, Damage};
pub use encode::{Sink, encode, encode_header};

/// What a file begins with.
pub const MAGIC: [u8; 8] = *b"maqtrace";
/// The version of the format.
pub const VERSION: u8 = 1;
/// The communicator of all ranks.
pub const WORLD: u32 = 0;
/// The communicator of the rank alone.
pub const ITSELF: u32 = 1;

/// The variable of the environment that tells processes into which folder they are to write.
pub const FOLDER_VARIABLE: &str = "MAQUETTE_TRACE_DIR";
/// The variable that tells them which clock to read: `monotonic` or `cpu`.
pub const CLOCK_VARIABLE: &str = "MAQUETTE_TRACE_CLOCK";
/// The file in that folder that says with which library they run, if that is none that they can be traced with.
pub const NOT_TRACED: &str = "not-traced";

/// The name of the file of a rank.
pub fn file_name(rank: u32) -> String {
    format!("rank-{rank}.trace")
}

/// What a file says before its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whose calls they are: its rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// How many ranks there are.
    pub size: u32,
    /// What the times between calls are.
    pub clock: Clock,
}

/// What the times between calls are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Time that passed.
    Monotonic,
    /// Time that the thread had a processor.
    Processor,
}
