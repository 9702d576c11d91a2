//! Traffic matrices, which say who sends how many bytes to whom, read from files in common formats.
//!
//! | extension | format |
//! |---|---|
//! | `.csv` | [`csv`]: one line per row, with or without row and column names |
//! | `.mtx` | [`matrix_market`]: coordinate or array |
//! | `.npy` | [`npy`]: a NumPy array |
//!
//! Row r, column c is how many bytes rank r sends to rank c. No file makes the readers panic, and
//! none takes more memory than a few times that of the file and the matrix.

pub mod csv;
mod error;
pub mod matrix_market;
pub mod npy;
mod number;

pub use error::{MatrixError, Place, Problem};

use std::io;
use std::path::Path;

use programs::schedule::{MOST_MESSAGES, MOST_RANKS, Pattern, Transfer};
use quantities::{Bytes, Rank};

use crate::input;
use crate::input::InputFile;

/// The most bytes from one rank to another: the sum over all messages then cannot overflow. [B]
pub const MOST_BYTES: u64 = 64 << 30;
/// The longest file. [B]
pub const LONGEST_FILE: u64 = 1 << 30;

/// Who sends how many bytes to whom, as read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficMatrix {
    /// The matrix: every entry of more than 0 bytes is a message.
    pub pattern: Pattern,
    /// Which names surrounded it.
    pub headings: Headings,
    /// Whether it gives the size of each message, and not only that there is one.
    pub has_sizes: bool,
}

/// Whether row and column names surrounded a matrix and were left out of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headings {
    /// Whether the first row was column names.
    pub row: bool,
    /// Whether the first column was row names.
    pub column: bool,
}

impl Headings {
    /// No names.
    const NONE: Headings = Headings { row: false, column: false };
}

/// The formats, by file name extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv,
    MatrixMarket,
    Npy,
}

impl Format {
    const ALL: [(&'static str, Format); 3] =
        [("csv", Format::Csv), ("mtx", Format::MatrixMarket), ("npy", Format::Npy)];

    fn of(path: &Path) -> Option<Format> {
        let ending = path.extension()?.to_str()?;
        Format::ALL.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|pair| pair.1)
    }
}

/// Reads the file `path`; also returns its digest. Where a file gives only the presence of an entry, as a Matrix Market pattern
/// does, the entry is `entry` bytes.
///
/// # Errors
/// What was found that is not allowed, and where in the file; an extension of no known format; a file that cannot be read.
pub fn read(path: &Path, entry: Bytes) -> Result<(TrafficMatrix, InputFile), MatrixError> {
    let name = path.display().to_string();
    let fail = |problem| MatrixError { file: name.clone(), place: Place::File, problem };
    let format = Format::of(path).ok_or_else(|| fail(Problem::Ending))?;
    let content = input::read(path, Bytes(LONGEST_FILE)).map_err(|cause| match cause.kind() {
        io::ErrorKind::FileTooLarge => fail(Problem::TooLong),
        _ => fail(Problem::Unreadable(cause.to_string())),
    })?;
    let matrix = match format {
        Format::Csv => csv::parse(&name, &content),
        Format::MatrixMarket => matrix_market::parse(&name, &content, entry),
        Format::Npy => npy::parse(&name, &content, entry),
    }?;
    Ok((matrix, InputFile::new(path, &content)))
}

/// Checks that a matrix of `rows` by `columns` can be read; returns how many ranks it has.
fn check_shape(rows: usize, columns: usize, headings: Headings) -> Result<u32, Problem> {
    if rows != columns {
        return Err(Problem::NotSquare { rows, columns, headings });
    }
    match u32::try_from(rows) {
        Ok(ranks @ 1..=MOST_RANKS) => Ok(ranks),
        _ => Err(Problem::Ranks { found: rows }),
    }
}

/// The messages found so far.
#[derive(Debug, Default)]
struct Messages(Vec<Transfer>);

impl Messages {
    /// Adds the entry `bytes` at row `from`, column `to`, which are within a matrix whose shape is allowed.
    fn add(&mut self, from: usize, to: usize, bytes: u64) -> Result<(), Problem> {
        if bytes == 0 {
            return Ok(());
        }
        if from == to {
            return Err(Problem::Diagonal { found: bytes });
        }
        if self.0.len() == MOST_MESSAGES {
            return Err(Problem::Messages);
        }
        self.0.push(Transfer { from: Rank(from as u32), to: Rank(to as u32), bytes: Bytes(bytes) });
        Ok(())
    }

    /// The matrix of `ranks` ranks that consists of them.
    fn matrix(self, ranks: u32, headings: Headings) -> Result<TrafficMatrix, Problem> {
        let pattern = Pattern::of_messages(ranks, self.0).map_err(|error| Problem::Pattern(error.to_string()))?;
        Ok(TrafficMatrix { pattern, headings, has_sizes: true })
    }
}
