//! The formats of traces that other tools write as text: one row each, and one list of all.

use super::{RankCalls, TraceError, dumpi, liballprof, simgrid};

/// All of them. A text is of the first that recognises it.
pub const FORMATS: &[&dyn TraceFormat] = &[&dumpi::Dumpi, &liballprof::Liballprof, &simgrid::SimGrid];

/// A format of traces.
pub trait TraceFormat: Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Whether a text is of this format, by its `first` line that is neither empty nor a comment, or by more of it.
    fn recognises(&self, first: &str, text: &str) -> bool;

    /// Whether it says how many operations a rank computed, and not for how long.
    fn counts_operations(&self) -> bool {
        false
    }

    /// What reads the files of a trace, where this many `operations` take a second.
    fn reader(&self, operations: f64) -> Box<dyn TraceReader>;
}

impl dyn TraceFormat {
    /// The format of a text, by its content; none if it is of none of them.
    pub fn of(text: &str) -> Option<&'static dyn TraceFormat> {
        let first = lines(text).next()?;
        FORMATS.iter().copied().find(|format| format.recognises(first, text))
    }
}

/// The lines of a text that are neither empty nor comments.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Which ranks a file is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRanks {
    /// All, however many the file has.
    All,
    /// One of `size`.
    One {
        /// Which.
        rank: u32,
        /// How many ranks the trace has.
        size: u32,
    },
}

impl FileRanks {
    /// The rank and the number of ranks in a format whose files have one rank each.
    pub(super) fn of_one(self) -> (u32, u32) {
        match self {
            FileRanks::All => (0, 1),
            FileRanks::One { rank, size } => (rank, size),
        }
    }
}

/// Reads the files of a trace, one after another in the order of their ranks, and then has the calls of all ranks.
pub trait TraceReader {
    /// Reads a file, whose name is `file`.
    ///
    /// # Errors
    /// The error in a line; lines of other ranks.
    fn add(&mut self, file: &str, text: &str, ranks: FileRanks) -> Result<(), TraceError>;

    /// The calls of each rank, when the files of all have been read.
    ///
    /// # Errors
    /// What does not fit together.
    fn finish(self: Box<Self>) -> Result<Vec<RankCalls>, TraceError>;
}
