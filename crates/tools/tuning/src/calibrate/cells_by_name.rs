//! A row of a file whose columns have names.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::str::FromStr;

use quantities::ParseError;

use super::times::TimesProblem;
use formats::cells::quoted;

/// A row: a cell for each column, some of them empty.
pub(super) struct Row<'a> {
    columns: &'a [&'a str],
    cells: &'a [&'a str],
    /// The columns that were read.
    read: RefCell<BTreeSet<&'a str>>,
}

impl<'a> Row<'a> {
    pub(super) fn new(columns: &'a [&'a str], cells: &'a [&'a str]) -> Row<'a> {
        Row { columns, cells, read: RefCell::default() }
    }

    /// The content of a column; none if the cell is empty, or there is no such column.
    pub(super) fn optional(&self, column: &str) -> Option<&'a str> {
        let place = self.columns.iter().position(|name| *name == column)?;
        self.read.borrow_mut().insert(self.columns[place]);
        self.cells.get(place).copied().filter(|cell| !cell.is_empty())
    }

    /// The amount, time or rate in a column that must not be empty.
    pub(super) fn quantity<T: FromStr<Err = ParseError>>(&self, column: &'static str) -> Result<T, TimesProblem> {
        let cell = self.optional(column).unwrap_or_default();
        cell.parse().map_err(|error: ParseError| TimesProblem::Cell {
            column: column.to_string(),
            found: quoted(cell),
            allowed: error.hint().trim_start_matches("write ").to_owned(),
        })
    }

    /// A column's value, or `usual` if the cell is empty.
    pub(super) fn value<T: FromStr>(&self, column: &'static str, usual: T, allowed: &str) -> Result<T, TimesProblem> {
        let Some(cell) = self.optional(column) else { return Ok(usual) };
        cell.parse().map_err(|_| TimesProblem::cell(column, quoted(cell), allowed))
    }

    /// A column's whole number in a range, or `usual` if the cell is empty.
    pub(super) fn count(
        &self,
        column: &'static str,
        usual: Option<u32>,
        range: std::ops::RangeInclusive<u32>,
    ) -> Result<u32, TimesProblem> {
        let allowed = format!("{} to {}", range.start(), range.end());
        let found = match (self.optional(column), usual) {
            (None, Some(usual)) => return Ok(usual),
            (None, None) => return Err(TimesProblem::cell(column, "nothing", allowed)),
            (Some(cell), _) => cell,
        };
        match found.parse() {
            Ok(count) if range.contains(&count) => Ok(count),
            _ => Err(TimesProblem::cell(column, quoted(found), allowed)),
        }
    }

    /// One of several alternatives, by its name.
    pub(super) fn one_of<T>(
        &self,
        column: &'static str,
        usual: Option<T>,
        known: impl IntoIterator<Item = (&'static str, T)>,
    ) -> Result<T, TimesProblem> {
        let known: Vec<(&str, T)> = known.into_iter().collect();
        let names: Vec<&str> = known.iter().map(|pair| pair.0).collect();
        let allowed = format!("one of {}", names.join(", "));
        match (self.optional(column), usual) {
            (None, Some(usual)) => Ok(usual),
            (None, None) => Err(TimesProblem::cell(column, "nothing", allowed)),
            (Some(cell), _) => {
                let suggestion = quantities::nearest(cell, names).map(|name| format!(" (did you mean `{name}`?)"));
                let found = known.into_iter().find(|pair| pair.0 == cell);
                let wrong = || TimesProblem::cell(column, quoted(cell), allowed + &suggestion.unwrap_or_default());
                found.map(|pair| pair.1).ok_or_else(wrong)
            }
        }
    }

    /// Checks that every cell that was not read is empty.
    pub(super) fn check_rest(&self, program: &str) -> Result<(), TimesProblem> {
        let read = self.read.borrow();
        let idle =
            self.columns.iter().zip(self.cells).find(|(column, cell)| !read.contains(*column) && !cell.is_empty());
        idle.map_or(Ok(()), |(column, cell)| Err(TimesProblem::idle(column, cell, program)))
    }
}
