//! The output of runs: files that are whole or absent, the packet log, the timeline, tables.

mod arrow;
pub mod files;
mod frames;
mod packets;
mod table;
mod timeline;
mod whole_file;

pub use arrow::Kind;
pub use frames::write_frames;
pub use packets::{PacketFormat, stream_packets, write_packets};
pub use table::{Cell, Cells, ColumnOf, stream_table};
pub use timeline::write_timeline;
pub use whole_file::{Unwritable, WholeFile, write_whole};

/// The key under which an output file records what was run.
pub const EXPERIMENT_KEY: &str = "experiment";
