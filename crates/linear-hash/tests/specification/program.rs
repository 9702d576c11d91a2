//! Building an LH*LH table on virtual machines: every key is stored once, in every kind of world, and the run ends.

use endpoint::{Error, Result, World};
use machines::model::{Acknowledged, LogGp, SendMode};
use maquette_linear_hash::{ClientEnd, Growth, Key, KeyHash, LinearHash, Phase, RankEnd, ServerEnd};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Time};
use virtual_worlds::answer::Answer;
use virtual_worlds::flit::world::{NetworkWorld, Options};
use virtual_worlds::loggp::Clock;

/// The machine of these tests, and of others that use it.
pub const MODEL: LogGp = LogGp {
    latency: Duration::from_picoseconds(5_000_000),
    overhead: Duration::from_picoseconds(1_000_000),
    gap: Duration::from_picoseconds(1_000_000),
    gap_per_byte: Duration::from_picoseconds(100),
    overhead_per_byte: Duration::ZERO,
    rendezvous: None,
};

fn words(count: u64) -> Vec<Key> {
    (0..count).map(|number| Key::from(format!("word {number}").into_bytes())).collect()
}

fn program(servers: u32, clients: u32, keys: u64, capacity: u64) -> LinearHash {
    let growth = Growth { capacity, sensitivity: 0.8, shrink: None, apart: false, most_servers: servers, chunk: 20 };
    LinearHash {
        servers,
        clients,
        keys: words(keys),
        body: Bytes(0),
        hash: KeyHash::Uniform,
        growth,
        server_time: Duration::ZERO,
        then: Vec::new(),
        finish_splits: true,
    }
}

/// The only split begins shortly before the last insert: if it is not completed, the run ends sooner, with the same
/// inserts.
#[test]
fn a_run_can_end_with_its_inserts() {
    let whole = LinearHash { body: Bytes(8192), ..program(2, 1, 194, 240) };
    let short = LinearHash { finish_splits: false, ..whole.clone() };
    let (whole, short) = (on_parsytec(&whole), on_parsytec(&short));
    let inserts = |built: &Built| built.clients.iter().map(|client| client.inserts.clone()).collect::<Vec<_>>();
    assert_eq!(inserts(&whole), inserts(&short));
    assert!(short.answer.makespan() < whole.answer.makespan());
    assert!(short.last_insert() < short.answer.makespan());
}

struct Built {
    servers: Vec<ServerEnd>,
    clients: Vec<ClientEnd>,
    answer: Answer,
}

impl Built {
    fn entries(&self) -> u64 {
        self.servers.iter().filter_map(|server| server.entries).sum()
    }
    fn splits(&self) -> u64 {
        self.servers.iter().map(|server| server.counts.splits).sum()
    }
    fn last_insert(&self) -> Time {
        self.clients.iter().flat_map(|client| &client.inserts).map(|insert| insert.acknowledged).max().unwrap()
    }
}

fn built((ends, answer): (Vec<Result<RankEnd>>, Answer)) -> Built {
    let (mut servers, mut clients) = (Vec::new(), Vec::new());
    for end in ends {
        match end.unwrap() {
            RankEnd::Server(server) => servers.push(server),
            RankEnd::Client(client) => clients.push(client),
        }
    }
    Built { servers, clients, answer }
}

fn on_clock(program: &LinearHash) -> Built {
    built(Clock::new(MODEL).run(program.ranks(), program).unwrap())
}

fn on_parsytec(program: &LinearHash) -> Built {
    let mut machine = machines::load("parsytec-cc-16").unwrap();
    machine.node.send = SendMode::Synchronous { acknowledged: Acknowledged::OnArrival };
    built(NetworkWorld::new(&machine, Options::default()).run(program.ranks(), program).unwrap())
}

fn is_complete(built: &Built, program: &LinearHash) {
    assert_eq!(built.entries(), program.keys.len() as u64);
    assert_eq!(built.clients.iter().map(|client| client.inserts.len()).sum::<usize>(), program.keys.len());
    assert!(built.clients.iter().flat_map(|client| &client.inserts).all(|insert| insert.stored));
    let buckets = built.servers[0].file.buckets();
    assert!(built.servers.iter().all(|server| server.file.buckets() == buckets));
    assert_eq!(built.servers.iter().filter(|server| server.entries.is_some()).count(), buckets as usize);
    assert_eq!(built.splits(), u64::from(buckets) - 1);
    for server in &built.servers {
        assert_eq!(server.splits.len() as u64, server.counts.splits);
    }
    assert!(built.clients.iter().all(|client| client.counts.most_forwards <= 2));
}

#[test]
fn every_key_is_stored_once_with_any_number_of_servers_and_clients() {
    for (servers, clients) in [(1, 1), (2, 1), (11, 1), (11, 5), (5, 3), (8, 8)] {
        let program = program(servers, clients, 1_000, 40);
        let clock = on_clock(&program);
        is_complete(&clock, &program);
        let network = on_parsytec(&program);
        is_complete(&network, &program);
        assert_eq!(network.servers[0].file.buckets(), servers.min(program.ranks()));
    }
}

#[test]
fn the_same_run_takes_the_same_time() {
    let program = program(11, 5, 600, 40);
    let (first, second) = (on_parsytec(&program), on_parsytec(&program));
    assert_eq!((first.clients, first.servers), (second.clients, second.servers));
    assert_eq!(first.answer.makespan(), second.answer.makespan());
}

#[test]
fn an_insert_takes_a_message_there_and_one_back() {
    let program = program(1, 1, 100, 1_000);
    let built = on_parsytec(&program);
    let messages: u64 = built.clients[0].messages + built.servers[0].messages;
    assert_eq!(messages, 200);
    let mean = built.last_insert().picoseconds() as f64 / 100.0 / 1e9;
    assert!((0.65..0.68).contains(&mean), "{mean} ms");
}

/// With chunks of a few entries an insert takes little longer than without splits, however much is to be shipped; if
/// everything is shipped at once, an insert waits for that.
#[test]
fn no_insert_waits_for_the_whole_of_a_split() {
    let longest = |keys: u64, chunk: u64| {
        let mut program = LinearHash { body: Bytes(10_000), ..program(8, 3, keys, keys / 7) };
        program.growth.chunk = chunk;
        let taken = on_clock(&program).clients.into_iter().flat_map(|client| client.inserts);
        taken.map(|insert| insert.acknowledged.since(insert.begun).picoseconds() / 1_000_000).max().unwrap()
    };
    // [us], for tables of 2,000 and of 8,000 entries. Shipping half of a server's entries takes 140 and 570.
    let (few, all) = ([longest(2_000, 5), longest(8_000, 5)], [longest(2_000, 1_000), longest(8_000, 1_000)]);
    assert!(few.iter().all(|&few| few < 100), "{few:?} us");
    assert!(all[0] > 120 && all[1] > 500, "{all:?} us");
}

#[test]
fn a_server_computes_after_it_has_answered() {
    // Longer than a request takes to arrive: so an insert waits for the work left by the one before.
    let second = Duration::from_picoseconds(1_000_000_000_000);
    let slow = LinearHash { server_time: second, ..program(1, 1, 11, 1_000) };
    let last = on_clock(&slow).last_insert().picoseconds();
    assert!((10_000_000_000_000..10_100_000_000_000).contains(&last), "{last} ps");
}

#[test]
fn words_with_the_same_last_letters_are_on_one_server() {
    let mut program = program(8, 2, 0, 20);
    program.hash = KeyHash::LastLetters;
    program.keys = (0..400).map(|number| Key::from(format!("{number:03}en").into_bytes())).collect();
    let built = on_clock(&program);
    is_complete(&built, &program);
    let with_entries = built.servers.iter().filter(|server| server.entries.is_some_and(|entries| entries > 0));
    assert_eq!(with_entries.count(), 1);
}

#[test]
fn a_key_that_is_there_is_not_stored_again() {
    let mut program = program(4, 1, 100, 20);
    program.keys.extend(words(100));
    let built = on_clock(&program);
    assert_eq!(built.entries(), 100);
    assert_eq!(built.clients[0].inserts.iter().filter(|insert| !insert.stored).count(), 100);
}

/// How many keys all clients together found in each phase after the build.
fn found(built: &Built) -> Vec<u64> {
    let phases = built.clients[0].then.len();
    (0..phases).map(|phase| built.clients.iter().map(|client| client.then[phase].found).sum()).collect()
}

#[test]
fn a_table_that_is_built_is_read_counted_scanned_and_emptied() {
    let mut program = program(11, 3, 1_000, 40);
    program.growth.shrink = Some(0.3);
    program.then =
        vec![Phase::Get, Phase::Contains, Phase::Count, Phase::Scan, Phase::Put, Phase::Remove, Phase::Count];
    for built in [on_clock(&program), on_parsytec(&LinearHash { clients: 3, ..program.clone() })] {
        assert_eq!(found(&built), [1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 0]);
        assert_eq!(built.servers[0].file.buckets(), 11);
        let emptied = |server: &ServerEnd| server.then[5].clone();
        assert!(built.servers.iter().all(|server| emptied(server).file.buckets() == 1));
        let merges: u64 = built.servers.iter().map(|server| emptied(server).counts.merges).sum();
        let entries: u64 = built.servers.iter().filter_map(|server| emptied(server).entries).sum();
        assert_eq!((merges, entries), (10, 0));
        // Only the first client scans.
        let scans: Vec<u64> = built.clients.iter().map(|client| client.then[3].operations).collect();
        assert_eq!(scans, [1, 0, 0]);
    }
}

#[test]
fn clients_that_forget_learn_again_what_they_knew() {
    let mut program = program(32, 2, 3_000, 100);
    program.then = vec![Phase::Get, Phase::Forget, Phase::Get];
    let built = on_clock(&program);
    let adjustments = |phase: usize| -> u64 {
        let by_then = |client: &ClientEnd| client.then[phase].counts.adjustments;
        let before = |client: &ClientEnd| if phase > 0 { client.then[phase - 1].counts } else { client.counts };
        built.clients.iter().map(|client| by_then(client) - before(client).adjustments).sum()
    };
    assert!(adjustments(0) <= 2, "clients that have built the table know it");
    assert_eq!(adjustments(1), 0);
    assert!((4..=2 * 8).contains(&adjustments(2)), "{}", adjustments(2));
    assert_eq!(found(&built), [3_000, 0, 3_000]);
}

#[test]
fn other_numbers_of_ranks_are_errors() {
    let ends = Clock::new(MODEL).run(4, &program(2, 1, 1, 1)).unwrap().0;
    let problem = "2 servers and 1 clients do not make 4 ranks".to_string();
    assert!(ends.iter().all(|end| *end == Err(Error::Unfit(problem.clone()))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn every_run_ends_with_all_keys(
        (servers, clients) in (1..20_u32, 1..10_u32),
        keys in 0..500_u64,
        capacity in 1..100_u64,
        chunk in 1..50_u64,
        (last_letters, server_time) in (any::<bool>(), 0..20_000_000_u64),
    ) {
        let mut program = program(servers, clients, keys, capacity);
        program.growth.chunk = chunk;
        program.server_time = Duration::from_picoseconds(server_time);
        program.hash = if last_letters { KeyHash::LastLetters } else { KeyHash::Uniform };
        is_complete(&on_clock(&program), &program);
    }
}

fn phase() -> impl Strategy<Value = Phase> {
    use Phase::{Contains, Count, Forget, Get, Insert, Put, Remove, Scan};
    prop::sample::select(vec![Insert, Put, Get, Contains, Remove, Scan, Count, Forget])
}

/// What a phase finds in a table that has either all keys or none, and whether it has them afterwards.
fn due(phase: Phase, keys: u64, there: bool) -> (u64, bool) {
    let held = if there { keys } else { 0 };
    match phase {
        Phase::Insert => (keys - held, true),
        Phase::Put => (held, true),
        Phase::Get | Phase::Contains | Phase::Scan | Phase::Count => (held, there),
        Phase::Remove => (held, false),
        Phase::Forget => (0, there),
    }
}

/// A server whose last bucket has arrived must still be told that it was the last.
#[test]
fn a_phase_ends_only_when_the_last_server_has_left() {
    let mut program = program(6, 2, 32, 14);
    program.growth = Growth { chunk: 1, shrink: Some(0.05), ..program.growth };
    program.then = vec![Phase::Remove, Phase::Count];
    assert_eq!(found(&on_clock(&program)), [32, 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn phases_in_any_order_find_what_is_there(
        (servers, clients) in (1..20_u32, 1..6_u32),
        (keys, capacity, chunk) in (0..300_u64, 1..60_u64, 1..50_u64),
        (shrink, apart) in (prop::option::of(0.05..0.4), any::<bool>()),
        phases in prop::collection::vec(phase(), 0..6),
    ) {
        let mut program = program(servers, clients, keys, capacity);
        program.growth = Growth { chunk, shrink, apart, ..program.growth };
        program.then = phases;
        let built = on_clock(&program);
        let mut there = true;
        for (found, &phase) in found(&built).into_iter().zip(&program.then) {
            let (due, after) = due(phase, keys, there);
            prop_assert_eq!(found, due, "{:?}", phase);
            there = after;
        }
    }
}
