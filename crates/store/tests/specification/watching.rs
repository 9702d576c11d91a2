//! Clients that count: each watches a number, reads it, and stores the next one if no other client has changed it
//! meanwhile. They use members of a pool that split, merge and die, mostly not the one that has the number; no
//! increment is lost, and none is counted twice.

use std::collections::{BTreeMap, BTreeSet};

use crate::persistence::World;
use crate::seeds::of_each_seed;

/// How many numbers are counted up.
const NUMBERS: u64 = 3;
/// The key of the first number.
const FIRST: u64 = 50_000;
/// The replies before the one to EXEC.
const QUEUED: &str = "+OK\r\n+QUEUED\r\n";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ClientStep {
    #[default]
    Nothing,
    Watches,
    Reads,
    /// It stores the successor of this number.
    Stores(u64),
}

/// A client of one machine.
#[derive(Clone, Debug, Default)]
struct Counter {
    key: u64,
    step: ClientStep,
    replies: String,
}

/// All clients, and what they have done.
#[derive(Debug, Default)]
struct Counting {
    counters: Vec<Counter>,
    /// For each key, the numbers whose successor was stored.
    counted: BTreeMap<u64, BTreeSet<u64>>,
    /// For each key, the number of transactions whose outcome is unknown.
    unknown: BTreeMap<u64, u64>,
    failed: u64,
    /// Numbers that were watched on another member.
    elsewhere: u64,
}

impl Counting {
    fn new(machines: usize) -> Counting {
        Counting { counters: vec![Counter::default(); machines], ..Counting::default() }
    }

    /// Has some clients go on.
    fn go_on(&mut self, world: &mut World) {
        for number in 0..self.counters.len() {
            if world.draws.percent(60) && self.is_ready(number, world) {
                self.send_next(number, world);
            }
        }
    }

    /// Whether a client has its reply, or waits for none, or its machine has died.
    fn is_ready(&mut self, number: usize, world: &mut World) -> bool {
        let counter = &mut self.counters[number];
        if counter.step == ClientStep::Nothing {
            return true;
        }
        let Some(replies) = world.acknowledged(number) else {
            *self.unknown.entry(counter.key).or_default() += u64::from(matches!(counter.step, ClientStep::Stores(_)));
            *counter = Counter::default();
            return true;
        };
        counter.replies += &replies;
        !matches!(counter.replies.as_str(), "" | QUEUED)
    }

    /// Takes a client's reply, and sends its next request.
    fn send_next(&mut self, number: usize, world: &mut World) {
        let counter = &mut self.counters[number];
        let replies = std::mem::take(&mut counter.replies);
        let (step, line) = match counter.step {
            ClientStep::Nothing => {
                counter.key = FIRST + world.draws.below(NUMBERS);
                (ClientStep::Watches, format!("WATCH {}", counter.key))
            }
            ClientStep::Watches => {
                assert_eq!(replies, "+OK\r\n");
                (ClientStep::Reads, format!("GET {}", counter.key))
            }
            ClientStep::Reads => {
                let read = replies.lines().nth(1).map_or(0, |read| read.parse().expect("a number is stored there"));
                (ClientStep::Stores(read), format!("MULTI\r\nSET {} {}\r\nEXEC", counter.key, read + 1))
            }
            ClientStep::Stores(read) => {
                match replies.strip_prefix(QUEUED) {
                    Some("*1\r\n+OK\r\n") => {
                        let is_new = self.counted.entry(counter.key).or_default().insert(read);
                        assert!(is_new, "key {}: two have counted on from {read}", counter.key);
                    }
                    Some("*-1\r\n") => self.failed += 1,
                    _ => panic!("received {replies:?}"),
                }
                return counter.step = ClientStep::Nothing;
            }
        };
        counter.step = step;
        world.talk(number, &line, 20);
        if step == ClientStep::Watches && self.is_ready(number, world) {
            return;
        }
        self.elsewhere += u64::from(step == ClientStep::Watches);
    }
}

#[test]
fn what_is_watched_on_any_member_is_counted_once_though_it_moves_and_members_die() {
    let (mut counted, mut failed, mut elsewhere) = (0, 0, 0);
    let runs = of_each_seed("what_is_watched", 100, |seed| {
        let (mut world, mut counting) = (World::new(seed, false), Counting::new(4));
        world.run(400, true, |world| counting.go_on(world));
        world.check();
        world.run(200, false, |world| counting.go_on(world));
        world.shrink();
        world.check();
        for key in FIRST..FIRST + NUMBERS {
            let due = counting.counted.get(&key).map_or(0, BTreeSet::len) as u64;
            let more = counting.unknown.get(&key).copied().unwrap_or(0) + counting.counters.len() as u64;
            let found = world.stored(key).map_or(0, |value| String::from_utf8_lossy(&value).parse().unwrap());
            assert!((due..=due + more).contains(&found), "key {key}: {found}, counted {due} times");
            counted += due;
        }
        failed += counting.failed;
        elsewhere += counting.elsewhere;
    });
    assert!(runs < 100 || counted > 1_000 && failed > 500 && elsewhere > 1_000, "{counted} {failed} {elsewhere}");
}
