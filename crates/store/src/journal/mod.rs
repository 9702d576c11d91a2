//! How a member keeps its data on disk: every change is written to a log before anyone is told of it.
//!
//! ```text
//!   turn of the loop     bucket, member ──entries──> batch ──frame──> log.2    then replies and messages leave
//!   start                snapshot.1, log.1, log.2 ──frames──> entries ──> member, as it was
//!   meanwhile            snapshot.1, log.1 ──> a second member ──> snapshot.2; then older files are removed
//! ```
//!
//! | what | is kept as | brought back by |
//! |---|---|---|
//! | records | their changes | making them again |
//! | large values of requests | their parts, and the key under which they are stored | putting them together |
//! | splits and merges | the messages that servers take, and what they begin | taking and beginning them again |
//! | requests that change something | their outcomes, so that none is executed twice | remembering them |
//! | which member is where | its value | setting it |
//! | messages to other members | nothing: they follow from the above | keeping them until the other acknowledges them |
//!
//! A batch is kept as a whole or not at all. Only `disk`, `background`, `files` and `directory` work with files, and
//! nothing reads the clock.

mod background;
mod batch;
pub mod directory;
pub mod disk;
mod entry;
mod files;
pub mod frame;
mod replay;
mod snapshot;
mod start;

pub use batch::{Batch, Journal, JournalWriter, Ready};
pub(crate) use entry::as_bytes;
pub use entry::{Effect, JournalEntry, Run};
pub use replay::{Replay, Unreadable};
pub use snapshot::write_snapshot;
pub use start::start;
