//! The batch to be written next: the entries of one turn.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use linear_hash::{Applied, ToServerOf};

use super::frame::{self, FRAME_HEADER};
use super::{Effect, JournalEntry};
use crate::bucket::Bucket;
use crate::contents::EncodedReply;
use crate::large::encoding::encode;
use crate::large::{Journaled, MaybeShared, Pieces};
use crate::member::{Begun, Identity, Recorder, Standing, Taken};
use crate::record::Milliseconds;

/// The size of the time, which stands before the entries of a batch. [B]
const TIME: usize = 8;
/// A batch keeps no more memory than this for the next one. [B]
const MOST_KEPT: usize = 4 << 20;

/// The entries of one turn, which are kept as a whole or not at all.
#[derive(Debug)]
pub struct Batch {
    /// Room for the header of the frame and for the time, and then the entries.
    pieces: Pieces,
    /// Whether it must be durable before any message to another member leaves.
    is_urgent: bool,
    /// Whether there was an entry that can't be encoded.
    is_broken: bool,
    /// The standing that was written last.
    standing: Option<Standing>,
    /// The numbers of large values that are written to the current log in parts, before they are stored, and of
    /// messages before they are taken.
    arriving: BTreeSet<u64>,
    /// The number that was given out last.
    arrived: u64,
}

/// How much of a large value or message is written at once. [B]
const MOST_OF_PART: usize = 1 << 20;

/// A batch, shared by all that write to it.
pub type Journal = Rc<RefCell<Batch>>;

/// A batch that is ready to be written.
#[derive(Debug)]
pub struct Ready<'a> {
    /// Its frame.
    pub frame: &'a Pieces,
    /// Whether it must be durable before any message to another member leaves.
    pub is_urgent: bool,
}

impl Default for Batch {
    fn default() -> Batch {
        let pieces = Pieces::from(vec![0; FRAME_HEADER + TIME]);
        Batch { pieces, is_urgent: false, is_broken: false, standing: None, arriving: BTreeSet::new(), arrived: 0 }
    }
}

impl Batch {
    /// Adds an entry.
    #[inline]
    pub fn write(&mut self, entry: &JournalEntry<'_>) {
        match encode(entry, std::mem::take(&mut self.pieces)) {
            Ok(pieces) => self.pieces = pieces,
            Err(_) => self.is_broken = true,
        }
    }

    /// Writes the next part of a large value, so that the value is not written all at once when it is stored. Returns
    /// whether nothing more is to be written in parts: the current log has all of these bytes, or other logs have begun
    /// too often meanwhile.
    pub(crate) fn write_part(&mut self, bytes: &[u8], journaled: &mut Journaled) -> bool {
        if let Some((number, part)) = self.next_part(bytes.len(), journaled) {
            self.write(&JournalEntry::Part(number, &bytes[part]));
        }
        self.is_done_with(bytes.len(), journaled)
    }

    /// The same of a message.
    pub(crate) fn write_part_of_message(&mut self, message: &Pieces, journaled: &mut Journaled) -> bool {
        if let Some((number, part)) = self.next_part(message.len(), journaled) {
            let pieces = message.part(part).filter(|piece| !piece.is_empty());
            pieces.for_each(|piece| self.write(&JournalEntry::Part(number, piece)));
        }
        self.is_done_with(message.len(), journaled)
    }

    /// The number of what has `length` bytes, and the next part of it to be written; none, if nothing more is to be
    /// written in parts.
    fn next_part(&mut self, length: usize, journaled: &mut Journaled) -> Option<(u64, Range<usize>)> {
        if self.is_done_with(length, journaled) {
            return None;
        }
        let number = self.number_of(journaled).unwrap_or_else(|| {
            self.arrived += 1;
            self.arriving.insert(self.arrived);
            journaled.begin(self.arrived);
            self.arrived
        });
        Some((number, journaled.next_part(length, MOST_OF_PART)))
    }

    /// Whether nothing of these `length` bytes is to be written in parts any more.
    pub(crate) fn is_done_with(&self, length: usize, journaled: &Journaled) -> bool {
        match self.number_of(journaled) {
            Some(_) => journaled.written() == length,
            None => !journaled.may_begin(),
        }
    }

    /// Nothing refers to the parts with this number, if nothing has by now: the value was not stored, or the message
    /// not taken.
    pub(crate) fn give_up(&mut self, journaled: &Journaled) {
        if let Some(number) = journaled.number() {
            self.arriving.remove(&number);
        }
    }

    /// The number of a value in the current log, if it has parts of it.
    fn number_of(&self, journaled: &Journaled) -> Option<u64> {
        journaled.number().filter(|number| self.arriving.contains(number))
    }

    /// Whether values are being written in parts. If another log begins now, they have to be written again.
    pub(crate) fn has_begun_values(&self) -> bool {
        !self.arriving.is_empty()
    }

    /// Another log begins, which has no parts of values yet. The batch must be empty.
    pub(crate) fn begin_log(&mut self) {
        self.arriving.clear();
    }

    /// Whether there is nothing to be written.
    pub const fn is_empty(&self) -> bool {
        self.pieces.bytes.len() <= FRAME_HEADER + TIME && !self.is_broken
    }

    /// Makes a frame of the batch, while the first `kept` bytes of the file are durable; none, if an entry could not be
    /// encoded.
    pub fn close(&mut self, now: Milliseconds, kept: u64) -> Option<Ready<'_>> {
        if self.is_broken {
            return None;
        }
        self.pieces.bytes[FRAME_HEADER..FRAME_HEADER + TIME].copy_from_slice(&now.to_le_bytes());
        frame::close(&mut self.pieces, kept);
        Some(Ready { frame: &self.pieces, is_urgent: self.is_urgent })
    }

    /// The next batch begins.
    pub fn begin(&mut self) {
        let Pieces { bytes, large } = &mut self.pieces;
        large.clear();
        bytes.truncate(FRAME_HEADER + TIME);
        if bytes.capacity() > MOST_KEPT {
            bytes.shrink_to(MOST_KEPT);
        }
        self.is_urgent = false;
    }
}

/// Writes changes of a server's records to the journal.
#[derive(Debug)]
pub struct JournalWriter {
    journal: Journal,
    server: u32,
}

impl JournalWriter {
    /// A writer for the server with this number.
    pub const fn new(journal: Journal, server: u32) -> JournalWriter {
        JournalWriter { journal, server }
    }

    /// Writes a change of a record.
    #[inline]
    pub fn write(&self, effect: Effect<'_>) {
        let mut batch = self.journal.borrow_mut();
        if let Effect::Set { key, value: MaybeShared::Shared(value), expiry } = &effect
            && let Some(number) = value.journaled().filter(|number| batch.arriving.remove(number))
        {
            return batch.write(&JournalEntry::Arrived(self.server, key, number, *expiry));
        }
        batch.write(&JournalEntry::Effect(self.server, effect));
    }
}

/// Writes to the journal what a member and its servers do.
#[derive(Debug)]
pub(crate) struct OfMember(pub(crate) Journal);

impl Recorder<Bucket> for OfMember {
    fn stands(&mut self, standing: Standing) {
        let mut batch = self.0.borrow_mut();
        if batch.standing.as_ref() != Some(&standing) {
            batch.write(&JournalEntry::Standing(Cow::Borrowed(&standing)));
            batch.standing = Some(standing);
        }
    }

    fn takes(&mut self, taken: Taken, message: Option<(&ToServerOf<Bucket>, Option<u64>)>) {
        let mut batch = self.0.borrow_mut();
        batch.is_urgent |= taken.sequenced.is_some();
        let journaled = message.and_then(|(_, journaled)| journaled);
        match journaled.filter(|number| batch.arriving.remove(number)) {
            Some(number) => batch.write(&JournalEntry::TakingArrived(taken, number)),
            None => batch.write(&JournalEntry::Taking(taken, message.map(|(message, _)| Cow::Borrowed(message)))),
        }
    }

    fn begins(&mut self, begun: Begun) {
        self.0.borrow_mut().write(&JournalEntry::Beginning(begun));
    }

    fn answers(&mut self, server: u32, client: u64, applied: &Applied<EncodedReply>) {
        self.0.borrow_mut().write(&JournalEntry::Answer(server, client, Cow::Borrowed(applied)));
    }

    fn sends_sequenced(&mut self) {
        self.0.borrow_mut().is_urgent = true;
    }

    fn is_acknowledged(&mut self, by: Identity, number: u64) {
        self.0.borrow_mut().write(&JournalEntry::Acknowledged(by, number));
    }
}
