//! The packet log of a run, one line or row per packet: with it and the machine's channels (`maquette machine --json`),
//! anyone can check a run with a simulator of their own.
//!
//! | column | |
//! |---|---|
//! | `source`, `destination` | the nodes |
//! | `bytes` | the size of the message that it carried [B] |
//! | `flits` | header included [flits] |
//! | `injected_ps`, `delivered_ps` | when it was put into the source's queue, when its tail had arrived [ps] |
//! | `blocking_ps` | how long its header was blocked, over all its channels [ps] |
//! | `channels` | those that it crossed, in order |
//! | `virtual_channels` | for each channel: which of the virtual channels that share it, from 0 |
//! | `requested_ps`, `granted_ps`, `released_ps` | for each channel: when the header asked for it, when the packet had it, when its tail had crossed [ps] |
//!
//! In CSV, the numbers of a list are in one field, separated by spaces. In Arrow, they are lists, and the metadata of
//! the schema records under `experiment`, in JSON, what was run.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use virtual_worlds::answer::{HopRecord, PacketRecord};

use super::EXPERIMENT_KEY;
use super::arrow::{ArrowWriter, BATCH_ROWS, Column, Field, Form, Kind};

/// The format of a packet log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketFormat {
    /// Comma-separated values, with a line of names.
    Csv,
    /// An Arrow file: polars, pandas and pyarrow read it as columns.
    Arrow,
}

impl PacketFormat {
    /// The file name extensions that determine a format.
    pub const ENDINGS: [&'static str; 2] = [".csv", ".arrow"];

    /// The format that a file name's extension stands for.
    pub fn of(path: &Path) -> Option<PacketFormat> {
        match path.extension()?.to_str()? {
            "csv" => Some(PacketFormat::Csv),
            "arrow" => Some(PacketFormat::Arrow),
            _ => None,
        }
    }
}

/// Writes the packet log `packets` of `experiment` to `out`; Arrow records what was run, CSV has no place for it.
///
/// # Errors
/// When `out` fails.
pub fn write_packets(
    out: impl Write,
    format: PacketFormat,
    packets: &[PacketRecord],
    experiment: &impl Serialize,
) -> io::Result<()> {
    match format {
        PacketFormat::Csv => write_csv(out, packets),
        PacketFormat::Arrow => write_arrow(out, Form::File, &FIELDS, packets, experiment),
    }
}

/// Writes the packet log `packets` of `experiment` to `out` as an Arrow stream, with times as signed numbers.
///
/// # Errors
/// When `out` fails.
pub fn stream_packets(out: impl Write, packets: &[PacketRecord], experiment: &impl Serialize) -> io::Result<()> {
    let is_time = |field: &Field<'_>| field.name.ends_with("_ps");
    let fields = FIELDS.map(|field| if is_time(&field) { Field { kind: Kind::Signed64, ..field } } else { field });
    write_arrow(out, Form::Stream, &fields, packets, experiment)
}

/// The values written for each channel on a packet's path.
const HOP_VALUES: [fn(&HopRecord) -> u64; 5] = [
    |hop| u64::from(hop.channel.0),
    |hop| u64::from(hop.virtual_channel),
    |hop| hop.requested.picoseconds(),
    |hop| hop.granted.picoseconds(),
    |hop| hop.released.picoseconds(),
];

/// The values written once for each packet.
fn values(packet: &PacketRecord) -> [u64; FIELDS.len() - HOP_VALUES.len()] {
    [
        u64::from(packet.source.0),
        u64::from(packet.destination.0),
        packet.bytes.0,
        u64::from(packet.flits),
        packet.injected.picoseconds(),
        packet.delivered.picoseconds(),
        packet.blocking().picoseconds(),
    ]
}

fn write_csv(out: impl Write, packets: &[PacketRecord]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(FIELDS.map(|field| field.name))?;
    for packet in packets {
        let list = |value: fn(&HopRecord) -> u64| -> String {
            let numbers: Vec<String> = packet.hops.iter().map(|hop| value(hop).to_string()).collect();
            numbers.join(" ")
        };
        writer.serialize((values(packet), HOP_VALUES.map(list)))?;
    }
    writer.flush()
}

const fn number(name: &'static str, kind: Kind) -> Field<'static> {
    Field { name, kind, list: false, nullable: false }
}
const fn list(name: &'static str, kind: Kind) -> Field<'static> {
    Field { name, kind, list: true, nullable: false }
}

const FIELDS: [Field<'static>; 12] = [
    number("source", Kind::Unsigned32),
    number("destination", Kind::Unsigned32),
    number("bytes", Kind::Unsigned64),
    number("flits", Kind::Unsigned32),
    number("injected_ps", Kind::Unsigned64),
    number("delivered_ps", Kind::Unsigned64),
    number("blocking_ps", Kind::Unsigned64),
    list("channels", Kind::Unsigned32),
    list("virtual_channels", Kind::Unsigned32),
    list("requested_ps", Kind::Unsigned64),
    list("granted_ps", Kind::Unsigned64),
    list("released_ps", Kind::Unsigned64),
];

fn write_arrow(
    out: impl Write,
    form: Form,
    fields: &[Field<'static>; FIELDS.len()],
    packets: &[PacketRecord],
    experiment: &impl Serialize,
) -> io::Result<()> {
    let mut file = ArrowWriter::new(out, form, fields, (EXPERIMENT_KEY, serde_json::to_string(experiment)?))?;
    for batch in packets.chunks(BATCH_ROWS) {
        let mut columns: [Column; FIELDS.len()] = Default::default();
        for packet in batch {
            add_row(&mut columns, packet);
        }
        file.batch(batch.len(), &columns)?;
    }
    file.finish()
}

fn add_row(columns: &mut [Column; FIELDS.len()], packet: &PacketRecord) {
    let mut column = columns.iter_mut().zip(FIELDS);
    let add = |column: &mut Column, field: Field<'_>, value: u64| match field.kind {
        Kind::Unsigned32 => column.number32(value as u32),
        _ => column.number64(value),
    };
    for (value, (column, field)) in values(packet).into_iter().zip(&mut column) {
        add(column, field, value);
    }
    for (value, (column, field)) in HOP_VALUES.into_iter().zip(column) {
        packet.hops.iter().for_each(|hop| add(column, field, value(hop)));
        column.end_list(field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machines::model::{ChannelId, NodeId};
    use quantities::{Bytes, Time};

    fn log() -> Vec<PacketRecord> {
        let at = Time::from_picoseconds;
        let hop = |channel, virtual_channel, requested, granted, released| HopRecord {
            channel: ChannelId(channel),
            virtual_channel,
            requested: at(requested),
            granted: at(granted),
            released: at(released),
        };
        let packet = |source, hops| PacketRecord {
            source: NodeId(source),
            destination: NodeId(1),
            bytes: Bytes(100),
            flits: 102,
            injected: at(5),
            hops,
            delivered: at(900),
        };
        vec![packet(0, vec![hop(3, 0, 10, 10, 500), hop(9, 1, 20, 45, 600)]), packet(2, vec![hop(4, 0, 10, 10, 500)])]
    }

    #[test]
    fn csv_has_a_line_a_packet() {
        let mut text = Vec::new();
        write_packets(&mut text, PacketFormat::Csv, &log(), &"run").unwrap();
        let expected = "source,destination,bytes,flits,injected_ps,delivered_ps,blocking_ps,\
                        channels,virtual_channels,requested_ps,granted_ps,released_ps\n\
                        0,1,100,102,5,900,25,3 9,0 1,10 20,10 45,500 600\n\
                        2,1,100,102,5,900,0,4,0,10,10,500\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    /// A test in Python checks, with polars, that other programs can read it.
    #[test]
    fn an_arrow_file_is_marked_at_both_ends_and_aligned() {
        let mut bytes = Vec::new();
        write_packets(&mut bytes, PacketFormat::Arrow, &log(), &serde_json::json!({"command": "run"})).unwrap();
        assert!(bytes.starts_with(b"ARROW1\0\0") && bytes.ends_with(b"ARROW1"));
        // The record of what was run is in the schema, which a file has at both ends.
        assert_eq!(String::from_utf8_lossy(&bytes).matches("\"command\":\"run\"").count(), 2);
        let footer = u32::from_le_bytes(bytes[bytes.len() - 10..][..4].try_into().unwrap()) as usize;
        assert_eq!((bytes.len() - 10 - footer) % 8, 0);
    }

    #[test]
    fn the_ending_of_the_name_gives_the_form() {
        assert_eq!(PacketFormat::of(Path::new("a/b.csv")), Some(PacketFormat::Csv));
        assert_eq!(PacketFormat::of(Path::new("b.arrow")), Some(PacketFormat::Arrow));
        assert_eq!(PacketFormat::of(Path::new("b.txt")), None);
        assert_eq!(PacketFormat::of(Path::new("csv")), None);
    }
}
