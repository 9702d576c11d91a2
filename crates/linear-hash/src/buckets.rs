//! The buckets of a server's table, and their layout in memory.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thin_vec::ThinVec;

use super::overflow_tree::{Leaf, OverflowTree};
use super::segments::Segments;
use super::tags::Tags;

/// A key and the value stored under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyValue<K, V> {
    /// C, the hash of the key.
    pub c: u64,
    /// The key.
    pub key: K,
    /// The value.
    pub value: V,
}

/// An entry of a table.
pub trait Hashed {
    /// The table splits a bucket when the buckets hold more than this many entries on average: half of the slots of a
    /// bucket, so that few buckets overflow. A table of small entries, for which empty slots are the main cost, may be
    /// fuller.
    const MOST_ENTRIES: u64 = 4;

    /// A bucket with more overflow entries than this keeps them in a tree: this is needed if any number of keys may
    /// share the low bits of C.
    const MOST_BEYOND: usize = usize::MAX;

    /// C, the hash of its key.
    fn c(&self) -> u64;

    /// Has it fetched from memory, if it is not where the table has it.
    fn fetch(&self) {}
}

/// An entry that can be looked up by a key of this type.
pub trait Keyed<Q: ?Sized>: Hashed {
    /// Whether its key is `key`, whose hash is `c`.
    fn has(&self, c: u64, key: &Q) -> bool;
}

impl<K, V> Hashed for KeyValue<K, V> {
    #[inline]
    fn c(&self) -> u64 {
        self.c
    }
}

impl<K: Borrow<Q>, V, Q: Eq + ?Sized> Keyed<Q> for KeyValue<K, V> {
    #[inline]
    fn has(&self, c: u64, key: &Q) -> bool {
        self.c == c && self.key.borrow() == key
    }
}

/// The entries of one local bucket, while it moves from one table to another.
pub type Bucket<E> = Vec<E>;

/// How many entries are in the bucket itself.
const SLOTS: usize = Tags::SLOTS;

/// All buckets.
///
/// Separate from the slots, and close to those of other buckets, are the slots' tags, one byte each. A search examines
/// only slots whose tag is that of its key: usually one if the key is present, and none if it is not.
///
/// ```text
///   tags    c7 41 9e .. .. .. .. .. | .. 03 .. .. .. .. .. .. | ...        .. free
///   slots   entry 0                 | ...
///           entry 1
///           entry 2
///           ...
///           beyond: overflow entries, for which there is no slot
///   trees   the overflow of buckets with much of it
/// ```
#[derive(Clone, Debug)]
pub(super) struct Buckets<E> {
    tags: Segments<Tags, 2_048>,
    slots: Segments<Slots<E>, 32>,
    /// A bucket that has a tree has no free slot and nothing in `beyond`.
    overflow_trees: BTreeMap<u32, OverflowTree<E>>,
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

/// How many entries are fetched at the same time: about as many as a processor can wait for.
pub const FETCHED_AT_ONCE: usize = 16;

/// Where an entry probably is, by its tag.
enum Spot<'a, E> {
    Nowhere,
    Slot(&'a Slots<E>, usize),
    Leaf(&'a Leaf<E>, u8),
}

/// Where an entry is in its bucket.
enum EntrySlot {
    Near(usize),
    Beyond(usize),
}

impl<E> Slots<E> {
    /// Where the entry of a key is.
    #[inline]
    fn find<Q: ?Sized>(&self, tags: Tags, c: u64, key: &Q) -> Option<EntrySlot>
    where
        E: Keyed<Q>,
    {
        let has_it = |entry: &E| entry.has(c, key);
        let mut alike = tags.places(Tags::of(c));
        match alike.find(|&slot| self.near[slot].as_ref().is_some_and(has_it)) {
            Some(slot) => Some(EntrySlot::Near(slot)),
            None if tags.are_full() => self.beyond.iter().position(has_it).map(EntrySlot::Beyond),
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
        Buckets { tags: Segments::new(), slots: Segments::new(), overflow_trees: BTreeMap::new() }
    }

    pub(super) const fn len(&self) -> u32 {
        self.tags.len()
    }

    /// All entries, bucket by bucket.
    pub(super) fn entries(&self) -> impl Iterator<Item = &E> {
        self.slots.iter().flat_map(Slots::iter).chain(self.overflow_trees.values().flat_map(OverflowTree::iter))
    }

    /// The entries of one bucket.
    pub(super) fn entries_of(&self, bucket: u32) -> Option<impl Iterator<Item = &E> + Clone> {
        let tree = self.overflow_trees.get(&bucket).into_iter().flat_map(OverflowTree::iter);
        self.slots.get(bucket).map(|slots| slots.iter().chain(tree))
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
        self.overflow_trees.remove(&self.len());
    }

    /// Drops about `entries` of the last entries, and the buckets that become empty. Returns whether no bucket is left.
    pub(super) fn drop_some(&mut self, entries: usize) -> bool {
        let mut rest = entries;
        while let Some(last) = self.len().checked_sub(1) {
            while rest > 0 && pop_overflow(&mut self.overflow_trees, last).is_some() {
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
            Some(EntrySlot::Near(slot)) => slots.near[slot].as_ref(),
            Some(EntrySlot::Beyond(place)) => slots.beyond.get(place),
            None if self.overflow_trees.is_empty() => None,
            None => self.overflow_trees.get(&bucket)?.get(c, key),
        }
    }

    /// The same, mutable.
    pub(super) fn get_mut<Q: ?Sized>(&mut self, bucket: u32, c: u64, key: &Q) -> Option<&mut E>
    where
        E: Keyed<Q>,
    {
        let slots = self.slots.get_mut(bucket)?;
        match slots.find(*self.tags.get(bucket)?, c, key) {
            Some(EntrySlot::Near(slot)) => slots.near[slot].as_mut(),
            Some(EntrySlot::Beyond(place)) => slots.beyond.get_mut(place),
            None if self.overflow_trees.is_empty() => None,
            None => self.overflow_trees.get_mut(&bucket)?.get_mut(c, key),
        }
    }

    /// Fetches from memory the entries of keys with these hashes, each with its bucket: at most [`FETCHED_AT_ONCE`],
    /// all at the same time. To that end there are three steps, each of which needs what the one before has fetched for
    /// the same key, and nothing of other keys.
    pub(super) fn fetch(&self, keys: impl IntoIterator<Item = (u32, u64)>) {
        let mut spots = [const { Spot::Nowhere }; FETCHED_AT_ONCE];
        for ((bucket, c), spot) in keys.into_iter().zip(&mut spots) {
            *spot = self.spot(bucket, c);
        }
        let entries = spots.map(|spot| match spot {
            Spot::Nowhere => None,
            Spot::Slot(slots, slot) => slots.near[slot].as_ref(),
            Spot::Leaf(leaf, tag) => leaf.first_alike(tag),
        });
        entries.into_iter().flatten().for_each(E::fetch);
    }

    /// Where a key's entry probably is.
    fn spot(&self, bucket: u32, c: u64) -> Spot<'_, E> {
        let (Some(tags), Some(slots)) = (self.tags.get(bucket), self.slots.get(bucket)) else { return Spot::Nowhere };
        if let Some(slot) = tags.places(Tags::of(c)).next() {
            return Spot::Slot(slots, slot);
        }
        let tree = if self.overflow_trees.is_empty() { None } else { self.overflow_trees.get(&bucket) };
        tree.and_then(|tree| tree.leaf(c)).map_or(Spot::Nowhere, |leaf| Spot::Leaf(leaf, Tags::of(c)))
    }

    /// Adds an entry, whose key must be absent, to an existing bucket.
    pub(super) fn add(&mut self, bucket: u32, entry: E) {
        let (Some(tags), Some(slots)) = (self.tags.get_mut(bucket), self.slots.get_mut(bucket)) else { return };
        match tags.places(Tags::FREE).next() {
            Some(slot) => {
                tags.set(slot, Tags::of(entry.c()));
                slots.near[slot] = Some(entry);
            }
            None => match self.overflow_trees.get_mut(&bucket) {
                Some(tree) => tree.add(entry),
                None => {
                    slots.beyond.reserve_exact(1); // there is rarely more than one
                    slots.beyond.push(entry);
                    if slots.beyond.len() > E::MOST_BEYOND {
                        self.overflow_into_tree(bucket, OverflowTree::new());
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
            Some(EntrySlot::Near(slot)) => {
                let next = slots.beyond.pop().or_else(|| pop_overflow(&mut self.overflow_trees, bucket));
                tags.set(slot, next.as_ref().map_or(Tags::FREE, |next| Tags::of(next.c())));
                std::mem::replace(&mut slots.near[slot], next)
            }
            Some(EntrySlot::Beyond(place)) => Some(slots.beyond.swap_remove(place)),
            None => {
                let tree = self.overflow_trees.get_mut(&bucket)?;
                let entry = tree.remove(c, key)?;
                if tree.is_empty() {
                    self.overflow_trees.remove(&bucket);
                }
                Some(entry)
            }
        }
    }

    /// Turns the overflow entries of a bucket into a tree, takes in the tree `more`, whose hashes must not be in its
    /// own, and fills free slots.
    fn overflow_into_tree(&mut self, bucket: u32, mut more: OverflowTree<E>) {
        let (Some(tags), Some(slots)) = (self.tags.get_mut(bucket), self.slots.get_mut(bucket)) else { return };
        std::mem::take(&mut slots.beyond).into_iter().for_each(|entry| more.add(entry));
        self.overflow_trees.entry(bucket).or_insert_with(OverflowTree::new).append(more);
        while let Some(slot) = tags.places(Tags::FREE).next() {
            let Some(entry) = pop_overflow(&mut self.overflow_trees, bucket) else { break };
            tags.set(slot, Tags::of(entry.c()));
            slots.near[slot] = Some(entry);
        }
        if self.overflow_trees.get(&bucket).is_some_and(OverflowTree::is_empty) {
            self.overflow_trees.remove(&bucket);
        }
    }

    /// Takes all entries of a bucket.
    pub(super) fn take(&mut self, bucket: u32) -> Bucket<E> {
        let tree = self.overflow_trees.remove(&bucket).into_iter().flat_map(OverflowTree::into_entries);
        self.empty(bucket).into_iter().flat_map(Slots::into_entries).chain(tree).collect()
    }

    /// Moves the entries of one bucket whose C has this bit to another. They have all lower bits in common.
    pub(super) fn part(&mut self, from: u32, to: u32, bit: u32) {
        let staying = self.overflow_trees.remove(&from);
        for entry in self.empty(from).into_iter().flat_map(Slots::into_entries) {
            self.add(if entry.c() >> bit & 1 == 1 { to } else { from }, entry);
        }
        let Some(mut staying) = staying else { return };
        let leaving = staying.part(bit);
        self.overflow_into_tree(from, staying);
        self.overflow_into_tree(to, leaving);
    }

    /// Moves all entries of one bucket to another.
    pub(super) fn join(&mut self, from: u32, to: u32) {
        // The trees first: those of different buckets have no hash in common.
        if let Some(tree) = self.overflow_trees.remove(&from) {
            self.overflow_into_tree(to, tree);
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
        if let Some(tree) = self.overflow_trees.remove(&from) {
            self.overflow_trees.insert(to, tree);
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

/// Takes one entry from a bucket's tree, if it has one; removes the tree when it becomes empty.
fn pop_overflow<E: Hashed>(overflow_trees: &mut BTreeMap<u32, OverflowTree<E>>, bucket: u32) -> Option<E> {
    let tree = overflow_trees.get_mut(&bucket)?;
    let entry = tree.pop();
    if tree.is_empty() {
        overflow_trees.remove(&bucket);
    }
    entry
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::super::overflow_tree::tests::Overflowing;
    use super::*;

    /// Whether the tags of a bucket match the entries in its slots, and nothing overflows while there is room.
    fn in_order<E: Hashed>(buckets: &Buckets<E>, bucket: u32) -> bool {
        let (tags, slots) = (buckets.tags.get(bucket).unwrap(), buckets.slots.get(bucket).unwrap());
        let due = |slot: usize| slots.near[slot].as_ref().map_or(Tags::FREE, |entry| Tags::of(entry.c()));
        let tree = buckets.overflow_trees.get(&bucket);
        (0..SLOTS).all(|slot| tags.get(slot) == due(slot))
            && (slots.beyond.is_empty() || tags.are_full() && tree.is_none())
            && tree.is_none_or(|tree| tags.are_full() && !tree.is_empty() && tree.is_in_order())
    }

    /// An entry that counts how often it was fetched.
    #[derive(Debug)]
    struct Fetched(u64, Cell<u32>);

    impl Hashed for Fetched {
        const MOST_BEYOND: usize = 3;

        fn c(&self) -> u64 {
            self.0
        }

        fn fetch(&self) {
            self.1.set(self.1.get() + 1);
        }
    }

    #[test]
    fn entries_are_fetched_wherever_they_are() {
        let mut buckets = Buckets::new();
        (0..2).for_each(|_| buckets.push());
        // Five in the slots of bucket 0, and hundreds in the tree of bucket 1.
        let hashes = || (0..5).map(|number| (0, number * 7_919)).chain((0..500).map(|number| (1, number << 20 | 1)));
        hashes().for_each(|(bucket, c)| buckets.add(bucket, Fetched(c, Cell::new(0))));
        let all: Vec<(u32, u64)> = hashes().collect();
        all.chunks(FETCHED_AT_ONCE).for_each(|some| buckets.fetch(some.iter().copied()));
        let fetched = buckets.entries().filter(|entry| entry.1.get() > 0).count();
        // Of the 63 others in a leaf some 32 come before it, and one of these has the same tag, and is fetched instead,
        // with a chance of an eighth.
        assert!(
            fetched > 430 && buckets.slots.get(0).unwrap().near.iter().flatten().all(|entry| entry.1.get() == 1),
            "{fetched}"
        );
        buckets.fetch([(7, 3)]);
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
                    buckets.add(0, KeyValue { c, key, value: () });
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
        fn finds_what_is_in_an_overflow_tree(steps in prop::collection::vec((0u8..4, 0u64..12, 0u32..4), 0..120)) {
            let mut buckets = Buckets::new();
            (0..4).for_each(|_| buckets.push());
            let mut model = Vec::new();
            for (step, c, key) in steps {
                let there = model.contains(&(c, key));
                if step > 0 && !there {
                    buckets.add(0, Overflowing(c, key));
                    model.push((c, key));
                } else if step == 0 {
                    prop_assert_eq!(buckets.remove(0, c, &key), there.then_some(Overflowing(c, key)));
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
