//! How a member keeps what it holds: everything that changes it is written to a log before anyone is told of it.
//!
//! ```text
//!   turn of the loop     bucket, member ──entries──> batch ──frame──> log.2    then replies and messages leave
//!   start                snapshot.1, log.1, log.2 ──frames──> entries ──> member, as it was
//!   meanwhile            snapshot.1, log.1 ──> a second member ──> snapshot.2; then what is before it goes
//! ```
//!
//! | what | is kept as | brought back by |
//! |---|---|---|
//! | records | what became of them | doing that to them |
//! | splits and merges | the messages that servers take, and what they begin by themselves | taking and beginning them again |
//! | requests that change something | how they went, so that none is carried out twice | remembering that |
//! | who is where | its value | setting it |
//! | messages to other members | nothing: they come of the above | keeping them until the other acknowledges them |
//!
//! A batch is there as a whole or not at all. Nothing of this knows files or a clock but `disk`.

mod batch;
pub mod directory;
pub mod disk;
mod entry;
mod files;
pub mod frame;
mod replay;
mod snapshot;
mod start;

pub use batch::{Batch, Journal, Pen, Ready};
pub(crate) use entry::as_bytes;
pub use entry::{Effect, Entry, Run};
pub use replay::{Replay, Unreadable};
pub use snapshot::write_snapshot;
pub use start::start;
