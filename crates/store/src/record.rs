//! A record: a key, its value and its expiry time, behind one pointer.

use programs::linear_hash::{Hashed, Keyed};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thin_vec::ThinVec;

use crate::journal::as_bytes;
use crate::slot::c_of;

/// Milliseconds since the beginning of 1970, as clients count time.
pub type Milliseconds = u64;

/// An entry of the table, in one allocation.
///
/// ```text
///   key length   4 B
///   form         1 B: how many bytes of the last block are unused; whether the record expires
///   last used    3 B: [s], modulo 2^24
///   expiry       8 B: [ms since 1970], only if it expires
///   key
///   value
/// ```
///
/// It consists of blocks of 8 bytes, so that the length and the capacity stored before it count blocks, and the allocation is no larger
/// than the allocator would make it anyway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record(ThinVec<Block>);

type Block = [u8; BLOCK];
const BLOCK: usize = 8;
/// Set in `form` where the record expires; the bits below it count unused bytes.
const EXPIRES: u8 = 8;
/// The offset of the form. [B]
const FORM: usize = 4;
/// How much of a value is written at once. [B]
const PIECE: usize = 64 << 10;
/// The number of bits of the time of last use.
const USED_BITS: u32 = 24;
/// The overhead of the vector's own length and capacity, and of the allocator. [B]
const OVERHEAD: usize = 16 + 8;

impl Record {
    /// A record that expires at `expiry`, if at all, and was last used at `used`. [s]
    pub fn new(key: &[u8], value: &[u8], expiry: Option<Milliseconds>, used: u32) -> Record {
        let header = if expiry.is_some() { 2 * BLOCK } else { BLOCK };
        let mut record = Record(ThinVec::new());
        let length = header + key.len() + value.len();
        record.0.reserve_exact(length.div_ceil(BLOCK));
        let (first, rest) = value.split_at(value.len().min(PIECE));
        let begun = header + key.len() + first.len();
        record.resize(begun, expiry.is_some());
        let bytes = record.0.as_flattened_mut();
        bytes[..FORM].copy_from_slice(&(key.len() as u32).to_le_bytes());
        if let Some(expiry) = expiry {
            bytes[BLOCK..2 * BLOCK].copy_from_slice(&expiry.to_le_bytes());
        }
        bytes[header..header + key.len()].copy_from_slice(key);
        bytes[header + key.len()..begun].copy_from_slice(first);
        // A large value is written in pieces, each while its memory is still in the cache.
        for piece in rest.chunks(PIECE) {
            let at = record.len();
            record.resize(at + piece.len(), expiry.is_some());
            record.0.as_flattened_mut()[at..at + piece.len()].copy_from_slice(piece);
        }
        record.touch(used);
        record
    }

    /// Resizes the record to `length` bytes; new bytes are 0.
    fn resize(&mut self, length: usize, expires: bool) {
        let blocks = length.div_ceil(BLOCK);
        let used = self.0.first().map_or([0; 3], |first| [first[5], first[6], first[7]]);
        let kept = self.len().min(length);
        self.0.resize(blocks, [0; BLOCK]);
        let bytes = self.0.as_flattened_mut();
        bytes[kept..].iter_mut().take(BLOCK).for_each(|byte| *byte = 0);
        bytes[FORM] = (blocks * BLOCK - length) as u8 | if expires { EXPIRES } else { 0 };
        bytes[FORM + 1..BLOCK].copy_from_slice(&used);
    }

    fn header(&self) -> &Block {
        // A record always has its first block.
        self.0.first().unwrap_or(&[0; BLOCK])
    }

    fn len(&self) -> usize {
        self.0.len() * BLOCK - usize::from(self.header()[FORM] & (EXPIRES - 1))
    }

    const fn header_length(form: u8) -> usize {
        if form & EXPIRES == 0 { BLOCK } else { 2 * BLOCK }
    }

    /// Where the value begins.
    fn value_start(&self) -> usize {
        let [a, b, c, d, form, ..] = *self.header();
        Record::header_length(form) + u32::from_le_bytes([a, b, c, d]) as usize
    }

    /// Its key.
    #[inline]
    pub fn key(&self) -> &[u8] {
        let start = Record::header_length(self.header()[FORM]);
        &self.0.as_flattened()[start..self.value_start()]
    }

    /// Its value.
    #[inline]
    pub fn value(&self) -> &[u8] {
        &self.0.as_flattened()[self.value_start()..self.len()]
    }

    /// Its value, to be changed in place.
    pub fn value_mut(&mut self) -> &mut [u8] {
        let (start, end) = (self.value_start(), self.len());
        &mut self.0.as_flattened_mut()[start..end]
    }

    /// Resizes the value to `length` bytes; new bytes are 0. A value that keeps growing is moved ever less often.
    pub fn resize_value(&mut self, length: usize) {
        let start = self.value_start();
        let expires = self.header()[FORM] & EXPIRES != 0;
        self.resize(start + length, expires);
        // A value that has become much smaller gives back the memory that it no longer needs.
        if self.0.capacity() > 2 * self.0.len() + 8 {
            self.0.shrink_to_fit();
        }
    }

    /// When it expires. [ms since 1970]
    #[inline]
    pub fn expiry(&self) -> Option<Milliseconds> {
        if self.header()[FORM] & EXPIRES == 0 {
            return None;
        }
        self.0.get(1).map(|expiry| u64::from_le_bytes(*expiry))
    }

    /// Whether it has expired.
    #[inline]
    pub fn is_over(&self, now: Milliseconds) -> bool {
        self.expiry().is_some_and(|expiry| expiry <= now)
    }

    /// When it was used last. [s, modulo 2^24]
    pub fn used(&self) -> u32 {
        let [.., low, middle, high] = *self.header();
        u32::from_le_bytes([low, middle, high, 0])
    }

    /// How long it has not been used. [s]
    pub fn idle(&self, now: Milliseconds) -> u64 {
        let now = (now / 1000) as u32;
        u64::from(now.wrapping_sub(self.used()) & ((1 << USED_BITS) - 1))
    }

    /// Marks it as used at this time. [s]
    #[inline]
    pub fn touch(&mut self, used: u32) {
        let [low, middle, high, _] = used.to_le_bytes();
        // A record that is used often is not written to each time.
        if let Some(first) = self.0.first_mut()
            && first[FORM + 1..] != [low, middle, high]
        {
            first[FORM + 1..].copy_from_slice(&[low, middle, high]);
        }
    }

    /// The memory that it takes, besides its slot in the table. [B]
    pub fn memory(&self) -> usize {
        (self.0.capacity() * BLOCK + OVERHEAD).next_multiple_of(16)
    }
}

/// The form in which members send a record to each other: its parts, so that whatever can be decoded is a valid record.
#[derive(Serialize, Deserialize)]
struct Written<'a> {
    #[serde(borrow, serialize_with = "as_bytes")]
    key: &'a [u8],
    #[serde(borrow, serialize_with = "as_bytes")]
    value: &'a [u8],
    expiry: Option<Milliseconds>,
    used: u32,
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, value, expiry, used) = (self.key(), self.value(), self.expiry(), self.used());
        Written { key, value, expiry, used }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Record, D::Error> {
        let Written { key, value, expiry, used } = Written::deserialize(deserializer)?;
        Ok(Record::new(key, value, expiry, used))
    }
}

impl Hashed for Record {
    // An empty slot costs 8 bytes of the 130 that an item may take.
    const MOST_ENTRIES: u64 = 6;
    // Keys with the same `{tag}` have the low bits of C in common.
    const MOST_BEYOND: usize = 32;

    #[inline]
    fn c(&self) -> u64 {
        c_of(self.key())
    }
}

impl Keyed<[u8]> for Record {
    #[inline]
    fn has(&self, _: u64, key: &[u8]) -> bool {
        self.key() == key
    }
}

/// What the index of expiries knows of a record besides its C: when it expires.
pub(crate) struct Due(pub(crate) Milliseconds);

impl Keyed<Due> for Record {
    fn has(&self, c: u64, due: &Due) -> bool {
        self.expiry() == Some(due.0) && self.c() == c
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_entry_of_the_table_is_one_pointer() {
        assert_eq!(size_of::<Option<Record>>(), 8);
    }

    #[test]
    fn sixteen_bytes_and_sixty_four_take_112() {
        assert_eq!(Record::new(&[0; 16], &[0; 64], None, 0).memory(), 112);
    }

    proptest! {
        #[test]
        fn holds_what_it_was_given(
            key in prop::collection::vec(any::<u8>(), 0..40),
            value in prop::collection::vec(any::<u8>(), 0..80),
            expiry in any::<Option<u64>>(),
            used in 0_u32..1 << USED_BITS,
            lengths in prop::collection::vec(0_usize..100, 0..6),
        ) {
            let mut record = Record::new(&key, &value, expiry, used);
            let mut due = value;
            for length in lengths {
                prop_assert_eq!(record.key(), &key);
                prop_assert_eq!(record.value(), &due);
                prop_assert_eq!((record.expiry(), record.used()), (expiry, used));
                record.resize_value(length);
                due.resize(length, 0);
            }
            prop_assert_eq!(record.value(), &due);
            prop_assert_eq!(record.key(), &key);
        }
    }
}
