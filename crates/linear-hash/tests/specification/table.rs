//! A server's table compared with the simplest possible one, while it grows, shrinks, and is halved during requests.

use std::collections::BTreeMap;

use maquette_linear_hash::{EntryPlace, Extent, KeyValue, Table};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum TableStep {
    Put(u64, u32),
    Remove(u64),
    Get(u64),
    /// Begins to halve, or ships a bucket.
    Ship,
}

fn steps() -> impl Strategy<Value = Vec<TableStep>> {
    let c = || prop_oneof![0u64..40, any::<u64>()];
    let step = prop_oneof![
        6 => (c(), any::<u32>()).prop_map(|(c, value)| TableStep::Put(c, value)),
        2 => c().prop_map(TableStep::Remove),
        2 => c().prop_map(TableStep::Get),
        2 => Just(TableStep::Ship),
    ];
    prop::collection::vec(step, 0..600)
}

/// A table that may be being halved, and the one that takes over.
struct Pair {
    table: Table<KeyValue<u64, u32>>,
    other: Option<Table<KeyValue<u64, u32>>>,
}

impl Pair {
    /// The table that has the key.
    fn owner(&mut self, c: u64) -> &mut Table<KeyValue<u64, u32>> {
        if self.table.place(c) == EntryPlace::Shipped {
            let other = self.other.as_mut().unwrap();
            assert_eq!(other.place(c), EntryPlace::Held);
            return other;
        }
        assert_eq!(self.table.place(c), EntryPlace::Held);
        &mut self.table
    }

    /// Ships a bucket; after the last one, the keys of the other table are dropped, since they belong to another
    /// server.
    fn ship(&mut self, model: &mut BTreeMap<u64, u32>) {
        let Some(other) = &mut self.other else {
            let (level, extent) = (self.table.level(), self.table.halve());
            self.other = Some(Table::filling(level + 1, extent));
            return;
        };
        if let Some(bucket) = self.table.ship() {
            other.arrive(bucket);
            return;
        }
        let level = self.table.level();
        let leaves = |c: u64| c >> (level - 1) & 1 == 1;
        assert_eq!(other.len(), model.keys().filter(|&&c| leaves(c)).count() as u64);
        assert!(other.entries().all(|entry| leaves(entry.c)));
        model.retain(|&c, _| !leaves(c));
        self.other = None;
    }
}

proptest! {
    #[test]
    fn it_answers_as_the_simplest_table_does(steps in steps()) {
        let mut model = BTreeMap::new();
        let mut pair = Pair { table: Table::new(0), other: None };
        for step in steps {
            // Requests for keys that now belong to another server do not arrive here.
            let level = pair.table.level();
            let own = |c: u64| c >> level << level;
            match step {
                TableStep::Put(c, value) => {
                    let c = own(c);
                    prop_assert_eq!(pair.owner(c).put(c, c, value), Ok(model.insert(c, value)));
                }
                TableStep::Remove(c) => {
                    let c = own(c);
                    prop_assert_eq!(pair.owner(c).remove(c, &c), model.remove(&c));
                }
                TableStep::Get(c) => {
                    let c = own(c);
                    prop_assert_eq!(pair.owner(c).get(c, &c), model.get(&c));
                }
                TableStep::Ship if pair.table.level() < 20 => pair.ship(&mut model),
                TableStep::Ship => {}
            }
            let other = pair.other.as_ref().map_or(0, Table::len);
            prop_assert_eq!(pair.table.len() + other, model.len() as u64);
        }
        let mut entries: Vec<(u64, u32)> = pair.table.entries().map(|entry| (entry.c, entry.value)).collect();
        entries.extend(pair.other.iter().flat_map(Table::entries).map(|entry| (entry.c, entry.value)));
        entries.sort_unstable();
        prop_assert_eq!(entries, model.into_iter().collect::<Vec<_>>());
    }
}

/// Buckets hold one to four entries on average, whether the table grows or shrinks.
#[test]
fn it_grows_and_shrinks_a_bucket_at_a_time() {
    let mut table = Table::new(0);
    let mix = |c: u64| c.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    for count in 1..=10_000_u64 {
        let before = table.extent().buckets();
        table.put(mix(count), count, ()).unwrap();
        assert_eq!(u64::from(table.extent().buckets()), count.div_ceil(4).max(1));
        assert!(table.extent().buckets() - before <= 1);
    }
    for count in (1..=10_000_u64).rev() {
        assert_eq!(table.remove(mix(count), &count), Some(()));
        let buckets = u64::from(table.extent().buckets());
        assert!(buckets <= table.len().max(1) && table.len() <= 4 * buckets);
    }
    assert_eq!(table.extent(), Extent::default());
}

/// Keys with the same hash are distinguished by comparing them.
#[test]
fn keys_of_one_hash_are_different_keys() {
    let mut table = Table::new(3);
    for key in ["a", "b", "c"] {
        assert_eq!(table.put(7, key.to_string(), key.len()), Ok(None));
    }
    assert_eq!(table.put(7, "b".to_string(), 9), Ok(Some(1)));
    assert_eq!((table.get(7, "b"), table.get(7, "d"), table.get(15, "b")), (Some(&9), None, None));
    assert_eq!((table.remove(7, "b"), table.get(7, "b"), table.len()), (Some(9), None, 2));
}

/// Two tables of any sizes whose keys differ in the bit that separated them are merged; meanwhile one or the other has
/// every entry.
#[test]
fn a_table_takes_over_another_bucket_by_bucket() {
    let mix = |c: u64| c.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    for (few, many) in [(0, 0), (0, 100), (3, 4), (40, 41), (100, 0), (1_000, 7), (7, 1_000), (613, 600)] {
        let (mut stays, mut leaves) = (Table::new(3), Table::new(3));
        let stayers: Vec<u64> = (0..few).map(|key| mix(key) << 3 | 0b010).collect();
        let leavers: Vec<u64> = (0..many).map(|key| mix(key) << 3 | 0b110).collect();
        stayers.iter().for_each(|&c| assert_eq!(stays.put(c, c, ()), Ok(None)));
        leavers.iter().for_each(|&c| assert_eq!(leaves.put(c, c, ()), Ok(None)));
        stays.hold_still();
        leaves.hold_still();
        let (one, other) = (stays.extent().buckets(), leaves.extent().buckets());
        while !leaves.widen(one, 0, 5) {}
        while !stays.widen(other, 2 * one.max(other), 5) {}
        assert!(stays.join(leaves.extent().buckets()));
        leaves.leave();
        loop {
            for &c in stayers.iter().chain(&leavers) {
                let is_held = stays.place(c) == EntryPlace::Held;
                assert_eq!(stays.get(c, &c).is_some(), is_held);
                assert!(is_held || leaves.get(c, &c).is_some());
                if c & 0b100 != 0 {
                    assert_eq!(leaves.place(c), if is_held { EntryPlace::Shipped } else { EntryPlace::Held });
                }
            }
            let Some(bucket) = leaves.ship() else { break };
            stays.arrive(bucket);
        }
        assert!(stays.is_whole());
        assert_eq!((stays.level(), stays.len(), leaves.len()), (2, few + many, 0));
        assert_eq!(stays.entries().count() as u64, few + many);
    }
}

#[test]
fn what_is_not_here_is_not_stored() {
    let mut table: Table<KeyValue<u64, ()>> = Table::filling(1, Extent::of(2));
    assert_eq!(table.place(0), EntryPlace::Awaited);
    assert!(table.put(0, 0, ()).is_err());
    table.arrive(Vec::new());
    assert_eq!((table.place(0), table.place(2)), (EntryPlace::Held, EntryPlace::Awaited));
    table.arrive(Vec::new());
    assert_eq!(table.put(2, 2, ()), Ok(None));
}
