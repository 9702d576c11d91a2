//! The Arrow file ("Feather 2") and stream formats, as much of them as numbers, texts and lists of numbers need.
//!
//! A stream consists of the schema, batches of rows, and an end mark. A file has a mark before that, and after it a
//! footer that says where each batch is. Schema, batch and footer are headed by FlatBuffers, whose tables this module
//! builds slot by slot; the slot numbers are those of `Schema.fbs`, `Message.fbs` and `File.fbs` in the Arrow format's
//! specification.

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
const FLOATING_POINT: u8 = 3;
const UTF8: u8 = 5;
const LIST: u8 = 12;
/// The precision of a 64-bit floating-point number.
const DOUBLE: i16 = 2;

/// Rows in a batch: enough for headers not to matter, few enough for the ends of lists and texts, which have 31 bits.
pub(super) const BATCH_ROWS: usize = 1 << 16;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unsigned 32-bit integers.
    Unsigned32,
    /// Unsigned 64-bit integers.
    Unsigned64,
    /// Signed 64-bit integers, in which most programs count time.
    Signed64,
    /// 64-bit floating-point numbers.
    Float64,
    /// Texts.
    Text,
}

/// A column's name, and the type of its values or of those in its lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub name: &'a str,
    pub kind: Kind,
    pub list: bool,
    /// Whether values may be missing; not in lists.
    pub nullable: bool,
}

/// The values of a column as bytes, numbers in little-endian order; the lists or texts of a column one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    /// Where each list or text ends, counted in values or bytes. Empty for a column of numbers.
    ends: Vec<i32>,
    values: Vec<u8>,
    /// The rows without a value.
    missing: Vec<usize>,
}

/// The framing around the batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A file, which can be read from any batch onwards.
    File,
    /// A stream, which is read from its beginning.
    Stream,
}

impl Column {
    pub(super) fn number32(&mut self, value: u32) {
        self.values.extend(value.to_le_bytes());
    }
    pub(super) fn number64(&mut self, value: u64) {
        self.values.extend(value.to_le_bytes());
    }
    /// Adds a row without a value to a column of that kind.
    pub(super) fn missing(&mut self, row: usize, kind: Kind) {
        self.missing.push(row);
        match kind {
            Kind::Text => self.text(""),
            _ => self.values.extend(&[0; 8][..kind.bytes()]),
        }
    }
    pub(super) fn text(&mut self, text: &str) {
        self.values.extend(text.as_bytes());
        self.ends.push(self.values.len() as i32);
    }
    /// One bit for each row, the first row lowest, set if there is a value; empty where no value is missing.
    fn presence(&self, rows: usize) -> Vec<u8> {
        if self.missing.is_empty() {
            return Vec::new();
        }
        let mut bits = vec![u8::MAX; rows.div_ceil(8)];
        for row in &self.missing {
            bits[row / 8] &= !(1 << (row % 8));
        }
        bits
    }
    /// Ends a list, of the numbers since the last end.
    pub(super) fn end_list(&mut self, field: Field<'_>) {
        self.ends.push((self.values.len() / field.kind.bytes()) as i32);
    }
}

impl Kind {
    /// The size of a value, or of one letter of a text. [B]
    const fn bytes(self) -> usize {
        match self {
            Kind::Unsigned32 => 4,
            Kind::Unsigned64 | Kind::Signed64 | Kind::Float64 => 8,
            Kind::Text => 1,
        }
    }
}

/// An Arrow file or stream that is being written.
pub(super) struct ArrowWriter<'a, W> {
    out: W,
    form: Form,
    /// How much has been written. [B]
    at: usize,
    fields: &'a [Field<'a>],
    /// Metadata about the whole, with its name.
    note: (&'static str, String),
    blocks: Vec<Block>,
}

/// Where a batch is, and the lengths of its header and body. [B]
struct Block {
    offset: usize,
    header: usize,
    body: usize,
}

impl<'a, W: Write> ArrowWriter<'a, W> {
    /// Begins with the columns `fields`, and a named note in the metadata of the schema.
    pub(super) fn new(out: W, form: Form, fields: &'a [Field<'a>], note: (&'static str, String)) -> io::Result<Self> {
        let mut file = ArrowWriter { out, form, at: 0, fields, note, blocks: Vec::new() };
        if form == Form::File {
            file.write(MARK)?;
            file.write(&[0, 0])?;
        }
        let mut build = FlatBufferBuilder::new();
        let schema = schema(&mut build, fields, &file.note);
        let header = message(build, SCHEMA, schema, 0);
        file.header(&header)?;
        Ok(file)
    }

    /// Adds `rows` rows.
    pub(super) fn batch(&mut self, rows: usize, columns: &[Column]) -> io::Result<()> {
        let mut layout = BatchLayout::default();
        let mut body = Vec::new();
        for (&field, column) in self.fields.iter().zip(columns) {
            let is_text = field.kind == Kind::Text;
            let missing = column.missing.len() as i64;
            if field.list || is_text {
                layout.nodes.extend([rows as i64, missing]);
                layout.buffer(&mut body, &column.presence(rows));
                let starts = std::iter::once(&0).chain(&column.ends).flat_map(|end| end.to_le_bytes());
                layout.buffer(&mut body, &starts.collect::<Vec<u8>>());
            }
            if !is_text {
                layout.nodes.extend([(column.values.len() / field.kind.bytes()) as i64, missing]);
                layout.buffer(&mut body, &column.presence(rows));
            }
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

    /// Writes the end. Nothing can follow.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.write(&u32::MAX.to_le_bytes())?;
        self.write(&[0; 4])?;
        match self.form {
            Form::File => self.footer()?,
            Form::Stream => {}
        }
        self.out.flush()
    }

    fn footer(&mut self) -> io::Result<()> {
        let mut build = FlatBufferBuilder::new();
        let schema = schema(&mut build, self.fields, &self.note);
        // A block is a structure of 8 + 4 + 4 (unused) + 8 bytes, built from its end.
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
        self.write(MARK)
    }

    /// Writes a message's header, padded to a multiple of eight bytes, and returns its length, prefix included.
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

/// Where the buffers of a batch are in its body, and how many values each column has.
#[derive(Default)]
struct BatchLayout {
    /// Pairs of a column's length and its number of missing values.
    nodes: Vec<i64>,
    /// Pairs of a buffer's offset and length.
    buffers: Vec<i64>,
}

impl BatchLayout {
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

/// The offset of a slot in the table's list of slots.
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
    fields: &[Field<'_>],
    (name, text): &(&str, String),
) -> WIPOffset<TableFinishedWIPOffset> {
    let fields: Vec<_> = fields
        .iter()
        .map(|field| {
            let (tag, kind) = kind(build, field.kind);
            if !field.list {
                return column(build, (field.name, field.nullable), tag, kind, None);
            }
            let item = column(build, ("item", false), tag, kind, None);
            let list = build.start_table();
            let list = build.end_table(list);
            column(build, (field.name, false), LIST, list, Some(item))
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

/// The number of a kind, and the table that describes it further.
fn kind(build: &mut FlatBufferBuilder<'_>, kind: Kind) -> (u8, WIPOffset<TableFinishedWIPOffset>) {
    let table = build.start_table();
    let tag = match kind {
        Kind::Unsigned32 | Kind::Unsigned64 | Kind::Signed64 => {
            build.push_slot_always(slot(0), 8 * kind.bytes() as i32);
            build.push_slot_always(slot(1), kind == Kind::Signed64);
            INT
        }
        Kind::Float64 => {
            build.push_slot_always(slot(0), DOUBLE);
            FLOATING_POINT
        }
        Kind::Text => UTF8,
    };
    (tag, build.end_table(table))
}

fn column(
    build: &mut FlatBufferBuilder<'_>,
    (name, nullable): (&str, bool),
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
    build.push_slot_always(slot(1), nullable);
    build.end_table(table)
}
