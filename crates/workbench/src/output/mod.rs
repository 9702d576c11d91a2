//! What runs leave behind: files that are whole or not there, the packet log, the timeline.

mod whole_file;

pub use whole_file::{Unwritable, WholeFile, write_whole};
