//! The errors of a file that a traffic matrix is read from.

use std::fmt;

use collectives::schedule::{MOST_MESSAGES, MOST_RANKS};
use quantities::Bytes;

use super::{Headings, LONGEST_FILE, MOST_BYTES};

/// Why no traffic matrix could be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{place}: {problem}")]
pub struct MatrixError {
    /// The file, as it was named.
    pub file: String,
    /// Where in the file.
    pub place: PlaceInFile,
    /// What is wrong there.
    pub problem: Problem,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceInFile {
    /// The file as a whole.
    File,
    /// A line, from 1.
    Line(usize),
    /// A cell of the matrix in a line.
    Cell {
        /// The line, from 1.
        line: usize,
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
    },
    /// A byte, from 0.
    Byte(usize),
    /// A cell of the matrix at a byte.
    ByteOfCell {
        /// The byte, from 0.
        byte: usize,
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
    },
}

impl fmt::Display for PlaceInFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell =
            |row: usize, column: usize| format!("row {}, column {} (rank {row} to rank {column})", row + 1, column + 1);
        match *self {
            PlaceInFile::File => Ok(()),
            PlaceInFile::Line(line) => write!(out, ":{line}"),
            PlaceInFile::Cell { line, row, column } => write!(out, ":{line}: {}", cell(row, column)),
            PlaceInFile::Byte(byte) => write!(out, ": at byte {byte}"),
            PlaceInFile::ByteOfCell { byte, row, column } => write!(out, ": at byte {byte}: {}", cell(row, column)),
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file's extension is that of no known format.
    #[error("found an unknown file extension; allowed is .csv, .mtx (Matrix Market) or .npy (NumPy)")]
    Ending,
    /// It is in a format of other files: what it is, and what is allowed.
    #[error("{0}")]
    OtherFormat(String),
    /// The system cannot read it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// It is longer than the limit.
    #[error("found more than {0}; allowed is a file of at most {0}", Bytes(LONGEST_FILE))]
    TooLong,
    /// It is not text.
    #[error("found bytes that are not text; allowed is text in UTF-8")]
    NotText,
    /// Its numbers of rows and columns differ.
    #[error(
        "found {rows} x {columns} (rows x columns){}; allowed is a square matrix, with a row and a column for each rank",
        describe_headings(headings)
    )]
    NotSquare {
        /// How many rows.
        rows: usize,
        /// How many columns.
        columns: usize,
        /// The names that these do not count.
        headings: Headings,
    },
    /// It has too many ranks, or none.
    #[error("found a matrix of {found} ranks; allowed is 1 to {MOST_RANKS}")]
    Ranks {
        /// How many ranks.
        found: usize,
    },
    /// A row is longer or shorter than the one before.
    #[error("found a row of length {found}; allowed is length {before}, as in the row before")]
    Ragged {
        /// How many cells it has.
        found: usize,
        /// How many the row before has.
        before: usize,
    },
    /// A cell is not a number of bytes.
    #[error("found {found}; allowed is a whole number of bytes from 0 to {MOST_BYTES}")]
    Number {
        /// What it is instead.
        found: String,
    },
    /// A cell occurs more than once.
    #[error("found it a second time; allowed is once")]
    Twice,
    /// It has more nonzero cells than can be handled.
    #[error("found more than {MOST_MESSAGES} cells that are not 0; allowed is that many")]
    Messages,
    /// The cells do not form a valid pattern.
    #[error("{0}")]
    Pattern(String),
    /// It ends too early.
    #[error("it ends after {found}; allowed is {needed}")]
    Truncated {
        /// How much there is.
        found: String,
        /// How much there must be.
        needed: String,
    },
    /// Something that its format does not allow.
    #[error("found {found}; allowed is {allowed}")]
    Format {
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
}

/// Which names surround the matrix, in words.
fn describe_headings(headings: &Headings) -> &'static str {
    match (headings.row, headings.column) {
        (true, true) => " beside a row and a column of names",
        (true, false) => " beside a row of names",
        (false, true) => " beside a column of names",
        (false, false) => "",
    }
}

impl Problem {
    /// The error for `found` where the format requires `allowed`.
    pub(super) fn format(found: impl fmt::Display, allowed: impl fmt::Display) -> Problem {
        Problem::Format { found: found.to_string(), allowed: allowed.to_string() }
    }
}
