//! The measurements: a CSV file whose first line contains the names of the columns.
//!
//! | column | |
//! |---|---|
//! | `program` | `ping-pong`, `one-way`, `all-to-all`, `irregular`, `broadcast`, `all-reduce`, `send-time`, `receive-time` |
//! | `ranks` | how many ranks it ran on |
//! | `bytes` | the size of a message, `256` or `4 KiB` |
//! | `time` | the measured time, with its unit: `1.597 ms` |
//! | `held` | `yes` if the parameters are not fitted to it; without this column, every other row |
//! | `algorithm` | for `all-to-all`, `irregular`, `broadcast` and `all-reduce` |
//! | `density` | for `irregular`: messages in percent of those of a complete exchange |
//! | `seeds`, `seed` | for `irregular`: over how many random patterns the mean is taken (5), and the first seed (1) |
//! | `pacing` | for `irregular`: `free-running`, `receiver-confirmed` or `barrier` |
//! | `alpha`, `lambda` | for `broadcast` and `all-reduce`: how trees split |
//! | `segment` | for `broadcast`: the size of a segment |
//! | `order` | for `broadcast`: `cyclic`, or `permuted` by `seed` |
//! | `t0` | for `all-reduce` with delayed sends: the postal model's t0, `70 us` |
//! | `reshuffle` | for `all-to-all`: how long it takes to copy a forwarded byte, `10 ns` |
//! | `from`, `to` | for `ping-pong` and `one-way`: the two ranks; the first and the last, if left out |

use std::io;
use std::path::Path;

use collectives::schedule::MOST_RANKS;
use quantities::{Bytes, Duration};

use super::cells_by_name::Row;
use super::program;
use crate::benchmark::Benchmark;
use formats::cells::{BadLine, Lines, quoted};
use formats::input;
use formats::input::InputFile;

/// The longest file. [B]
const LONGEST_FILE: u64 = 16 << 20;
/// The most lines, and columns.
const MOST_LINES: usize = 10_001;
/// The largest message. [B]
const MOST_BYTES: u64 = 2 << 30;
/// The columns that may occur.
const COLUMNS: [&str; 18] = [
    "program",
    "ranks",
    "bytes",
    "time",
    "held",
    "algorithm",
    "density",
    "seeds",
    "seed",
    "pacing",
    "alpha",
    "lambda",
    "segment",
    "order",
    "reshuffle",
    "t0",
    "from",
    "to",
];

/// A measured time.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Its line in the file, from 1.
    pub line: usize,
    /// What was measured, in words.
    pub what: String,
    /// How many ranks it ran on.
    pub ranks: u32,
    /// The simulations of it, whose mean is compared.
    pub trials: Vec<Benchmark>,
    /// The measured time.
    pub time: Duration,
    /// Its standard error, as a share of it: the larger, the less it counts in a fit. Zero if that is not known.
    pub standard_error: f64,
    /// Whether the parameters are not fitted to it.
    pub held: bool,
}

/// Why the times of a file can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {problem}", line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct TimesError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1; none if it is the file as a whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: TimesProblem,
}

/// An error in a file of times.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimesProblem {
    /// The system can't read it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// It is not text.
    #[error("found bytes that are not text; allowed is text in UTF-8")]
    NotText,
    /// It is too long.
    #[error("found more than {found}; allowed is that many")]
    TooLong {
        /// How many of what.
        found: String,
    },
    /// It has no times.
    #[error("found no times; allowed is a line with the names of the columns and a line for each time")]
    Empty,
    /// A column has an unknown name.
    #[error("there is no column `{found}`{}; allowed are {}", suggestion(found), COLUMNS.join(", "))]
    Column {
        /// The name.
        found: String,
    },
    /// A required column is missing.
    #[error("the column `{0}` is missing")]
    MissingColumn(&'static str),
    /// A column occurs twice.
    #[error("there are two columns `{0}`")]
    DuplicateColumn(String),
    /// A line is not a row of cells.
    #[error("found {found}; allowed is {allowed}")]
    Line {
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A cell's content is not allowed.
    #[error("column `{column}`: found {found}; allowed is {allowed}")]
    Cell {
        /// The column.
        column: String,
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A program that can't run this way.
    #[error("{0}")]
    Program(endpoint::Error),
}

/// The relative error that a good model has where times repeat exactly. Chosen.
const MODEL_ERROR: f64 = 0.02;

impl Measurement {
    /// The weight of its error in a fit, by how well the time repeats.
    ///
    /// ```text
    ///   weight = m / sqrt(m^2 + s^2)        m: the error of a good model        s: the standard error of the time
    /// ```
    pub(super) fn weight(&self) -> f64 {
        MODEL_ERROR / MODEL_ERROR.hypot(self.standard_error)
    }
}

impl TimesError {
    /// Whether the system could not read the file.
    pub const fn is_unreadable(&self) -> bool {
        matches!(self.problem, TimesProblem::Unreadable(_))
    }
}

impl TimesProblem {
    pub(super) fn cell(column: &str, found: impl ToString, allowed: impl ToString) -> TimesProblem {
        TimesProblem::Cell { column: column.to_string(), found: found.to_string(), allowed: allowed.to_string() }
    }

    /// The error that a cell has content that `program` does not use.
    pub(super) fn idle(column: &str, found: &str, program: &str) -> TimesProblem {
        TimesProblem::cell(column, quoted(found), format!("nothing, as {program} does not depend on it"))
    }
}

/// The column that may have been meant.
fn suggestion(found: &str) -> String {
    let nearest = quantities::nearest(found, COLUMNS);
    nearest.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// Reads the file `path`, which was measured on a machine of `nodes` nodes.
///
/// # Errors
/// Those of [`parse`], and if the file can't be read.
pub fn read(path: &Path, nodes: u32) -> Result<(Vec<Measurement>, InputFile), TimesError> {
    let name = path.display().to_string();
    let fail = |problem| TimesError { file: name.clone(), line: None, problem };
    let content = input::read(path, Bytes(LONGEST_FILE)).map_err(|cause| match cause.kind() {
        io::ErrorKind::FileTooLarge => fail(TimesProblem::TooLong { found: Bytes(LONGEST_FILE).to_string() }),
        _ => fail(TimesProblem::Unreadable(cause.to_string())),
    })?;
    Ok((parse(&name, &content, nodes)?, InputFile::new(path, &content)))
}

/// Parses `content`, which was measured on a machine of `nodes` nodes; messages call it `file`.
///
/// # Errors
/// If something in it is not allowed, with its place.
pub fn parse(file: &str, content: &[u8], nodes: u32) -> Result<Vec<Measurement>, TimesError> {
    let fail = |line, problem| TimesError { file: file.to_string(), line, problem };
    let text = std::str::from_utf8(content).map_err(|_| fail(None, TimesProblem::NotText))?;
    let lines = Lines::of(text, MOST_LINES + 1);
    let bad_line =
        |BadLine { line, found, allowed }| fail(Some(line), TimesProblem::Line { found, allowed: allowed.to_string() });
    let (Some(head), rows @ [_, ..]) = (lines.all.first(), lines.all.get(1..).unwrap_or_default()) else {
        return Err(fail(None, TimesProblem::Empty));
    };
    if lines.all.len() > MOST_LINES {
        return Err(fail(None, TimesProblem::TooLong { found: format!("{MOST_LINES} lines") }));
    }
    let columns = lines.cells(head).map_err(bad_line)?;
    check_columns(&columns).map_err(|problem| fail(Some(head.number), problem))?;
    let mut measurements = Vec::new();
    for (index, line) in rows.iter().enumerate() {
        let cells = lines.cells(line).map_err(bad_line)?;
        let measurement = measurement(&columns, &cells, nodes, line.number, index % 2 == 1);
        measurements.push(measurement.map_err(|problem| fail(Some(line.number), problem))?);
    }
    Ok(measurements)
}

fn check_columns(columns: &[&str]) -> Result<(), TimesProblem> {
    for (place, &column) in columns.iter().enumerate() {
        if !COLUMNS.contains(&column) {
            return Err(TimesProblem::Column { found: column.to_string() });
        }
        if columns[..place].contains(&column) {
            return Err(TimesProblem::DuplicateColumn(column.to_string()));
        }
    }
    let missing = ["program", "ranks", "bytes", "time"].into_iter().find(|name| !columns.contains(name));
    missing.map_or(Ok(()), |name| Err(TimesProblem::MissingColumn(name)))
}

fn measurement(
    columns: &[&str],
    cells: &[&str],
    nodes: u32,
    line: usize,
    every_other: bool,
) -> Result<Measurement, TimesProblem> {
    if cells.len() != columns.len() {
        let (found, allowed) = (format!("{} cells", cells.len()), format!("{}, as many as columns", columns.len()));
        return Err(TimesProblem::Line { found, allowed });
    }
    let row = Row::new(columns, cells);
    let ranks = row.count("ranks", None, 2..=nodes.min(MOST_RANKS))?;
    let bytes = Bytes(row.quantity::<Bytes>("bytes")?.0.min(MOST_BYTES + 1));
    if bytes.0 > MOST_BYTES {
        return Err(TimesProblem::cell("bytes", bytes, format!("at most {}", Bytes(MOST_BYTES))));
    }
    let time = row.quantity::<Duration>("time")?;
    if time.is_zero() {
        return Err(TimesProblem::cell("time", "no time at all", "a duration such as `1.597 ms`"));
    }
    let truths = [("yes", true), ("no", false), ("true", true), ("false", false), ("1", true), ("0", false)];
    let has_column = columns.contains(&"held");
    let held = row.one_of("held", Some(every_other && !has_column), truths)?;
    let (name, trials) = program::trials(&row, ranks, bytes)?;
    row.check_rest(&name)?;
    let what = format!("{} on {ranks}, {bytes}", program::describe(&row, &name));
    Ok(Measurement { line, what, ranks, trials, time, standard_error: 0.0, held })
}
