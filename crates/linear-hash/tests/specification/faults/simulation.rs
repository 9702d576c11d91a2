//! Clients and servers on a bad network, with checks of their answers and their final state.

use std::collections::BTreeMap;

use endpoint::Message;
use maquette_linear_hash::{
    Body, Client, ClientOutput, Growth, Key, KeyValue, Operation, OperationOutcome, Request, Scan, ScanKind,
    ScanOutput, ScanRequest, Server, ServerOutput, Table, ToClient, ToServer, h,
};
use quantities::splitmix64::Draws;
use quantities::{Duration, Time};

use super::broken::{Fault, Suspect};
use super::linearizability::{Interval, Seen, linearizable};
use super::network::{Delivery, Faults, Network, Node};

/// The most scans of a run while requests are under way.
const MOST_SCANS: u64 = 4;

/// What clients and servers send each other.
#[derive(Clone, Debug)]
pub enum Envelope {
    Request(Request),
    Scan(ScanRequest),
    ToServer(ToServer),
    ToClient(ToClient),
}

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub clients: u32,
    pub servers: u32,
    pub keys: u64,
    pub requests: u64,
    /// Whether the file shrinks. If so, phases with more removals than stores follow others, so that it must.
    pub shrinks: bool,
    pub faults: Faults,
    /// The servers' fault, if any.
    pub fault: Option<Fault>,
}

/// The check that found an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The operations on a key have no order in which all answers are right.
    Answers,
    /// A scan found a key twice, or a different number of keys than it reports.
    Scans,
    /// The last scan counted a wrong number of keys.
    Counts,
    /// A key is where it does not belong, or the file has the wrong servers.
    Places,
    /// At the end a key does not have its acknowledged value, or is stored twice.
    End,
}

/// A run of clients and servers.
pub struct Simulation {
    case: Case,
    seed: u64,
    draws: Draws,
    pub now: u64,
    /// How many requests and answers there were, as a clock: a request made at the time of an answer may be a
    /// consequence of it.
    instants: u64,
    pub network: Network<Envelope>,
    pub servers: Vec<Suspect>,
    pub clients: Vec<Client>,
    /// Each client's request under way: since when, for which key, and the operation.
    asked: Vec<Option<(u64, u64, Operation)>>,
    left: u64,
    values: u64,
    /// How many requests reached servers.
    requests: u64,
    /// What clients observed of each key.
    pub histories: BTreeMap<u64, Vec<Interval>>,
    /// The scan of another client, which scans the file now and then.
    scan: Option<Scanning>,
    scans: u64,
    /// How many keys the last scan counted.
    counted: Option<u64>,
    /// An impossible report of a scan.
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
    pub fn new(case: Case, seed: u64) -> Simulation {
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
            seed,
            network: Network::new(case.faults, draws.next()),
            now: 0,
            instants: 0,
            servers: (0..case.servers).map(|number| Suspect::new(Server::new(number, growth), case.fault)).collect(),
            clients: (0..case.clients).map(|number| Client::new(number.into(), patience)).collect(),
            asked: vec![None; case.clients as usize],
            left: case.requests,
            values: 0,
            requests: 0,
            histories: BTreeMap::new(),
            scan: None,
            scans: 0,
            counted: None,
            unfit: None,
            draws,
        }
    }

    fn instant(&mut self) -> u64 {
        self.instants += 1;
        self.instants
    }

    fn time(&self) -> Time {
        Time::ZERO + Duration::from_picoseconds(self.now)
    }

    /// Gives an idle client its next request.
    fn ask(&mut self, client: usize) {
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
        self.asked[client] = Some((self.instant(), key, operation.clone()));
        let now = self.time();
        let output = self.clients[client].ask(now, hash(key, self.seed), operation);
        self.client_does(client, output);
    }

    fn client_does(&mut self, client: usize, output: ClientOutput) {
        match output {
            ClientOutput::Send(server, request) => {
                let ends = (Node::Client(client as u64), Node::Server(server));
                self.network.send(self.now, ends, Envelope::Request(request), Delivery::Unsure);
            }
            ClientOutput::Done(outcome) => {
                let (asked, key, operation) = self.asked[client].take().unwrap();
                let interval = Interval { asked, answered: self.instant(), seen: seen(operation, outcome) };
                self.histories.entry(key).or_default().push(interval);
            }
        }
    }

    /// The number of the client that scans.
    fn scanner(&self) -> u64 {
        self.case.clients.into()
    }

    /// Begins a scan now and then, and a counting scan when all requests have been answered.
    fn begin_scan(&mut self) {
        let idle = self.left == 0 && self.clients.iter().all(|client| !client.is_waiting());
        let may = if idle { self.scans <= MOST_SCANS } else { self.scans < MOST_SCANS && self.draws.percent(2) };
        if self.scan.is_some() || !may {
            return;
        }
        self.scans = if idle { MOST_SCANS + 1 } else { self.scans + 1 };
        let image = self.clients[0].image();
        let kind = if idle { ScanKind::Count } else { ScanKind::Entries };
        let patience = Duration::from_picoseconds(1 + self.draws.below(3 * self.case.faults.delay));
        let (scan, outputs) = Scan::begin((self.scanner(), self.scans), image, kind, patience, self.time());
        self.scan = Some(Scanning { since: self.instant(), scan, found: Vec::new() });
        self.scan_does(outputs);
    }

    fn scan_does(&mut self, outputs: Vec<ScanOutput>) {
        for output in outputs {
            match output {
                ScanOutput::Send(server, request) => {
                    let ends = (Node::Client(self.scanner()), Node::Server(server));
                    self.network.send(self.now, ends, Envelope::Scan(request), Delivery::Unsure);
                }
                ScanOutput::Found(entries) => {
                    let read = |(key, body): (Key, Message)| (key_number(&key), value(&body));
                    self.scan.as_mut().unwrap().found.extend(entries.into_iter().map(read));
                }
                ScanOutput::Done(count) => self.end_scan(count),
            }
        }
    }

    /// A scan counts as a read of every key, including those that it did not find.
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
        let answered = self.instant();
        for key in 0..self.case.keys {
            let seen = Seen::Get(distinct.get(&key).copied());
            self.histories.entry(key).or_default().push(Interval { asked, answered, seen });
        }
    }

    fn server_does(&mut self, server: u32, mut outputs: Vec<ServerOutput>) {
        self.servers[server as usize].spoil(&mut outputs);
        for output in outputs {
            let (to, message) = match output {
                ServerOutput::Client(client, message) => (Node::Client(client), Envelope::ToClient(message)),
                ServerOutput::Server(to, message) => (Node::Server(to), Envelope::ToServer(message)),
            };
            let unsure = matches!(message, Envelope::ToClient(_) | Envelope::ToServer(ToServer::Forward(_)));
            let delivery = if unsure { Delivery::Unsure } else { Delivery::Sure };
            self.network.send(self.now, (Node::Server(server), to), message, delivery);
        }
    }

    fn deliver(&mut self, from: Node, to: Node, message: Envelope) {
        let mut outputs = Vec::new();
        match (to, message) {
            (Node::Server(server), Envelope::Request(request) | Envelope::ToServer(ToServer::Forward(request))) => {
                self.requests += 1;
                // Larger than the clients' numbers.
                let new = (1 << 32) + self.requests;
                self.servers[server as usize].request(request, new, &mut outputs);
                self.server_does(server, outputs);
            }
            (Node::Server(server), Envelope::Scan(request)) => {
                self.servers[server as usize].server.scan(request, &mut outputs);
                self.server_does(server, outputs);
            }
            (Node::Server(server), Envelope::ToServer(message)) => {
                let Node::Server(from) = from else { unreachable!("only servers speak so") };
                self.servers[server as usize].server.take(from, message, &mut outputs);
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
    pub fn run(&mut self) {
        loop {
            for client in 0..self.clients.len() {
                self.ask(client);
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

    /// The first error, if any, and the check that found it.
    pub fn wrong(&self) -> Option<(Check, String)> {
        let answers = self.histories.iter().find(|(_, history)| !linearizable(history));
        if let Some((key, history)) = answers {
            return Some((Check::Answers, format!("key {key}: {history:?}")));
        }
        if let Some(unfit) = &self.unfit {
            return Some((Check::Scans, unfit.clone()));
        }
        let there = self.tables().map(|(_, table)| table.len()).sum();
        if self.counted != Some(there) {
            return Some((Check::Counts, format!("{:?} are counted, {there} are there", self.counted)));
        }
        self.misplaced().map(|it| (Check::Places, it)).or_else(|| self.unlike_the_answers().map(|it| (Check::End, it)))
    }

    /// The tables of the servers that are in the file.
    fn tables(&self) -> impl Iterator<Item = (u32, &Table<KeyValue<Key, Body>>)> {
        (0..).zip(&self.servers).filter_map(|(number, suspect)| Some((number, suspect.server.table()?)))
    }

    fn misplaced(&self) -> Option<String> {
        let tokens: Vec<_> = self.servers.iter().filter_map(|suspect| suspect.server.token()).collect();
        let buckets: Vec<u32> = tokens.iter().map(|file| file.buckets()).collect();
        let servers: Vec<u32> = self.tables().map(|(number, _)| number).collect();
        if tokens.len() != 1 || !servers.iter().copied().eq(0..buckets[0]) {
            return Some(format!("servers {servers:?} in files of {buckets:?}"));
        }
        let mut entries = self.tables().flat_map(|(number, table)| table.entries().map(move |it| (number, table, it)));
        let is_misplaced = |(number, table, it): &(u32, &Table<KeyValue<Key, Body>>, &KeyValue<Key, Body>)| {
            h(table.level(), hash(key_number(&it.key), self.seed)) != *number
        };
        let (number, _, entry) = entries.find(is_misplaced)?;
        Some(format!("key {} is at server {number}", key_number(&entry.key)))
    }

    /// Compares the tables with the answers, as if each key were read at the end.
    fn unlike_the_answers(&self) -> Option<String> {
        let mut stored: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for entry in self.tables().flat_map(|(_, table)| table.entries()) {
            stored.entry(key_number(&entry.key)).or_default().push(value(&entry.value));
        }
        let end = self.instants + 1;
        let wrong = (0..self.case.keys).find(|key| {
            let held = stored.get(key).map_or(&[][..], Vec::as_slice);
            let read = Interval { asked: end, answered: end + 1, seen: Seen::Get(held.first().copied()) };
            let history = self.histories.get(key).map_or(&[][..], Vec::as_slice);
            held.len() > 1 || !linearizable(&[history, &[read]].concat())
        });
        wrong.map(|key| format!("key {key} is stored as {:?} at the end", stored.get(&key)))
    }

    /// How many operations were under way at the same time as another on the same key.
    pub fn concurrent(&self) -> u64 {
        let overlaps = |history: &Vec<Interval>| {
            let with_another = history.iter().filter(|one| {
                let at_once = |other: &&Interval| other.asked < one.answered && one.asked < other.answered;
                history.iter().filter(at_once).count() > 1
            });
            with_another.count() as u64
        };
        self.histories.values().map(overlaps).sum()
    }
}

fn seen(operation: Operation, outcome: OperationOutcome) -> Seen {
    match (operation, outcome) {
        (Operation::Insert(_, new), OperationOutcome::Is(stored)) => Seen::Insert(value(&new), stored),
        (Operation::Put(_, new), OperationOutcome::Found(old)) => Seen::Put(value(&new), old.as_ref().map(value)),
        (Operation::Get(_), OperationOutcome::Found(found)) => Seen::Get(found.as_ref().map(value)),
        (Operation::Remove(_), OperationOutcome::Found(found)) => Seen::Remove(found.as_ref().map(value)),
        (Operation::Contains(_), OperationOutcome::Is(found)) => Seen::Contains(found),
        (operation, outcome) => unreachable!("{outcome:?} of {operation:?}"),
    }
}
