//! Maps in order of their keys. Most have few items, which a vector holds without an allocation for each; many are in a
//! tree, so that a rank with thousands of operations under way finds the next one as quickly.

use std::collections::BTreeMap;

/// How many items are kept in a vector.
const FEW: usize = 16;

/// Items in order of their keys.
#[derive(Clone, Debug)]
pub(crate) enum Ordered<K, V> {
    Few(Vec<(K, V)>),
    /// From when there are more than a few until there are none.
    Many(BTreeMap<K, V>),
}

/// Keys in order.
pub(crate) type Keys<K> = Ordered<K, ()>;

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Ordered<K, V> {
        Ordered::Few(Vec::new())
    }
}

impl<K: Ord + Copy, V> Ordered<K, V> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Ordered::Few(few) => few.len(),
            Ordered::Many(many) => many.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an item, or replaces the one with this key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        match self {
            Ordered::Many(many) => {
                many.insert(key, value);
            }
            Ordered::Few(few) => {
                let place = few.partition_point(|(other, _)| *other < key);
                if few.get(place).is_some_and(|(same, _)| *same == key) {
                    few[place].1 = value;
                } else if few.len() < FEW {
                    few.insert(place, (key, value));
                } else {
                    let mut many: BTreeMap<K, V> = few.drain(..).collect();
                    many.insert(key, value);
                    *self = Ordered::Many(many);
                }
            }
        }
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        match self {
            Ordered::Few(few) => place_of(few, key).map(|place| &few[place].1),
            Ordered::Many(many) => many.get(&key),
        }
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        match self {
            Ordered::Few(few) => place_of(few, key).map(|place| &mut few[place].1),
            Ordered::Many(many) => many.get_mut(&key),
        }
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        match self {
            Ordered::Few(few) => place_of(few, key).map(|place| few.remove(place).1),
            Ordered::Many(many) => {
                let removed = many.remove(&key);
                if many.is_empty() {
                    *self = Ordered::default();
                }
                removed
            }
        }
    }

    pub(crate) fn first(&self) -> Option<(K, &V)> {
        match self {
            Ordered::Few(few) => few.first().map(|(key, value)| (*key, value)),
            Ordered::Many(many) => many.first_key_value().map(|(key, value)| (*key, value)),
        }
    }

    /// The first item whose key is not less than this one.
    pub(crate) fn first_from(&self, key: K) -> Option<(K, &V)> {
        match self {
            Ordered::Few(few) => few.iter().find(|(other, _)| *other >= key).map(|(key, value)| (*key, value)),
            Ordered::Many(many) => many.range(key..).next().map(|(key, value)| (*key, value)),
        }
    }

    /// All items, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        let (few, many) = match self {
            Ordered::Few(few) => (Some(few), None),
            Ordered::Many(many) => (None, Some(many)),
        };
        let few = few.into_iter().flatten().map(|(key, value)| (*key, value));
        few.chain(many.into_iter().flatten().map(|(key, value)| (*key, value)))
    }
}

impl<K: Ord, V> IntoIterator for Ordered<K, V> {
    type Item = (K, V);
    type IntoIter = std::iter::Chain<std::vec::IntoIter<(K, V)>, std::collections::btree_map::IntoIter<K, V>>;

    fn into_iter(self) -> Self::IntoIter {
        let (few, many) = match self {
            Ordered::Few(few) => (few, BTreeMap::new()),
            Ordered::Many(many) => (Vec::new(), many),
        };
        few.into_iter().chain(many)
    }
}

fn place_of<K: Ord, V>(few: &[(K, V)], key: K) -> Option<usize> {
    few.iter().position(|(other, _)| *other == key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// It holds what a tree holds, however many items come and go.
        #[test]
        fn holds_what_a_tree_holds(steps in prop::collection::vec((0_u8..3, 0_u32..40), 0..400)) {
            let mut ordered = Ordered::default();
            let mut tree = BTreeMap::new();
            for (number, (what, key)) in (0_usize..).zip(steps) {
                if what == 0 {
                    prop_assert_eq!(ordered.remove(key), tree.remove(&key));
                } else {
                    ordered.insert(key, number);
                    tree.insert(key, number);
                }
                prop_assert_eq!(ordered.get(key), tree.get(&key));
                prop_assert_eq!(ordered.get_mut(key), tree.get_mut(&key));
                prop_assert_eq!(ordered.first(), tree.first_key_value().map(|(key, value)| (*key, value)));
                let from = tree.range(key..).next().map(|(key, value)| (*key, value));
                prop_assert_eq!(ordered.first_from(key), from);
                prop_assert_eq!((ordered.len(), ordered.is_empty()), (tree.len(), tree.is_empty()));
                prop_assert!(ordered.iter().eq(tree.iter().map(|(key, value)| (*key, value))));
            }
        }
    }
}
