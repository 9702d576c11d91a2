//! Matrix Market: a heading line, comments, the size, then the entries.
//!
//! ```text
//! %%MatrixMarket matrix coordinate integer general
//! % comments
//! 4 4 3
//! 1 2 1024
//! 2 1 512
//! 4 3 64
//! ```
//!
//! Rows and columns count from 1. `coordinate` lists the nonzero entries, `array` lists all of them, column by
//! column. Values are `integer` or `real`, or absent (`pattern`): then every entry is the same number of bytes.
//! Only the lower triangle of a `symmetric` matrix is written.
//!
//! Source: Boisvert, Pozo and Remington, "The Matrix Market exchange formats: initial design", NISTIR 5935, 1996.

use std::str::SplitAsciiWhitespace;

use quantities::Bytes;

use super::error::{MatrixError, Place, Problem};
use super::{Headings, Messages, TrafficMatrix, check_shape, number};
use crate::cells::quoted;

/// Reads `content`; `file` is its name in error messages. An entry without a value is `entry` bytes.
///
/// # Errors
/// What was found that is not allowed, and where.
pub fn parse(file: &str, content: &[u8], entry: Bytes) -> Result<TrafficMatrix, MatrixError> {
    let fail = |(place, problem)| MatrixError { file: file.to_string(), place, problem };
    let text = std::str::from_utf8(content).map_err(|_| fail((Place::File, Problem::NotText)))?;
    let mut lines = text.lines().zip(1..).map(|(text, number)| Line { number, text });
    let first = lines.next().unwrap_or(Line { number: 1, text: "" });
    let header = Header::parse(&first).map_err(fail)?;
    let body = lines.filter(|line| !line.text.starts_with('%') && !line.text.trim().is_empty());
    let cells = if header.sparse { coordinate(body, &header, entry) } else { array(body, &header) };
    let (ranks, messages) = cells.map_err(fail)?;
    let matrix = messages.matrix(ranks, Headings::NONE).map_err(|problem| fail((Place::File, problem)))?;
    Ok(TrafficMatrix { has_sizes: !header.pattern, ..matrix })
}

/// What is wrong, and where.
type LocatedProblem = (Place, Problem);

struct Line<'text> {
    /// From 1.
    number: usize,
    text: &'text str,
}

impl Line<'_> {
    fn wrong(&self, found: impl std::fmt::Display, allowed: &str) -> LocatedProblem {
        (Place::Line(self.number), Problem::format(found, allowed))
    }
}

/// The contents of the first line.
struct Header {
    sparse: bool,
    pattern: bool,
    symmetric: bool,
}

impl Header {
    fn parse(line: &Line<'_>) -> Result<Header, LocatedProblem> {
        let lower = line.text.to_ascii_lowercase();
        let words: Vec<&str> = lower.split_ascii_whitespace().collect();
        let ["%%matrixmarket", "matrix", format, field, symmetry] = words[..] else {
            let allowed = "`%%MatrixMarket matrix` and then the format, the field and the symmetry";
            return Err(line.wrong(quoted(line.text), allowed));
        };
        let one_of = |word: &str, allowed: &str| match allowed.split(", ").any(|known| known == word) {
            true => Ok(()),
            false => Err(line.wrong(quoted(word), &format!("one of {allowed}"))),
        };
        one_of(format, "coordinate, array")?;
        one_of(field, "integer, real, double, pattern")?;
        one_of(symmetry, "general, symmetric")?;
        if format == "array" && field == "pattern" {
            return Err(
                line.wrong("`array` with `pattern`", "`coordinate` with it, as an array has a value everywhere")
            );
        }
        Ok(Header { sparse: format == "coordinate", pattern: field == "pattern", symmetric: symmetry == "symmetric" })
    }
}

/// A cell of the matrix that the file gives.
#[derive(Clone, Copy)]
struct Cell {
    row: usize,
    column: usize,
    bytes: u64,
    line: usize,
}

impl Cell {
    /// Adds it, and in a symmetric matrix also its mirror image.
    fn add_to(self, messages: &mut Messages, symmetric: bool) -> Result<(), LocatedProblem> {
        let Cell { row, column, bytes, line } = self;
        let wrong = |problem| (Place::Cell { line, row, column }, problem);
        messages.add(row, column, bytes).map_err(wrong)?;
        if symmetric { messages.add(column, row, bytes).map_err(wrong) } else { Ok(()) }
    }
}

/// How many ranks there are, and what they send.
type Found = (u32, Messages);

/// Reads the entries; each may occur at most once. They are added in order of row and column.
fn coordinate<'text>(
    mut lines: impl Iterator<Item = Line<'text>>,
    header: &Header,
    entry: Bytes,
) -> Result<Found, LocatedProblem> {
    let size = size_line(lines.next())?;
    let [rows, columns, entries] = whole_numbers(&size, "the number of rows, of columns and of entries")?;
    let ranks = check_shape(rows, columns, Headings::NONE).map_err(|problem| (Place::Line(size.number), problem))?;
    let mut filled: Vec<Cell> = Vec::new();
    for line in lines {
        if filled.len() == entries {
            return Err(line.wrong(format!("more than {entries} entries"), "as many as the size says"));
        }
        filled.push(coordinate_entry(&line, header, rows, entry)?);
    }
    check_count(filled.len(), entries)?;
    filled.sort_by_key(|cell| (cell.row, cell.column, cell.line));
    let twice = filled.windows(2).find(|pair| (pair[0].row, pair[0].column) == (pair[1].row, pair[1].column));
    if let Some(&[_, Cell { row, column, line, .. }]) = twice {
        return Err((Place::Cell { line, row, column }, Problem::Twice));
    }
    let mut messages = Messages::default();
    filled.into_iter().try_for_each(|cell| cell.add_to(&mut messages, header.symmetric))?;
    Ok((ranks, messages))
}

fn coordinate_entry(line: &Line<'_>, header: &Header, ranks: usize, entry: Bytes) -> Result<Cell, LocatedProblem> {
    let allowed = if header.pattern { "a row and a column" } else { "a row, a column and a value" };
    let mut words = line.text.split_ascii_whitespace();
    let index = |words: &mut SplitAsciiWhitespace<'_>| match words.next() {
        None => Err(line.wrong(quoted(line.text), allowed)),
        Some(word) => match word.parse::<usize>() {
            Ok(index) if (1..=ranks).contains(&index) => Ok(index - 1),
            _ => Err(line.wrong(quoted(word), &format!("a row or a column from 1 to {ranks}"))),
        },
    };
    let (row, column) = (index(&mut words)?, index(&mut words)?);
    if header.symmetric && column > row {
        return Err(line.wrong("an entry above the diagonal", "the lower triangle of a symmetric matrix"));
    }
    let place = Place::Cell { line: line.number, row, column };
    let bytes = if header.pattern {
        entry.0
    } else {
        let word = words.next().ok_or_else(|| line.wrong(quoted(line.text), allowed))?;
        number::from_text(word).map_err(|problem| (place, problem))?
    };
    match words.next() {
        Some(_) => Err(line.wrong(quoted(line.text), allowed)),
        None => Ok(Cell { row, column, bytes, line: line.number }),
    }
}

/// Reads all cells, or those of the lower triangle, column by column.
fn array<'text>(mut lines: impl Iterator<Item = Line<'text>>, header: &Header) -> Result<Found, LocatedProblem> {
    let size = size_line(lines.next())?;
    let [rows, columns] = whole_numbers(&size, "the number of rows and of columns")?;
    let ranks = check_shape(rows, columns, Headings::NONE).map_err(|problem| (Place::Line(size.number), problem))?;
    let entries = if header.symmetric { rows * (rows + 1) / 2 } else { rows * rows };
    let (mut filled, mut messages) = (0, Messages::default());
    let (mut row, mut column) = (0, 0);
    for line in lines {
        for word in line.text.split_ascii_whitespace() {
            if filled == entries {
                return Err(line.wrong(format!("more than {entries} values"), "as many as the size says"));
            }
            let place = Place::Cell { line: line.number, row, column };
            let bytes = number::from_text(word).map_err(|problem| (place, problem))?;
            Cell { row, column, bytes, line: line.number }.add_to(&mut messages, header.symmetric)?;
            filled += 1;
            row += 1;
            if row == rows {
                column += 1;
                row = if header.symmetric { column } else { 0 };
            }
        }
    }
    check_count(filled, entries)?;
    Ok((ranks, messages))
}

fn size_line(line: Option<Line<'_>>) -> Result<Line<'_>, LocatedProblem> {
    let missing =
        || Problem::Truncated { found: "the heading".to_string(), needed: "a line with the size".to_string() };
    line.ok_or_else(|| (Place::File, missing()))
}

fn whole_numbers<const N: usize>(line: &Line<'_>, allowed: &str) -> Result<[usize; N], LocatedProblem> {
    let words: Option<Vec<usize>> = line.text.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    words.and_then(|words| words.try_into().ok()).ok_or_else(|| line.wrong(quoted(line.text), allowed))
}

fn check_count(found: usize, needed: usize) -> Result<(), LocatedProblem> {
    if found == needed {
        return Ok(());
    }
    let problem =
        Problem::Truncated { found: format!("{found} entries"), needed: format!("{needed}, as the size says") };
    Err((Place::File, problem))
}
