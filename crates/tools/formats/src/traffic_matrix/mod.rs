//! Traffic matrices, which say who sends how many bytes to whom, read from files in common formats.
//!
//! | extension | format |
//! |---|---|
//! | `.csv` | [`csv`]: one line per row, with or without row and column names |
//! | `.mtx` | [`matrix_market`]: coordinate or array |
//! | `.npy` | [`npy`]: a NumPy array |
//!
//! Row r, column c is how many bytes rank r sends to rank c; what is on the diagonal stays at its rank. No file makes
//! the readers panic, and none takes more memory than a few times that of the file and the matrix.

pub mod csv;
mod error;
pub mod matrix_market;
pub mod npy;
mod number;

pub use error::{MatrixError, PlaceInFile, Problem};

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use collectives::schedule::{MOST_MESSAGES, MOST_RANKS, Pattern, Transfer};
use quantities::{Bytes, FileFormat, Rank};

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
    /// Whether it gives the size of each message, and not only that there is one: patterns, and values that are no
    /// sizes.
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

    /// The format by the name of a file; where that tells none, or another than its beginning, by that.
    fn of(path: &Path, content: &[u8]) -> Option<Format> {
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let named = Format::ALL.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|pair| pair.1);
        if content.starts_with(b"\x93NUMPY") {
            return Some(Format::Npy);
        }
        let is_matrix_market = content.get(..14).is_some_and(|first| first.eq_ignore_ascii_case(b"%%MatrixMarket"));
        if is_matrix_market { Some(Format::MatrixMarket) } else { named }
    }
}

/// Reads the file `path`; also returns its digest. Where a file gives only the presence of an entry, as a Matrix Market
/// pattern does, the entry is `entry` bytes.
///
/// # Errors
/// What was found that is not allowed, and where in the file; an extension of no known format; a file that cannot be
/// read.
pub fn read(path: &Path, entry: Bytes) -> Result<(TrafficMatrix, InputFile), MatrixError> {
    let name = path.display().to_string();
    let fail = |problem| MatrixError { file: name.clone(), place: PlaceInFile::File, problem };
    // The content of a file can tell what its name does not.
    if Format::of(path, &[]).is_none() && !path.is_file() {
        return Err(fail(Problem::Ending));
    }
    let content = input::read(path, Bytes(LONGEST_FILE)).map_err(|cause| match cause.kind() {
        io::ErrorKind::FileTooLarge => fail(Problem::TooLong),
        _ => fail(Problem::Unreadable(cause.to_string())),
    })?;
    let matrix = match Format::of(path, &content) {
        Some(Format::Csv) => csv::parse(&name, &content),
        Some(Format::MatrixMarket) => matrix_market::parse(&name, &content, entry),
        Some(Format::Npy) => npy::parse(&name, &content, entry),
        None => Err(fail(Problem::Ending)),
    };
    // What can't be read may be a file of another kind.
    let matrix =
        matrix.map_err(|error| match FileFormat::of(&content).filter(|format| !format.is_read_by("--traffic")) {
            Some(format) => {
                fail(Problem::OtherFormat(format.instead_of("a matrix of bytes as CSV, Matrix Market or NumPy")))
            }
            None => error,
        })?;
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
struct Messages {
    /// Those from a rank to another.
    between: Vec<Transfer>,
    /// What ranks have for themselves: each once. [B]
    own: Vec<(usize, Bytes)>,
}

impl Messages {
    /// Adds the entry `bytes` at row `from`, column `to`, which are within a matrix whose shape is allowed.
    fn add(&mut self, from: usize, to: usize, bytes: u64) -> Result<(), Problem> {
        if bytes == 0 {
            return Ok(());
        }
        if from == to {
            self.own.push((from, Bytes(bytes)));
            return Ok(());
        }
        if self.between.len() == MOST_MESSAGES {
            return Err(Problem::Messages);
        }
        self.between.push(Transfer { from: Rank(from as u32), to: Rank(to as u32), bytes: Bytes(bytes) });
        Ok(())
    }

    /// The matrix of `ranks` ranks that consists of them.
    fn matrix(self, ranks: u32, headings: Headings) -> Result<TrafficMatrix, Problem> {
        let mut own = vec![Bytes(0); ranks as usize];
        for (rank, bytes) in self.own {
            // A row of CSV can be longer than there are rows, and is refused for that.
            if let Some(place) = own.get_mut(rank) {
                *place = bytes;
            }
        }
        let pattern = Pattern::of_messages(ranks, self.between).and_then(|pattern| pattern.with_own(own));
        let pattern = pattern.map_err(|error| Problem::Pattern(error.to_string()))?;
        Ok(TrafficMatrix { pattern, headings, has_sizes: true })
    }
}
