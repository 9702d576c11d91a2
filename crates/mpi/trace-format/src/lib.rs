//! The recorded calls of an MPI process, and their encoding.
//!
//! A trace is a folder with a file for each rank, [`file_name`]. A file is a [`Header`] followed by [`Call`]s, each
//! with the time that the process computed before it. The recorder ([`encode`]) and the readers ([`Calls`]) share this
//! crate, which knows nothing else.
//!
//! Numbers are written in as few bytes as they need, seven bits in each, lowest first (LEB128); lists as runs of equal
//! numbers. A call with its time takes about ten bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `maqtrace` |
//! | 1 | the version of the format, 1 |
//! | 1 | the clock: 0 for elapsed time, 1 for processor time |
//! | numbers | the rank; the number of ranks |
//! | 1, number, numbers | a call: what it is, the time computed before it in nanoseconds, its fields in the order of [`Call`] |
//! | ... | the last is [`Call::Finalize`]; a zero in its place means that the process did not get that far |

mod call;
mod decode;
mod encode;

pub use call::{Call, Collective, CollectiveKind, Message, Transfer};
pub use decode::{Calls, Damage};
pub use encode::{Sink, encode, encode_header};

/// The beginning of a file.
pub const MAGIC: [u8; 8] = *b"maqtrace";
/// The version of the format.
pub const VERSION: u8 = 1;
/// The communicator of all ranks.
pub const WORLD: u32 = 0;
/// The communicator of the rank alone.
pub const ITSELF: u32 = 1;

/// The environment variable with the folder to which processes write.
pub const FOLDER_VARIABLE: &str = "MAQUETTE_TRACE_DIR";
/// The environment variable with the clock that they read: `monotonic` or `cpu`.
pub const CLOCK_VARIABLE: &str = "MAQUETTE_TRACE_CLOCK";
/// The file in that folder that says why they can't be traced: two lines, with what the program runs with, and what
/// helps.
pub const NOT_TRACED: &str = "not-traced";

/// The name of the file of a rank.
pub fn file_name(rank: u32) -> String {
    format!("rank-{rank}.trace")
}

/// The rank whose file has this name, if one has.
pub fn rank_of(name: &str) -> Option<u32> {
    let rank = name.strip_prefix("rank-")?.strip_suffix(".trace")?.parse().ok()?;
    (file_name(rank) == name).then_some(rank)
}

/// The header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The rank in `MPI_COMM_WORLD` whose calls they are.
    pub rank: u32,
    /// How many ranks there are.
    pub size: u32,
    /// The meaning of the times between calls.
    pub clock: Clock,
}

/// The meaning of the times between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Elapsed time.
    Monotonic,
    /// Time for which the thread had a processor.
    Processor,
}
