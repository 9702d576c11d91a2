//! Tables as Arrow streams: columns of numbers and texts, each declared once, with the function that takes its value
//! from a row.

use std::borrow::Cow;
use std::io::{self, Write};

use quantities::{Duration, Time};
use serde::Serialize;

use super::EXPERIMENT_KEY;
use super::arrow::{ArrowWriter, BATCH_ROWS, Column, Field, Form, Kind};

/// A value in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'row> {
    /// A whole number that is not negative, and fits 32 bits in a column of such numbers.
    Whole(u64),
    /// Any number.
    Number(f64),
    /// A text.
    Text(Cow<'row, str>),
    /// No value.
    Missing,
}

impl Cell<'_> {
    /// Appends it to a column of that kind.
    fn add(&self, column: &mut Column, kind: Kind, row: usize) {
        match self {
            Cell::Whole(number) if kind == Kind::Unsigned32 => column.number32(*number as u32),
            Cell::Whole(number) if kind == Kind::Float64 => column.number64((*number as f64).to_bits()),
            Cell::Whole(number) => column.number64(*number),
            Cell::Number(number) => column.number64(number.to_bits()),
            Cell::Text(text) => column.text(text),
            Cell::Missing => column.missing(row, kind),
        }
    }
}

/// Rows of cells, one for each column.
#[derive(Clone, Debug)]
pub struct Cells<'a> {
    /// The name of each column, and the type of its values.
    pub columns: Vec<(&'a str, Kind)>,
    /// The rows.
    pub rows: Vec<Vec<Cell<'a>>>,
}

impl Cells<'_> {
    /// Writes the table, the result of `experiment`, to `out` as an Arrow stream or file.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write_arrow(&self, out: impl Write, as_stream: bool, experiment: &impl Serialize) -> io::Result<()> {
        let field = |&(name, kind)| Field { name, kind, list: false, nullable: true };
        let fields: Vec<Field<'_>> = self.columns.iter().map(field).collect();
        let form = if as_stream { Form::Stream } else { Form::File };
        let mut writer = ArrowWriter::new(out, form, &fields, (EXPERIMENT_KEY, serde_json::to_string(experiment)?))?;
        for batch in self.rows.chunks(BATCH_ROWS) {
            let mut columns = vec![Column::default(); fields.len()];
            for (number, row) in batch.iter().enumerate() {
                for ((cell, column), field) in row.iter().zip(&mut columns).zip(&fields) {
                    cell.add(column, field.kind, number);
                }
            }
            writer.batch(batch.len(), &columns)?;
        }
        writer.finish()
    }

    /// Writes the table to `out` as CSV, with a line of names; missing values are empty.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write_csv(&self, out: impl Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns.iter().map(|(name, _)| name))?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Cell::in_csv))?;
        }
        writer.flush()
    }
}

impl Cell<'_> {
    fn in_csv(&self) -> String {
        match self {
            Cell::Whole(number) => number.to_string(),
            Cell::Number(number) => number.to_string(),
            Cell::Text(text) => text.to_string(),
            Cell::Missing => String::new(),
        }
    }
}

/// A column of a table whose rows are `Row`: its name, the type of its values, and the function that takes its value
/// from a row.
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

/// Writes a table of `rows`, the result of `experiment`, to `out` as an Arrow stream.
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
        columns.iter().map(|&ColumnOf(name, kind, _)| Field { name, kind, list: false, nullable: false }).collect();
    let note = (EXPERIMENT_KEY, serde_json::to_string(experiment)?);
    let mut stream = ArrowWriter::new(out, Form::Stream, &fields, note)?;
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let mut values = vec![Column::default(); columns.len()];
        let mut taken = 0;
        for row in rows.by_ref().take(BATCH_ROWS) {
            for (ColumnOf(_, kind, cell), column) in columns.iter().zip(&mut values) {
                cell(&row).add(column, *kind, taken);
            }
            taken += 1;
        }
        stream.batch(taken, &values)?;
    }
    stream.finish()
}
