//! Scans: every entry is found once, in parts of bounded size, with proof that every server has answered, even while
//! the file splits and merges.

use endpoint::Message;
use maquette_linear_hash::{
    Body, Extent, Growth, Image, Key, Operation, Scan, ScanAnswer, ScanKind, ScanOutput, ScanRequest, Server, Span,
    ToClient,
};
use proptest::prelude::*;
use quantities::{Duration, Time};

use super::file::{File, uniform};

const GROWTH: Growth =
    Growth { capacity: 10, sensitivity: 0.8, shrink: None, apart: false, most_servers: 64, chunk: 8 };

fn insert(key: Key) -> Operation {
    Operation::Insert(key, Message::default())
}

fn number(key: &Key) -> u64 {
    u64::from_le_bytes(key.as_ref().try_into().unwrap())
}

/// A scan of a file, and its results so far.
struct Scanning {
    scan: Scan,
    to_send: Vec<(u32, ScanRequest)>,
    found: Vec<u64>,
    over: Option<u64>,
    sent: usize,
    /// How many entries each part had.
    parts: Vec<usize>,
    rounds: usize,
}

impl Scanning {
    fn begin(image: u32, kind: ScanKind) -> Scanning {
        let image = Image::of(Extent::of(image));
        Scanning::of(Scan::begin((0, 0), image, kind, Duration::ZERO, Time::ZERO))
    }

    /// Reads from a place on what a server reads in one go.
    fn begin_at(image: u32, place: u64) -> Scanning {
        let image = Image::of(Extent::of(image));
        Scanning::of(Scan::begin_at((0, 0), Span { first: place, last: u64::MAX }, image, Duration::ZERO, Time::ZERO))
    }

    fn of((scan, outputs): (Scan, Vec<ScanOutput>)) -> Scanning {
        let (to_send, found, parts) = (Vec::new(), Vec::new(), Vec::new());
        let mut scanning = Scanning { scan, to_send, found, over: None, sent: 0, parts, rounds: 0 };
        scanning.does(outputs);
        scanning
    }

    fn does(&mut self, outputs: Vec<ScanOutput>) {
        for output in outputs {
            assert_eq!(self.over, None, "nothing follows upon the end");
            match output {
                ScanOutput::Send(to, request) => self.to_send.push((to, request)),
                ScanOutput::Found(entries) => {
                    let number = |(key, _): (Key, Body)| number(&key);
                    self.found.extend(entries.into_iter().map(number));
                }
                ScanOutput::Done(count) => self.over = Some(count),
            }
        }
    }

    /// Delivers all pending requests to the servers, and all their answers.
    fn round(&mut self, file: &mut File) {
        self.rounds += 1;
        self.sent += self.to_send.len();
        for (to, request) in std::mem::take(&mut self.to_send) {
            if (to as usize) < file.servers.len() {
                file.scan(to, request);
            } else {
                // A server that is not in the file says so.
                let ScanRequest { number, part, .. } = request;
                file.messages.push(ToClient::Scanned { number, part, answer: ScanAnswer::Gone { server: to } });
            }
        }
        for message in std::mem::take(&mut file.messages) {
            if let ToClient::Scanned { answer: ScanAnswer::Part { entries, .. }, .. } = &message {
                self.parts.push(entries.len());
            }
            let outputs = self.scan.take(Time::ZERO, message);
            self.does(outputs);
        }
    }

    /// Runs until no server has anything to answer.
    fn run(&mut self, file: &mut File) {
        let mut rounds = 0..1_000;
        while !self.to_send.is_empty() || !file.messages.is_empty() {
            rounds.next().expect("it does not go on without end");
            self.round(file);
        }
    }

    /// Has all open parts requested again, and runs.
    fn wake(&mut self, file: &mut File) {
        let outputs = self.scan.wake(Time::ZERO);
        self.does(outputs);
        self.run(file);
    }

    /// Runs to its end while messages between servers arrive, which it must not have to wait for more than `most`
    /// times; if it wakes, it also requests its open parts again each time.
    fn complete(&mut self, file: &mut File, most: usize, wakes: bool) {
        self.run(file);
        let mut waits = 0..most;
        while self.over.is_none() {
            waits.next().expect("it does not wait for any more messages");
            assert!(file.step(), "nothing is moving, so there is nothing to wait for");
            self.run(file);
            if wakes {
                self.wake(file);
            }
        }
    }
}

/// The keys that are found from the first place to the last, with an image that is always outdated.
fn read_all(file: &mut File) -> Vec<u64> {
    let (mut found, mut place) = (Vec::new(), Some(0));
    while let Some(from) = place {
        let mut reading = Scanning::begin_at(1, from);
        reading.complete(file, 1, false);
        found.append(&mut reading.found);
        place = reading.scan.next_place();
    }
    found.sort_unstable();
    found
}

/// A file of the keys from 0 to `keys`, and how many local buckets all its servers have.
fn filled(growth: Growth, keys: u64, hash: fn(u64) -> u64) -> (File, u64) {
    let mut file = File::new(growth, hash);
    (0..keys).for_each(|key| drop(file.request(key, insert)));
    let tables = file.servers.iter().filter_map(Server::table);
    let buckets = tables.map(|table| u64::from(table.extent().buckets())).sum();
    (file, buckets)
}

fn few_hashes(key: u64) -> u64 {
    uniform(key) % 16
}

proptest! {
    #[test]
    fn every_entry_comes_once_whatever_the_image(
        (keys, capacity, chunk) in (0..600_u64, 1..30_u64, 1..40_u64),
        (most_servers, image) in (1..40_u32, 1..80_u32),
        (kind, few) in (prop::sample::select(&ScanKind::ALL), any::<bool>()),
    ) {
        let growth = Growth { capacity, chunk, most_servers, ..GROWTH };
        let (mut file, _) = filled(growth, keys, if few { few_hashes } else { uniform });
        let mut scanning = Scanning::begin(image, kind);
        scanning.run(&mut file);
        // No pair is marked.
        let counts = !matches!(kind, ScanKind::Levels | ScanKind::Marked);
        prop_assert_eq!(scanning.over, Some(if counts { keys } else { 0 }));
        scanning.found.sort_unstable();
        prop_assert_eq!(scanning.found, if kind == ScanKind::Entries { (0..keys).collect() } else { Vec::new() });
        if kind == ScanKind::Levels {
            prop_assert_eq!(scanning.scan.image().extent().buckets(), file.size());
        }
        prop_assert!(scanning.scan.is_over());
        prop_assert_eq!(read_all(&mut file), (0..keys).collect::<Vec<u64>>());
    }

    #[test]
    fn a_scan_of_some_spans_finds_the_entries_in_them_and_no_others(
        (keys, capacity, most_servers) in (0..600_u64, 1..30_u64, 1..40_u32),
        (image, chosen) in (1..80_u32, any::<u64>()),
    ) {
        let growth = Growth { capacity, most_servers, ..GROWTH };
        let (mut file, _) = filled(growth, keys, uniform);
        let extent = Extent::of(file.size());
        let is_chosen = |server: u32| server == 0 || chosen >> (server % 64) & 1 == 1;
        let servers = (0..file.size()).filter(|server| is_chosen(*server));
        let spans: Vec<Span> = servers.map(|server| Span::of_bucket(server.into(), extent.level(server))).collect();
        let image = Image::of(Extent::of(image));
        let begun = Scan::begin_within((0, 0), &spans, image, ScanKind::Entries, (Duration::ZERO, Time::ZERO));
        let mut scanning = Scanning::of(begun);
        scanning.run(&mut file);
        scanning.found.sort_unstable();
        let due: Vec<u64> = (0..keys).filter(|key| is_chosen(extent.index(uniform(*key)))).collect();
        prop_assert_eq!(scanning.over, Some(due.len() as u64));
        prop_assert_eq!(scanning.found, due);
    }

    /// The cost given in the documentation: a chunk exceeds its size by at most a local bucket, and each chunk of a
    /// server except the last is full.
    #[test]
    fn parts_are_of_bounded_size_and_as_few_as_that_allows(
        (keys, chunk) in (0..2_000_u64, 1..100_u64),
        capacity in 20..200_u64,
    ) {
        let growth = Growth { capacity, chunk, ..GROWTH };
        let (mut file, buckets) = filled(growth, keys, uniform);
        let mut scanning = Scanning::begin(file.size(), ScanKind::Entries);
        scanning.run(&mut file);
        prop_assert_eq!(scanning.found.len() as u64, keys);
        let largest_bucket = 30;
        prop_assert!(scanning.parts.iter().all(|&entries| entries as u64 <= chunk + largest_bucket));
        let most = u64::from(file.size()) + (keys + buckets) / chunk;
        prop_assert_eq!(scanning.sent, scanning.parts.len());
        prop_assert!(scanning.sent as u64 <= most, "{} parts, {} at most", scanning.sent, most);
    }
}

#[test]
fn all_servers_are_asked_at_once() {
    let (mut file, _) = filled(Growth { chunk: 100, ..GROWTH }, 500, uniform);
    let servers = file.size();
    assert!(servers >= 32, "{servers}");
    let mut scanning = Scanning::begin(servers, ScanKind::Entries);
    scanning.run(&mut file);
    assert_eq!((scanning.rounds, scanning.sent), (1, servers as usize));
    // A client that knows one server learns from it how many there are at least.
    let mut scanning = Scanning::begin(1, ScanKind::Entries);
    scanning.run(&mut file);
    assert!(scanning.rounds <= 3, "{} rounds", scanning.rounds);
    assert_eq!((scanning.over, scanning.found.len()), (Some(500), 500));
}

/// However many servers a client believes to exist, it has at most 2^16 requests open, and one for the rest.
#[test]
fn an_image_far_ahead_of_the_file_does_not_flood_it() {
    let (mut file, _) = filled(GROWTH, 50, uniform);
    let mut scanning = Scanning::begin(Extent::MOST_BUCKETS, ScanKind::Entries);
    assert_eq!(scanning.to_send.len(), (1 << 16) + 1);
    while scanning.over.is_none() {
        scanning.round(&mut file);
        assert!(scanning.to_send.len() <= (1 << 16) + 1);
    }
    scanning.found.sort_unstable();
    assert_eq!(scanning.found, (0..50).collect::<Vec<u64>>());
}

/// In every state during a change of the file, a scan finds all keys without waiting for the end of the change: at most
/// for the chunk that is on its way, and for the news of the split before that. Servers answer for their level at once.
/// The client knows of `image` servers, and the file is in the state after `steps` messages between servers. Returns
/// whether it is still changing then, and how many servers it has by these levels.
fn while_it_changes(file: &mut File, (steps, image): (usize, u32), keys: &[u64]) -> (bool, u32) {
    let busy = (0..steps).all(|_| file.step());
    let mut levels = Scanning::begin(image, ScanKind::Levels);
    levels.run(file);
    assert_eq!(levels.over, Some(0), "nothing is read, so there is nothing to wait for");
    let mut scanning = Scanning::begin(image, ScanKind::Entries);
    // Before the new server knows of the split, what has been sent to it is asked for in vain, and later again.
    let (most, wakes) = if steps == 0 { (2, true) } else { (1, false) };
    scanning.complete(file, most, wakes);
    scanning.found.sort_unstable();
    assert_eq!((scanning.over, &scanning.found[..]), (Some(keys.len() as u64), keys));
    assert_eq!(read_all(file), keys);
    while file.step() {}
    (busy, levels.scan.image().extent().buckets())
}

/// The number of servers changes once, when the change is over; to both clients at the same time, or one step apart,
/// while the last chunk is on its way.
fn change_once(servers: &[[u32; 2]], [before, after]: [u32; 2]) {
    let at = [0, 1].map(|client| {
        let at = servers.iter().position(|counts| counts[client] == after).expect("it changes");
        let is_right = |(step, counts): (usize, &[u32; 2])| counts[client] == if step < at { before } else { after };
        assert!(servers.iter().enumerate().all(is_right), "{servers:?}");
        at
    });
    assert!(at[0].min(at[1]) > servers.len() / 2 && at[0].abs_diff(at[1]) <= 1, "{servers:?}");
}

#[test]
fn scans_go_on_while_a_server_splits() {
    // The 65th key is one too many for a server of 80 that may be filled to 0.8.
    let growth = Growth { capacity: 80, chunk: 2, ..GROWTH };
    let (keys, mut states, mut servers): (Vec<u64>, _, _) = ((0..65).collect(), 0, Vec::new());
    while {
        let clients = [1, 2].map(|image| {
            let (mut file, _) = filled(growth, 64, uniform);
            assert_eq!(file.size(), 1);
            file.ask(64, insert);
            let counted = while_it_changes(&mut file, (states, image), &keys);
            assert_eq!(file.size(), 2);
            counted
        });
        servers.push(clients.map(|(_, count)| count));
        clients[0].0
    } {
        states += 1;
    }
    assert!(states > 10, "{states} states of a split");
    change_once(&servers, [1, 2]);
}

#[test]
fn scans_go_on_while_two_servers_become_one() {
    let growth = Growth { capacity: 80, chunk: 2, shrink: Some(0.3), ..GROWTH };
    let without = |gone: u64| {
        let (mut file, _) = filled(growth, 65, uniform);
        (0..gone).for_each(|key| drop(file.request(key, Operation::Remove)));
        file
    };
    // The first key whose removal makes the file shrink.
    let last = (0..65).find(|&key| without(key + 1).merges() > 0).unwrap();
    let (left, mut states, mut servers): (Vec<u64>, _, _) = ((last + 1..65).collect(), 0, Vec::new());
    while {
        let clients = [1, 2].map(|image| {
            let mut file = without(last);
            file.ask(last, Operation::Remove);
            let counted = while_it_changes(&mut file, (states, image), &left);
            assert_eq!((file.size(), file.merges()), (1, 1));
            counted
        });
        servers.push(clients.map(|(_, count)| count));
        clients[0].0
    } {
        states += 1;
    }
    assert!(states > 10, "{states} states of a merge");
    change_once(&servers, [2, 1]);
}

/// All earlier answers arrive again with each new one.
#[test]
fn repeated_answers_find_their_part_struck_out() {
    let (mut file, _) = filled(GROWTH, 100, uniform);
    let mut scanning = Scanning::begin(3, ScanKind::Entries);
    let mut messages = Vec::new();
    while scanning.over.is_none() {
        for (to, request) in std::mem::take(&mut scanning.to_send) {
            file.scan(to, request);
        }
        messages.append(&mut file.messages);
        for message in &messages {
            let outputs = scanning.scan.take(Time::ZERO, message.clone());
            scanning.does(outputs);
        }
    }
    scanning.found.sort_unstable();
    assert_eq!(scanning.found, (0..100).collect::<Vec<u64>>());
}
