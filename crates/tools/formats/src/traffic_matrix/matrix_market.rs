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
//! Rows and columns count from 1. `coordinate` lists the nonzero entries, `array` lists all of them, column by column.
//! Values are `integer` or `real`, or absent (`pattern`): then every entry is the same number of bytes. So is every
//! entry that is not zero where values are no numbers of bytes: if they are `complex`, or the matrix is
//! `skew-symmetric`, half of which is negative. Only the lower triangle of a `symmetric`, `skew-symmetric` or
//! `hermitian` matrix is written.
//!
//! Source: Boisvert, Pozo and Remington, "The Matrix Market exchange formats: initial design", NISTIR 5935, 1996.

use std::str::SplitAsciiWhitespace;

use quantities::Bytes;

use super::error::{MatrixError, PlaceInFile, Problem};
use super::{Headings, Messages, TrafficMatrix, check_shape, number};
use crate::cells::quoted;

/// Reads `content`; `file` is its name in error messages. An entry without a value is `entry` bytes.
///
/// # Errors
/// What was found that is not allowed, and where.
pub fn parse(file: &str, content: &[u8], entry: Bytes) -> Result<TrafficMatrix, MatrixError> {
    let fail = |(place, problem)| MatrixError { file: file.to_string(), place, problem };
    let text = std::str::from_utf8(content).map_err(|_| fail((PlaceInFile::File, Problem::NotText)))?;
    let mut lines = text.lines().zip(1..).map(|(text, number)| NumberedLine { number, text });
    let first = lines.next().unwrap_or(NumberedLine { number: 1, text: "" });
    let header = MatrixMarketHeader::parse(&first).map_err(fail)?;
    let body = lines.filter(|line| !line.text.starts_with('%') && !line.text.trim().is_empty());
    let cells = if header.sparse { coordinate(body, &header, entry) } else { array(body, &header, entry) };
    let (ranks, messages) = cells.map_err(fail)?;
    let matrix = messages.matrix(ranks, Headings::NONE).map_err(|problem| fail((PlaceInFile::File, problem)))?;
    Ok(TrafficMatrix { has_sizes: header.has_sizes(), ..matrix })
}

/// What is wrong, and where.
type LocatedProblem = (PlaceInFile, Problem);

struct NumberedLine<'text> {
    /// From 1.
    number: usize,
    text: &'text str,
}

impl NumberedLine<'_> {
    fn wrong(&self, found: impl std::fmt::Display, allowed: &str) -> LocatedProblem {
        (PlaceInFile::Line(self.number), Problem::format(found, allowed))
    }
}

/// The contents of the first line.
struct MatrixMarketHeader {
    sparse: bool,
    field: Field,
    symmetry: Symmetry,
}

/// What the values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// Numbers of bytes.
    Number,
    /// Pairs of numbers, which are no numbers of bytes.
    Complex,
    /// None: there are only the places.
    Pattern,
}

/// Which places are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symmetry {
    /// All.
    General,
    /// The lower triangle with the diagonal: above is what is below, or its complex conjugate.
    Mirrored,
    /// The lower triangle without the diagonal, which is zero: above is the negative of what is below.
    Skew,
}

impl MatrixMarketHeader {
    fn parse(line: &NumberedLine<'_>) -> Result<MatrixMarketHeader, LocatedProblem> {
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
        one_of(field, "integer, real, double, complex, pattern")?;
        one_of(symmetry, "general, symmetric, skew-symmetric, hermitian")?;
        if format == "array" && field == "pattern" {
            return Err(
                line.wrong("`array` with `pattern`", "`coordinate` with it, as an array has a value everywhere")
            );
        }
        if symmetry == "hermitian" && field != "complex" {
            return Err(line.wrong(format!("`hermitian` with `{field}`"), "`complex` with it"));
        }
        if symmetry == "skew-symmetric" && field == "pattern" {
            return Err(line.wrong("`skew-symmetric` with `pattern`", "`symmetric` or `general` with it"));
        }
        let field = match field {
            "complex" => Field::Complex,
            "pattern" => Field::Pattern,
            _ => Field::Number,
        };
        let symmetry = match symmetry {
            "general" => Symmetry::General,
            "skew-symmetric" => Symmetry::Skew,
            _ => Symmetry::Mirrored,
        };
        Ok(MatrixMarketHeader { sparse: format == "coordinate", field, symmetry })
    }

    /// Whether values are numbers of bytes. Half of a skew-symmetric matrix is negative, so its values are none.
    fn has_sizes(&self) -> bool {
        self.field == Field::Number && self.symmetry != Symmetry::Skew
    }

    /// The first row given of a column.
    fn first_row(&self, column: usize) -> usize {
        match self.symmetry {
            Symmetry::General => 0,
            Symmetry::Mirrored => column,
            Symmetry::Skew => column + 1,
        }
    }

    /// The bytes at a place whose value is the next of `words`: `entry`, if the value is no number of bytes and not
    /// zero. Nothing if a word is missing.
    fn bytes<'text>(&self, words: &mut impl Iterator<Item = &'text str>, entry: Bytes) -> Option<Result<u64, Problem>> {
        let is_zero = |word: &str| match word.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value == 0.0),
            _ => Err(Problem::format(quoted(word), "a number")),
        };
        let entry_unless = |zero: Result<bool, Problem>| zero.map(|zero| if zero { 0 } else { entry.0 });
        match self.field {
            Field::Pattern => Some(Ok(entry.0)),
            Field::Complex => {
                let (real, imaginary) = (words.next()?, words.next()?);
                Some(entry_unless(is_zero(real).and_then(|real| Ok(is_zero(imaginary)? && real))))
            }
            Field::Number if self.has_sizes() => words.next().map(number::from_text),
            Field::Number => words.next().map(|word| entry_unless(is_zero(word))),
        }
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
    /// Adds it, and in a matrix that is not general also its mirror image.
    fn add_to(self, messages: &mut Messages, symmetry: Symmetry) -> Result<(), LocatedProblem> {
        let Cell { row, column, bytes, line } = self;
        let wrong = |problem| (PlaceInFile::Cell { line, row, column }, problem);
        messages.add(row, column, bytes).map_err(wrong)?;
        let mirrored = symmetry != Symmetry::General && row != column;
        if mirrored { messages.add(column, row, bytes).map_err(wrong) } else { Ok(()) }
    }
}

/// How many ranks there are, and what they send.
type RanksAndMessages = (u32, Messages);

/// Reads the entries; each may occur at most once. They are added in order of row and column.
fn coordinate<'text>(
    mut lines: impl Iterator<Item = NumberedLine<'text>>,
    header: &MatrixMarketHeader,
    entry: Bytes,
) -> Result<RanksAndMessages, LocatedProblem> {
    let size = size_line(lines.next())?;
    let [rows, columns, entries] = whole_numbers(&size, "the number of rows, of columns and of entries")?;
    let ranks =
        check_shape(rows, columns, Headings::NONE).map_err(|problem| (PlaceInFile::Line(size.number), problem))?;
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
        return Err((PlaceInFile::Cell { line, row, column }, Problem::Twice));
    }
    let mut messages = Messages::default();
    filled.into_iter().try_for_each(|cell| cell.add_to(&mut messages, header.symmetry))?;
    Ok((ranks, messages))
}

fn coordinate_entry(
    line: &NumberedLine<'_>,
    header: &MatrixMarketHeader,
    ranks: usize,
    entry: Bytes,
) -> Result<Cell, LocatedProblem> {
    let allowed = match header.field {
        Field::Number => "a row, a column and a value",
        Field::Complex => "a row, a column and a value of two numbers",
        Field::Pattern => "a row and a column",
    };
    let mut words = line.text.split_ascii_whitespace();
    let index = |words: &mut SplitAsciiWhitespace<'_>| match words.next() {
        None => Err(line.wrong(quoted(line.text), allowed)),
        Some(word) => match word.parse::<usize>() {
            Ok(index) if (1..=ranks).contains(&index) => Ok(index - 1),
            _ => Err(line.wrong(quoted(word), &format!("a row or a column from 1 to {ranks}"))),
        },
    };
    let (row, column) = (index(&mut words)?, index(&mut words)?);
    if row < header.first_row(column) {
        return Err(match header.symmetry {
            Symmetry::Skew if row == column => {
                line.wrong("an entry on the diagonal", "none, as that of a skew-symmetric matrix is zero")
            }
            _ => line.wrong("an entry above the diagonal", "the lower triangle of a symmetric matrix"),
        });
    }
    let place = PlaceInFile::Cell { line: line.number, row, column };
    let bytes = header.bytes(&mut words, entry).ok_or_else(|| line.wrong(quoted(line.text), allowed))?;
    let bytes = bytes.map_err(|problem| (place, problem))?;
    match words.next() {
        Some(_) => Err(line.wrong(quoted(line.text), allowed)),
        None => Ok(Cell { row, column, bytes, line: line.number }),
    }
}

/// Reads all cells, or those of the lower triangle, column by column.
fn array<'text>(
    mut lines: impl Iterator<Item = NumberedLine<'text>>,
    header: &MatrixMarketHeader,
    entry: Bytes,
) -> Result<RanksAndMessages, LocatedProblem> {
    let size = size_line(lines.next())?;
    let [rows, columns] = whole_numbers(&size, "the number of rows and of columns")?;
    let ranks =
        check_shape(rows, columns, Headings::NONE).map_err(|problem| (PlaceInFile::Line(size.number), problem))?;
    let entries: usize = (0..columns).map(|column| rows - header.first_row(column).min(rows)).sum();
    let (mut filled, mut messages) = (0, Messages::default());
    let (mut row, mut column) = (header.first_row(0), 0);
    for line in lines {
        let mut words = line.text.split_ascii_whitespace().peekable();
        while words.peek().is_some() {
            if filled == entries {
                return Err(line.wrong(format!("more than {entries} values"), "as many as the size says"));
            }
            let place = PlaceInFile::Cell { line: line.number, row, column };
            let bytes = header.bytes(&mut words, entry);
            let bytes = bytes.ok_or_else(|| line.wrong(quoted(line.text), "values of two numbers"))?;
            let bytes = bytes.map_err(|problem| (place, problem))?;
            Cell { row, column, bytes, line: line.number }.add_to(&mut messages, header.symmetry)?;
            filled += 1;
            row += 1;
            if row == rows {
                column += 1;
                row = header.first_row(column);
            }
        }
    }
    check_count(filled, entries)?;
    Ok((ranks, messages))
}

fn size_line(line: Option<NumberedLine<'_>>) -> Result<NumberedLine<'_>, LocatedProblem> {
    let missing =
        || Problem::Truncated { found: "the heading".to_string(), needed: "a line with the size".to_string() };
    line.ok_or_else(|| (PlaceInFile::File, missing()))
}

fn whole_numbers<const N: usize>(line: &NumberedLine<'_>, allowed: &str) -> Result<[usize; N], LocatedProblem> {
    let words: Option<Vec<usize>> = line.text.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    words.and_then(|words| words.try_into().ok()).ok_or_else(|| line.wrong(quoted(line.text), allowed))
}

fn check_count(found: usize, needed: usize) -> Result<(), LocatedProblem> {
    if found == needed {
        return Ok(());
    }
    let problem =
        Problem::Truncated { found: format!("{found} entries"), needed: format!("{needed}, as the size says") };
    Err((PlaceInFile::File, problem))
}
