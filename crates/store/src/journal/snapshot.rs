//! All of a member at once, in the entries and frames of a log.

use std::borrow::Cow;
use std::io::{self, Write};

use super::frame::{self, FRAME_HEADER};
use super::{JournalEntry, Run};
use crate::bucket::Bucket;
use crate::large::Pieces;
use crate::large::encoding::encode;
use crate::member::Member;

/// A frame is closed when it is larger than this. [B]
const FRAME: usize = 1 << 20;

/// Frames that are written one after another.
struct Frames<'a> {
    to: &'a mut dyn Write,
    pieces: Pieces,
    written: u64,
}

impl Frames<'_> {
    fn begin(&mut self) {
        // The time: nothing in a snapshot depends on it.
        self.pieces = vec![0; FRAME_HEADER + 8].into();
    }

    fn write(&mut self, entry: &JournalEntry<'_>) -> io::Result<()> {
        self.pieces = encode(entry, std::mem::take(&mut self.pieces)).map_err(io::Error::other)?;
        if self.pieces.len() > FRAME { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> io::Result<()> {
        frame::close(&mut self.pieces, 0);
        self.pieces.iter().try_for_each(|piece| self.to.write_all(piece))?;
        self.written += self.pieces.len() as u64;
        self.begin();
        Ok(())
    }
}

/// Writes all of a member whose last run is `run`, without the header of the file. Returns how much that is. [B]
///
/// # Errors
/// Errors of writing to `to`.
pub fn write_snapshot(member: &Member<Bucket>, run: &Run, to: &mut dyn Write) -> io::Result<u64> {
    let mut frames = Frames { to, pieces: Pieces::default(), written: 0 };
    frames.begin();
    frames.write(&JournalEntry::Run(Cow::Borrowed(run)))?;
    frames.write(&JournalEntry::Standing(Cow::Owned(member.standing())))?;
    for (number, server) in member.servers() {
        frames.write(&JournalEntry::Server(number, server.control(), server.table().map(|table| table.shape())))?;
        for record in server.table().into_iter().flat_map(|table| table.entries()) {
            frames.write(&JournalEntry::Record(number, Cow::Borrowed(record)))?;
        }
    }
    for (other, sent, received, messages) in member.sequences() {
        frames.write(&JournalEntry::Sequences(other, sent, received))?;
        for sequenced in messages {
            frames.write(&JournalEntry::Unacknowledged(other, sequenced.clone()))?;
        }
    }
    for (from, to, message) in member.messages() {
        frames.write(&JournalEntry::Message(*from, *to, Cow::Borrowed(message)))?;
    }
    frames.write(&JournalEntry::End)?;
    frames.close()?;
    Ok(frames.written)
}
