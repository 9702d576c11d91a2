//! Tables as Arrow streams: columns of numbers and texts, each said once, with what it is of a row.

use std::borrow::Cow;
use std::io::{self, Write};

use quantities::{Duration, Time};
use serde::Serialize;

use super::EXPERIMENT_KEY;
use super::arrow::{ArrowWriter, BATCH_ROWS, Column, Field, Form, Kind};

/// A value in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'row> {
    /// A whole number that is not negative; of 32 bits in a column of those.
    Whole(u64),
    /// Any number.
    Number(f64),
    /// A text.
    Text(Cow<'row, str>),
}

/// A column of a table whose rows are `Row`: its name, what its values are, and which that of a row is.
pub struct ColumnOf<Row>(pub &'static str, pub Kind, pub for<'row> fn(&'row Row) -> Cell<'row>);

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Cell::Whole(number.into())
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Cell::Whole(number)
    }
}

impl From<Time> for Cell<'_> {
    /// In picoseconds.
    fn from(time: Time) -> Self {
        Cell::Whole(time.picoseconds())
    }
}

impl From<Duration> for Cell<'_> {
    /// In picoseconds.
    fn from(length: Duration) -> Self {
        Cell::Whole(length.picoseconds())
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Cell::Number(number)
    }
}

impl<'row> From<&'row str> for Cell<'row> {
    fn from(text: &'row str) -> Self {
        Cell::Text(Cow::Borrowed(text))
    }
}

/// Writes a table of `rows`, which came of `experiment`, to `out` as an Arrow stream.
///
/// # Errors
/// When `out` fails.
pub fn stream_table<Row>(
    out: impl Write,
    columns: &[ColumnOf<Row>],
    rows: impl IntoIterator<Item = Row>,
    experiment: &impl Serialize,
) -> io::Result<()> {
    let fields: Vec<Field<'_>> =
        columns.iter().map(|&ColumnOf(name, kind, _)| Field { name, kind, list: false }).collect();
    let note = (EXPERIMENT_KEY, serde_json::to_string(experiment)?);
    let mut stream = ArrowWriter::new(out, Form::Stream, &fields, note)?;
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let mut values = vec![Column::default(); columns.len()];
        let mut taken = 0;
        for row in rows.by_ref().take(BATCH_ROWS) {
            taken += 1;
            for (ColumnOf(_, kind, cell), column) in columns.iter().zip(&mut values) {
                match cell(&row) {
                    Cell::Whole(number) if *kind == Kind::Unsigned32 => column.number32(number as u32),
                    Cell::Whole(number) => column.number64(number),
                    Cell::Number(number) => column.number64(number.to_bits()),
                    Cell::Text(text) => column.text(&text),
                }
            }
        }
        stream.batch(taken, &values)?;
    }
    stream.finish()
}
