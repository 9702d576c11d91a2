//! Clients and servers of LH*LH on a network that delays and repeats messages, with servers that stop for a while: every
//! answer is right, and at the end every key that was acknowledged is there once.

#[path = "linear_hash/linearizability.rs"]
mod linearizability;
#[path = "linear_hash/network.rs"]
mod network;

use std::collections::BTreeMap;

use endpoint::Message;
use linearizability::{Interval, Seen, linearizable};
use maquette_programs::linear_hash::{
    Client, ClientOutput, Growth, Key, Operation, Outcome, Request, Scan, ScanOutput, ScanRequest, Server,
    ServerOutput, ToClient, ToServer, h,
};
use network::{Draws, Faults, Network, Node};
use quantities::{Duration, Time};

/// Scans of a run while requests are under way.
const MOST_SCANS: u64 = 4;

#[derive(Clone, Debug)]
enum Envelope {
    Request(Request),
    Scan(ScanRequest),
    ToServer(ToServer),
    ToClient(ToClient),
}

/// What is run.
#[derive(Clone, Copy, Debug)]
struct Case {
    clients: u32,
    servers: u32,
    keys: u64,
    requests: u64,
    /// Whether the file shrinks. Then times in which more is removed than stored follow on others, so that it has to.
    shrinks: bool,
    faults: Faults,
    /// Whether an entry of every chunk is lost, which no server does.
    broken: bool,
}

struct Simulation {
    case: Case,
    draws: Draws,
    now: u64,
    network: Network<Envelope>,
    servers: Vec<Server>,
    clients: Vec<Client>,
    /// What each client has under way: since when, with which key, and what its answer will mean.
    asked: Vec<Option<(u64, u64, Operation)>>,
    left: u64,
    values: u64,
    histories: BTreeMap<u64, Vec<Interval>>,
    /// Another client scans the file now and then.
    scan: Option<Scanning>,
    scans: u64,
    /// How many keys the last scan counted.
    counted: Option<u64>,
    /// What a scan said that cannot be.
    unfit: Option<String>,
}

/// A scan under way.
struct Scanning {
    since: u64,
    scan: Scan,
    /// The keys that it has found so far, with their values.
    found: Vec<(u64, u64)>,
}

/// The hash of a key: few bits for some seeds, so that many keys share a hash.
fn hash(key: u64, seed: u64) -> u64 {
    let mixed = Draws(key).next();
    if seed.is_multiple_of(4) { mixed % 16 } else { mixed }
}

fn key_number(key: &Key) -> u64 {
    u64::from_le_bytes(key.as_ref().try_into().unwrap())
}

fn body(value: u64) -> Message {
    Message::from(value.to_le_bytes().to_vec())
}

fn value(body: &Message) -> u64 {
    u64::from_le_bytes(body.content().unwrap().as_ref().try_into().unwrap())
}

impl Simulation {
    fn new(case: Case, seed: u64) -> Simulation {
        let mut draws = Draws(seed);
        let growth = Growth {
            capacity: 1 + draws.below(12),
            sensitivity: 0.8,
            shrink: case.shrinks.then(|| 0.05 * (1 + draws.below(8)) as f64),
            apart: seed.is_multiple_of(3),
            most_servers: case.servers,
            chunk: 1 + draws.below(6),
        };
        let patience = Duration::from_picoseconds(1 + draws.below(3 * case.faults.delay));
        Simulation {
            case,
            network: Network::new(case.faults, draws.next()),
            now: 0,
            servers: (0..case.servers).map(|number| Server::new(number, growth)).collect(),
            clients: (0..case.clients).map(|number| Client::new(number, patience)).collect(),
            asked: vec![None; case.clients as usize],
            left: case.requests,
            values: 0,
            histories: BTreeMap::new(),
            scan: None,
            scans: 0,
            counted: None,
            unfit: None,
            draws,
        }
    }

    fn time(&self) -> Time {
        Time::ZERO + Duration::from_picoseconds(self.now)
    }

    /// Gives a client that has nothing to do its next request.
    fn ask(&mut self, client: usize, seed: u64) {
        if self.left == 0 || self.clients[client].is_waiting() {
            return;
        }
        self.left -= 1;
        self.values += 1;
        let key = self.draws.below(self.case.keys);
        let (bytes, new): (Key, _) = (key.to_le_bytes().into(), body(self.values));
        let removing = self.case.shrinks && (self.left / 64).is_multiple_of(2);
        let draw = self.draws.below(10) + if removing { 6 } else { 0 };
        let operation = match draw {
            0..4 => Operation::Insert(bytes, new),
            4..6 => Operation::Put(bytes, new),
            6..8 => Operation::Get(bytes),
            8 => Operation::Contains(bytes),
            _ => Operation::Remove(bytes),
        };
        self.asked[client] = Some((self.now, key, operation.clone()));
        let now = self.time();
        let output = self.clients[client].ask(now, hash(key, seed), operation);
        self.client_does(client, output);
    }

    fn client_does(&mut self, client: usize, output: ClientOutput) {
        match output {
            ClientOutput::Send(server, request) => {
                let (from, to) = (Node::Client(client as u32), Node::Server(server));
                self.network.send(self.now, from, to, Envelope::Request(request), true);
            }
            ClientOutput::Done(outcome) => {
                let (asked, key, operation) = self.asked[client].take().unwrap();
                let interval = Interval { asked, answered: self.now, seen: seen(operation, outcome) };
                self.histories.entry(key).or_default().push(interval);
            }
        }
    }

    /// The number of the client that scans.
    fn scanner(&self) -> u32 {
        self.case.clients
    }

    /// Begins a scan now and then, and one that only counts when all requests are answered.
    fn begin_scan(&mut self) {
        let idle = self.left == 0 && self.clients.iter().all(|client| !client.is_waiting());
        let may = if idle { self.scans <= MOST_SCANS } else { self.scans < MOST_SCANS && self.draws.percent(2) };
        if self.scan.is_some() || !may {
            return;
        }
        self.scans = if idle { MOST_SCANS + 1 } else { self.scans + 1 };
        let image = self.clients[0].image();
        let patience = Duration::from_picoseconds(1 + self.draws.below(3 * self.case.faults.delay));
        let (scan, outputs) = Scan::begin((self.scanner(), self.scans), image, idle, patience, self.time());
        self.scan = Some(Scanning { since: self.now, scan, found: Vec::new() });
        self.scan_does(outputs);
    }

    fn scan_does(&mut self, outputs: Vec<ScanOutput>) {
        for output in outputs {
            match output {
                ScanOutput::Send(server, request) => {
                    let (from, to) = (Node::Client(self.scanner()), Node::Server(server));
                    self.network.send(self.now, from, to, Envelope::Scan(request), true);
                }
                ScanOutput::Found(entries) => {
                    let read = |(key, body): (Key, Message)| (key_number(&key), value(&body));
                    self.scan.as_mut().unwrap().found.extend(entries.into_iter().map(read));
                }
                ScanOutput::Done(count) => self.end_scan(count),
            }
        }
    }

    /// A scan is a read of every key, of those that it did not find as well.
    fn end_scan(&mut self, count: u64) {
        let Scanning { since: asked, found, .. } = self.scan.take().unwrap();
        if self.scans > MOST_SCANS {
            self.counted = Some(count);
            return;
        }
        let distinct: BTreeMap<u64, u64> = found.iter().copied().collect();
        if distinct.len() != found.len() || count != found.len() as u64 {
            self.unfit = Some(format!("{found:?} are found, {count} by their number"));
        }
        for key in 0..self.case.keys {
            let seen = Seen::Get(distinct.get(&key).copied());
            self.histories.entry(key).or_default().push(Interval { asked, answered: self.now, seen });
        }
    }

    fn server_does(&mut self, server: u32, outputs: Vec<ServerOutput>) {
        for output in outputs {
            match output {
                ServerOutput::Client(client, message) => {
                    let (from, to) = (Node::Server(server), Node::Client(client));
                    self.network.send(self.now, from, to, Envelope::ToClient(message), true);
                }
                ServerOutput::Server(to, mut message) => {
                    if let (true, ToServer::Chunk { buckets, .. }) = (self.case.broken, &mut message) {
                        buckets.iter_mut().for_each(|bucket| drop(bucket.pop()));
                    }
                    let repeats = matches!(message, ToServer::Forward(_));
                    let (from, to) = (Node::Server(server), Node::Server(to));
                    self.network.send(self.now, from, to, Envelope::ToServer(message), repeats);
                }
            }
        }
    }

    fn deliver(&mut self, from: Node, to: Node, message: Envelope) {
        let mut outputs = Vec::new();
        match (to, message) {
            (Node::Server(server), Envelope::Request(request)) => {
                self.servers[server as usize].request(request, &mut outputs);
                self.server_does(server, outputs);
            }
            (Node::Server(server), Envelope::Scan(request)) => {
                self.servers[server as usize].scan(request, &mut outputs);
                self.server_does(server, outputs);
            }
            (Node::Server(server), Envelope::ToServer(message)) => {
                let Node::Server(from) = from else { unreachable!("only servers speak so") };
                self.servers[server as usize].take(from, message, &mut outputs);
                self.server_does(server, outputs);
            }
            (Node::Client(client), Envelope::ToClient(message)) if client == self.scanner() => {
                let now = self.time();
                let outputs = self.scan.as_mut().map(|it| it.scan.take(now, message));
                self.scan_does(outputs.unwrap_or_default());
            }
            (Node::Client(client), Envelope::ToClient(message)) => {
                let now = self.time();
                let output = self.clients[client as usize].take(now, message);
                output.into_iter().for_each(|output| self.client_does(client as usize, output));
            }
            (to, message) => unreachable!("{message:?} to {to:?}"),
        }
    }

    /// Runs until all requests are answered and no message is under way.
    fn run(&mut self, seed: u64) {
        loop {
            for client in 0..self.clients.len() {
                self.ask(client, seed);
            }
            self.begin_scan();
            let scan = self.scan.iter().filter_map(|it| it.scan.deadline());
            let deadline =
                self.clients.iter().filter_map(Client::deadline).chain(scan).map(|at| at.picoseconds()).min();
            match (self.network.next_at(), deadline) {
                (None, None) => break,
                (Some(at), deadline) if deadline.is_none_or(|deadline| at <= deadline) => {
                    let (at, from, to, message) = self.network.receive().unwrap();
                    self.now = self.now.max(at);
                    self.deliver(from, to, message);
                }
                (_, deadline) => {
                    self.now = self.now.max(deadline.unwrap());
                    let now = self.time();
                    for client in 0..self.clients.len() {
                        let output = self.clients[client].wake(now);
                        output.into_iter().for_each(|output| self.client_does(client, output));
                    }
                    let outputs = self.scan.as_mut().map(|it| it.scan.wake(now));
                    self.scan_does(outputs.unwrap_or_default());
                }
            }
            assert!(self.now < 1 << 40, "requests are never answered");
        }
    }

    /// What is wrong, if anything.
    fn fault(&self, seed: u64) -> Option<String> {
        if self.unfit.is_some() {
            return self.unfit.clone();
        }
        let there = self.servers.iter().filter_map(Server::table).map(|table| table.len()).sum();
        if self.counted != Some(there) {
            return Some(format!("{:?} are counted, {there} are there", self.counted));
        }
        let unfit = self.histories.iter().find(|(_, history)| !linearizable(history));
        if let Some((key, history)) = unfit {
            return Some(format!("key {key}: {history:?}"));
        }
        let tables: Vec<_> = self.servers.iter().filter_map(Server::table).collect();
        let file = self.servers.iter().find_map(Server::token)?;
        if tables.len() != file.buckets() as usize {
            return Some(format!("{} servers in a file of {}", tables.len(), file.buckets()));
        }
        let mut stored: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (number, table) in tables.iter().enumerate() {
            for entry in table.entries() {
                let key = key_number(&entry.key);
                if h(table.level(), hash(key, seed)) != number as u32 {
                    return Some(format!("key {key} is at server {number}"));
                }
                stored.entry(key).or_default().push(value(&entry.value));
            }
        }
        // The last thing that anyone does with a key is to read it.
        let end = self.now + 1;
        let wrong = self.histories.iter().find(|(key, history)| {
            let held = stored.get(key).map_or(&[][..], Vec::as_slice);
            let read = Interval { asked: end, answered: end + 1, seen: Seen::Get(held.first().copied()) };
            held.len() > 1 || !linearizable(&[history.as_slice(), &[read]].concat())
        });
        wrong.map(|(key, _)| format!("key {key} is stored as {:?} at the end", stored.get(key)))
    }
}

fn seen(operation: Operation, outcome: Outcome) -> Seen {
    match (operation, outcome) {
        (Operation::Insert(_, new), Outcome::Is(stored)) => Seen::Insert(value(&new), stored),
        (Operation::Put(_, new), Outcome::Found(old)) => Seen::Put(value(&new), old.as_ref().map(value)),
        (Operation::Get(_), Outcome::Found(found)) => Seen::Get(found.as_ref().map(value)),
        (Operation::Remove(_), Outcome::Found(found)) => Seen::Remove(found.as_ref().map(value)),
        (Operation::Contains(_), Outcome::Is(found)) => Seen::Contains(found),
        (operation, outcome) => unreachable!("{outcome:?} of {operation:?}"),
    }
}

fn case(seed: u64) -> Case {
    let mut draws = Draws(seed ^ 0x5eed);
    let shrinks = draws.percent(60);
    Case {
        clients: 1 + draws.below(5) as u32,
        servers: 1 + draws.below(24) as u32,
        keys: 1 + draws.below(if shrinks { 50 } else { 200 }),
        requests: 20 + draws.below(if shrinks { 400 } else { 200 }),
        shrinks,
        faults: Faults {
            delay: 1 + draws.below(200),
            repeated: draws.below(30),
            stops: draws.below(3),
            stopped: 2_000,
        },
        broken: false,
    }
}

fn simulate(case: Case, seed: u64) -> Simulation {
    let mut simulation = Simulation::new(case, seed);
    simulation.run(seed);
    simulation
}

/// `SEEDS=100000 cargo test --release --test linear_hash_faults`; `SEED=n` runs one.
#[test]
fn every_answer_is_right_and_nothing_is_lost_or_stored_twice() {
    let from_environment = |name| {
        #[allow(clippy::disallowed_methods)] // more seeds than usual, or a single one, for a person who asks for it
        let value = std::env::var(name).ok();
        value.and_then(|value| value.parse::<u64>().ok())
    };
    let seeds = match from_environment("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..from_environment("SEEDS").unwrap_or(2_000),
    };
    let (mut forwards, mut splits, mut merges, mut bounced) = (0, 0, 0, 0);
    for seed in seeds {
        let simulation = simulate(case(seed), seed);
        if let Some(fault) = simulation.fault(seed) {
            panic!("{fault}\nagain: SEED={seed} cargo test -p maquette-programs --test linear_hash_faults");
        }
        splits += simulation.servers.iter().map(|server| server.counts.splits).sum::<u64>();
        merges += simulation.servers.iter().map(|server| server.counts.merges).sum::<u64>();
        bounced += simulation.clients.iter().map(|client| client.counts.bounced).sum::<u64>();
        forwards = simulation.clients.iter().map(|client| client.counts.most_forwards).fold(forwards, u32::max);
    }
    assert!(forwards <= 2);
    println!("{splits} splits, {merges} merges, at most {forwards} forwards, {bounced} requests sent back");
}

/// The test itself is tested: where servers lose what they ship, it says so.
#[test]
fn a_server_that_loses_entries_is_found_out() {
    let found = (0..50).filter(|&seed| {
        let case = Case { broken: true, ..case(seed) };
        simulate(case, seed).fault(seed).is_some()
    });
    assert!(found.count() > 25);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| simulate(case(seed), seed);
    for seed in 0..20 {
        let (one, other) = (run(seed), run(seed));
        assert_eq!((one.now, one.histories), (other.now, other.histories));
    }
}
