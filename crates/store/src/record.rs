//! A record: a key, its value and its expiry time, behind one pointer.

use linear_hash::{Hashed, Keyed};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thin_vec::ThinVec;

use crate::journal::as_bytes;
use crate::large::{self, LARGE, MaybeShared, SharedValue};
use crate::slot::c_of;

/// Milliseconds since the beginning of 1970, as clients count time.
pub type Milliseconds = u64;

/// An entry of the table, in one allocation.
///
/// ```text
///   key length   4 B
///   form         1 B: unused bytes of the last block; whether it expires; whether its value is large
///   last used    3 B: [s], modulo 2^24
///   expiry       8 B: [ms since 1970], only if it expires
///   key
///   value; or, if it is large, its number among all large values and its length, 8 B each
/// ```
///
/// It consists of blocks of 8 bytes, so that the length and the capacity stored before it count blocks, and the
/// allocation is no larger than the allocator would make it anyway.
#[derive(Debug)]
pub struct Record(ThinVec<Block>);

type Block = [u8; BLOCK];
const BLOCK: usize = 8;
/// Set in `form` where the record expires; the bits below it count unused bytes.
const EXPIRES: u8 = 8;
/// Set in `form` where the value is large.
const IS_LARGE: u8 = 16;
/// The offset of the form. [B]
const FORM: usize = 4;
/// The number of bits of the time of last use.
const USED_BITS: u32 = 24;
/// The overhead of the vector's own length and capacity, and of the allocator. [B]
const OVERHEAD: usize = 16 + 8;

impl Record {
    /// A record that expires at `expiry`, if at all, and was last used at `used`. [s] A large value is shared, if
    /// possible.
    #[inline]
    pub fn new<'a>(key: &[u8], value: impl Into<MaybeShared<'a>>, expiry: Option<Milliseconds>, used: u32) -> Record {
        let value = value.into();
        if value.len() < LARGE {
            return Record::of_parts(key, &value, expiry, used, 0);
        }
        let length = value.len() as u64;
        let parts = [large::keep(value.into_shared()).to_le_bytes(), length.to_le_bytes()];
        Record::of_parts(key, parts.as_flattened(), expiry, used, IS_LARGE)
    }

    /// A record with these bytes after its key.
    fn of_parts(key: &[u8], value: &[u8], expiry: Option<Milliseconds>, used: u32, flags: u8) -> Record {
        let (header, flags) = if expiry.is_some() { (2 * BLOCK, flags | EXPIRES) } else { (BLOCK, flags) };
        let mut record = Record(ThinVec::new());
        let length = header + key.len() + value.len();
        record.0.reserve_exact(length.div_ceil(BLOCK));
        record.resize(length, flags);
        let bytes = record.0.as_flattened_mut();
        bytes[..FORM].copy_from_slice(&(key.len() as u32).to_le_bytes());
        if let Some(expiry) = expiry {
            bytes[BLOCK..2 * BLOCK].copy_from_slice(&expiry.to_le_bytes());
        }
        bytes[header..header + key.len()].copy_from_slice(key);
        bytes[header + key.len()..length].copy_from_slice(value);
        record.touch(used);
        record
    }

    /// Resizes the record to `length` bytes; new bytes are 0.
    fn resize(&mut self, length: usize, flags: u8) {
        let blocks = length.div_ceil(BLOCK);
        let used = self.0.first().map_or([0; 3], |first| [first[5], first[6], first[7]]);
        let kept = self.len().min(length);
        self.0.resize(blocks, [0; BLOCK]);
        let bytes = self.0.as_flattened_mut();
        bytes[kept..].iter_mut().take(BLOCK).for_each(|byte| *byte = 0);
        bytes[FORM] = (blocks * BLOCK - length) as u8 | flags;
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

    /// The bytes after its key.
    #[inline]
    fn rest(&self) -> &[u8] {
        &self.0.as_flattened()[self.value_start()..self.len()]
    }

    fn rest_mut(&mut self) -> &mut [u8] {
        let (start, end) = (self.value_start(), self.len());
        &mut self.0.as_flattened_mut()[start..end]
    }

    /// The number and the length of its value, if it is large.
    #[inline]
    fn large(&self) -> Option<(u64, usize)> {
        if self.header()[FORM] & IS_LARGE == 0 {
            return None;
        }
        let (number, length) = self.rest().split_first_chunk::<8>()?;
        Some((u64::from_le_bytes(*number), u64::from_le_bytes(*length.first_chunk()?) as usize))
    }

    /// The number of its value among all large ones, if it is large.
    pub(crate) fn number_of_large(&self) -> Option<u64> {
        self.large().map(|(number, _)| number)
    }

    /// Its value.
    #[inline]
    pub fn value(&self) -> MaybeShared<'_> {
        match self.large() {
            None => MaybeShared::Borrowed(self.rest()),
            Some((number, _)) => MaybeShared::Shared(large::kept(number)),
        }
    }

    /// The length of its value. [B]
    #[inline]
    pub fn value_length(&self) -> usize {
        self.large().map_or_else(|| self.rest().len(), |(_, length)| length)
    }

    /// Replaces its value in place. Returns false, and changes nothing, if the value is large or the new one has
    /// another length.
    pub fn replace_in_place(&mut self, value: &[u8]) -> bool {
        if self.large().is_some() || self.rest().len() != value.len() {
            return false;
        }
        self.rest_mut().copy_from_slice(value);
        true
    }

    /// Resizes the value to `length` bytes, of which new ones are 0, and writes `part` at offset `at`. A value that
    /// keeps growing is moved ever less often.
    pub fn edit(&mut self, length: usize, at: usize, part: &[u8]) {
        match self.large() {
            None if length < LARGE => {
                self.resize_rest(length);
                large::write(self.rest_mut(), at, part);
            }
            Some((number, _)) if length >= LARGE => {
                // It is taken out so that no other thread waits for it to be copied, if it is shared.
                let mut value = large::take(number);
                value.edit(length, at, part);
                large::put_back(number, value);
                self.rest_mut()[BLOCK..].copy_from_slice(&(length as u64).to_le_bytes());
            }
            _ => {
                let value = SharedValue::from(large::edited(&self.value(), length, at, part));
                *self = Record::new(self.key(), value, self.expiry(), self.used());
            }
        }
    }

    fn resize_rest(&mut self, length: usize) {
        let start = self.value_start();
        let flags = self.header()[FORM] & (EXPIRES | IS_LARGE);
        self.resize(start + length, flags);
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

    /// The memory that it takes, besides its slot in the table. A large value counts in full even if it is shared. [B]
    pub fn memory(&self) -> usize {
        let of_value = self.large().map_or(0, |(_, length)| length);
        (self.0.capacity() * BLOCK + OVERHEAD).next_multiple_of(16) + of_value
    }
}

impl Drop for Record {
    #[inline]
    fn drop(&mut self) {
        if let Some((number, _)) = self.large() {
            drop(large::take(number));
        }
    }
}

impl Clone for Record {
    fn clone(&self) -> Record {
        Record::new(self.key(), self.value(), self.expiry(), self.used())
    }
}

impl PartialEq for Record {
    fn eq(&self, other: &Record) -> bool {
        let parts = |record: &Record| (record.expiry(), record.used(), record.value_length());
        parts(self) == parts(other) && self.key() == other.key() && *self.value() == *other.value()
    }
}

impl Eq for Record {}

/// The form in which members send a record to each other: its parts, so that whatever can be decoded is a valid record.
#[derive(Serialize, Deserialize)]
struct Written<'a> {
    #[serde(borrow, serialize_with = "as_bytes")]
    key: &'a [u8],
    #[serde(borrow)]
    value: MaybeShared<'a>,
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

    #[inline]
    fn fetch(&self) {
        std::hint::black_box(self.key().first());
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
        assert_eq!(Record::new(&[0; 16], &[0; 64][..], None, 0).memory(), 112);
    }

    /// Lengths of values: mostly small, some around [`LARGE`].
    fn length() -> impl Strategy<Value = usize> {
        prop_oneof![5 => 0_usize..100, 1 => LARGE - 3..LARGE + 3, 1 => LARGE..3 * LARGE]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn holds_what_it_was_given(
            key in prop::collection::vec(any::<u8>(), 0..40),
            first in length(),
            expiry in any::<Option<u64>>(),
            used in 0_u32..1 << USED_BITS,
            steps in prop::collection::vec((length(), any::<prop::sample::Index>(), 0..9_usize, any::<bool>()), 0..6),
        ) {
            let mut due: Vec<u8> = (0..first).map(|place| (place * 7 + 1) as u8).collect();
            let mut record = Record::new(&key, &due[..], expiry, used);
            let mut others = Vec::new();
            for (length, at, written, is_cloned) in steps {
                prop_assert_eq!(record.key(), &key);
                prop_assert!(*record.value() == due, "the value is another one");
                prop_assert_eq!(record.value_length(), due.len());
                prop_assert_eq!((record.expiry(), record.used()), (expiry, used));
                prop_assert!(record.memory() >= key.len() + due.len());
                if is_cloned {
                    others.push((record.clone(), due.clone()));
                }
                let (at, part) = (at.index(length + 1), [written as u8; 9]);
                let part = &part[..written.min(length - at)];
                record.edit(length, at, part);
                due.resize(length, 0);
                due[at..at + part.len()].copy_from_slice(part);
            }
            prop_assert!(*record.value() == due, "the value is another one");
            prop_assert_eq!(record.key(), &key);
            for (other, due) in others {
                prop_assert!(other == Record::new(&key, &due[..], expiry, used), "a change was seen elsewhere");
                prop_assert!((other == record) == (*other.value() == *record.value()));
            }
        }

        #[test]
        fn is_replaced_in_place_only_by_a_value_as_long_as_a_small_one(before in length(), after in length()) {
            let mut record = Record::new(b"key", &vec![1; before][..], None, 0);
            let is_replaced = record.replace_in_place(&vec![2; after]);
            prop_assert_eq!(is_replaced, before == after && before < LARGE);
            let due = if is_replaced { vec![2; after] } else { vec![1; before] };
            prop_assert!(*record.value() == due, "the value is another one");
        }
    }

    #[test]
    fn a_large_value_is_shared_and_let_go_of_with_the_record() {
        let value = SharedValue::from(vec![1; LARGE]);
        let record = Record::new(b"key", value.clone(), None, 0);
        assert_eq!(record.value().as_ptr(), value.as_ptr());
        let other = Record::new(b"other", record.value(), Some(5), 0);
        assert_eq!(other.value().as_ptr(), value.as_ptr());
        let (number, _) = record.large().unwrap();
        drop(record);
        assert!(large::kept(number).is_empty() && other.value().len() == LARGE);
    }
}
