//! The table of one server.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::buckets::Buckets;
use super::{Bucket, BucketRange, Extent, Hashed, KeyValue, Keyed, Span, Split, h};

/// The table merges two buckets when the buckets hold on average less than the maximum divided by this.
const LEAST_SHARE: u64 = 4;
/// How many buckets that a halved table no longer needs are dropped at a time.
const TRIMMED_AT_ONCE: u32 = 4;

/// Where the entry of a key is, in a table that is being halved or filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPlace {
    /// In this table, if there is such an entry.
    Held,
    /// In the table that took over half of this one, or all of it.
    Shipped,
    /// Moving to this table, or still in the one that it takes over.
    Awaited,
}

/// The reorganisation that a table is undergoing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Steady,
    /// Buckets 2k and 2k + 1 with k < `done` have been separated: 2k is at k, 2k + 1 is gone.
    Halving {
        done: u32,
    },
    /// The buckets after those already here have yet to arrive.
    Filling,
    /// It keeps its buckets as they are, until it is joined with another or resumes alone.
    Still,
    /// Buckets from `left` on of the table that it is joined with are here: own bucket k at 2k, the other's at 2k + 1.
    Joining {
        left: u32,
    },
    /// Buckets from `left` on have gone to the table that takes this one over.
    Leaving {
        left: u32,
    },
    /// Buckets before `gone` have gone to its new place.
    Departing {
        gone: u32,
    },
    /// The buckets after those already here are still at its old place.
    Settling,
}

/// Linear hashing in memory: a table that grows and shrinks by one bucket at a time, so that no operation has to
/// process all of it.
///
/// It is the bucket of a server of level j, so all its keys have the same h_j(C), and differ in C / 2^j. That makes it
/// easy to split the server, since the keys that leave have bit j set, the lowest of C / 2^j, and are in the odd
/// local buckets. These are shipped whole; of the others, 2k becomes k, and no key is rehashed:
///
/// ```text
///   server a, level j           0  1  2  3  4  5            buckets of C / 2^j
///   server a, level j + 1       0     1     2               buckets of C / 2^(j+1)
///   server a + 2^j, level j + 1    0     1     2
/// ```
///
/// Two servers merge in reverse: once both tables have the same number of buckets, or the one that stays has one more,
/// its bucket k becomes 2k, from the last to the first, and bucket k of the other becomes 2k + 1.
///
/// Source: LH*LH paper, sections 2 and 3; Karlsson, Litwin and Risch, "LH*LH: a scalable high performance data
/// structure for switched multicomputers", EDBT 1996.
#[derive(Clone, Debug)]
pub struct Table<E> {
    /// j, the level of its server.
    level: u32,
    extent: Extent,
    buckets: Buckets<E>,
    entries: u64,
    phase: Phase,
}

/// The shape of a table: everything except its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    level: u32,
    extent: Extent,
    /// The number of buckets, including those past the extent.
    buckets: u32,
    phase: Phase,
}

impl<E: Hashed> Table<E> {
    /// An empty table for a server of level `level`.
    pub fn new(level: u32) -> Table<E> {
        let mut table = Table::filling(level, Extent::default());
        table.arrive(Bucket::new());
        table
    }

    /// A table without its buckets: they arrive one by one, as another table is halved.
    pub fn filling(level: u32, extent: Extent) -> Table<E> {
        Table { level, extent, buckets: Buckets::new(), entries: 0, phase: Phase::Filling }
    }

    /// The same, for a table that moves here as it is: buckets that have arrived can be read at once.
    pub fn settling(level: u32, extent: Extent) -> Table<E> {
        Table { phase: Phase::Settling, ..Table::filling(level, extent) }
    }

    /// A table of this shape without entries: they are added by [`Table::put_back`].
    pub fn of_shape(shape: Shape) -> Table<E> {
        let Shape { level, extent, buckets: count, phase } = shape;
        let mut buckets = Buckets::new();
        (0..count).for_each(|_| buckets.push());
        Table { level, extent, buckets, entries: 0, phase }
    }

    /// Its shape.
    pub const fn shape(&self) -> Shape {
        Shape { level: self.level, extent: self.extent, buckets: self.buckets.len(), phase: self.phase }
    }

    /// Adds an entry of a table that had this shape, without changing the shape.
    ///
    /// # Errors
    /// The entry itself, if its key's place is not in this table.
    pub fn put_back(&mut self, entry: E) -> Result<(), E> {
        match self.position(entry.c()).filter(|bucket| *bucket < self.buckets.len()) {
            Some(bucket) => {
                self.buckets.add(bucket, entry);
                self.entries += 1;
                Ok(())
            }
            None => Err(entry),
        }
    }

    /// The level j of its server.
    pub const fn level(&self) -> u32 {
        self.level
    }

    /// The number and the level from which clients are to learn how many servers there are: those of its own server,
    /// `server`; or of the one that is being split, while this table is being filled. So a server counts from the end
    /// of the split that creates it to the end of the merge that ends it.
    pub fn counted(&self, server: u32) -> (u32, u32) {
        match self.phase {
            Phase::Filling => {
                let before = self.level.saturating_sub(1);
                (h(before, server.into()), before)
            }
            Phase::Joining { .. } => (server, self.level + 1),
            _ => (server, self.level),
        }
    }

    /// The keys for which its server, `server`, answers alone: from the end of the split or of the move that creates it
    /// here. None before that.
    pub fn answers_for(&self, server: u32) -> Option<Span> {
        if matches!(self.phase, Phase::Filling | Phase::Settling) {
            return None;
        }
        let (server, level) = self.counted(server);
        Some(Span::of_bucket(server.into(), level))
    }

    /// How far it has grown.
    pub const fn extent(&self) -> Extent {
        self.extent
    }

    /// How many entries it has.
    pub const fn len(&self) -> u64 {
        self.entries
    }

    /// Whether it has none.
    pub const fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Whether it has all its buckets, and is not giving any up.
    pub fn is_whole(&self) -> bool {
        self.phase == Phase::Steady
    }

    /// The local bucket of a key, by the extent.
    const fn index(&self, c: u64) -> u32 {
        self.extent.index(c >> self.level)
    }

    /// Where the entry of a key is.
    pub fn place(&self, c: u64) -> EntryPlace {
        match (self.phase, self.index(c)) {
            (Phase::Halving { done }, index) if index % 2 == 1 && index / 2 < done => EntryPlace::Shipped,
            (Phase::Filling | Phase::Settling, index) if index >= self.buckets.len() => EntryPlace::Awaited,
            (Phase::Departing { gone }, index) if index < gone => EntryPlace::Shipped,
            (Phase::Joining { left }, index) if index % 2 == 1 && index / 2 < left => EntryPlace::Awaited,
            (Phase::Leaving { left }, index) if index >= left => EntryPlace::Shipped,
            _ => EntryPlace::Held,
        }
    }

    /// The current position of a key's bucket, if it is in this table.
    fn position(&self, c: u64) -> Option<u32> {
        let index = self.index(c);
        match self.phase {
            Phase::Halving { done } if index / 2 < done => index.is_multiple_of(2).then_some(index / 2),
            Phase::Joining { left } if index / 2 < left => index.is_multiple_of(2).then_some(index / 2),
            Phase::Leaving { left } if index >= left => None,
            Phase::Filling | Phase::Settling if index >= self.buckets.len() => None,
            Phase::Departing { gone } if index < gone => None,
            _ => Some(index),
        }
    }

    /// The level l that a server with just the local bucket of this key would have: that bucket has the table's keys
    /// with the same h_l(C).
    pub const fn bucket_level(&self, c: u64) -> u32 {
        self.level + self.extent.level(self.index(c))
    }

    /// The entries of the local bucket of a key; none if it is not in this table now.
    pub fn entries_beside(&self, c: u64) -> Option<impl Iterator<Item = &E> + Clone> {
        self.position(c).and_then(|position| self.buckets.entries_of(position))
    }

    /// The buckets that move between this table and another, and are not in this one now: they have left it already, or
    /// have yet to arrive.
    pub fn absent(&self) -> Option<BucketRange> {
        let (all, half) = (self.extent.buckets(), Extent::of(self.extent.buckets() / 2));
        let of_all = |first, end| Some(BucketRange { level: self.level, extent: self.extent, first, end });
        let of_half = |end| Some(BucketRange { level: self.level + 1, extent: half, first: 0, end });
        match self.phase {
            Phase::Steady | Phase::Still => None,
            Phase::Halving { done } => of_half(done),
            Phase::Joining { left } => of_half(left),
            Phase::Filling | Phase::Settling => of_all(self.buckets.len(), all),
            Phase::Leaving { left } => of_all(left, all),
            Phase::Departing { gone } => of_all(0, gone),
        }
    }

    /// Fetches from memory the entries of keys with these hashes: at most [`super::FETCHED_AT_ONCE`], all at the same
    /// time.
    pub fn fetch(&self, keys: impl IntoIterator<Item = u64>) {
        self.buckets.fetch(keys.into_iter().filter_map(|c| Some((self.position(c)?, c))));
    }

    /// The entry of a key; nothing if the key's place is not in this table.
    #[inline]
    pub fn find<Q: ?Sized>(&self, c: u64, key: &Q) -> Option<&E>
    where
        E: Keyed<Q>,
    {
        self.buckets.get(self.position(c)?, c, key)
    }

    /// The same, mutable; its key must not change.
    #[inline]
    pub fn find_mut<Q: ?Sized>(&mut self, c: u64, key: &Q) -> Option<&mut E>
    where
        E: Keyed<Q>,
    {
        self.buckets.get_mut(self.position(c)?, c, key)
    }

    /// Adds an entry of a key that has none yet.
    ///
    /// # Errors
    /// The entry itself, if the key's place is not in this table.
    pub fn add(&mut self, entry: E) -> Result<(), E> {
        match self.position(entry.c()) {
            Some(bucket) => self.add_to(bucket, entry),
            None => Err(entry),
        }
    }

    /// Adds an entry whose key is absent, if its bucket is present.
    fn add_to(&mut self, bucket: u32, entry: E) -> Result<(), E> {
        if bucket >= self.buckets.len() {
            return Err(entry);
        }
        self.buckets.add(bucket, entry);
        self.entries += 1;
        if self.phase == Phase::Steady {
            self.trim();
            if self.entries > E::MOST_ENTRIES * u64::from(self.extent.buckets()) {
                self.split();
            }
        }
        Ok(())
    }

    /// Removes the entry of a key.
    pub fn take<Q: ?Sized>(&mut self, c: u64, key: &Q) -> Option<E>
    where
        E: Keyed<Q>,
    {
        let entry = self.buckets.remove(self.position(c)?, c, key)?;
        self.entries -= 1;
        if self.phase == Phase::Steady {
            self.trim();
            if LEAST_SHARE * self.entries < E::MOST_ENTRIES * u64::from(self.extent.buckets()) {
                self.merge();
            }
        }
        Some(entry)
    }

    /// Splits the next bucket: h_{i+1}, whose highest bit is new, determines which of its entries go to the new one.
    fn split(&mut self) {
        let Some(Split { from, to, level }) = self.extent.grow() else { return };
        if to >= self.buckets.len() {
            self.buckets.push();
        }
        self.buckets.part(from, to, self.level + level - 1);
    }

    /// Undoes the last split.
    fn merge(&mut self) {
        if let Some(Split { from, to, .. }) = self.extent.shrink() {
            self.buckets.join(to, from);
        }
    }

    /// Drops some of the buckets that are past the extent; they are empty.
    fn trim(&mut self) {
        self.drop_from(self.extent.buckets());
    }

    fn drop_from(&mut self, kept: u32) {
        for _ in 0..TRIMMED_AT_ONCE {
            if self.buckets.len() <= kept {
                break;
            }
            self.buckets.pop();
        }
    }

    /// Begins to give up the odd buckets, and returns the extent of the table that they form. Until all have gone, the
    /// table neither grows nor shrinks.
    pub fn halve(&mut self) -> Extent {
        if self.extent.buckets() == 1 {
            self.split();
        }
        self.phase = Phase::Halving { done: 0 };
        Extent::of(self.extent.buckets() / 2)
    }

    /// Gives up the next bucket of a table that is being halved, taken over or moved; none after the last.
    pub fn ship(&mut self) -> Option<Bucket<E>> {
        let leaving = match self.phase {
            Phase::Halving { done } => self.part(done),
            Phase::Leaving { left } => self.pop(left),
            Phase::Departing { gone } => self.hand_over(gone),
            _ => None,
        };
        self.entries -= leaving.as_ref().map_or(0, |bucket| bucket.len() as u64);
        leaving
    }

    /// Separates buckets 2k and 2k + 1 for k = `done`.
    fn part(&mut self, done: u32) -> Option<Bucket<E>> {
        let (stays, leaves) = (2 * done, 2 * done + 1);
        let is_held = |bucket| bucket < self.extent.buckets();
        let leaving = is_held(leaves).then(|| self.buckets.take(leaves));
        if is_held(stays) {
            self.buckets.relocate(stays, done);
            self.phase = Phase::Halving { done: done + 1 };
        }
        if leaving.is_none() {
            self.level += 1;
            self.extent = Extent::of(self.extent.buckets().div_ceil(2));
            self.phase = Phase::Steady;
        }
        leaving
    }

    /// Takes the last of the first `left` buckets.
    fn pop(&mut self, left: u32) -> Option<Bucket<E>> {
        let left = left.checked_sub(1)?;
        let leaving = self.buckets.take(left);
        self.drop_from(left);
        self.phase = Phase::Leaving { left };
        Some(leaving)
    }

    /// Takes the bucket after the first `gone`.
    fn hand_over(&mut self, gone: u32) -> Option<Bucket<E>> {
        if gone == self.extent.buckets() {
            return None;
        }
        self.phase = Phase::Departing { gone: gone + 1 };
        Some(self.buckets.take(gone))
    }

    /// Keeps its number of buckets from now on, except by [`Table::widen`].
    pub fn hold_still(&mut self) {
        if self.phase == Phase::Steady {
            self.phase = Phase::Still;
        }
    }

    /// Resumes growing and shrinking.
    pub fn go_on(&mut self) {
        if self.phase == Phase::Still {
            self.phase = Phase::Steady;
        }
    }

    /// For a table that is held still: approaches `buckets` buckets, if it has fewer, and room for `room`, in at most
    /// `steps` steps. Returns whether it has reached them.
    pub fn widen(&mut self, buckets: u32, room: u32, steps: u64) -> bool {
        for _ in 0..steps.max(1) {
            if self.extent.buckets() < buckets.min(Extent::MOST_BUCKETS) {
                self.split();
            } else if self.buckets.len() < room {
                self.buckets.push();
            } else {
                return true;
            }
        }
        false
    }

    /// Begins to take over a table with `other` buckets: as many as this one, which is held still, or one fewer.
    /// Returns whether that is possible.
    pub fn join(&mut self, other: u32) -> bool {
        let own = self.extent.buckets();
        let both = own + other;
        if self.phase != Phase::Still
            || self.level == 0
            || own.abs_diff(other) > 1
            || other > own
            || self.buckets.len() < both
        {
            return false;
        }
        if own > other {
            self.buckets.relocate(own - 1, 2 * (own - 1));
        }
        self.level -= 1;
        self.extent = Extent::of(both);
        self.phase = Phase::Joining { left: other };
        true
    }

    /// For a table that is held still: begins to leave, bucket by bucket, for the table that takes it over.
    pub fn leave(&mut self) {
        if self.phase == Phase::Still {
            self.phase = Phase::Leaving { left: self.extent.buckets() };
        }
    }

    /// Begins to move to a new place as it is, bucket by bucket.
    pub fn depart(&mut self) {
        if self.phase == Phase::Steady {
            self.phase = Phase::Departing { gone: 0 };
        }
    }

    /// Takes in the next bucket, for a table that is being filled or takes over another.
    pub fn arrive(&mut self, bucket: Bucket<E>) {
        match self.phase {
            Phase::Filling | Phase::Settling => {
                self.buckets.push();
                self.fill(self.buckets.len() - 1, bucket);
                if self.buckets.len() == self.extent.buckets() {
                    self.phase = Phase::Steady;
                }
            }
            Phase::Joining { left } if left > 0 => {
                let k = left - 1;
                self.buckets.relocate(k, 2 * k);
                self.fill(2 * k + 1, bucket);
                self.phase = if k == 0 { Phase::Steady } else { Phase::Joining { left: k } };
            }
            _ => {}
        }
    }

    fn fill(&mut self, place: u32, bucket: Bucket<E>) {
        self.entries += bucket.len() as u64;
        bucket.into_iter().for_each(|entry| self.buckets.add(place, entry));
    }

    /// Drops about `entries` entries of a table that is no longer needed, since dropping a large table at once takes
    /// long. Returns whether nothing is left.
    pub fn drop_some(&mut self, entries: usize) -> bool {
        self.buckets.drop_some(entries)
    }

    /// All entries in this table, bucket by bucket.
    pub fn entries(&self) -> impl Iterator<Item = &E> {
        self.buckets.entries()
    }
}

impl<K: Eq, V> Table<KeyValue<K, V>> {
    /// The value of a key; nothing if the key's place is not in this table.
    pub fn get<Q: Eq + ?Sized>(&self, c: u64, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(c, key).map(|entry| &entry.value)
    }

    /// Stores `value` under `key`, and returns the value that it replaces.
    ///
    /// # Errors
    /// The entry itself, if the key's place is not in this table.
    pub fn put(&mut self, c: u64, key: K, value: V) -> Result<Option<V>, KeyValue<K, V>> {
        let Some(bucket) = self.position(c) else { return Err(KeyValue { c, key, value }) };
        if let Some(found) = self.buckets.get_mut(bucket, c, &key) {
            return Ok(Some(std::mem::replace(&mut found.value, value)));
        }
        self.add_to(bucket, KeyValue { c, key, value })?;
        Ok(None)
    }

    /// Stores `value` under `key` if it has no value yet; returns whether it did.
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn insert(&mut self, c: u64, key: K, value: V) -> Result<bool, KeyValue<K, V>> {
        let Some(bucket) = self.position(c) else { return Err(KeyValue { c, key, value }) };
        if self.buckets.get(bucket, c, &key).is_some() {
            return Ok(false);
        }
        self.add_to(bucket, KeyValue { c, key, value })?;
        Ok(true)
    }

    /// Removes the value of a key.
    pub fn remove<Q: Eq + ?Sized>(&mut self, c: u64, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.take(c, key).map(|entry| entry.value)
    }
}
