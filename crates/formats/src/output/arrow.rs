//! The Arrow file format ("Feather 2"), as much of it as whole numbers and lists of them need.
//!
//! A file is a mark, the schema, batches of rows, and a footer that says where each batch stands. Schema, batch and
//! footer are headed by FlatBuffers, whose tables are put together here slot by slot; the slots' numbers are those of
//! `Schema.fbs`, `Message.fbs` and `File.fbs` in the Arrow format's specification.

use std::io::{self, Write};

use flatbuffers::{FlatBufferBuilder, TableFinishedWIPOffset, WIPOffset};

const MARK: &[u8; 6] = b"ARROW1";
/// Version 5 of the metadata, as in every Arrow since 1.0.
const VERSION: i16 = 4;
/// Kinds of message.
const SCHEMA: u8 = 1;
const BATCH: u8 = 3;
/// Kinds of type.
const INT: u8 = 2;
const LIST: u8 = 12;

/// A column's name and the width of its numbers, or of those in its lists. [bits]
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub name: &'static str,
    pub bits: i32,
    pub list: bool,
}

/// The numbers of a column, in bytes, the least first; of a list column, all lists one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    /// Where each list ends, counted in numbers. Empty for a column of numbers.
    ends: Vec<i32>,
    values: Vec<u8>,
}

impl Column {
    pub(super) fn number32(&mut self, value: u32) {
        self.values.extend(value.to_le_bytes());
    }
    pub(super) fn number64(&mut self, value: u64) {
        self.values.extend(value.to_le_bytes());
    }
    /// The numbers since the last end are a list.
    pub(super) fn end_list(&mut self, field: Field) {
        self.ends.push((self.values.len() / field.bytes()) as i32);
    }
}

impl Field {
    const fn bytes(self) -> usize {
        self.bits as usize / 8
    }
}

/// An Arrow file that is being written.
pub(super) struct ArrowFile<'a, W> {
    out: W,
    /// How much was written. [B]
    at: usize,
    fields: &'a [Field],
    /// What is said of the whole of it, by name.
    note: (&'static str, String),
    blocks: Vec<Block>,
}

/// Where a batch stands.
struct Block {
    offset: usize,
    header: usize,
    body: usize,
}

impl<'a, W: Write> ArrowFile<'a, W> {
    /// Begins a file of the columns `fields`, with a note, of that name, in the metadata of its schema.
    pub(super) fn new(out: W, fields: &'a [Field], note: (&'static str, String)) -> io::Result<Self> {
        let mut file = ArrowFile { out, at: 0, fields, note, blocks: Vec::new() };
        file.write(MARK)?;
        file.write(&[0, 0])?;
        let mut build = FlatBufferBuilder::new();
        let schema = schema(&mut build, fields, &file.note);
        let header = message(build, SCHEMA, schema, 0);
        file.header(&header)?;
        Ok(file)
    }

    /// Adds `rows` rows.
    pub(super) fn batch(&mut self, rows: usize, columns: &[Column]) -> io::Result<()> {
        let mut layout = Layout::default();
        let mut body = Vec::new();
        for (&field, column) in self.fields.iter().zip(columns) {
            if field.list {
                layout.nodes.extend([rows as i64, 0]);
                layout.buffer(&mut body, &[]);
                let starts = std::iter::once(&0).chain(&column.ends).flat_map(|end| end.to_le_bytes());
                layout.buffer(&mut body, &starts.collect::<Vec<u8>>());
            }
            layout.nodes.extend([(column.values.len() / field.bytes()) as i64, 0]);
            layout.buffer(&mut body, &[]);
            layout.buffer(&mut body, &column.values);
        }
        let mut build = FlatBufferBuilder::new();
        let table = layout.table(&mut build, rows);
        let header = message(build, BATCH, table, body.len());
        let offset = self.at;
        let header = self.header(&header)?;
        self.blocks.push(Block { offset, header, body: body.len() });
        self.write(&body)
    }

    /// Writes the footer. Nothing can follow it.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.write(&u32::MAX.to_le_bytes())?;
        self.write(&[0; 4])?;
        let mut build = FlatBufferBuilder::new();
        let schema = schema(&mut build, self.fields, &self.note);
        // A block is a structure of 8 + 4 + 4 (unused) + 8 bytes, put together from its end.
        build.start_vector::<i64>(3 * self.blocks.len());
        for block in self.blocks.iter().rev() {
            build.push(block.body as i64);
            build.push(block.header as i64);
            build.push(block.offset as i64);
        }
        let blocks = build.end_vector::<i64>(self.blocks.len());
        let footer = build.start_table();
        build.push_slot_always(slot(0), VERSION);
        build.push_slot_always(slot(1), schema);
        build.push_slot_always(slot(3), blocks);
        let footer = build.end_table(footer);
        build.finish_minimal(footer);
        let footer = build.finished_data().to_vec();
        self.write(&footer)?;
        self.write(&(footer.len() as u32).to_le_bytes())?;
        self.write(MARK)?;
        self.out.flush()
    }

    /// Writes a message's header, filled up to eight bytes, and gives its length with what stands before it.
    fn header(&mut self, header: &[u8]) -> io::Result<usize> {
        let filled = header.len().next_multiple_of(8);
        self.write(&u32::MAX.to_le_bytes())?;
        self.write(&(filled as u32).to_le_bytes())?;
        self.write(header)?;
        self.write(&[0; 8][..filled - header.len()])?;
        Ok(8 + filled)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len();
        self.out.write_all(bytes)
    }
}

/// Where the buffers of a batch stand in its body, and how many values each column has.
#[derive(Default)]
struct Layout {
    /// Pairs of a column's length and how many of its values are missing.
    nodes: Vec<i64>,
    /// Pairs of a buffer's offset and length.
    buffers: Vec<i64>,
}

impl Layout {
    fn buffer(&mut self, body: &mut Vec<u8>, bytes: &[u8]) {
        self.buffers.extend([body.len() as i64, bytes.len() as i64]);
        body.extend(bytes);
        body.resize(body.len().next_multiple_of(8), 0);
    }

    fn table(&self, build: &mut FlatBufferBuilder<'_>, rows: usize) -> WIPOffset<TableFinishedWIPOffset> {
        let nodes = pairs(build, &self.nodes);
        let buffers = pairs(build, &self.buffers);
        let table = build.start_table();
        build.push_slot_always(slot(0), rows as i64);
        build.push_slot_always(slot(1), nodes);
        build.push_slot_always(slot(2), buffers);
        build.end_table(table)
    }
}

/// The place of a table's slot in the list of its slots.
const fn slot(number: u16) -> u16 {
    4 + 2 * number
}

/// A vector of structures of two numbers each.
fn pairs<'a>(build: &mut FlatBufferBuilder<'a>, numbers: &[i64]) -> WIPOffset<flatbuffers::Vector<'a, i64>> {
    build.start_vector::<i64>(numbers.len());
    for &number in numbers.iter().rev() {
        build.push(number);
    }
    build.end_vector::<i64>(numbers.len() / 2)
}

fn message(
    mut build: FlatBufferBuilder<'_>,
    kind: u8,
    content: WIPOffset<TableFinishedWIPOffset>,
    body: usize,
) -> Vec<u8> {
    let table = build.start_table();
    build.push_slot_always(slot(3), body as i64);
    build.push_slot_always(slot(2), content);
    build.push_slot_always(slot(0), VERSION);
    build.push_slot_always(slot(1), kind);
    let table = build.end_table(table);
    build.finish_minimal(table);
    build.finished_data().to_vec()
}

fn schema(
    build: &mut FlatBufferBuilder<'_>,
    fields: &[Field],
    (name, text): &(&str, String),
) -> WIPOffset<TableFinishedWIPOffset> {
    let fields: Vec<_> = fields
        .iter()
        .map(|field| {
            let number = int(build, field.bits);
            if !field.list {
                return column(build, field.name, INT, number, None);
            }
            let item = column(build, "item", INT, number, None);
            let list = build.start_table();
            let list = build.end_table(list);
            column(build, field.name, LIST, list, Some(item))
        })
        .collect();
    let fields = build.create_vector(&fields);
    let (name, text) = (build.create_string(name), build.create_string(text));
    let note = build.start_table();
    build.push_slot_always(slot(0), name);
    build.push_slot_always(slot(1), text);
    let note = build.end_table(note);
    let notes = build.create_vector(&[note]);
    let table = build.start_table();
    build.push_slot_always(slot(1), fields);
    build.push_slot_always(slot(2), notes);
    build.end_table(table)
}

fn int(build: &mut FlatBufferBuilder<'_>, bits: i32) -> WIPOffset<TableFinishedWIPOffset> {
    let table = build.start_table();
    build.push_slot_always(slot(0), bits);
    build.push_slot_always(slot(1), false);
    build.end_table(table)
}

fn column(
    build: &mut FlatBufferBuilder<'_>,
    name: &str,
    kind: u8,
    of: WIPOffset<TableFinishedWIPOffset>,
    item: Option<WIPOffset<TableFinishedWIPOffset>>,
) -> WIPOffset<TableFinishedWIPOffset> {
    let name = build.create_string(name);
    let children = build.create_vector(item.as_slice());
    let table = build.start_table();
    build.push_slot_always(slot(0), name);
    build.push_slot_always(slot(3), of);
    build.push_slot_always(slot(5), children);
    build.push_slot_always(slot(2), kind);
    build.push_slot_always(slot(1), false);
    build.end_table(table)
}
