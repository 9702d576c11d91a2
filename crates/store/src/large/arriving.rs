//! Large arguments that are arriving, and how far they were written to the journal.

use std::fmt;
use std::ops::Range;

use super::{Memory, SharedValue};

/// How far a large value, or a message, was written to the journal, in parts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Journaled {
    /// Its number in the log.
    number: Option<u64>,
    /// How much of it was written. [B]
    written: usize,
    /// How often it was begun.
    begun: u32,
}

/// A value is begun at most this often: if another log was begun each time before it was written, it is written all at
/// once when it is stored.
const MOST_BEGUN: u32 = 3;

impl Journaled {
    /// Its number in the log, if it has one.
    pub(crate) const fn number(&self) -> Option<u64> {
        self.number
    }

    /// How much of it was written. [B]
    pub(crate) const fn written(&self) -> usize {
        self.written
    }

    /// From now on, it is written under this number, from its beginning.
    pub(crate) const fn begin(&mut self, number: u64) {
        (self.number, self.written, self.begun) = (Some(number), 0, self.begun + 1);
    }

    /// Whether it may be begun again.
    pub(crate) const fn may_begin(&self) -> bool {
        self.begun < MOST_BEGUN
    }

    /// The next part of its `length` bytes so far, at most `most` of them. The caller writes it.
    pub(crate) fn next_part(&mut self, length: usize, most: usize) -> Range<usize> {
        let begin = self.written;
        self.written = length.min(begin + most);
        begin..self.written
    }

    /// Its number, if all its `length` bytes were written.
    pub(crate) fn number_of_all(&self, length: usize) -> Option<u64> {
        self.number.filter(|_| self.written == length)
    }
}

/// A large argument that is arriving. Its memory grows with what has arrived.
#[derive(Default)]
pub(crate) struct Arriving {
    bytes: Memory,
    /// How much of it has arrived. [B]
    filled: usize,
    /// How long it is. [B]
    length: usize,
    journaled: Journaled,
}

impl fmt::Debug for Arriving {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Arriving({} of {} B)", self.filled, self.length)
    }
}

/// The least room for what arrives next. [B]
const LEAST_ROOM: usize = 16 << 10;
/// The most room. The system provides it in less than a millisecond, as it grows large allocations without moving them.
/// [B]
const MOST_ROOM: usize = 1 << 20;

impl Arriving {
    /// An argument of this length, of which these bytes have arrived.
    pub(crate) fn begin(length: usize, arrived: &[u8]) -> Arriving {
        Arriving { bytes: Memory(arrived.to_vec()), filled: arrived.len(), length, journaled: Journaled::default() }
    }

    /// How much of it has arrived. [B]
    pub(crate) const fn filled(&self) -> usize {
        self.filled
    }

    /// Whether all of it has arrived.
    pub(crate) const fn is_whole(&self) -> bool {
        self.filled == self.length
    }

    /// Room for what arrives next; empty if the argument is whole.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        let (Memory(bytes), missing) = (&mut self.bytes, self.length - self.filled);
        if bytes.len() == self.filled {
            let more = self.filled.clamp(LEAST_ROOM, MOST_ROOM).min(missing);
            if bytes.capacity() < bytes.len() + more {
                // Never more than the whole argument needs.
                bytes.reserve_exact(bytes.len().max(more).min(missing));
            }
            bytes.resize(self.filled + more, 0);
        }
        &mut bytes[self.filled..]
    }

    /// `bytes` bytes have arrived in the room.
    pub(crate) fn received(&mut self, bytes: usize) {
        self.filled = (self.filled + bytes).min(self.bytes.0.len());
    }

    /// What has arrived of it, and how far that was written to the journal.
    pub(crate) fn for_journal(&mut self) -> (&[u8], &mut Journaled) {
        (&self.bytes.0[..self.filled], &mut self.journaled)
    }
}

impl From<Arriving> for SharedValue {
    fn from(whole: Arriving) -> SharedValue {
        let mut value = SharedValue::from(whole.bytes);
        value.was_journaled(&whole.journaled);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_that_arrives_takes_no_more_memory_than_it_has_bytes() {
        let mut arriving = Arriving::begin(5_000_000, &[1; 100]);
        while !arriving.is_whole() {
            let before = arriving.filled();
            let room = arriving.room();
            assert!(!room.is_empty() && room.len() <= before.max(LEAST_ROOM));
            room.fill(1);
            let bytes = room.len();
            arriving.received(bytes);
            assert!(arriving.bytes.0.capacity() <= 5_000_000);
        }
        assert!(arriving.room().is_empty());
        assert_eq!(*SharedValue::from(arriving), [1; 5_000_000]);
    }
}
