//! The buckets of a server's table, and their layout in memory.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thin_vec::ThinVec;

use super::segments::Segments;

/// A key and the value stored under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry<K, V> {
    /// C, the hash of the key.
    pub c: u64,
    /// The key.
    pub key: K,
    /// The value.
    pub value: V,
}

/// An entry of a table.
pub trait Hashed {
    /// The table splits a bucket when the buckets hold more than this many entries on average: half of the slots of a bucket, so that
    /// few buckets overflow. A table of small entries, for which empty slots are the main cost, may be fuller.
    const MOST_ENTRIES: u64 = 4;

    /// A bucket with more overflow entries than this keeps them in a tree: this is needed if any number of keys may share the low bits
    /// of C.
    const MOST_BEYOND: usize = usize::MAX;

    /// C, the hash of its key.
    fn c(&self) -> u64;
}

/// An entry that can be looked up by a key of this type.
pub trait Keyed<Q: ?Sized>: Hashed {
    /// Whether its key is `key`, whose hash is `c`.
    fn has(&self, c: u64, key: &Q) -> bool;
}

impl<K, V> Hashed for Entry<K, V> {
    #[inline]
    fn c(&self) -> u64 {
        self.c
    }
}

impl<K: Borrow<Q>, V, Q: Eq + ?Sized> Keyed<Q> for Entry<K, V> {
    #[inline]
    fn has(&self, c: u64, key: &Q) -> bool {
        self.c == c && self.key.borrow() == key
    }
}

/// The entries of one local bucket, while it moves from one table to another.
pub type Bucket<E> = Vec<E>;

/// How many entries are in the bucket itself.
const SLOTS: usize = 8;

/// All buckets.
///
/// Separate from the slots, and close to those of other buckets, are the slots' tags, one byte each. A search examines only slots whose
/// tag is that of its key: usually one if the key is present, and none if it is not.
///
/// ```text
///   tags    c7 41 9e .. .. .. .. .. | .. 03 .. .. .. .. .. .. | ...        .. free
///   slots   entry 0                 | ...
///           entry 1
///           entry 2
///           ...
///           beyond: overflow entries, for which there is no slot
///   crowds  the overflow of buckets with much of it, in the order in which splits divide it
/// ```
#[derive(Clone, Debug)]
pub(super) struct Buckets<E> {
    tags: Segments<Tags, 2_048>,
    slots: Segments<Slots<E>, 32>,
    crowds: BTreeMap<u32, Crowd<E>>,
}

/// Entries ordered by C with its bits reversed, so that a split divides them at one point. A bucket that has a crowd has no free slot
/// and nothing in `beyond`.
type Crowd<E> = BTreeMap<u64, ThinVec<E>>;

const fn place(c: u64) -> u64 {
    c.reverse_bits()
}

#[derive(Clone, Debug)]
struct Slots<E> {
    near: [Option<E>; SLOTS],
    beyond: ThinVec<E>,
}

impl<E> Default for Slots<E> {
    fn default() -> Slots<E> {
        Slots { near: [const { None }; SLOTS], beyond: ThinVec::new() }
    }
}

/// Where an entry is in its bucket.
enum Found {
    Near(usize),
    Beyond(usize),
}

impl<E> Slots<E> {
    /// Where the entry of a key is.
    #[inline]
    fn find<Q: ?Sized>(&self, tags: Tags, c: u64, key: &Q) -> Option<Found>
    where
        E: Keyed<Q>,
    {
        let has_it = |entry: &E| entry.has(c, key);
        let mut alike = tags.places(tag(c));
        match alike.find(|&slot| self.near[slot].as_ref().is_some_and(has_it)) {
            Some(slot) => Some(Found::Near(slot)),
            None if tags.are_full() => self.beyond.iter().position(has_it).map(Found::Beyond),
            None => None,
        }
    }

    fn iter(&self) -> impl Iterator<Item = &E> + Clone {
        self.near.iter().flatten().chain(&self.beyond)
    }

    fn into_entries(self) -> impl Iterator<Item = E> {
        self.near.into_iter().flatten().chain(self.beyond)
    }
}

impl<E: Hashed> Buckets<E> {
    pub(super) const fn new() -> Buckets<E> {
        Buckets { tags: Segments::new(), slots: Segments::new(), crowds: BTreeMap::new() }
    }

    pub(super) const fn len(&self) -> u32 {
        self.tags.len()
    }

    /// All entries, bucket by bucket.
    pub(super) fn entries(&self) -> impl Iterator<Item = &E> {
        self.slots.iter().flat_map(Slots::iter).chain(self.crowds.values().flat_map(BTreeMap::values).flatten())
    }

    /// The entries of one bucket.
    pub(super) fn entries_of(&self, bucket: u32) -> Option<impl Iterator<Item = &E> + Clone> {
        let crowd = self.crowds.get(&bucket).into_iter().flat_map(BTreeMap::values).flatten();
        self.slots.get(bucket).map(|slots| slots.iter().chain(crowd))
    }

    /// Adds an empty bucket.
    pub(super) fn push(&mut self) {
        self.tags.push();
        self.slots.push();
    }

    /// Drops the last bucket.
    pub(super) fn pop(&mut self) {
        self.tags.pop();
        self.slots.pop();
        self.crowds.remove(&self.len());
    }

    /// Drops about `entries` of the last entries, and the buckets that become empty. Returns whether no bucket is left.
    pub(super) fn drop_some(&mut self, entries: usize) -> bool {
        let mut rest = entries;
        while let Some(last) = self.len().checked_sub(1) {
            while rest > 0 && uncrowd(&mut self.crowds, last).is_some() {
                rest -= 1;
            }
            if rest == 0 {
                return false;
            }
            self.pop();
            rest = rest.saturating_sub(SLOTS);
        }
        true
    }

    /// The entry of a key.
    #[inline]
    pub(super) fn get<Q: ?Sized>(&self, bucket: u32, c: u64, key: &Q) -> Option<&E>
    where
        E: Keyed<Q>,
    {
        let slots = self.slots.get(bucket)?;
        match slots.find(*self.tags.get(bucket)?, c, key) {
            Some(Found::Near(slot)) => slots.near[slot].as_ref(),
            Some(Found::Beyond(place)) => slots.beyond.get(place),
            None if self.crowds.is_empty() => None,
            None => self.crowds.get(&bucket)?.get(&place(c))?.iter().find(|entry| entry.has(c, key)),
        }
    }

    /// The same, mutable.
    pub(super) fn get_mut<Q: ?Sized>(&mut self, bucket: u32, c: u64, key: &Q) -> Option<&mut E>
    where
        E: Keyed<Q>,
    {
        let slots = self.slots.get_mut(bucket)?;
        match slots.find(*self.tags.get(bucket)?, c, key) {
            Some(Found::Near(slot)) => slots.near[slot].as_mut(),
            Some(Found::Beyond(place)) => slots.beyond.get_mut(place),
            None if self.crowds.is_empty() => None,
            None => self.crowds.get_mut(&bucket)?.get_mut(&place(c))?.iter_mut().find(|entry| entry.has(c, key)),
        }
    }

    /// Adds an entry, whose key must be absent, to an existing bucket.
    pub(super) fn add(&mut self, bucket: u32, entry: E) {
        let (Some(tags), Some(slots)) = (self.tags.get_mut(bucket), self.slots.get_mut(bucket)) else { return };
        match tags.places(FREE).next() {
            Some(slot) => {
                tags.0[slot] = tag(entry.c());
                slots.near[slot] = Some(entry);
            }
            None => match self.crowds.get_mut(&bucket) {
                Some(crowd) => crowd.entry(place(entry.c())).or_default().push(entry),
                None => {
                    slots.beyond.reserve_exact(1); // there is rarely more than one
                    slots.beyond.push(entry);
                    if slots.beyond.len() > E::MOST_BEYOND {
                        self.crowd(bucket, Crowd::new());
                    }
                }
            },
        }
    }

    /// Removes the entry of a key. If the bucket overflows, an overflow entry takes its slot.
    pub(super) fn remove<Q: ?Sized>(&mut self, bucket: u32, c: u64, key: &Q) -> Option<E>
    where
        E: Keyed<Q>,
    {
        let (tags, slots) = (self.tags.get_mut(bucket)?, self.slots.get_mut(bucket)?);
        match slots.find(*tags, c, key) {
            Some(Found::Near(slot)) => {
                let next = slots.beyond.pop().or_else(|| uncrowd(&mut self.crowds, bucket));
                tags.0[slot] = next.as_ref().map_or(FREE, |next| tag(next.c()));
                std::mem::replace(&mut slots.near[slot], next)
            }
            Some(Found::Beyond(place)) => Some(slots.beyond.swap_remove(place)),
            None => {
                let crowd = self.crowds.get_mut(&bucket)?;
                let alike = crowd.get_mut(&place(c))?;
                let entry = alike.swap_remove(alike.iter().position(|entry| entry.has(c, key))?);
                if alike.is_empty() {
                    crowd.remove(&place(c));
                }
                if crowd.is_empty() {
                    self.crowds.remove(&bucket);
                }
                Some(entry)
            }
        }
    }

    /// Turns the overflow entries of a bucket into a crowd, adds the entries `more`, whose hashes must not be in its crowd, and fills free
    /// slots.
    fn crowd(&mut self, bucket: u32, mut more: Crowd<E>) {
        let (Some(tags), Some(slots)) = (self.tags.get_mut(bucket), self.slots.get_mut(bucket)) else { return };
        for entry in std::mem::take(&mut slots.beyond) {
            more.entry(place(entry.c())).or_default().push(entry);
        }
        self.crowds.entry(bucket).or_default().append(&mut more);
        while let Some(slot) = tags.places(FREE).next() {
            let Some(entry) = uncrowd(&mut self.crowds, bucket) else { break };
            tags.0[slot] = tag(entry.c());
            slots.near[slot] = Some(entry);
        }
        if self.crowds.get(&bucket).is_some_and(BTreeMap::is_empty) {
            self.crowds.remove(&bucket);
        }
    }

    /// Takes all entries of a bucket.
    pub(super) fn take(&mut self, bucket: u32) -> Bucket<E> {
        let crowd = self.crowds.remove(&bucket).into_iter().flat_map(BTreeMap::into_values).flatten();
        self.empty(bucket).into_iter().flat_map(Slots::into_entries).chain(crowd).collect()
    }

    /// Moves the entries of one bucket whose C has this bit to another. They have all lower bits in common.
    pub(super) fn part(&mut self, from: u32, to: u32, bit: u32) {
        let staying = self.crowds.remove(&from);
        for entry in self.empty(from).into_iter().flat_map(Slots::into_entries) {
            self.add(if entry.c() >> bit & 1 == 1 { to } else { from }, entry);
        }
        let Some(mut staying) = staying else { return };
        let Some((&first, _)) = staying.first_key_value() else { return };
        let parting = place(1 << bit);
        let leaving = staying.split_off(&((first | parting) & !(parting - 1)));
        self.crowd(from, staying);
        self.crowd(to, leaving);
    }

    /// Moves all entries of one bucket to another.
    pub(super) fn join(&mut self, from: u32, to: u32) {
        // The crowds first: those of different buckets have no hash in common.
        if let Some(crowd) = self.crowds.remove(&from) {
            self.crowd(to, crowd);
        }
        for entry in self.empty(from).into_iter().flat_map(Slots::into_entries) {
            self.add(to, entry);
        }
    }

    /// Moves the contents of a bucket into an empty one.
    pub(super) fn relocate(&mut self, from: u32, to: u32) {
        if from == to {
            return;
        }
        if let Some(crowd) = self.crowds.remove(&from) {
            self.crowds.insert(to, crowd);
        }
        let tags = self.tags.get(from).copied().unwrap_or_default();
        let slots = self.empty(from);
        if let (Some(own_tags), Some(own_slots), Some(slots)) = (self.tags.get_mut(to), self.slots.get_mut(to), slots) {
            (*own_tags, *own_slots) = (tags, slots);
        }
    }

    fn empty(&mut self, bucket: u32) -> Option<Slots<E>> {
        *self.tags.get_mut(bucket)? = Tags::default();
        self.slots.get_mut(bucket).map(std::mem::take)
    }
}

/// Takes one entry from a bucket's crowd, if it has one; removes the crowd when it becomes empty.
fn uncrowd<E>(crowds: &mut BTreeMap<u32, Crowd<E>>, bucket: u32) -> Option<E> {
    let crowd = crowds.get_mut(&bucket)?;
    let mut last = crowd.last_entry()?;
    let entry = last.get_mut().pop();
    if last.get().is_empty() {
        last.remove();
    }
    if crowd.is_empty() {
        crowds.remove(&bucket);
    }
    entry
}

/// The tag of a free slot.
const FREE: u8 = 0;

/// A byte that differs between the keys of one bucket: its bits depend on all of C.
const fn tag(c: u64) -> u8 {
    match (c.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8 {
        FREE => 1,
        tag => tag,
    }
}

/// The tags of a bucket's slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(8))]
struct Tags([u8; SLOTS]);

impl Tags {
    const ONES: u64 = u64::from_le_bytes([1; SLOTS]);
    const HIGHEST: u64 = Tags::ONES << 7;

    /// Sets the highest bit of each byte that equals this tag, all bytes at once.
    ///
    /// A byte of `other` is 0 where the tags are equal. Subtracting 1 sets the highest bit only there, or above such a byte: the
    /// first match is always a true one.
    const fn alike(self, tag: u8) -> u64 {
        let other = u64::from_le_bytes(self.0) ^ (Tags::ONES * tag as u64);
        other.wrapping_sub(Tags::ONES) & !other & Tags::HIGHEST
    }

    const fn are_full(self) -> bool {
        self.alike(FREE) == 0
    }

    /// The slots with this tag, and perhaps some above them.
    fn places(self, tag: u8) -> impl Iterator<Item = usize> {
        let mut alike = self.alike(tag);
        std::iter::from_fn(move || {
            let place = (alike != 0).then(|| (alike.trailing_zeros() / 8) as usize);
            alike &= alike.wrapping_sub(1);
            place
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether the tags of a bucket match the entries in its slots, and nothing overflows while there is room.
    fn in_order<E: Hashed>(buckets: &Buckets<E>, bucket: u32) -> bool {
        let (tags, slots) = (buckets.tags.get(bucket).unwrap(), buckets.slots.get(bucket).unwrap());
        let due = slots.near.each_ref().map(|entry| entry.as_ref().map_or(FREE, |entry| tag(entry.c())));
        let crowd = buckets.crowds.get(&bucket);
        tags.0 == due
            && (slots.beyond.is_empty() || tags.are_full() && crowd.is_none())
            && crowd.is_none_or(|crowd| tags.are_full() && !crowd.is_empty())
    }

    /// An entry of a table that allows for crowds.
    #[derive(Debug, PartialEq, Eq)]
    struct Crowded(u64, u32);

    impl Hashed for Crowded {
        const MOST_BEYOND: usize = 3;

        fn c(&self) -> u64 {
            self.0
        }
    }

    impl Keyed<u32> for Crowded {
        fn has(&self, c: u64, key: &u32) -> bool {
            self.0 == c && self.1 == *key
        }
    }

    proptest! {
        /// Whatever is inserted and removed, the entries present are found, for keys with any hashes.
        #[test]
        fn finds_what_is_there(steps in prop::collection::vec((0u8..3, 0u64..30, 0u32..3), 0..80)) {
            let mut buckets = Buckets::new();
            (0..2).for_each(|_| buckets.push());
            let mut model = Vec::new();
            for (step, c, key) in steps {
                let there = model.contains(&(c, key));
                prop_assert_eq!(buckets.get(0, c, &key).is_some(), there);
                if step > 0 && !there {
                    buckets.add(0, Entry { c, key, value: () });
                    model.push((c, key));
                } else if step == 0 {
                    prop_assert_eq!(buckets.remove(0, c, &key).is_some(), there);
                    model.retain(|&one| one != (c, key));
                }
                prop_assert!(in_order(&buckets, 0));
            }
            buckets.part(0, 1, 0);
            prop_assert!(in_order(&buckets, 0) && in_order(&buckets, 1));
            prop_assert_eq!(buckets.entries().count(), model.len());
            for (c, key) in model {
                prop_assert!(buckets.get((c % 2) as u32, c, &key).is_some());
            }
        }

        /// The same with many keys in one bucket, which is split and joined again.
        #[test]
        fn finds_what_is_in_a_crowd(steps in prop::collection::vec((0u8..4, 0u64..12, 0u32..4), 0..120)) {
            let mut buckets = Buckets::new();
            (0..4).for_each(|_| buckets.push());
            let mut model = Vec::new();
            for (step, c, key) in steps {
                let there = model.contains(&(c, key));
                if step > 0 && !there {
                    buckets.add(0, Crowded(c, key));
                    model.push((c, key));
                } else if step == 0 {
                    prop_assert_eq!(buckets.remove(0, c, &key), there.then_some(Crowded(c, key)));
                    model.retain(|&one| one != (c, key));
                }
                prop_assert!(in_order(&buckets, 0));
                prop_assert_eq!(buckets.entries_of(0).unwrap().count(), model.len());
                prop_assert!(model.iter().all(|&(c, key)| buckets.get_mut(0, c, &key).is_some()));
            }
            buckets.part(0, 1, 0);
            buckets.part(1, 3, 1);
            buckets.relocate(0, 2);
            let bucket = |c: u64| [2, 1, 2, 3][(c % 4) as usize];
            prop_assert!((0..4).all(|bucket| in_order(&buckets, bucket)));
            prop_assert!(model.iter().all(|&(c, key)| buckets.get(bucket(c), c, &key).is_some()));
            buckets.join(3, 1);
            buckets.join(1, 2);
            prop_assert!((0..4).all(|bucket| in_order(&buckets, bucket)));
            prop_assert!(model.iter().all(|&(c, key)| buckets.get(2, c, &key).is_some()));
            prop_assert_eq!((buckets.entries().count(), buckets.take(2).len()), (model.len(), model.len()));
            prop_assert_eq!(buckets.entries().count(), 0);
        }
    }
}
