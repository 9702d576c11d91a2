//! The frame log of a run on an Ethernet, one line or row for each frame and receiver, in the order in which their
//! journeys ended.
//!
//! | column | |
//! |---|---|
//! | `source`, `destination` | the nodes |
//! | `broadcast` | 1 where the frame was for all nodes |
//! | `bytes` | its payload [B] |
//! | `sent_ps` | when it was put into the source's ring [ps] |
//! | `ended_ps` | when it was in the receiver's ring, or was dropped [ps] |
//! | `fate` | 0 received, 1 dropped at a full queue of the switch, 2 lost on the way, 3 dropped at a full ring |

use std::io::{self, Write};

use serde::Serialize;
use virtual_worlds::answer::{FrameFate, FrameRecord};

use super::EXPERIMENT_KEY;
use super::arrow::{ArrowWriter, BATCH_ROWS, Column, Field, Form, Kind};
use super::packets::PacketFormat;

const fn number(name: &'static str, kind: Kind) -> Field<'static> {
    Field { name, kind, list: false, nullable: false }
}

const FIELDS: [Field<'static>; 7] = [
    number("source", Kind::Unsigned32),
    number("destination", Kind::Unsigned32),
    number("broadcast", Kind::Unsigned32),
    number("bytes", Kind::Unsigned64),
    number("sent_ps", Kind::Unsigned64),
    number("ended_ps", Kind::Unsigned64),
    number("fate", Kind::Unsigned32),
];

/// Writes the frame log `frames` of `experiment` to `out`; Arrow records what was run, CSV has no place for it.
///
/// # Errors
/// When `out` fails.
pub fn write_frames(
    out: impl Write,
    format: PacketFormat,
    frames: &[FrameRecord],
    experiment: &impl Serialize,
) -> io::Result<()> {
    match format {
        PacketFormat::Csv => write_csv(out, frames),
        PacketFormat::Arrow => write_arrow(out, frames, experiment),
    }
}

fn values(frame: &FrameRecord) -> [u64; FIELDS.len()] {
    let fate = match frame.fate {
        FrameFate::Received => 0,
        FrameFate::AtSwitch => 1,
        FrameFate::Lost => 2,
        FrameFate::AtRing => 3,
    };
    [
        u64::from(frame.source.0),
        u64::from(frame.destination.0),
        u64::from(frame.broadcast),
        frame.bytes.0,
        frame.sent.picoseconds(),
        frame.ended.picoseconds(),
        fate,
    ]
}

fn write_csv(out: impl Write, frames: &[FrameRecord]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(FIELDS.map(|field| field.name))?;
    for frame in frames {
        writer.serialize(values(frame))?;
    }
    writer.flush()
}

fn write_arrow(out: impl Write, frames: &[FrameRecord], experiment: &impl Serialize) -> io::Result<()> {
    let note = (EXPERIMENT_KEY, serde_json::to_string(experiment)?);
    let mut file = ArrowWriter::new(out, Form::File, &FIELDS, note)?;
    for batch in frames.chunks(BATCH_ROWS) {
        let mut columns: [Column; FIELDS.len()] = Default::default();
        for frame in batch {
            for ((value, column), field) in values(frame).into_iter().zip(&mut columns).zip(FIELDS) {
                match field.kind {
                    Kind::Unsigned32 => column.number32(value as u32),
                    _ => column.number64(value),
                }
            }
        }
        file.batch(batch.len(), &columns)?;
    }
    file.finish()
}

#[cfg(test)]
mod tests {
    use quantities::{Bytes, Rank, Time};

    use super::*;

    fn log() -> Vec<FrameRecord> {
        let frame = |destination, fate| FrameRecord {
            source: Rank(0),
            destination: Rank(destination),
            broadcast: true,
            bytes: Bytes(92),
            sent: Time::from_picoseconds(5),
            ended: Time::from_picoseconds(900),
            fate,
        };
        vec![frame(1, FrameFate::Received), frame(2, FrameFate::Lost)]
    }

    #[test]
    fn csv_has_a_line_for_each_receiver() {
        let mut text = Vec::new();
        write_frames(&mut text, PacketFormat::Csv, &log(), &"run").unwrap();
        let expected = "source,destination,broadcast,bytes,sent_ps,ended_ps,fate\n0,1,1,92,5,900,0\n0,2,1,92,5,900,2\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn an_arrow_file_is_marked_at_both_ends() {
        let mut bytes = Vec::new();
        write_frames(&mut bytes, PacketFormat::Arrow, &log(), &"run").unwrap();
        assert!(bytes.starts_with(b"ARROW1\0\0") && bytes.ends_with(b"ARROW1"));
    }
}
