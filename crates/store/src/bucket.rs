//! The contents of one LH*LH server: its table of records, with their expiries, watched keys and counters.

use std::collections::{BTreeMap, BTreeSet};

use linear_hash::{Span, Table};

use crate::contents::RemoteSession;
use crate::journal::{Effect, JournalWriter};
use crate::large::MaybeShared;
use crate::record::{Due, Milliseconds, Record};
use crate::slot::c_of;
use crate::stamps::Stamps;

/// The memory of a bucket of the table besides its records: 8 slots of 8 bytes, 8 tags, and the overflow. [B]
const TABLE_BUCKET: usize = 80;
/// A random record of a local bucket is one of its first records, at most this many.
const MOST_DRAWN: usize = 64;
/// A size that no allocator treats as small. [B]
const LARGE: usize = 4_096;
/// The memory of an entry of the index of expiries, in a tree that is two thirds full. [B]
const INDEX_ENTRY: usize = 24;

/// The counters of a bucket, since it began or since they were reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lookups that found a record.
    pub hits: u64,
    /// Lookups that found none.
    pub misses: u64,
    /// Expired records that were swept out.
    pub expired: u64,
    /// Records that were evicted to make room for others.
    pub evicted: u64,
}

/// A key that clients watch.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// How many clients watch it.
    by: u32,
    /// How often it has changed, added to the bucket's own count of changes when the first of them began.
    changes: u64,
}

/// Records that were cleared and can't be reached any more, and when they would have expired.
#[derive(Debug)]
struct Cleared {
    table: Table<Record>,
    due: BTreeSet<(Milliseconds, u64)>,
}

/// The table of one server. An expired record is invisible, whether it has been swept out yet or not.
#[derive(Debug)]
pub struct Bucket {
    pub(crate) table: Table<Record>,
    /// Whether its server is in the file.
    pub(crate) is_open: bool,
    /// What it needs to execute requests of other members.
    pub(crate) remote: Option<Box<RemoteSession>>,
    /// Writes changes of records to the journal, if there is one.
    journal: Option<JournalWriter>,
    /// The expiry time and the C of each record that expires.
    due: BTreeSet<(Milliseconds, u64)>,
    watched: BTreeMap<Box<[u8]>, Watched>,
    /// The stamps of keys that clients of other members watch.
    stamps: Stamps,
    /// What was there before the table was cleared; it is dropped piece by piece.
    cleared: Vec<Cleared>,
    /// The memory of all records. [B]
    memory: usize,
    /// The number of changes so far.
    changes: u64,
    /// Its counters.
    pub counts: Counts,
}

impl Default for Bucket {
    fn default() -> Bucket {
        Bucket {
            table: Table::new(0),
            is_open: true,
            remote: None,
            journal: None,
            due: BTreeSet::new(),
            watched: BTreeMap::new(),
            stamps: Stamps::default(),
            cleared: Vec::new(),
            memory: 0,
            changes: 0,
            counts: Counts::default(),
        }
    }
}

/// [s]
const fn seconds(now: Milliseconds) -> u32 {
    (now / 1000) as u32
}

impl Bucket {
    /// A bucket without a table, which executes requests of other members by this session.
    pub fn of_server(remote: RemoteSession) -> Bucket {
        Bucket { is_open: false, remote: Some(Box::new(remote)), ..Bucket::default() }
    }

    /// A bucket without a table, which belongs to no node.
    pub fn closed() -> Bucket {
        Bucket { is_open: false, ..Bucket::default() }
    }

    /// The same bucket, which writes changes of its records with this writer.
    pub fn with_journal(self, journal: Option<JournalWriter>) -> Bucket {
        Bucket { journal, ..self }
    }

    #[inline]
    fn write(&self, effect: Effect<'_>) {
        if let Some(journal) = &self.journal {
            journal.write(effect);
        }
    }

    /// Applies an effect again that was read from the journal.
    pub(crate) fn replay(&mut self, effect: Effect<'_>, now: Milliseconds) {
        match effect {
            Effect::Set { key, value, expiry } => self.store(key, value, expiry, now),
            Effect::Write { key, length, at, part } => self.write_part(key, length as usize, at as usize, part, now),
            Effect::Expire { key, expiry } => self.postpone(key, expiry),
            Effect::Remove(key) => drop(self.take(key)),
            Effect::Clear => self.empty(),
            Effect::Copy { from, to, expiry } => {
                if let Some(record) = self.table.find(c_of(from), from).cloned() {
                    self.store(to, record.value(), expiry, now);
                }
            }
        }
    }

    /// Takes in a record of a table that had this shape. Returns whether it belongs there.
    pub(crate) fn put_back(&mut self, record: Record) -> bool {
        self.memory += record.memory();
        self.reindex(record_c(&record), None, record.expiry());
        self.table.put_back(record).is_ok()
    }

    /// A record arrives from another server.
    pub(crate) fn arrives(&mut self, record: &Record) {
        self.memory += record.memory();
        self.reindex(record_c(record), None, record.expiry());
        self.changed(record.key());
    }

    /// How many records there are, including expired ones that have not been swept out yet.
    pub const fn len(&self) -> u64 {
        self.table.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// How many records expire.
    pub fn expiring(&self) -> u64 {
        self.due.len() as u64
    }

    /// The memory that it takes. [B]
    pub fn memory(&self) -> usize {
        let buckets = self.table.extent().buckets() as usize;
        self.memory + buckets * TABLE_BUCKET + self.due.len() * INDEX_ENTRY
    }

    /// The number of changes so far.
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// The record of a key, for a client that reads it: marks the record as used now, and counts the lookup.
    #[inline]
    pub fn get(&mut self, key: &[u8], now: Milliseconds) -> Option<&Record> {
        let found = self.table.find_mut(c_of(key), key).filter(|record| !record.is_over(now));
        match found {
            Some(record) => {
                self.counts.hits += 1;
                record.touch(seconds(now));
                Some(record)
            }
            None => {
                self.counts.misses += 1;
                None
            }
        }
    }

    /// Whether there is a record of a key, for a client that asks: counts the lookup, but does not mark the record as
    /// used.
    pub fn exists(&mut self, key: &[u8], now: Milliseconds) -> bool {
        let is_there = self.peek(key, now).is_some();
        self.counts.hits += u64::from(is_there);
        self.counts.misses += u64::from(!is_there);
        is_there
    }

    /// The record of a key, which is neither marked as used nor counted.
    pub fn peek(&self, key: &[u8], now: Milliseconds) -> Option<&Record> {
        self.table.find(c_of(key), key).filter(|record| !record.is_over(now))
    }

    /// Stores a value under a key, to expire at `expiry` or never.
    #[inline]
    pub fn set<'a>(
        &mut self,
        key: &[u8],
        value: impl Into<MaybeShared<'a>>,
        expiry: Option<Milliseconds>,
        now: Milliseconds,
    ) {
        let value = value.into();
        if self.journal.is_some() {
            self.write(Effect::Set { key, value: value.clone(), expiry });
        }
        self.store(key, value, expiry, now);
    }

    /// Stores the value of a key under another key, too, with the same expiry. Returns whether the key exists.
    pub fn copy(&mut self, from: &[u8], to: &[u8], now: Milliseconds) -> bool {
        let Some(record) = self.peek(from, now).cloned() else { return false };
        match record.value() {
            MaybeShared::Borrowed(value) => self.set(to, value, record.expiry(), now),
            value @ MaybeShared::Shared(_) => {
                self.write(Effect::Copy { from, to, expiry: record.expiry() });
                self.store(to, value, record.expiry(), now);
            }
        }
        true
    }

    fn store(&mut self, key: &[u8], value: MaybeShared<'_>, expiry: Option<Milliseconds>, now: Milliseconds) {
        let c = c_of(key);
        self.changed(key);
        let Some(record) = self.table.find_mut(c, key) else {
            let record = Record::new(key, value, expiry, seconds(now));
            return self.add(c, record);
        };
        let before = record.expiry();
        self.memory -= record.memory();
        if before.is_none() && expiry.is_none() && record.replace_in_place(&value) {
            record.touch(seconds(now));
        } else {
            *record = Record::new(key, value, expiry, seconds(now));
        }
        self.memory += record.memory();
        self.reindex(c, before, expiry);
    }

    fn add(&mut self, c: u64, record: Record) {
        self.memory += record.memory();
        self.reindex(c, None, record.expiry());
        // The table is whole, so every key belongs in it.
        let _ = self.table.add(record);
    }

    /// Resizes the value of a key to `length` bytes and writes a part of it from `at` on; its expiry time does not
    /// change.
    pub fn edit(&mut self, key: &[u8], length: usize, at: usize, part: &[u8], now: Milliseconds) {
        self.drop_if_over(c_of(key), key, now);
        self.write(Effect::Write { key, length: length as u64, at: at as u64, part });
        self.write_part(key, length, at, part, now);
    }

    fn write_part(&mut self, key: &[u8], length: usize, at: usize, part: &[u8], now: Milliseconds) {
        let c = c_of(key);
        self.changed(key);
        if self.table.find(c, key).is_none() {
            self.add(c, Record::new(key, MaybeShared::Borrowed(&[]), None, seconds(now)));
        }
        let Some(record) = self.table.find_mut(c, key) else { return };
        self.memory -= record.memory();
        record.edit(length, at, part);
        record.touch(seconds(now));
        self.memory += record.memory();
    }

    /// Lets the record of a key expire at another time, or never. Returns whether there is one.
    pub fn set_expiry(&mut self, key: &[u8], expiry: Option<Milliseconds>, now: Milliseconds) -> bool {
        if self.peek(key, now).is_none() {
            return false;
        }
        self.write(Effect::Expire { key, expiry });
        self.postpone(key, expiry);
        true
    }

    fn postpone(&mut self, key: &[u8], expiry: Option<Milliseconds>) {
        let c = c_of(key);
        let Some(record) = self.table.find_mut(c, key) else { return };
        let before = record.expiry();
        if before != expiry {
            self.memory -= record.memory();
            *record = Record::new(key, record.value(), expiry, record.used());
            self.memory += record.memory();
            self.reindex(c, before, expiry);
        }
        self.changed(key);
    }

    fn reindex(&mut self, c: u64, before: Option<Milliseconds>, after: Option<Milliseconds>) {
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.due.remove(&(before, c));
        }
        if let Some(after) = after {
            self.due.insert((after, c));
        }
    }

    /// Removes the record of a key. Returns whether there was one that had not expired.
    pub fn remove(&mut self, key: &[u8], now: Milliseconds) -> bool {
        let Some(record) = self.take(key) else { return false };
        self.write(Effect::Remove(key));
        !record.is_over(now)
    }

    fn take(&mut self, key: &[u8]) -> Option<Record> {
        let record = self.table.take(c_of(key), key)?;
        self.removed(&record);
        Some(record)
    }

    fn drop_if_over(&mut self, c: u64, key: &[u8], now: Milliseconds) {
        if self.table.find(c, key).is_some_and(|record| record.is_over(now)) {
            self.remove(key, now);
            self.counts.expired += 1;
        }
    }

    pub(crate) fn removed(&mut self, record: &Record) {
        self.memory -= record.memory();
        if let Some(expiry) = record.expiry() {
            self.due.remove(&(expiry, record_c(record)));
        }
        self.changed(record.key());
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        self.write(Effect::Clear);
        self.empty();
    }

    fn empty(&mut self) {
        for (key, watched) in &mut self.watched {
            // A client that watches a key that was not there sees no change.
            watched.changes += u64::from(self.table.find(c_of(key), &**key).is_some());
        }
        self.stamps.all_changed();
        self.changes += self.table.len();
        let empty = Table::new(self.table.level());
        let (table, due) = (std::mem::replace(&mut self.table, empty), std::mem::take(&mut self.due));
        self.cleared.push(Cleared { table, due });
        self.memory = 0;
    }

    /// Drops about `most` of the records that were cleared. Returns whether none is left.
    pub fn drop_cleared(&mut self, most: usize) -> bool {
        let Some(Cleared { table, due }) = self.cleared.last_mut() else { return true };
        (0..most).map_while(|_| due.pop_first()).for_each(drop);
        if due.is_empty() && table.drop_some(most) {
            self.cleared.pop();
        }
        // The system's allocator sets small freed pieces aside, and goes through all of them when it is asked for a
        // large one. It is asked now, while they are few.
        drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGE)));
        self.cleared.is_empty()
    }

    /// Sweeps out at most `most` expired records. Returns whether none is left.
    pub fn sweep(&mut self, now: Milliseconds, most: usize) -> bool {
        for _ in 0..most {
            let Some(&(expiry, c)) = self.due.first().filter(|(expiry, _)| *expiry <= now) else { return true };
            self.due.pop_first();
            if let Some(record) = self.table.take(c, &Due(expiry)) {
                self.removed(&record);
                self.write(Effect::Remove(record.key()));
                self.counts.expired += 1;
            }
        }
        self.next_expiry().is_none_or(|expiry| expiry > now)
    }

    /// When the next record expires.
    pub fn next_expiry(&self) -> Option<Milliseconds> {
        self.due.first().map(|&(expiry, _)| expiry)
    }

    /// Evicts the least recently used of `sample` random records. Returns whether there was any.
    pub fn evict(&mut self, now: Milliseconds, sample: u32, mut draw: impl FnMut() -> u64) -> bool {
        let drawn = (0..sample).filter_map(|_| self.random(draw()));
        let oldest = drawn.max_by_key(|record| record.idle(now)).map(|record| Box::from(record.key()));
        let Some(key) = oldest else { return false };
        self.remove(&key, now);
        self.counts.evicted += 1;
        true
    }

    /// A random record: `drawn` is a place in the order of [`Span`], and the record is one of the first local bucket
    /// from there on that has any.
    pub fn random(&self, drawn: u64) -> Option<&Record> {
        let from_there = Span { first: drawn, last: u64::MAX };
        let found = |span| self.read(span).find(|(_, records)| records.clone().next().is_some());
        let (_, records) = found(from_there).or_else(|| found(Span::ALL))?;
        let count = records.clone().take(MOST_DRAWN).count() as u64;
        records.clone().nth((drawn.rotate_left(32) % count.max(1)) as usize)
    }

    /// The local buckets of a span: the last place of each, and its records; none of those that have moved away or have
    /// not arrived yet.
    fn read(&self, span: Span) -> impl Iterator<Item = (u64, impl Iterator<Item = &Record> + Clone)> {
        let mut rest = Some(span);
        std::iter::from_fn(move || {
            let span = rest?;
            let last = span.within(self.table.bucket_level(span.c())).last;
            rest = span.after(last);
            Some((last, self.table.entries_beside(span.c()).into_iter().flatten()))
        })
    }

    /// Passes records of a span to `each`, from its first place on, until there were `count` or none is left, and
    /// returns the last place that it has reached. It passes whole local buckets, so that a record that is there
    /// throughout a scan is passed at least once, however the table grows meanwhile.
    pub fn scan(&self, span: Span, count: u64, now: Milliseconds, mut each: impl FnMut(&Record)) -> u64 {
        let (mut passed, mut looked) = (0, 0);
        for (last, records) in self.read(span) {
            records.filter(|record| span.contains(record_c(record))).for_each(|record| {
                passed += 1;
                if !record.is_over(now) {
                    each(record);
                }
            });
            looked += 1;
            if passed >= count || looked >= count.saturating_mul(10) {
                return last;
            }
        }
        span.last
    }

    /// All records that have not expired.
    pub fn records(&self, now: Milliseconds) -> impl Iterator<Item = &Record> {
        self.table.entries().filter(move |record| !record.is_over(now))
    }

    fn changed(&mut self, key: &[u8]) {
        self.changes += 1;
        if !self.watched.is_empty()
            && let Some(watched) = self.watched.get_mut(key)
        {
            watched.changes += 1;
        }
        if !self.stamps.is_empty() {
            self.stamps.changed(c_of(key));
        }
    }

    /// The stamp of a key, for a client of another member that watches it: it is valid until the key changes.
    pub(crate) fn stamp(&mut self, key: &[u8], now: Milliseconds, draw: impl FnOnce() -> u64) -> u64 {
        self.drop_if_over(c_of(key), key, now);
        self.stamps.stamp(c_of(key), draw)
    }

    /// Whether a key has not changed since its stamp was issued.
    pub(crate) fn is_as_stamped(&mut self, key: &[u8], stamp: u64, now: Milliseconds) -> bool {
        self.drop_if_over(c_of(key), key, now);
        self.stamps.is_valid(c_of(key), stamp)
    }

    /// Keys arrive that may have been on this server before and have changed elsewhere: every watched key counts as
    /// changed.
    pub(crate) fn may_have_changed(&mut self) {
        self.stamps.all_changed();
        self.watched.values_mut().for_each(|watched| watched.changes += 1);
    }

    /// Begins to watch a key. Returns what [`Bucket::seen`] returns as long as the key does not change.
    pub fn watch(&mut self, key: &[u8], now: Milliseconds) -> u64 {
        self.drop_if_over(c_of(key), key, now);
        // Clients that have watched the key before, on this server or another, have seen a smaller count.
        let changes = self.changes + 1;
        let watched = self.watched.entry(key.into()).or_insert(Watched { by: 0, changes });
        watched.by += 1;
        watched.changes
    }

    /// The count of changes of a watched key.
    pub fn seen(&mut self, key: &[u8], now: Milliseconds) -> u64 {
        self.drop_if_over(c_of(key), key, now);
        self.watched.get(key).map_or(0, |watched| watched.changes)
    }

    /// Ends one watch begun by [`Bucket::watch`].
    pub fn unwatch(&mut self, key: &[u8]) {
        if let Some(watched) = self.watched.get_mut(key) {
            watched.by -= 1;
            if watched.by == 0 {
                self.watched.remove(key);
            }
        }
    }
}

fn record_c(record: &Record) -> u64 {
    c_of(record.key())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Steps on a few keys: the key, the operation and an amount.
    fn steps() -> impl Strategy<Value = Vec<(u8, u8, u64)>> {
        prop::collection::vec((0_u8..20, 0_u8..7, 1_u64..40), 0..200)
    }

    #[test]
    fn cleared_records_are_dropped_piece_by_piece_and_later_ones_stay() {
        let mut bucket = Bucket::default();
        // Many keys of one slot, and others; every third expires.
        let key = |number: u64| if number.is_multiple_of(2) { format!("{{a}}{number}") } else { number.to_string() };
        for number in 0..10_000_u64 {
            let expiry = number.is_multiple_of(3).then_some(5_000 + number);
            bucket.set(key(number).as_bytes(), &b"value"[..], expiry, 1_000);
        }
        bucket.clear();
        assert_eq!((bucket.len(), bucket.next_expiry()), (0, None));
        bucket.set(b"late", &b"value"[..], None, 1_000);
        let pieces = (0..).take_while(|_| !bucket.drop_cleared(500)).count();
        assert!((10..60).contains(&pieces), "{pieces}");
        assert!(bucket.drop_cleared(500) && bucket.len() == 1);
    }

    proptest! {
        /// Compared with a map of keys to values and expiries: contents, memory and expiry.
        #[test]
        fn keeps_what_was_stored_until_it_expires(steps in steps()) {
            let (mut bucket, mut now) = (Bucket::default(), 1_000);
            let mut model: BTreeMap<[u8; 1], (Vec<u8>, Option<u64>)> = BTreeMap::new();
            for (key, step, amount) in steps {
                let key = [key];
                let value = vec![key[0]; amount as usize];
                model.retain(|_, (_, expiry)| expiry.is_none_or(|expiry| expiry > now));
                match step {
                    0 => { bucket.set(&key, &value[..], None, now); model.insert(key, (value, None)); }
                    1 => {
                        bucket.set(&key, &value[..], Some(now + amount), now);
                        model.insert(key, (value, Some(now + amount)));
                    }
                    2 => prop_assert_eq!(bucket.remove(&key, now), model.remove(&key).is_some()),
                    3 => {
                        bucket.edit(&key, value.len(), 0, &vec![1; value.len()], now);
                        model.entry(key).or_default().0 = vec![1; value.len()];
                    }
                    4 => {
                        let expiry = (amount > 20).then_some(now + amount);
                        prop_assert_eq!(bucket.set_expiry(&key, expiry, now), model.contains_key(&key));
                        model.entry(key).and_modify(|entry| entry.1 = expiry);
                    }
                    5 => now += amount,
                    _ => { bucket.sweep(now, amount as usize); }
                }
                model.retain(|_, (_, expiry)| expiry.is_none_or(|expiry| expiry > now));
                let found = bucket.get(&key, now).map(|record| (record.value().to_vec(), record.expiry()));
                prop_assert_eq!(found, model.get(&key).cloned());
            }
            bucket.sweep(now, usize::MAX);
            prop_assert_eq!(bucket.len(), model.len() as u64);
            prop_assert_eq!(bucket.expiring(), model.values().filter(|(_, expiry)| expiry.is_some()).count() as u64);
            let records: usize = bucket.records(now).map(Record::memory).sum();
            prop_assert_eq!(bucket.memory, records);
        }
    }

    #[test]
    fn a_scan_returns_all_keys_although_the_table_grows() {
        let mut bucket = Bucket::default();
        let key = |number: u32| number.to_string();
        (0..1_000).for_each(|number| bucket.set(key(number).as_bytes(), &b""[..], None, 0));
        let (mut seen, mut rest, mut next) = (BTreeSet::new(), Some(Span::ALL), 1_000);
        while let Some(span) = rest {
            let last = bucket.scan(span, 10, 0, |record| seen.extend([record.key().to_vec()]));
            rest = span.after(last);
            (next..next + 50).for_each(|number| bucket.set(key(number).as_bytes(), &b""[..], None, 0));
            next += 50;
        }
        assert!((0..1_000).all(|number| seen.contains(key(number).as_bytes())));
    }

    #[test]
    fn the_most_recently_used_records_stay() {
        let mut bucket = Bucket::default();
        (0_u32..100).for_each(|number| bucket.set(&number.to_le_bytes(), &b""[..], None, u64::from(number) * 1000));
        let mut drawn = 0_u64;
        for _ in 0..50 {
            assert!(bucket.evict(100_000, 64, || {
                drawn = drawn.wrapping_add(0x9e37_79b9_7f4a_7c15);
                drawn
            }));
        }
        assert!(bucket.peek(&99_u32.to_le_bytes(), 100_000).is_some());
        assert!(bucket.peek(&0_u32.to_le_bytes(), 100_000).is_none());
        assert_eq!((bucket.len(), bucket.counts.evicted), (50, 50));
    }
}
