//! Who sends how many bytes to whom, read from the files in which people have it.
//!
//! | ending | format |
//! |---|---|
//! | `.csv` | [`csv`]: a line a row, with names above and beside or without |
//! | `.mtx` | [`matrix_market`]: coordinate or array |
//! | `.npy` | [`npy`]: a NumPy array |
//!
//! Row r, column c is what rank r sends to rank c, in bytes. Nothing that is in such a file makes the readers panic, and
//! none takes more memory than a few times the file and the matrix.

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

/// The most bytes from one rank to another: those of all messages together can then be counted. [B]
pub const MOST_BYTES: u64 = 64 << 30;
/// The longest file. [B]
pub const LONGEST_FILE: u64 = 1 << 30;

/// Who sends how many bytes to whom, as a file says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficMatrix {
    /// The matrix: what is more than 0 bytes is a message.
    pub pattern: Pattern,
    /// Which names stood around it.
    pub headings: Headings,
    /// Whether it says how many bytes each message has, not only that there is one.
    pub has_sizes: bool,
}

/// Names that stood above and beside a matrix and were left out of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headings {
    /// Whether the first row was names.
    pub row: bool,
    /// Whether the first column was names.
    pub column: bool,
}

impl Headings {
    /// No names.
    const NONE: Headings = Headings { row: false, column: false };
}

/// The formats, by the ending of a file's name.
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

/// Reads the file `path`; with the digest of what is in it. What a file says only that it is there, as a Matrix Market pattern does, is `entry` bytes.
///
/// # Errors
/// Where in the file what was found that is not allowed; an ending that is none of the formats; a file that cannot be
/// read.
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

/// Says whether a matrix of `rows` by `columns` is one that can be read, and of how many ranks.
fn check_shape(rows: usize, columns: usize, headings: Headings) -> Result<u32, Problem> {
    if rows != columns {
        return Err(Problem::NotSquare { rows, columns, headings });
    }
    match u32::try_from(rows) {
        Ok(ranks @ 1..=MOST_RANKS) => Ok(ranks),
        _ => Err(Problem::Ranks { found: rows }),
    }
}

/// The messages that were found so far.
#[derive(Debug, Default)]
struct Messages(Vec<Transfer>);

impl Messages {
    /// Takes up that `bytes` stand at row `from`, column `to`. Rows and columns are those of a matrix that may be read.
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

    /// The matrix of `ranks` ranks that has them.
    fn matrix(self, ranks: u32, headings: Headings) -> Result<TrafficMatrix, Problem> {
        let pattern = Pattern::of_messages(ranks, self.0).map_err(|error| Problem::Pattern(error.to_string()))?;
        Ok(TrafficMatrix { pattern, headings, has_sizes: true })
    }
}
