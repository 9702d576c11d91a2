//! Large values. They are shared and not copied: copying the largest takes hundreds of milliseconds, for which clients
//! would wait. Freeing them takes milliseconds, too, so a thread of its own does that.

mod apart;
mod arriving;
pub(crate) mod encoding;
mod pieces;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

pub(crate) use arriving::{Arriving, Journaled};
pub use pieces::Pieces;

/// A value of at least this length is large. [B]
pub const LARGE: usize = 1 << 20;
/// The number of large values that may wait to be freed. One more is freed at once.
const MOST_WAITING: usize = 64;

/// Drops a value of this length; a large one is dropped in the thread that frees large values.
pub(crate) fn give_back<T: Send + 'static>(value: T, length: usize) {
    static FREES: OnceLock<SyncSender<Box<dyn Send>>> = OnceLock::new();
    if length < LARGE {
        return drop(value);
    }
    // A value that can't be sent, because too many wait or the thread could not be started, comes back in the error and
    // is dropped at once.
    let _ = FREES.get_or_init(start).try_send(Box::new(value));
}

/// Starts the thread. If the system can't start it, there is no receiver.
fn start() -> SyncSender<Box<dyn Send>> {
    let (sender, receiver) = sync_channel::<Box<dyn Send>>(MOST_WAITING);
    let _ = thread::Builder::new().name("large values".to_owned()).spawn(move || receiver.into_iter().for_each(drop));
    sender
}

/// Bytes that are freed in steps.
struct Freed(Vec<u8>);

/// So much is freed in a step. [B]
const STEP: usize = 4 << 20;

impl Drop for Freed {
    fn drop(&mut self) {
        // Meanwhile the system lets no other thread have more memory: 200 MB at once take it more than ten
        // milliseconds.
        while self.0.len() > STEP {
            self.0.truncate(self.0.len() - STEP);
            self.0.shrink_to_fit();
        }
    }
}

/// Bytes that the thread for large values frees, if they are large.
#[derive(Default)]
struct Memory(Vec<u8>);

impl Drop for Memory {
    fn drop(&mut self) {
        let length = self.0.capacity();
        give_back(Freed(std::mem::take(&mut self.0)), length);
    }
}

/// A value, or a part of one, that is not copied when it is cloned.
#[derive(Clone, Default)]
pub struct SharedValue {
    memory: Arc<Memory>,
    start: usize,
    end: usize,
    /// The number under which all of it was written to the journal before it is stored, if it was.
    journaled: Option<u64>,
}

impl SharedValue {
    /// A part of the value.
    pub fn part(&self, range: Range<usize>) -> SharedValue {
        let end = self.end.min(self.start + range.end);
        SharedValue { memory: Arc::clone(&self.memory), start: end.min(self.start + range.start), end, journaled: None }
    }

    /// The number under which all of it was written to the journal before it is stored, if it was.
    pub(crate) const fn journaled(&self) -> Option<u64> {
        self.journaled
    }

    /// Notes how it was written to the journal.
    pub(crate) fn was_journaled(&mut self, journaled: &Journaled) {
        self.journaled = journaled.number_of_all(self.len());
    }

    /// Resizes the value to `length` bytes, of which new ones are 0, and writes `part` at offset `at`. A value that is
    /// not shared is changed in place, unless it more than doubles.
    pub fn edit(&mut self, length: usize, at: usize, part: &[u8]) {
        // The system provides freshly zeroed memory only when it is written to, so a value that grows much is moved
        // there.
        let grows_much = length / 2 > self.len();
        self.journaled = None;
        match Arc::get_mut(&mut self.memory).filter(|_| !grows_much) {
            Some(Memory(bytes)) => {
                bytes.truncate(self.end);
                bytes.resize(self.start + length, 0);
                write(&mut bytes[self.start..], at, part);
                self.end = self.start + length;
            }
            None => *self = edited(self, length, at, part).into(),
        }
    }
}

/// A copy of a value, resized to `length` bytes, with `part` written at offset `at`.
pub(crate) fn edited(value: &[u8], length: usize, at: usize, part: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let kept = value.len().min(length);
    bytes[..kept].copy_from_slice(&value[..kept]);
    write(&mut bytes, at, part);
    bytes
}

/// Writes `part` into a value at offset `at`, if it fits.
pub(crate) fn write(value: &mut [u8], at: usize, part: &[u8]) {
    if let Some(written) = value.get_mut(at..at.saturating_add(part.len())) {
        written.copy_from_slice(part);
    }
}

impl Deref for SharedValue {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.memory.0[self.start..self.end]
    }
}

impl From<Vec<u8>> for SharedValue {
    fn from(bytes: Vec<u8>) -> SharedValue {
        Memory(bytes).into()
    }
}

impl From<Memory> for SharedValue {
    fn from(memory: Memory) -> SharedValue {
        let end = memory.0.len();
        SharedValue { memory: Arc::new(memory), start: 0, end, journaled: None }
    }
}

impl PartialEq for SharedValue {
    fn eq(&self, other: &SharedValue) -> bool {
        **self == **other
    }
}

impl Eq for SharedValue {}

impl fmt::Debug for SharedValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SharedValue({} B)", self.len())
    }
}

/// Bytes that are borrowed or, if they belong to a large value, shared.
#[derive(Clone, Debug)]
pub enum MaybeShared<'a> {
    /// They are borrowed.
    Borrowed(&'a [u8]),
    /// They are shared.
    Shared(SharedValue),
}

impl MaybeShared<'_> {
    /// A part of them.
    pub fn part(&self, range: Range<usize>) -> MaybeShared<'_> {
        match self {
            MaybeShared::Borrowed(bytes) => MaybeShared::Borrowed(&bytes[range]),
            MaybeShared::Shared(value) => MaybeShared::Shared(value.part(range)),
        }
    }

    /// Makes them shared. Borrowed bytes are copied.
    pub fn into_shared(self) -> SharedValue {
        match self {
            MaybeShared::Borrowed(bytes) => bytes.to_vec().into(),
            MaybeShared::Shared(value) => value,
        }
    }
}

impl Deref for MaybeShared<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            MaybeShared::Borrowed(bytes) => bytes,
            MaybeShared::Shared(value) => value,
        }
    }
}

impl<'a> From<&'a [u8]> for MaybeShared<'a> {
    fn from(bytes: &'a [u8]) -> MaybeShared<'a> {
        MaybeShared::Borrowed(bytes)
    }
}

impl From<SharedValue> for MaybeShared<'_> {
    fn from(value: SharedValue) -> Self {
        MaybeShared::Shared(value)
    }
}

/// The large values of all records. A record holds only a number, so that it remains a single pointer and small records
/// need no extra memory.
struct Values {
    next: u64,
    values: BTreeMap<u64, SharedValue>,
}

impl Values {
    /// Adds a value. Returns its number.
    fn add(&mut self, value: SharedValue) -> u64 {
        let number = self.next;
        self.next += 1;
        self.values.insert(number, value);
        number
    }
}

fn values() -> MutexGuard<'static, Values> {
    static VALUES: Mutex<Values> = Mutex::new(Values { next: 0, values: BTreeMap::new() });
    VALUES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a value until it is taken out. Returns its number, which is never given to another value. A part of something
/// larger is soon copied.
pub(crate) fn keep(value: SharedValue) -> u64 {
    let is_smaller_part = value.is_smaller_part();
    let number = values().add(value);
    if is_smaller_part {
        apart::copy_later(number);
    }
    number
}

/// The value with this number.
pub(crate) fn kept(number: u64) -> SharedValue {
    values().values.get(&number).cloned().unwrap_or_default()
}

/// The value with this number, if others share it.
pub(crate) fn if_shared(number: u64) -> Option<SharedValue> {
    values().values.get(&number).filter(|value| Arc::strong_count(&value.memory) > 1).cloned()
}

/// Replaces a value by a copy of it, unless another one has its number by now.
pub(crate) fn replace(number: u64, value: &SharedValue, copy: Vec<u8>) {
    let is_same = |other: &&mut SharedValue| std::ptr::eq(&***other, &**value);
    if let Some(replaced) = values().values.get_mut(&number).filter(is_same) {
        *replaced = copy.into();
    }
}

/// Takes out the value with this number.
pub(crate) fn take(number: u64) -> SharedValue {
    values().values.remove(&number).unwrap_or_default()
}

/// Puts a value back that was taken out.
pub(crate) fn put_back(number: u64, value: SharedValue) {
    values().values.insert(number, value);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::thread::ThreadId;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// Reports the thread that drops it.
    struct Reports(Sender<ThreadId>);

    impl Drop for Reports {
        fn drop(&mut self) {
            self.0.send(thread::current().id()).expect("the test still receives");
        }
    }

    #[test]
    fn a_large_value_is_dropped_by_another_thread_and_a_small_one_at_once() {
        let ((sender, receiver), own) = (channel(), thread::current().id());
        give_back(Reports(sender.clone()), LARGE - 1);
        assert_eq!(receiver.try_recv(), Ok(own));
        give_back(Reports(sender), LARGE);
        assert!(receiver.recv_timeout(Duration::from_secs(10)).is_ok_and(|thread| thread != own));
    }

    #[test]
    fn a_value_that_nobody_shares_is_changed_where_it_is() {
        let mut value = SharedValue::from(vec![1; 1_000]);
        let place = value.as_ptr();
        value.edit(900, 0, &[2; 10]);
        assert_eq!(value.as_ptr(), place);
        let shared = value.clone();
        assert_eq!(shared.as_ptr(), place, "sharing copies nothing");
        value.edit(900, 0, &[3; 10]);
        assert_ne!(value.as_ptr(), place);
        assert_eq!((shared[0], value[0]), (2, 3));
    }

    proptest! {
        /// Changes of values that are partly shared, compared with changes of plain bytes.
        #[test]
        fn changes_are_seen_by_nobody_who_shares_the_value(
            steps in prop::collection::vec((0_usize..300, 0_usize..300, 0_usize..40, any::<bool>(), any::<bool>()), 0..20),
        ) {
            let (mut value, mut due) = (SharedValue::from(vec![7; 100]), vec![7; 100]);
            let mut sharers: Vec<(SharedValue, Vec<u8>)> = Vec::new();
            for (place, (length, at, written, is_shared, is_cut)) in steps.into_iter().enumerate() {
                if is_shared {
                    sharers.push((value.clone(), due.clone()));
                }
                if is_cut {
                    value = value.part(at / 10..length);
                    due = due[(at / 10).min(length).min(due.len())..length.min(due.len())].to_vec();
                }
                let part = vec![place as u8; written];
                value.edit(length, at, &part);
                due.resize(length, 0);
                if at + written <= length {
                    due[at..at + written].copy_from_slice(&part);
                }
                prop_assert_eq!(&*value, &*due);
            }
            for (value, due) in sharers {
                prop_assert_eq!(&*value, &*due);
            }
        }
    }
}
