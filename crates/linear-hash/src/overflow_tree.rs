//! The entries of one local bucket that has many, however many of their hashes' low bits they have in common.

use super::tags::Tags;
use super::{Hashed, Keyed};

/// The most entries of a leaf, unless they all have the same hash.
const MOST: usize = GROUPS * Tags::SLOTS;
/// How many groups of tags a leaf has.
const GROUPS: usize = 8;
/// A leaf that has so few takes in the next one, if that has few, too.
const FEW: usize = MOST / 4;

/// The place of the key C: C with its bits reversed, as in [`super::Span`].
const fn place(c: u64) -> u64 {
    c.reverse_bits()
}

/// Entries in leaves, which are in the order of places: so a split of the bucket divides them at one point, in a leaf
/// that it cuts in two. The order within a leaf is any; an entry is found there by its tag.
///
/// ```text
///   leaves   first place 17     first place 2020     ...
///            tags 41 c7 03      tags 9e 17
///            entries            entries
/// ```
///
/// Cost of n entries: log2(n / 48) comparisons of places and 64 tags to find one, of which usually just one is that of
/// the key; half a leaf is hashed again for each 32 that are added, and the list of leaves is moved.
#[derive(Clone, Debug)]
pub(super) struct OverflowTree<E> {
    /// A place for each leaf: its own entries are there or later, those of all leaves before it earlier.
    firsts: Vec<u64>,
    #[allow(clippy::vec_box)] // a new leaf moves all later ones: 8 bytes each in place of 88
    leaves: Vec<Box<Leaf<E>>>,
}

/// Some entries of a tree.
#[derive(Clone, Debug)]
pub(super) struct Leaf<E> {
    /// Those of the first entries.
    tags: [Tags; GROUPS],
    /// More than there are tags only if all have the same hash.
    entries: Vec<E>,
}

impl<E> Default for Leaf<E> {
    fn default() -> Leaf<E> {
        Leaf { tags: [Tags::default(); GROUPS], entries: Vec::new() }
    }
}

impl<E: Hashed> Leaf<E> {
    fn of(entries: impl IntoIterator<Item = E>) -> Leaf<E> {
        let mut leaf = Leaf::default();
        entries.into_iter().for_each(|entry| leaf.add(entry));
        leaf
    }

    /// A bit for each of the first entries with this tag, and perhaps for some others. There is no branch in it, as the
    /// processor could not predict one.
    fn alike(&self, tag: u8) -> u64 {
        let groups = self.tags.iter().enumerate();
        groups.fold(0, |bits, (group, tags)| bits | u64::from(tags.bits(tag)) << (group * Tags::SLOTS))
    }

    /// The first entry with this tag.
    pub(super) fn first_alike(&self, tag: u8) -> Option<&E> {
        self.entries.get(self.alike(tag).trailing_zeros() as usize)
    }

    fn position<Q: ?Sized>(&self, c: u64, key: &Q) -> Option<usize>
    where
        E: Keyed<Q>,
    {
        let mut alike = self.alike(Tags::of(c));
        while alike != 0 {
            let position = alike.trailing_zeros() as usize;
            if self.entries.get(position).is_some_and(|entry| entry.has(c, key)) {
                return Some(position);
            }
            alike &= alike - 1;
        }
        let beyond = self.entries.iter().skip(MOST).position(|entry| entry.has(c, key))?;
        Some(MOST + beyond)
    }

    fn set_tag(&mut self, position: usize, tag: u8) {
        if let Some(tags) = self.tags.get_mut(position / Tags::SLOTS) {
            tags.set(position % Tags::SLOTS, tag);
        }
    }

    fn add(&mut self, entry: E) {
        self.set_tag(self.entries.len(), Tags::of(entry.c()));
        self.entries.push(entry);
    }

    /// Takes out an entry; the last one takes its position.
    fn remove(&mut self, position: usize) -> E {
        let entry = self.entries.swap_remove(position);
        self.set_tag(self.entries.len(), Tags::FREE);
        if let Some(moved) = self.entries.get(position) {
            self.set_tag(position, Tags::of(moved.c()));
        }
        entry
    }

    /// Takes out the entries from a place on.
    fn split_off(&mut self, from: u64) -> Leaf<E> {
        let (before, after): (Vec<E>, Vec<E>) =
            std::mem::take(&mut self.entries).into_iter().partition(|entry| place(entry.c()) < from);
        *self = Leaf::of(before);
        Leaf::of(after)
    }

    /// The place at which to divide it into two halves; none if all its entries are at one.
    fn middle(&self) -> Option<u64> {
        let mut places: Vec<u64> = self.entries.iter().map(|entry| place(entry.c())).collect();
        places.sort_unstable();
        let middle = places[places.len() / 2];
        let is_after_first = |place: &u64| *place > places[0];
        Some(middle).filter(is_after_first).or_else(|| places.iter().copied().find(is_after_first))
    }
}

impl<E: Hashed> OverflowTree<E> {
    pub(super) const fn new() -> OverflowTree<E> {
        OverflowTree { firsts: Vec::new(), leaves: Vec::new() }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// All entries.
    pub(super) fn iter(&self) -> impl Iterator<Item = &E> + Clone {
        self.leaves.iter().flat_map(|leaf| &leaf.entries)
    }

    /// The same, taken out.
    pub(super) fn into_entries(self) -> impl Iterator<Item = E> {
        self.leaves.into_iter().flat_map(|leaf| leaf.entries)
    }

    /// The number of the leaf that has this place; none if it comes before all leaves.
    fn leaf_of(&self, place: u64) -> Option<usize> {
        self.firsts.partition_point(|first| *first <= place).checked_sub(1)
    }

    /// The leaf in which the key C is, if it is here. The leaf's tags are fetched from memory.
    pub(super) fn leaf(&self, c: u64) -> Option<&Leaf<E>> {
        let leaf = &*self.leaves[self.leaf_of(place(c))?];
        std::hint::black_box(leaf.tags[0]);
        Some(leaf)
    }

    /// The entry of a key.
    pub(super) fn get<Q: ?Sized>(&self, c: u64, key: &Q) -> Option<&E>
    where
        E: Keyed<Q>,
    {
        let leaf = &self.leaves[self.leaf_of(place(c))?];
        leaf.entries.get(leaf.position(c, key)?)
    }

    /// The same, mutable.
    pub(super) fn get_mut<Q: ?Sized>(&mut self, c: u64, key: &Q) -> Option<&mut E>
    where
        E: Keyed<Q>,
    {
        let number = self.leaf_of(place(c))?;
        let leaf = &mut self.leaves[number];
        let position = leaf.position(c, key)?;
        leaf.entries.get_mut(position)
    }

    fn insert(&mut self, number: usize, first: u64, leaf: Leaf<E>) {
        self.firsts.insert(number, first);
        self.leaves.insert(number, Box::new(leaf));
    }

    fn take(&mut self, number: usize) -> Leaf<E> {
        self.firsts.remove(number);
        *self.leaves.remove(number)
    }

    /// Adds an entry whose key is absent.
    pub(super) fn add(&mut self, entry: E) {
        let at = place(entry.c());
        if self.is_empty() {
            return self.insert(0, at, Leaf::of([entry]));
        }
        let number = self.leaf_of(at).unwrap_or(0);
        self.firsts[number] = self.firsts[number].min(at);
        let leaf = &mut self.leaves[number];
        leaf.add(entry);
        if leaf.entries.len() > MOST
            && let Some(middle) = leaf.middle()
        {
            let later = leaf.split_off(middle);
            self.insert(number + 1, middle, later);
        }
    }

    /// Removes the entry of a key.
    pub(super) fn remove<Q: ?Sized>(&mut self, c: u64, key: &Q) -> Option<E>
    where
        E: Keyed<Q>,
    {
        let number = self.leaf_of(place(c))?;
        let leaf = &mut self.leaves[number];
        let entry = leaf.remove(leaf.position(c, key)?);
        match leaf.entries.len() {
            0 => drop(self.take(number)),
            FEW => self.join_next(number),
            _ => {}
        }
        Some(entry)
    }

    /// The leaf after this one is taken in by it, if it has few entries.
    fn join_next(&mut self, number: usize) {
        if self.leaves.get(number + 1).is_some_and(|next| next.entries.len() <= FEW) {
            let next = self.take(number + 1);
            next.entries.into_iter().for_each(|entry| self.leaves[number].add(entry));
        }
    }

    /// Takes out one entry.
    pub(super) fn pop(&mut self) -> Option<E> {
        let last = self.leaves.last_mut()?;
        let entry = last.remove(last.entries.len() - 1);
        if last.entries.is_empty() {
            self.leaves.pop();
            self.firsts.pop();
        }
        Some(entry)
    }

    /// Takes out the entries whose C has this bit. All have the lower bits in common.
    pub(super) fn part(&mut self, bit: u32) -> OverflowTree<E> {
        let Some(&any) = self.firsts.first() else { return OverflowTree::new() };
        let parting = place(1 << bit);
        let from = (any | parting) & !(parting - 1);
        let stay = self.firsts.partition_point(|first| *first < from);
        let mut leaving = OverflowTree { firsts: self.firsts.split_off(stay), leaves: self.leaves.split_off(stay) };
        if let Some(last) = stay.checked_sub(1) {
            let later = self.leaves[last].split_off(from);
            if !later.entries.is_empty() {
                leaving.insert(0, from, later);
            }
            if self.leaves[last].entries.is_empty() {
                self.take(last);
            }
        }
        leaving
    }

    /// Takes in another tree, whose entries are all before these, or all after them.
    pub(super) fn append(&mut self, mut other: OverflowTree<E>) {
        if other.firsts.first() < self.firsts.first() {
            std::mem::swap(self, &mut other);
        }
        self.firsts.append(&mut other.firsts);
        self.leaves.append(&mut other.leaves);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An entry of a table that allows for overflow_trees.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Overflowing(pub u64, pub u32);

    impl Hashed for Overflowing {
        const MOST_BEYOND: usize = 3;

        fn c(&self) -> u64 {
            self.0
        }
    }

    impl Keyed<u32> for Overflowing {
        fn has(&self, c: u64, key: &u32) -> bool {
            self.0 == c && self.1 == *key
        }
    }

    impl<E: Hashed> OverflowTree<E> {
        /// Leaves are in order, none is empty, and their tags are those of their entries.
        pub fn is_in_order(&self) -> bool {
            let places = |leaf: &Leaf<E>| leaf.entries.iter().map(|entry| place(entry.c())).collect::<Vec<u64>>();
            let mut last = None;
            self.firsts.len() == self.leaves.len()
                && self.firsts.iter().zip(&self.leaves).all(|(first, leaf)| {
                    let places = places(leaf);
                    let is_later = last.is_none_or(|last| last < *first) && places.iter().all(|place| place >= first);
                    last = places.iter().copied().max();
                    let tags = leaf.tags.iter().flat_map(|tags| (0..Tags::SLOTS).map(|slot| tags.get(slot)));
                    let due = leaf.entries.iter().map(|entry| Tags::of(entry.c())).chain(std::iter::repeat(Tags::FREE));
                    let is_small = places.len() <= MOST || places.iter().all(|place| *place == places[0]);
                    is_later && is_small && last.is_some() && tags.zip(due).all(|(tag, due)| tag == due)
                })
        }
    }

    /// Hashes with few and with many low bits in common, some of which are equal.
    fn c(number: u64) -> u64 {
        match number % 3 {
            0 => number << 20 | 0b10,
            1 => (number / 7) << 40 | 0b110,
            _ => (number / 50) << 3 | 0b010,
        }
    }

    proptest! {
        #[test]
        fn finds_what_is_there(steps in prop::collection::vec((0u8..5, 0u64..400), 0..1_500), bit in 2u32..30) {
            let (mut tree, mut model) = (OverflowTree::new(), Vec::<Overflowing>::new());
            for (step, number) in steps {
                let entry = Overflowing(c(number), number as u32);
                let is_there = model.contains(&entry);
                prop_assert_eq!(tree.get(entry.0, &entry.1), is_there.then_some(&entry));
                match step {
                    0 => {
                        prop_assert_eq!(tree.remove(entry.0, &entry.1), is_there.then(|| entry.clone()));
                        model.retain(|one| *one != entry);
                    }
                    1 if number % 40 == 0 => {
                        let popped = tree.pop();
                        prop_assert_eq!(popped.is_some(), !model.is_empty());
                        model.retain(|one| Some(one) != popped.as_ref());
                    }
                    _ if !is_there => {
                        tree.add(entry.clone());
                        model.push(entry);
                    }
                    _ => {}
                }
            }
            prop_assert!(tree.is_in_order());
            prop_assert!(model.iter().all(|Overflowing(c, key)| tree.get_mut(*c, key).is_some()));
            prop_assert_eq!(tree.iter().count(), model.len());
            // Those that have all bits below this one in common, as they are after earlier splits.
            let alike = |Overflowing(c, _): &Overflowing| c & ((1 << bit) - 1) == 0b10;
            let mut tree = OverflowTree::new();
            model.retain(alike);
            model.iter().for_each(|entry| tree.add(entry.clone()));
            let parted = tree.part(bit);
            prop_assert!(tree.is_in_order() && parted.is_in_order());
            prop_assert!(tree.iter().all(|entry| entry.0 >> bit & 1 == 0) && parted.iter().all(|entry| entry.0 >> bit & 1 == 1));
            prop_assert_eq!(tree.iter().count() + parted.iter().count(), model.len());
            tree.append(parted);
            prop_assert!(tree.is_in_order());
            prop_assert!(model.iter().all(|Overflowing(c, key)| tree.get(*c, key).is_some()));
            prop_assert_eq!(tree.into_entries().count(), model.len());
        }
    }

    #[test]
    fn entries_with_one_hash_are_in_one_leaf_and_leaves_that_empty_are_joined() {
        let mut tree = OverflowTree::new();
        (0..200).for_each(|key| tree.add(Overflowing(6, key)));
        assert!(tree.is_in_order() && tree.leaves.len() == 1);
        (0..2_000).for_each(|number| tree.add(Overflowing(u64::from(number) << 3 | 0b10, number)));
        let leaves = tree.leaves.len();
        assert!(tree.is_in_order() && leaves > 2_000 / MOST);
        for number in 20..2_000 {
            assert!(tree.remove(u64::from(number) << 3 | 0b10, &number).is_some());
        }
        assert!(tree.is_in_order() && tree.leaves.len() < leaves / 4, "{} of {leaves}", tree.leaves.len());
        assert_eq!(tree.iter().count(), 220);
    }
}
