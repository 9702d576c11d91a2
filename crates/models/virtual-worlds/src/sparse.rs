//! Values by index, of which only those that are used take memory: on a machine of a million routers most messages meet
//! few of them.
//!
//! Up to `DENSE` values are all made at once, and cost what those of a vector do. More come into being by pages.

use std::cell::OnceCell;
use std::fmt;
use std::ops::{Index, IndexMut};

use serde::{Serialize, Serializer};

/// The most values that are all made at once.
const DENSE: usize = 1 << 17;
/// How many of more values come into being together.
const PAGE: usize = 16;

/// Whether that many values are made at once.
const fn is_dense(length: usize) -> bool {
    length <= DENSE
}

/// How many pages that many values take.
const fn pages_of(length: usize) -> usize {
    if is_dense(length) { 0 } else { length.div_ceil(PAGE) }
}

/// A value for each index, all alike until they are changed.
#[derive(Clone)]
pub struct Sparse<T> {
    /// All values, if they are few.
    dense: Vec<T>,
    /// What an index has on a page that was never changed.
    unchanged: T,
    pages: Vec<Option<Box<[T]>>>,
    length: usize,
}

impl<T: Clone> Sparse<T> {
    /// `length` times the same value.
    pub fn filled(unchanged: T, length: usize) -> Sparse<T> {
        let dense = if is_dense(length) { vec![unchanged.clone(); length] } else { Vec::new() };
        Sparse { dense, unchanged, pages: vec![None; pages_of(length)], length }
    }

    /// The value of an index, to be changed, where there are many.
    fn on_page_mut(&mut self, index: usize) -> &mut T {
        assert!(index < self.length, "{index} of {}", self.length);
        let new_page = || vec![self.unchanged.clone(); PAGE].into_boxed_slice();
        &mut self.pages[index / PAGE].get_or_insert_with(new_page)[index % PAGE]
    }
}

impl<T> Sparse<T> {
    /// How many there are.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The values, in the order of their indices.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> + Clone {
        (0..self.length).map(|index| &self[index])
    }

    /// The value of an index, where there are many.
    fn on_page(&self, index: usize) -> &T {
        assert!(index < self.length, "{index} of {}", self.length);
        self.pages[index / PAGE].as_ref().map_or(&self.unchanged, |page| &page[index % PAGE])
    }
}

impl<T> Index<usize> for Sparse<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: usize) -> &T {
        match self.dense.get(index) {
            Some(value) => value,
            None => self.on_page(index),
        }
    }
}

impl<T: Clone> IndexMut<usize> for Sparse<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        if index < self.dense.len() { &mut self.dense[index] } else { self.on_page_mut(index) }
    }
}

impl<T: Default> Default for Sparse<T> {
    fn default() -> Sparse<T> {
        Sparse { dense: Vec::new(), unchanged: T::default(), pages: Vec::new(), length: 0 }
    }
}

/// As a list.
impl<T: fmt::Debug> fmt::Debug for Sparse<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq for Sparse<T> {
    fn eq(&self, other: &Sparse<T>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Sparse<T> {}

impl<T: Clone + Default> FromIterator<T> for Sparse<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Sparse<T> {
        let values: Vec<T> = values.into_iter().collect();
        if is_dense(values.len()) {
            return Sparse { length: values.len(), dense: values, ..Sparse::default() };
        }
        let mut sparse = Sparse::filled(T::default(), values.len());
        values.into_iter().enumerate().for_each(|(index, value)| sparse[index] = value);
        sparse
    }
}

/// As a list.
impl<T: Serialize> Serialize for Sparse<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<'a, T> IntoIterator for &'a Sparse<T> {
    type Item = &'a T;
    type IntoIter = Box<dyn ExactSizeIterator<Item = &'a T> + 'a>;
    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

/// What the value of each index is at first.
pub(crate) trait Make {
    /// A value.
    type Value;
    /// How many there are.
    fn count(&self) -> usize;
    /// The first value of an index.
    fn make(&self, index: usize) -> Self::Value;
}

/// A value for each index, which is made when it is first used, if there are many.
#[derive(Debug)]
pub(crate) struct OnDemand<M: Make> {
    make: M,
    /// All values, if they are few.
    dense: Vec<M::Value>,
    pages: Vec<OnceCell<Box<[M::Value]>>>,
}

impl<M: Make> OnDemand<M> {
    /// Values of which many are not made yet.
    pub fn new(make: M) -> OnDemand<M> {
        let count = make.count();
        let dense = if is_dense(count) { (0..count).map(|index| make.make(index)).collect() } else { Vec::new() };
        OnDemand { make, dense, pages: (0..pages_of(count)).map(|_| OnceCell::new()).collect() }
    }

    /// The values that were made, with their indices, in order.
    pub fn made(&self) -> impl Iterator<Item = (usize, &M::Value)> {
        let pages = self.pages.iter().enumerate().filter_map(|(page, values)| Some((page, values.get()?)));
        self.dense.iter().enumerate().chain(pages.flat_map(|(page, values)| (page * PAGE..).zip(values)))
    }

    /// The value of an index, where there are many.
    fn on_page(&self, index: usize) -> &M::Value {
        let page = index / PAGE;
        &self.pages[page].get_or_init(|| OnDemand::made_page(&self.make, page))[index % PAGE]
    }

    /// The same, to be changed.
    fn on_page_mut(&mut self, index: usize) -> &mut M::Value {
        let page = index / PAGE;
        let values = &mut self.pages[page];
        if values.get().is_none() {
            *values = OnceCell::from(OnDemand::made_page(&self.make, page));
        }
        match values.get_mut() {
            Some(values) => &mut values[index % PAGE],
            None => unreachable!("page {page} was made above"),
        }
    }

    fn made_page(make: &M, page: usize) -> Box<[M::Value]> {
        (page * PAGE..make.count().min((page + 1) * PAGE)).map(|index| make.make(index)).collect()
    }
}

impl<M: Make> Index<usize> for OnDemand<M> {
    type Output = M::Value;
    #[inline]
    fn index(&self, index: usize) -> &M::Value {
        match self.dense.get(index) {
            Some(value) => value,
            None => self.on_page(index),
        }
    }
}

impl<M: Make> IndexMut<usize> for OnDemand<M> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut M::Value {
        if index < self.dense.len() { &mut self.dense[index] } else { self.on_page_mut(index) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// More than are made at once.
    const MANY: usize = DENSE + 100;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn sparse_values_are_those_of_a_list(
            length in prop::sample::select(vec![100, MANY]),
            changes in prop::collection::vec((0_usize..100, any::<u8>()), 0..50),
        ) {
            let (mut list, mut sparse) = (vec![7; length], Sparse::filled(7, length));
            for (index, value) in changes {
                // On pages far apart, the last one included.
                let index = index * (length / 100) + length % 100;
                list[index.min(length - 1)] = value;
                sparse[index.min(length - 1)] = value;
            }
            prop_assert!(sparse.iter().eq(&list));
            prop_assert!(sparse == list.iter().copied().collect());
        }
    }

    struct Squares(usize);

    impl Make for Squares {
        type Value = usize;
        fn count(&self) -> usize {
            self.0
        }
        fn make(&self, index: usize) -> usize {
            index * index
        }
    }

    #[test]
    fn a_few_values_are_all_made_and_many_when_they_are_first_used() {
        // Of many, two pages and the last one, which has fewer.
        for (count, at_first, then) in [(100, 100, 100), (MANY, 0, 2 * PAGE + MANY % PAGE)] {
            let mut squares = OnDemand::new(Squares(count));
            assert_eq!(squares.made().count(), at_first);
            assert_eq!((squares[count - 1], squares[40], squares[70]), ((count - 1).pow(2), 1600, 4900));
            squares[41] += 1;
            assert_eq!(squares.made().count(), then);
            assert!(squares.made().all(|(index, value)| *value == index * index + usize::from(index == 41)));
        }
    }
}
