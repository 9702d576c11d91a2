//! Checks whether the clients' observations of one key could come from a table that executes one operation after the
//! other.

use std::collections::BTreeSet;

use proptest::prelude::*;

/// An operation on one key, with its outcome. Values are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    Insert(u64, bool),
    Put(u64, Option<u64>),
    Get(Option<u64>),
    Remove(Option<u64>),
    Contains(bool),
}

impl Seen {
    /// The value of the key after it, if it can have this outcome when the value was `before`.
    fn after(self, before: Option<u64>) -> Option<Option<u64>> {
        let (fits, after) = match self {
            Seen::Insert(value, stored) => (stored == before.is_none(), before.or(Some(value))),
            Seen::Put(value, replaced) => (replaced == before, Some(value)),
            Seen::Get(found) => (found == before, before),
            Seen::Remove(found) => (found == before, None),
            Seen::Contains(found) => (found == before.is_some(), before),
        };
        fits.then_some(after)
    }
}

/// An operation, from its request to its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub asked: u64,
    pub answered: u64,
    pub seen: Seen,
}

/// Whether the operations of all clients on one key have an order, each between its request and its answer, in which
/// all outcomes are right.
///
/// It follows all possible states of the key: its value, and which of the operations under way have been executed. When
/// an operation is answered, it must have been executed.
///
/// Source: Wing and Gong, "Testing and verifying concurrent objects", 1993; Lowe, "Testing for linearizability", 2017,
/// the configurations of the just-in-time algorithm. Keys are checked one by one, as linearizability is local (Herlihy
/// and Wing, 1990).
pub fn linearizable(history: &[Interval]) -> bool {
    let mut instants: Vec<(u64, bool, usize)> = history
        .iter()
        .enumerate()
        .flat_map(|(number, it)| [(it.asked, false, number), (it.answered, true, number)])
        .collect();
    instants.sort_unstable();
    let mut under_way = BTreeSet::new();
    let mut states = BTreeSet::from([(None, BTreeSet::new())]);
    for (_, answered, number) in instants {
        if !answered {
            under_way.insert(number);
            continue;
        }
        let mut reached = BTreeSet::new();
        let mut open: Vec<_> = states.into_iter().collect();
        while let Some((held, done)) = open.pop() {
            let next = under_way.iter().filter(|it| !done.contains(*it)).filter_map(|&it| {
                let mut done: BTreeSet<usize> = done.clone();
                done.insert(it);
                Some((history[it].seen.after(held)?, done))
            });
            open.extend(next.filter(|state| !reached.contains(state)));
            reached.insert((held, done));
        }
        under_way.remove(&number);
        let done_with = |(held, mut done): (Option<u64>, BTreeSet<usize>)| done.remove(&number).then_some((held, done));
        states = reached.into_iter().filter_map(done_with).collect();
        if states.is_empty() {
            return false;
        }
    }
    true
}

#[test]
fn it_finds_an_order_where_there_is_one_and_none_where_not() {
    let at = |asked, answered, seen| Interval { asked, answered, seen };
    // Two concurrent operations: either may be first.
    let both = [at(0, 10, Seen::Put(1, None)), at(1, 9, Seen::Get(None)), at(2, 8, Seen::Get(Some(1)))];
    assert!(linearizable(&both));
    // A get that begins after the put was answered sees it.
    assert!(!linearizable(&[at(0, 1, Seen::Put(1, None)), at(2, 3, Seen::Get(None))]));
    // An insert that is applied twice, with a remove between.
    assert!(!linearizable(&[
        at(0, 1, Seen::Insert(1, true)),
        at(2, 3, Seen::Remove(Some(1))),
        at(4, 5, Seen::Contains(true)),
    ]));
    // Two successive gets that see two puts in opposite orders.
    assert!(!linearizable(&[
        at(0, 20, Seen::Put(1, None)),
        at(0, 20, Seen::Put(2, Some(1))),
        at(1, 2, Seen::Get(Some(2))),
        at(3, 4, Seen::Get(Some(1))),
    ]));
}

/// By definition: tries all orders in which an operation that was answered before another was requested comes first.
fn in_some_order(history: &[Interval], before: Option<u64>, done: &mut Vec<bool>) -> bool {
    let open: Vec<usize> = (0..history.len()).filter(|&number| !done[number]).collect();
    let may_be_next = |&&number: &&usize| open.iter().all(|&other| history[other].answered >= history[number].asked);
    let next: Vec<usize> = open.iter().filter(may_be_next).copied().collect();
    open.is_empty()
        || next.into_iter().any(|number| {
            let Some(after) = history[number].seen.after(before) else { return false };
            done[number] = true;
            let fits = in_some_order(history, after, done);
            done[number] = false;
            fits
        })
}

fn intervals() -> impl Strategy<Value = Vec<Interval>> {
    let held = || prop::option::of(1_u64..3);
    let seen = prop_oneof![
        (1_u64..3, any::<bool>()).prop_map(|(value, stored)| Seen::Insert(value, stored)),
        (1_u64..3, held()).prop_map(|(value, old)| Seen::Put(value, old)),
        held().prop_map(Seen::Get),
        held().prop_map(Seen::Remove),
        any::<bool>().prop_map(Seen::Contains),
    ];
    // Every operation begins and ends at a distinct instant, since equal instants would be ordered arbitrarily.
    let interval = (0_u64..20, 1_u64..12, seen);
    prop::collection::vec(interval, 0..6).prop_map(|drawn| {
        let spread = drawn.into_iter().zip(0..).map(|((asked, length, seen), number)| Interval {
            asked: asked * 16 + 2 * number,
            answered: (asked + length) * 16 + 2 * number + 1,
            seen,
        });
        spread.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn it_says_what_a_trial_of_all_orders_says(history in intervals()) {
        let by_trial = in_some_order(&history, None, &mut vec![false; history.len()]);
        prop_assert_eq!(linearizable(&history), by_trial);
    }

    /// Operations that are executed one after the other, each at some instant between its request and its answer.
    #[test]
    fn it_finds_the_order_in_which_operations_were_done(
        drawn in prop::collection::vec((0_u64..40, 0_u64..40, 0..5, 1_u64..4), 0..14),
    ) {
        let mut held = None;
        let history = (1_u64..).zip(drawn).map(|(done, (before, after, operation, value))| {
            let seen = match operation {
                0 => Seen::Insert(value, held.is_none()),
                1 => Seen::Put(value, held),
                2 => Seen::Get(held),
                3 => Seen::Remove(held),
                _ => Seen::Contains(held.is_some()),
            };
            held = seen.after(held).unwrap();
            let at = 4_000 + done * 1_000;
            Interval { asked: at - before * 100 - 1, answered: at + after * 100 + 1, seen }
        });
        let history: Vec<Interval> = history.collect();
        prop_assert!(linearizable(&history));
    }
}
