//! The buckets of a server's table, where they lie in memory.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thin_vec::ThinVec;

use super::segments::Segments;

/// A key with what is stored under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry<K, V> {
    /// C, the hash of the key.
    pub c: u64,
    /// The key.
    pub key: K,
    /// What is stored.
    pub value: V,
}

/// What a table is made of.
pub trait Hashed {
    /// The table splits a bucket where the buckets hold more than this many entries on the mean: half as many as there is room for in
    /// a bucket itself, so that few have any beyond. A table of small entries, for which empty slots are what costs, may be fuller.
    const MOST_ENTRIES: u64 = 4;

    /// A bucket with more entries beyond its slots than this keeps them in a tree: a table needs it whose keys have the low bits of C in
    /// common, however many they are.
    const MOST_BEYOND: usize = usize::MAX;

    /// C, the hash of its key.
    fn c(&self) -> u64;
}

/// An entry that can be told by a key of this type.
pub trait Keyed<Q: ?Sized>: Hashed {
    /// Whether its key is this one, of hash `c`.
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

/// The entries of one local bucket, on their way from one table to another.
pub type Bucket<E> = Vec<E>;

/// So many entries lie in the bucket itself.
const SLOTS: usize = 8;

/// All buckets.
///
/// Beside the slots of a bucket, and close to those of others, stand their tags, a byte each. A search looks only at a slot whose
/// tag is that of its key: of a key that is there mostly at one, of one that is not mostly at none.
///
/// ```text
///   tags    c7 41 9e .. .. .. .. .. | .. 03 .. .. .. .. .. .. | ...        .. there is nothing
///   slots   entry 0                 | ...
///           entry 1
///           entry 2
///           ...
///           beyond: those for which there is no slot
///   crowds  of buckets with many beyond: these, in the order in which splits part them
/// ```
#[derive(Clone, Debug)]
pub(super) struct Buckets<E> {
    tags: Segments<Tags, 2_048>,
    slots: Segments<Slots<E>, 32>,
    crowds: BTreeMap<u32, Crowd<E>>,
}

/// Entries by C with its bits in the opposite order: a split parts them in two, one behind the other. Nothing is beyond the slots of a
/// bucket that has one, and no slot is free.
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

/// Where an entry of a bucket is.
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

    /// The entries of one.
    pub(super) fn entries_of(&self, bucket: u32) -> Option<impl Iterator<Item = &E> + Clone> {
        let crowd = self.crowds.get(&bucket).into_iter().flat_map(BTreeMap::values).flatten();
        self.slots.get(bucket).map(|slots| slots.iter().chain(crowd))
    }

    /// Adds an empty bucket.
    pub(super) fn push(&mut self) {
        self.tags.push();
        self.slots.push();
    }

    /// Drops the last one.
    pub(super) fn pop(&mut self) {
        self.tags.pop();
        self.slots.pop();
        self.crowds.remove(&self.len());
    }

    /// Drops some of the last entries, about as many, with the buckets that have none any more. Whether no bucket is left.
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

    /// The same, to be changed.
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

    /// Adds an entry, of a key that is not there, to a bucket that is.
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
                    slots.beyond.reserve_exact(1); // there are rarely more
                    slots.beyond.push(entry);
                    if slots.beyond.len() > E::MOST_BEYOND {
                        self.crowd(bucket, Crowd::new());
                    }
                }
            },
        }
    }

    /// Takes out the entry of a key. Where there are some beyond, one of them comes into its slot.
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

    /// Makes a crowd of what is beyond the slots of a bucket, with more entries, of other hashes than those in its crowd, and fills slots
    /// that are free.
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

    /// Takes all that is in a bucket.
    pub(super) fn take(&mut self, bucket: u32) -> Bucket<E> {
        let crowd = self.crowds.remove(&bucket).into_iter().flat_map(BTreeMap::into_values).flatten();
        self.empty(bucket).into_iter().flat_map(Slots::into_entries).chain(crowd).collect()
    }

    /// Moves those of the entries of one bucket to another whose C has this bit. All bits below it they have in common.
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
        // The crowds first: of different buckets they have no hash in common.
        if let Some(crowd) = self.crowds.remove(&from) {
            self.crowd(to, crowd);
        }
        for entry in self.empty(from).into_iter().flat_map(Slots::into_entries) {
            self.add(to, entry);
        }
    }

    /// Puts all that is in a bucket into one that is empty.
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

/// Takes one out of a bucket's crowd, if it has any, and the crowd itself where it was the last.
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

/// The tag of a slot with nothing in it.
const FREE: u8 = 0;

/// A byte that the keys of one bucket do not have in common: its bits depend on all of C.
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

    /// Sets the highest bit of each byte that is this tag; all at once.
    ///
    /// A byte of `other` is 0 where the tags are alike. Taking 1 from it sets its highest bit only there, or above such a byte: the
    /// first that is found is always true.
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

    /// Whether the tags of a bucket are those of what is in its slots, and nothing is beyond while there is room.
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
        /// Whatever is put in and taken out, what is there is found, under keys of whatever hashes.
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

        /// The same with many keys in one bucket, and parted and joined again.
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
