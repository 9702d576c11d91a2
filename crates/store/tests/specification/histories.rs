//! Several clients use the same keys at the same time, on members that split, merge and die: their replies must be as
//! if requests had been carried out one after another, each at some moment between its beginning and its reply.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::persistence::World;
use crate::pool::Draws;
use crate::seeds::of_each_seed;

/// The number of keys that several clients use, beside those with which the table grows.
const CONTENDED: u64 = 5;
/// The first of these keys.
const FIRST: u64 = 10_000;

/// A client's operation on a key.
#[derive(Clone, Debug)]
pub struct Operation {
    key: u64,
    /// The value that it stores, which no other operation does; none if it reads.
    writes: Option<u64>,
    /// The value that it has read; none if nothing was stored.
    read: Option<u64>,
    /// When it was requested.
    begun: u64,
    /// When it was answered; none if it never was: it may have been carried out or not, or may still be.
    ended: Option<u64>,
}

impl Operation {
    /// The client's request.
    pub fn line(&self) -> String {
        match self.writes {
            Some(value) => format!("SET {} {value}", self.key),
            None => format!("GET {}", self.key),
        }
    }

    /// Notes its reply.
    pub fn is_told(&mut self, at: u64, reply: &str) {
        self.ended = Some(at);
        self.read = match (self.writes, reply.lines().collect::<Vec<&str>>().as_slice()) {
            (Some(_), ["+OK"]) | (None, ["$-1"]) => None,
            (None, [_, value]) => Some(value.parse().expect("it is one of the values that were stored")),
            other => panic!("key {}: {other:?}", self.key),
        };
    }
}

/// When the operations on one value, those that store or read it, must and may have been carried out.
#[derive(Clone, Copy, Debug)]
struct Zone {
    /// When the first of them ended: by then the value was stored.
    first_end: u64,
    /// When the last of them began: then the value was still stored.
    last_begin: u64,
    /// When the operation that stores it began.
    written: u64,
}

/// Whether the history of a register is linearizable, if each value is stored at most once, and none before the first
/// operation.
///
/// Each value must be stored by the end of the first operation on it, and must stay until the last one begins. If that
/// is a forward zone (a stretch of time), no other value can be stored meanwhile; so forward zones must not overlap,
/// nor contain the zone of a value whose operations all overlap each other. And no read may end before its value is
/// written.
///
/// Source: Gibbons and Korach, "Testing shared memories", SIAM Journal on Computing 26(4), 1997, section 4.3: exact,
/// with read-mapping.
fn is_linearizable(history: &[Operation]) -> bool {
    let mut zones = BTreeMap::from([(None, Zone { first_end: 0, last_begin: 0, written: 0 })]);
    let is_seen = |value: u64| history.iter().any(|it| it.ended.is_some() && it.read == Some(value));
    for operation in history {
        let Some(value) = operation.writes else { continue };
        // A write without a reply whose value was never read may as well not have been carried out.
        if operation.ended.is_none() && !is_seen(value) {
            continue;
        }
        let (begun, ended) = (operation.begun, operation.ended.unwrap_or(u64::MAX));
        zones.insert(Some(value), Zone { first_end: ended, last_begin: begun, written: begun });
    }
    for read in history.iter().filter(|it| it.writes.is_none()) {
        let Some(ended) = read.ended else { continue };
        let Some(zone) = zones.get_mut(&read.read).filter(|zone| zone.written < ended) else { return false };
        zone.first_end = zone.first_end.min(ended);
        zone.last_begin = zone.last_begin.max(read.begun);
    }
    let (mut stretches, moments): (Vec<Zone>, Vec<Zone>) =
        zones.into_values().partition(|zone| zone.first_end < zone.last_begin);
    stretches.sort_unstable_by_key(|zone| zone.first_end);
    let overlap = stretches.windows(2).any(|pair| pair[1].first_end < pair[0].last_begin);
    let holds =
        |stretch: &Zone, moment: &Zone| stretch.first_end < moment.last_begin && moment.first_end < stretch.last_begin;
    !overlap && !stretches.iter().any(|stretch| moments.iter().any(|moment| holds(stretch, moment)))
}

/// The keys whose histories are not linearizable.
fn wrong(history: &[Operation]) -> Vec<(u64, Vec<Operation>)> {
    let mut keys: BTreeMap<u64, Vec<Operation>> = BTreeMap::new();
    for operation in history {
        keys.entry(operation.key).or_default().push(operation.clone());
    }
    keys.into_iter().filter(|(_, history)| !is_linearizable(history)).collect()
}

/// Reads a key that other clients use, too, or stores a value of its own there.
fn read_or_store(draws: &mut Draws, now: u64) -> Operation {
    let key = FIRST + draws.below(CONTENDED);
    // No other operation begins at this instant, so the value is unique.
    let writes = draws.percent(50).then_some(now);
    Operation { key, writes, read: None, begun: now, ended: None }
}

#[test]
fn requests_of_several_clients_at_the_same_keys_are_linearizable_though_members_die() {
    let (mut answered, mut unanswered, mut concurrent) = (0, 0, 0);
    let runs = of_each_seed("linearizable", 100, |seed| {
        let mut world = World::new(seed, false);
        let contend = |world: &mut World| {
            for _ in 0..2 {
                world.ask_recorded(read_or_store, 20);
            }
        };
        world.run(400, true, contend);
        world.check();
        world.run(200, false, contend);
        world.shrink();
        world.check();
        for key in FIRST..FIRST + CONTENDED {
            let read = |_: &mut Draws, now| Operation { key, writes: None, read: None, begun: now, ended: None };
            assert!((0..1_000).any(|_| world.ask_recorded(read, 0)));
            world.until_nothing_is_under_way();
        }
        let wrong = wrong(&world.history);
        assert!(wrong.is_empty(), "{wrong:#?}");
        answered += world.history.iter().filter(|it| it.ended.is_some()).count();
        unanswered += world.history.iter().filter(|it| it.ended.is_none()).count();
        concurrent += overlapping(&world.history);
    });
    let is_enough = answered > 10_000 && unanswered > 100 && concurrent > 10_000;
    assert!(runs < 100 || is_enough, "{answered} {unanswered} {concurrent}");
}

/// How many operations began while another one on the same key was under way.
fn overlapping(history: &[Operation]) -> usize {
    let mut last = BTreeMap::new();
    let is_met = |it: &&Operation| {
        let until: &mut u64 = last.entry(it.key).or_default();
        let is_met = it.begun < *until;
        *until = it.ended.unwrap_or(0).max(*until);
        is_met
    };
    history.iter().filter(is_met).count()
}

/// Whether the operations have an order: tries all.
fn has_an_order(rest: &[Operation], value: Option<u64>) -> bool {
    let before = rest.iter().filter_map(|it| it.ended).min().unwrap_or(u64::MAX);
    let is_over = rest.iter().all(|it| it.ended.is_none());
    is_over
        || (0..rest.len()).filter(|&place| rest[place].begun < before).any(|place| {
            let mut others = rest.to_vec();
            let next = others.remove(place);
            match next.writes {
                Some(written) => has_an_order(&others, Some(written)),
                None => (next.ended.is_none() || next.read == value) && has_an_order(&others, value),
            }
        })
}

proptest! {
    /// The quick check agrees with the one that tries all orders.
    #[test]
    fn the_checker_finds_what_trying_all_orders_finds(
        drawn in prop::collection::vec((any::<bool>(), 0_usize..4, any::<u32>(), any::<u32>(), 0_u8..5), 1..7)
    ) {
        // All times are different.
        let mut times: Vec<(u32, usize)> =
            drawn.iter().enumerate().flat_map(|(at, it)| [(it.2, 2 * at), (it.3, 2 * at + 1)]).collect();
        times.sort_unstable();
        let time = |which: usize| 1 + times.iter().position(|(_, it)| *it == which).unwrap() as u64;
        let history: Vec<Operation> = drawn.iter().enumerate().map(|(at, &(writes, reads, _, _, pending))| {
            let (one, other) = (time(2 * at), time(2 * at + 1));
            let writes = writes.then_some(at as u64);
            let ended = (pending > 0).then_some(one.max(other));
            // It has read a value that one of the operations writes, or nothing.
            let read = drawn.get(reads).filter(|it| it.0).map(|_| reads as u64);
            Operation { key: 0, writes, read: read.filter(|_| writes.is_none() && ended.is_some()), begun: one.min(other), ended }
        }).collect();
        prop_assert_eq!(is_linearizable(&history), has_an_order(&history, None), "{:?}", history);
    }
}
