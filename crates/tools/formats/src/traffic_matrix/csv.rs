//! CSV: one line per row.
//!
//! - Lines and cells are separated as in all such files: see [`crate::cells`].
//! - A cell is a whole number of bytes; an empty one is 0.
//! - The first column holds names of ranks if its cell in the second line is neither a number nor empty, and its cell
//!   in the first line is not a number. The first line holds names if one of its other cells is neither a number nor
//!   empty, unless the matrix is square with it.
//! - If the very first cell is not a number, and the other cells of the first line and those of the first column both
//!   count 0, 1, 2, ... or 1, 2, 3, ..., these are names too: pandas writes them so.

use std::io::{self, Write};

use collectives::schedule::{MOST_RANKS, Pattern};
use quantities::Rank;

use super::error::{MatrixError, PlaceInFile, Problem};
use super::{Headings, Messages, TrafficMatrix, check_shape, number};
use crate::cells::{BadLine, Line, Lines};

/// Reads `content`; `file` is its name in error messages.
///
/// # Errors
/// What was found that is not allowed, and where.
pub fn parse(file: &str, content: &[u8]) -> Result<TrafficMatrix, MatrixError> {
    let fail = |(place, problem)| MatrixError { file: file.to_string(), place, problem };
    let bad_line = |BadLine { line, found, allowed }| fail((PlaceInFile::Line(line), Problem::format(found, allowed)));
    let text = std::str::from_utf8(content).map_err(|_| fail((PlaceInFile::File, Problem::NotText)))?;
    let lines = Lines::of(text, MOST_LINES);
    let headings = headings(&lines).map_err(bad_line)?;
    let rows = lines.all.get(usize::from(headings.row)..).unwrap_or_default();
    let mut messages = Messages::default();
    let mut before = None;
    for (row, line) in rows.iter().enumerate() {
        let cells = lines.cells(line).map_err(bad_line)?;
        let cells = cells.get(usize::from(headings.column)..).unwrap_or_default();
        if let Some(before) = before.filter(|before| *before != cells.len()) {
            return Err(fail((PlaceInFile::Line(line.number), Problem::Ragged { found: cells.len(), before })));
        }
        before = Some(cells.len());
        for (column, cell) in cells.iter().enumerate() {
            let wrong = |problem| fail((PlaceInFile::Cell { line: line.number, row, column }, problem));
            let value = if cell.is_empty() { Ok(0) } else { number::from_text(cell) };
            messages.add(row, column, value.map_err(wrong)?).map_err(wrong)?;
        }
    }
    let ranks = check_shape(rows.len(), before.unwrap_or(0), headings);
    ranks.and_then(|ranks| messages.matrix(ranks, headings)).map_err(|problem| fail((PlaceInFile::File, problem)))
}

/// The most lines, and cells in a line, that are read: one may hold names, and one more is enough to see that there are
/// too many.
const MOST_LINES: usize = MOST_RANKS as usize + 2;

/// Whether the first row and the first column hold names.
fn headings(lines: &Lines<'_>) -> Result<Headings, BadLine> {
    let is_name = |cell: &&str| !cell.is_empty() && cell.parse::<f64>().is_err();
    let [first, rest @ ..] = lines.all.as_slice() else { return Ok(Headings::NONE) };
    let first = lines.cells(first)?;
    if counts(lines, &first) {
        return Ok(Headings { row: true, column: true });
    }
    let second = rest.first().map_or(Ok(Vec::new()), |line| lines.cells(line))?;
    let corner = first.first().is_some_and(|cell| cell.parse::<f64>().is_err());
    let column = corner && second.first().is_some_and(is_name);
    let square = lines.all.len() + usize::from(column) == first.len();
    Ok(Headings { row: first.iter().skip(1).any(is_name) && !square, column })
}

/// Whether the first row and the first column share a cell that is not a number and then both count up from 0, or both
/// from 1.
fn counts(lines: &Lines<'_>, first: &[&str]) -> bool {
    let Some((corner, row)) = first.split_first() else { return false };
    let begins = |line: &Line<'_>| lines.cells(line).ok()?.first()?.parse::<usize>().ok();
    let counts = |from: usize| {
        let above = row.iter().zip(from..).all(|(cell, count)| cell.parse() == Ok(count));
        above && lines.all.iter().skip(1).zip(from..).all(|(line, count)| begins(line) == Some(count))
    };
    corner.parse::<f64>().is_err() && lines.all.len() > 1 && !row.is_empty() && (counts(0) || counts(1))
}

/// Writes `pattern` as [`parse`] reads it, without names.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(pattern: &Pattern, out: &mut impl Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    for from in (0..pattern.ranks()).map(Rank) {
        let mut row = vec![0; pattern.ranks() as usize];
        for message in pattern.of_sender(from) {
            row[message.to.0 as usize] = message.bytes.0;
        }
        row[from.0 as usize] = pattern.own(from).0;
        writer.serialize(row)?;
    }
    writer.flush()
}
