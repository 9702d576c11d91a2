//! Values by index, of which only those that are used take memory: on a machine of a million routers most messages meet few of them.

use std::cell::OnceCell;
use std::fmt;
use std::ops::{Index, IndexMut};

use serde::{Serialize, Serializer};

/// How many values come into being together.
const PAGE: usize = 16;

/// A value for each index, all alike until they are changed.
#[derive(Clone)]
pub struct Sparse<T> {
    /// What an index has on a page that was never changed.
    unchanged: T,
    pages: Vec<Option<Box<[T]>>>,
    length: usize,
}

impl<T: Clone> Sparse<T> {
    /// `length` times the same value.
    pub fn filled(unchanged: T, length: usize) -> Sparse<T> {
        Sparse { unchanged, pages: vec![None; length.div_ceil(PAGE)], length }
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

    /// The values on pages that were changed, with their indices, in order.
    pub fn changed(&self) -> impl Iterator<Item = (usize, &T)> {
        let pages = self.pages.iter().enumerate().filter_map(|(page, values)| Some((page, values.as_deref()?)));
        pages.flat_map(|(page, values)| (page * PAGE..).zip(values)).take_while(|(index, _)| *index < self.length)
    }
}

impl<T> Index<usize> for Sparse<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: usize) -> &T {
        assert!(index < self.length, "{index} of {}", self.length);
        self.pages[index / PAGE].as_ref().map_or(&self.unchanged, |page| &page[index % PAGE])
    }
}

impl<T: Clone> IndexMut<usize> for Sparse<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        assert!(index < self.length, "{index} of {}", self.length);
        let page =
            self.pages[index / PAGE].get_or_insert_with(|| vec![self.unchanged.clone(); PAGE].into_boxed_slice());
        &mut page[index % PAGE]
    }
}

impl<T: Default> Default for Sparse<T> {
    fn default() -> Sparse<T> {
        Sparse { unchanged: T::default(), pages: Vec::new(), length: 0 }
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

/// A value for each index, which is made when it is first used.
#[derive(Debug)]
pub(crate) struct OnDemand<M: Make> {
    make: M,
    pages: Vec<OnceCell<Box<[M::Value]>>>,
}

impl<M: Make> OnDemand<M> {
    /// None made yet.
    pub fn new(make: M) -> OnDemand<M> {
        let pages = (0..make.count().div_ceil(PAGE)).map(|_| OnceCell::new()).collect();
        OnDemand { make, pages }
    }

    /// The values that were made, with their indices, in order.
    pub fn made(&self) -> impl Iterator<Item = (usize, &M::Value)> {
        let pages = self.pages.iter().enumerate().filter_map(|(page, values)| Some((page, values.get()?)));
        pages.flat_map(|(page, values)| (page * PAGE..).zip(values))
    }

    #[cold]
    fn made_page(make: &M, page: usize) -> Box<[M::Value]> {
        (page * PAGE..make.count().min((page + 1) * PAGE)).map(|index| make.make(index)).collect()
    }
}

impl<M: Make> Index<usize> for OnDemand<M> {
    type Output = M::Value;
    #[inline]
    fn index(&self, index: usize) -> &M::Value {
        let page = index / PAGE;
        &self.pages[page].get_or_init(|| OnDemand::made_page(&self.make, page))[index % PAGE]
    }
}

impl<M: Make> IndexMut<usize> for OnDemand<M> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut M::Value {
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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sparse_values_are_those_of_a_list(changes in prop::collection::vec((0_usize..100, any::<u8>()), 0..50)) {
            let (mut list, mut sparse) = (vec![7; 100], Sparse::filled(7, 100));
            for (index, value) in changes {
                list[index] = value;
                sparse[index] = value;
            }
            prop_assert!(sparse.iter().eq(&list));
            prop_assert_eq!(&sparse, &list.iter().copied().collect());
            prop_assert!(sparse.changed().all(|(index, value)| list[index] == *value));
            let left_out = list.iter().filter(|value| **value != 7).count();
            prop_assert_eq!(sparse.changed().filter(|(_, value)| **value != 7).count(), left_out);
        }
    }

    struct Squares;

    impl Make for Squares {
        type Value = usize;
        fn count(&self) -> usize {
            100
        }
        fn make(&self, index: usize) -> usize {
            index * index
        }
    }

    #[test]
    fn values_are_made_when_they_are_first_used() {
        let mut squares = OnDemand::new(Squares);
        assert_eq!(squares.made().count(), 0);
        assert_eq!((squares[99], squares[40]), (9801, 1600));
        squares[41] += 1;
        assert_eq!(
            squares.made().map(|(index, _)| index / PAGE).collect::<std::collections::BTreeSet<_>>(),
            [2, 6].into()
        );
        assert!(squares.made().all(|(index, value)| *value == index * index + usize::from(index == 41)));
    }
}
