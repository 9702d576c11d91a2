//! Members that keep their data on disk, and die at any moment: everything promised comes back, even in the middle of
//! splits and merges.
//!
//! Hosts are joined by slow links that break. A member that dies leaves at most a part of its last batch on disk, or
//! garbage in its place; nobody was told of that batch. `make soak` runs more cases; a failure names the seed that
//! `SEED=` runs again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;

use linear_hash::Growth;
use maquette_store::bucket::Bucket;
use maquette_store::host::Host;
use maquette_store::journal::frame::{Frames, Next, was_kept};
use maquette_store::journal::{Journal, Replay, Run, start, write_snapshot};
use maquette_store::member::{Durability, Identity, Member, Message, Peer, Policy, Role};
use maquette_store::node::{Node, Settings};
use quantities::{Duration, Time};

use crate::clients::{CLIENTS, Clients, TALKER};
use crate::histories::Operation;
use crate::pool::Draws;
use crate::seeds::of_each_seed;
use crate::table::{check_values, table_of};

/// The start of the simulation. [ms since 1970]
pub const BEGIN: u64 = 1_700_000_000_000;
/// The number of keys.
pub const KEYS: u64 = 200;

type Value = Option<Vec<u8>>;

/// A key, its value, and when it expires.
type Record = (Vec<u8>, Vec<u8>, Option<u64>);

/// The state of each server, and its records in the order of keys.
fn digest(member: &Member<Bucket>) -> Vec<(String, Vec<Record>)> {
    let of_server = |(number, server): (u32, &linear_hash::Server<Bucket>)| {
        let table = server.table().expect("it is in the file");
        let mut records: Vec<Record> =
            table.entries().map(|it| (it.key().to_vec(), it.value().to_vec(), it.expiry())).collect();
        records.sort_unstable();
        (format!("{number} {:?} {:?}", table.shape(), server.token()), records)
    };
    member.servers().map(of_server).collect()
}

/// The records of all servers, in the order of keys.
fn records(member: &Member<Bucket>) -> Vec<Record> {
    let mut all: Vec<Record> = digest(member).into_iter().flat_map(|(_, records)| records).collect();
    all.sort_unstable();
    all
}

/// Restores a member. Returns its last run, and how many of the bytes were whole.
pub fn recover(bytes: &[u8], host: &mut Host) -> (Option<Run>, usize) {
    let mut replay = Replay::new(host.member_mut());
    let mut frames = Frames::new(bytes, 0, bytes.len() as u64);
    while frames.next_frame().unwrap() == Next::Frame {
        replay.batch(&frames.content).expect("what was written can be read");
    }
    (replay.run().cloned(), frames.at() as usize)
}

pub fn policy() -> Policy {
    let growth =
        Growth { capacity: 10, sensitivity: 0.8, shrink: Some(0.3), apart: false, most_servers: 1 << 14, chunk: 4 };
    Policy { growth, servers_each: 2, patience: Duration::from_microseconds(500), durability: Durability::default() }
}

fn peer(number: usize, port: u16) -> Peer {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    Peer { identity: Identity(number as u32 + 100), address, clients: address, role: Role::Data, life: 0 }
}

pub fn node(now: u64) -> Node {
    Node::new(Settings::default(), 6379, [1, 2, 3], now)
}

/// A client's request.
#[derive(Debug)]
enum ClientRequest {
    /// About a key whose value is known.
    Known { key: u64, after: Value, due: String },
    /// Recorded in the history, at this index.
    Recorded(usize),
    /// A talker's lines, with the replies so far, which the talker judges.
    Talk(String),
}

/// A process and its disk.
struct Machine {
    host: Host,
    journal: Journal,
    disk: Vec<u8>,
    /// How much of the disk survives a power failure. [B]
    kept: usize,
    /// Messages to other machines wait until so much does. [B]
    urgent: usize,
    /// Messages that wait, each with how much must survive before: the receiver, and the bytes.
    waiting: VecDeque<(usize, usize, Vec<u8>)>,
    clients: Clients<ClientRequest>,
    runs: u16,
}

impl Machine {
    /// Starts from a disk.
    fn start(number: usize, disk: Vec<u8>, founds: bool, now: u64, runs: u16) -> Machine {
        let (journal, own) = (Journal::default(), peer(number, number as u16 + 1_000 * runs));
        // No two runs draw the same numbers.
        let chance = [(number as u64) << 32 | u64::from(runs), 2, 3];
        let node = Node::new(Settings::default(), 6379, chance, now);
        let mut host = Host::with_journal(node, own.clone(), policy(), Some(Rc::clone(&journal)));
        let (run, whole) = recover(&disk, &mut host);
        assert!(!was_kept(&disk[whole..], whole as u64), "member {number}: what is torn is no damage");
        let disk = disk[..whole].to_vec();
        start(&mut host, &journal, run.as_ref(), own, policy(), founds);
        let clients = Clients::connect(&host, now);
        Machine { host, journal, kept: disk.len(), urgent: 0, waiting: VecDeque::new(), disk, clients, runs }
    }
}

pub struct World {
    machines: Vec<Machine>,
    /// Messages in flight: by time of arrival and a number that keeps their order; the sender, the receiver, and the
    /// bytes.
    links: BTreeMap<(u64, u64), (usize, usize, Vec<u8>)>,
    last: BTreeMap<(usize, usize), u64>,
    /// What disks are making durable, at most once each at a time: by the time when it is, the machine, and how much of
    /// its disk. [B]
    syncs: BTreeMap<(u64, usize), usize>,
    pub draws: Draws,
    delay: u64,
    now: u64,
    sent: u64,
    /// The value of each key.
    model: BTreeMap<u64, Vec<u8>>,
    /// Keys with one of two values, since the member that was changing them died.
    unknown: BTreeMap<u64, [Value; 2]>,
    /// Whether a process that dies loses everything not yet durable.
    loses_power: bool,
    crashes: [u64; 2],
    /// Crashes while a server was splitting or merging.
    during_changes: u64,
    /// Concurrent requests of clients about the same keys.
    pub history: Vec<Operation>,
    /// The number of requests and replies so far.
    instant: u64,
    /// Machines whose members are leaving or have left: no client sends them requests.
    leaving: BTreeSet<usize>,
}

impl World {
    pub fn new(seed: u64, loses_power: bool) -> World {
        let mut draws = Draws(seed);
        let delay = 1 + draws.below(30);
        let mut world = World {
            machines: vec![Machine::start(0, Vec::new(), true, BEGIN, 1)],
            links: BTreeMap::new(),
            last: BTreeMap::new(),
            syncs: BTreeMap::new(),
            draws,
            delay,
            now: BEGIN,
            sent: 0,
            model: BTreeMap::new(),
            unknown: BTreeMap::new(),
            loses_power,
            crashes: [0; 2],
            during_changes: 0,
            history: Vec::new(),
            instant: 0,
            leaving: BTreeSet::new(),
        };
        world.begin(0);
        for number in 1..4 {
            world.machines.push(Machine::start(number, Vec::new(), false, world.now, 1));
            world.begin(number);
            world.connect_all(number);
        }
        world
    }

    /// A machine has been started: before anything else it makes that durable.
    fn begin(&mut self, number: usize) {
        self.commit(number, 0);
        self.machines[number].kept = self.machines[number].disk.len();
    }

    fn deliver(&mut self, from: usize, to: usize, message: Vec<u8>) {
        self.sent += 1;
        let at = self.now + 1 + self.draws.below(self.delay);
        let last = self.last.entry((from, to)).or_default();
        *last = at.max(*last);
        self.links.insert((*last, self.sent), (from, to, message));
    }

    /// Writes a machine's turn to disk and sends its messages; unless it dies meanwhile, with probability `dies`.
    /// [1/10,000]
    fn commit(&mut self, number: usize, dies: u64) {
        let machine = &mut self.machines[number];
        let sends = machine.clients.settle(&mut machine.host);
        let mut batch = machine.journal.borrow_mut();
        if !batch.is_empty() {
            let ready = batch.close(self.now, machine.kept as u64).expect("all can be written");
            if self.draws.below(10_000) < dies {
                machine.disk.extend(torn(&ready.frame.joined(), &mut self.draws));
                drop(batch);
                self.crashes[1] += 1;
                return self.crash(number);
            }
            machine.disk.extend_from_slice(&ready.frame.joined());
            if ready.is_urgent {
                machine.urgent = machine.disk.len();
            }
            if !self.loses_power {
                machine.kept = machine.disk.len();
            }
            batch.begin();
        }
        drop(batch);
        let urgent = machine.urgent;
        machine.waiting.extend(sends.into_iter().map(|(to, message)| (urgent, to.0 as usize - 100, message)));
        self.begin_sync(number);
        self.send_waiting(number);
        self.receive(number);
    }

    /// A machine's disk begins to make durable what messages wait for, unless it is making something durable already.
    fn begin_sync(&mut self, number: usize) {
        let machine = &self.machines[number];
        if machine.urgent > machine.kept && self.syncs.keys().all(|(_, other)| *other != number) {
            let at = self.now + self.draws.below(self.delay);
            self.syncs.insert((at, number), machine.disk.len());
        }
    }

    /// Messages that waited for a machine's disk leave.
    fn send_waiting(&mut self, number: usize) {
        let kept = self.machines[number].kept;
        while self.machines[number].waiting.front().is_some_and(|(urgent, ..)| *urgent <= kept) {
            let Some((_, to, message)) = self.machines[number].waiting.pop_front() else { return };
            self.deliver(number, to, message);
        }
    }

    /// The next of the disks has made something durable.
    fn end_sync(&mut self) {
        let Some(((at, number), length)) = self.syncs.pop_first() else { return };
        self.set_time(at);
        let machine = &mut self.machines[number];
        machine.kept = machine.kept.max(length);
        self.begin_sync(number);
        self.send_waiting(number);
    }

    /// The clients of a machine receive their replies.
    fn receive(&mut self, number: usize) {
        for (connection, asked) in &mut self.machines[number].clients.each {
            let replies = String::from_utf8_lossy(connection.reply.unsent()).into_owned();
            if replies.is_empty() {
                continue;
            }
            connection.reply.was_sent(replies.len());
            let (key, after, due) = match asked.take().expect("it has asked") {
                ClientRequest::Known { key, after, due } => (key, after, due),
                ClientRequest::Recorded(place) => {
                    self.instant += 1;
                    self.history[place].is_told(self.instant, &replies);
                    continue;
                }
                ClientRequest::Talk(before) => {
                    *asked = Some(ClientRequest::Talk(before + &replies));
                    continue;
                }
            };
            assert!(replies == due || self.loses_power, "key {key}: {replies:?} instead of {due:?}");
            match after {
                Some(value) => drop(self.model.insert(key, value)),
                None => drop(self.model.remove(&key)),
            }
        }
    }

    /// A machine dies: messages to it are lost, and of its own messages each receiver gets a prefix. Then it is
    /// restarted.
    fn crash(&mut self, number: usize) {
        let machine = &mut self.machines[number];
        self.during_changes += u64::from(machine.host.member().servers().any(|(_, server)| !server.is_steady()));
        for (_, asked) in &mut machine.clients.each {
            // The outcome of a recorded request stays unknown; a talker notices that the machine has died.
            let Some(ClientRequest::Known { key, after, .. }) = asked.take() else { continue };
            self.unknown.insert(key, [self.model.remove(&key), after]);
        }
        let others: Vec<usize> = (0..self.machines.len()).filter(|other| *other != number).collect();
        others.iter().for_each(|other| self.break_link(number, *other));
        self.syncs.retain(|(_, of), _| *of != number);
        let Machine { disk, kept, runs, .. } = &mut self.machines[number];
        let (mut disk, kept, runs) = (std::mem::take(disk), *kept, *runs + 1);
        if self.loses_power {
            disk.truncate(kept + self.draws.below((disk.len() - kept) as u64 + 1) as usize);
            if disk.len() > kept && self.draws.percent(30) {
                garble(&mut disk[kept..], &mut self.draws);
            }
        }
        if self.draws.percent(30) {
            disk = snapshot_of(&disk, self.now);
        }
        self.machines[number] = Machine::start(number, disk, false, self.now, runs);
        self.begin(number);
        self.connect_all(number);
        if self.leaving.contains(&number) && self.machines[number].host.member().membership().departure().is_none() {
            // It was asked, but its log had not been made durable: it is asked again.
            self.ask_to_leave(number, 0);
        }
    }

    /// Of the messages in flight between two machines, each receiver gets a prefix.
    fn break_link(&mut self, one: usize, other: usize) {
        for link in [(one, other), (other, one)] {
            let under_way: Vec<(u64, u64)> =
                self.links.iter().filter(|(_, (from, to, _))| (*from, *to) == link).map(|(at, _)| *at).collect();
            let comes = self.draws.below(under_way.len() as u64 + 1) as usize;
            for at in &under_way[comes..] {
                self.links.remove(at);
            }
        }
        for (number, lost) in [(one, other), (other, one)] {
            let lost = Identity(lost as u32 + 100);
            self.machines[number].host.with_member(|member, _, outputs| member.disconnect(lost, outputs));
        }
    }

    fn connect_all(&mut self, number: usize) {
        (0..self.machines.len()).filter(|other| *other != number).for_each(|other| self.connect(number, other));
    }

    /// Two machines reach each other again.
    fn connect(&mut self, one: usize, other: usize) {
        for (number, met) in [(one, other), (other, one)] {
            let met = self.machines[met].host.member().own().clone();
            self.machines[number].host.with_member(|member, _, outputs| {
                if !member.membership().is_welcome() {
                    member.join(met.identity, outputs);
                }
                member.connect(met, outputs);
            });
            self.commit(number, 0);
        }
    }

    /// Lets the next event happen, if any is due.
    pub fn step(&mut self, dies: u64) -> bool {
        let deadline = |machine: &Machine| {
            let since = machine.host.member().deadline()?.since(Time::ZERO).picoseconds().div_ceil(1_000_000);
            Some(machine.host.node().borrow().since + since)
        };
        let woken = self.machines.iter().enumerate().filter_map(|(number, it)| Some((deadline(it)?, number))).min();
        let comes = self.links.first_key_value().map(|((at, _), _)| *at);
        let next = comes.into_iter().chain(woken.map(|(deadline, _)| deadline)).min();
        if self.syncs.first_key_value().is_some_and(|((at, _), _)| next.is_none_or(|next| *at <= next)) {
            self.end_sync();
            return true;
        }
        let number = match (comes, woken) {
            (Some(at), woken) if woken.is_none_or(|(deadline, _)| at <= deadline) => {
                let Some((_, (from, to, message))) = self.links.pop_first() else { return false };
                self.set_time(at);
                let message: Message<Bucket> = postcard::from_bytes(&message).unwrap();
                let from = Identity(from as u32 + 100);
                self.machines[to].host.with_member(|member, now, outputs| member.receive(now, from, message, outputs));
                to
            }
            (_, Some((deadline, number))) => {
                self.set_time(deadline);
                self.machines[number].host.with_member(|member, now, outputs| member.wake(now, outputs));
                number
            }
            _ => return false,
        };
        self.commit(number, dies);
        true
    }

    fn set_time(&mut self, now: u64) {
        self.now = self.now.max(now);
        self.machines.iter().for_each(|machine| machine.host.node().borrow_mut().now = self.now);
    }

    /// A machine whose member stays.
    pub fn some_machine(&mut self) -> usize {
        let stay: Vec<usize> = (0..self.machines.len()).filter(|number| !self.leaving.contains(number)).collect();
        stay[self.draws.below(stay.len() as u64) as usize]
    }

    /// Asks a member to leave. Its clients send no requests from then on.
    fn leave(&mut self, number: usize) {
        self.leaving.insert(number);
        // A machine that dies before it has recorded the request was never asked.
        while self.machines[number].host.member().membership().departure().is_none() {
            self.ask_to_leave(number, 20);
        }
    }

    fn ask_to_leave(&mut self, number: usize, dies: u64) {
        self.machines[number].host.with_member(|member, now, outputs| member.leave(now, outputs));
        self.commit(number, dies);
    }

    /// Checks that all members that were asked to leave have left, and that no other member knows them any more.
    fn check_that_all_have_left(&self) {
        for &gone in &self.leaving {
            let member = self.machines[gone].host.member();
            assert!(
                member.membership().has_left(),
                "member {gone} never leaves: {:?}{}",
                member.membership().departure(),
                self.how_it_stands()
            );
            let others = self.machines.iter().enumerate().filter(|(number, _)| !self.leaving.contains(number));
            for (number, other) in others {
                let (other, gone) = (other.host.member(), member.own().identity);
                let is_host = other.hints().iter().any(|(_, host)| host == gone);
                assert!(!is_host && other.membership().peer(gone).is_none(), "{number} still knows {gone}");
            }
        }
    }

    /// A random client sends a request about a key whose value is known and that no other request is about.
    fn ask(&mut self, storing: bool, dies: u64) {
        let (number, client) = (self.some_machine(), self.draws.below(CLIENTS as u64));
        let (client, key) = (client as usize, self.draws.below(KEYS));
        let mut asked =
            self.machines.iter().flat_map(|machine| &machine.clients.each).filter_map(|(_, it)| it.as_ref());
        let is_of_key =
            |asked: &ClientRequest| matches!(asked, ClientRequest::Known { key: other, .. } if *other == key);
        let is_busy = self.machines[number].clients.each[client].1.is_some() || asked.any(is_of_key);
        if is_busy || self.unknown.contains_key(&key) {
            return;
        }
        let (before, value) = (self.model.get(&key).cloned(), self.draws.below(1_000).to_string());
        let bulk = |value: &Value| {
            let text = value.as_ref().map(|value| String::from_utf8_lossy(value));
            text.map_or("$-1\r\n".to_owned(), |text| format!("${}\r\n{text}\r\n", text.len()))
        };
        let (line, after, due) = match self.draws.below(4) {
            0 => (format!("GET {key}"), before.clone(), bulk(&before)),
            1 if storing => {
                let after = [before.clone().unwrap_or_default(), value.clone().into_bytes()].concat();
                (format!("APPEND {key} {value}"), Some(after.clone()), format!(":{}\r\n", after.len()))
            }
            2 if storing => (format!("SET {key} {value} GET"), Some(value.into_bytes()), bulk(&before)),
            _ if storing && self.draws.percent(70) => return,
            _ => (format!("GETDEL {key}"), None, bulk(&before)),
        };
        self.send((number, client), ClientRequest::Known { key, after, due }, &line, dies);
    }

    /// A random client sends a recorded request, perhaps about the same key as others. Returns whether a client was
    /// free.
    pub fn ask_recorded(&mut self, operation: impl FnOnce(&mut Draws, u64) -> Operation, dies: u64) -> bool {
        let (number, client) = (self.some_machine(), self.draws.below(CLIENTS as u64) as usize);
        if self.machines[number].clients.each[client].1.is_some() {
            return false;
        }
        self.instant += 1;
        let operation = operation(&mut self.draws, self.instant);
        let line = operation.line();
        self.history.push(operation);
        self.send((number, client), ClientRequest::Recorded(self.history.len() - 1), &line, dies);
        true
    }

    /// A machine's talker sends lines, perhaps while it waits for replies.
    pub fn talk(&mut self, number: usize, lines: &str, dies: u64) {
        let replies = self.acknowledged(number).unwrap_or_default();
        self.send((number, TALKER), ClientRequest::Talk(replies), lines, dies);
    }

    /// The replies to a machine's talker since the last call; none, if the machine has died since the talker sent
    /// something.
    pub fn acknowledged(&mut self, number: usize) -> Option<String> {
        match &mut self.machines[number].clients.each[TALKER].1 {
            Some(ClientRequest::Talk(replies)) => Some(std::mem::take(replies)),
            _ => None,
        }
    }

    /// The value stored under a key.
    pub fn stored(&self, key: u64) -> Option<Vec<u8>> {
        let tables = self.machines.iter().flat_map(|it| it.host.member().servers()).filter_map(|(_, it)| it.table());
        let key = key.to_string().into_bytes();
        let found = tables.flat_map(|table| table.entries()).find(|record| record.key() == key);
        found.map(|record| record.value().to_vec())
    }

    /// The member of a machine.
    pub fn member(&self, number: usize) -> &Member<Bucket> {
        self.machines[number].host.member()
    }

    /// A client of a machine sends a request.
    fn send(&mut self, (number, client): (usize, usize), asked: ClientRequest, line: &str, dies: u64) {
        let machine = &mut self.machines[number];
        machine.clients.each[client].1 = Some(asked);
        let connection = &mut machine.clients.each[client].0;
        connection.requests.feed(format!("{line}\r\n").as_bytes());
        connection.turn(&mut machine.host);
        machine.clients.remember_tickets(client);
        self.commit(number, dies);
    }

    pub fn run(&mut self, requests: usize, storing: bool, mut also: impl FnMut(&mut World)) {
        for _ in 0..requests {
            self.ask(storing, 20);
            also(self);
            for _ in 0..self.draws.below(20) {
                self.step(20);
            }
            let machines = self.machines.len() as u64;
            let (one, other) = (self.draws.below(machines) as usize, self.draws.below(machines) as usize);
            if self.draws.below(100) < 2 {
                // The process of a member that has left has exited.
                if !self.machines[one].host.member().membership().has_left() {
                    self.compare_and_crash(one);
                }
            } else if one != other && self.draws.below(100) < 2 {
                self.break_link(one, other);
                self.connect(one, other);
            }
        }
        self.until_nothing_is_under_way();
    }

    /// A machine dies between two batches: the restored member equals the one that died.
    fn compare_and_crash(&mut self, number: usize) {
        let machine = &self.machines[number];
        let mut again = Host::with_journal(node(self.now), peer(number, 0), policy(), None);
        recover(&machine.disk, &mut again);
        assert_eq!(digest(again.member()), digest(machine.host.member()), "member {number} is brought back otherwise");
        self.crashes[0] += 1;
        self.crash(number);
    }

    pub fn until_nothing_is_under_way(&mut self) {
        let mut steps = 0;
        while self.step(0) {
            steps += 1;
            assert!(steps < 200_000, "requests are never answered: {}", self.how_it_stands());
        }
    }

    /// The knowledge and the pending work of every member, for failure reports.
    fn how_it_stands(&self) -> String {
        let of_machine = |(number, machine): (usize, &Machine)| {
            let member = machine.host.member();
            let servers: Vec<String> = digest(member).into_iter().map(|(server, _)| server).collect();
            let asked: Vec<&ClientRequest> =
                machine.clients.each.iter().filter_map(|(_, asked)| asked.as_ref()).collect();
            let behind: Vec<Identity> = member.behind().collect();
            format!(
                "\n{number}: welcome {}, servers {servers:?}, {:?}, {:?}, behind {behind:?}, waits for {asked:?}",
                member.membership().is_welcome(),
                member.hints(),
                member.image()
            )
        };
        self.machines.iter().enumerate().map(of_machine).collect()
    }

    /// Lets time pass until the file has shrunk as far as it does.
    pub fn shrink(&mut self) {
        for _ in 0..100 {
            for number in 0..self.machines.len() {
                self.machines[number].host.with_member(|member, now, outputs| member.tick(now, outputs));
                self.commit(number, 20);
            }
            self.until_nothing_is_under_way();
        }
    }

    /// Checks that every key is where it belongs, once, with a value that it may have. Returns the number of servers.
    pub fn check(&self) -> usize {
        let (servers, values) = table_of(self.machines.iter().map(|machine| machine.host.member()));
        if !self.loses_power {
            check_values(&values, &self.model, &self.unknown);
        }
        servers
    }
}

/// A log as the snapshot that takes its place.
fn snapshot_of(disk: &[u8], now: u64) -> Vec<u8> {
    let mut host = Host::with_journal(node(now), peer(0, 0), policy(), None);
    let (Some(run), _) = recover(disk, &mut host) else { return disk.to_vec() };
    let mut bytes = Vec::new();
    write_snapshot(host.member(), &run, &mut bytes).unwrap();
    bytes
}

/// The remains of a batch that was being written when the machine died: a prefix; all of it, with one byte changed; or
/// a prefix, followed by zeros up to the file's new length.
fn torn(frame: &[u8], draws: &mut Draws) -> Vec<u8> {
    let (mut written, cut) = (frame.to_vec(), draws.below(frame.len() as u64) as usize);
    match draws.below(3) {
        0 => written.truncate(cut),
        1 => garble(&mut written, draws),
        _ => written[cut..].fill(0),
    }
    written
}

/// Changes one byte.
fn garble(bytes: &mut [u8], draws: &mut Draws) {
    let place = draws.below(bytes.len() as u64) as usize;
    bytes[place] ^= 1 + draws.below(255) as u8;
}

fn simulate(loses_power: bool) {
    let (mut most, mut crashes, mut during_changes) = (0, [0; 2], 0);
    let name = if loses_power { "without_power" } else { "any_moment" };
    let runs = of_each_seed(name, 150, |seed| {
        let mut world = World::new(seed, loses_power);
        world.run(400, true, |_| {});
        most = most.max(world.check());
        world.run(200, false, |_| {});
        world.shrink();
        world.check();
        crashes = [crashes[0] + world.crashes[0], crashes[1] + world.crashes[1]];
        during_changes += world.during_changes;
    });
    let is_enough = most >= 6 && crashes[0] > 0 && crashes[1] > 0 && during_changes > 0;
    assert!(runs < 100 || is_enough, "{most} {crashes:?} {during_changes}");
}

#[test]
fn members_die_at_any_moment_and_nothing_that_was_acknowledged_is_lost() {
    simulate(false);
}

#[test]
fn members_without_power_lose_the_end_of_their_logs_and_still_agree() {
    simulate(true);
}

#[test]
fn a_member_that_loses_its_power_after_it_let_others_in_knows_them() {
    of_each_seed("admitted_without_power", 300, |seed| {
        let mut world = World::new(seed, true);
        for _ in 0..world.draws.below(20) {
            world.step(0);
        }
        world.crash(0);
        world.until_nothing_is_under_way();
        for machine in &world.machines {
            let member = machine.host.member();
            assert!(
                member.membership().is_welcome() && member.membership().peers().count() == 3,
                "{}",
                world.how_it_stands()
            );
        }
    });
}

fn simulate_leaving(loses_power: bool) {
    let (mut moved, mut crashes, mut during_changes) = (0, 0, 0);
    let name = if loses_power { "leave_without_power" } else { "leave_and_die" };
    let runs = of_each_seed(name, 150, |seed| {
        let mut world = World::new(seed, loses_power);
        let requests = 100 + world.draws.below(300) as usize;
        world.run(requests, true, |_| {});
        let leaver = world.some_machine();
        world.leave(leaver);
        let before = world.crashes[0] + world.crashes[1];
        world.run(100, true, |_| {});
        if world.draws.percent(30) {
            let leaver = world.some_machine();
            world.leave(leaver);
            world.run(100, true, |_| {});
        }
        crashes += world.crashes[0] + world.crashes[1] - before;
        during_changes += world.during_changes;
        world.check_that_all_have_left();
        moved +=
            world.machines[leaver].host.member().membership().departure().map_or(0, |departure| departure.moved.len());
        world.check();
        world.run(200, true, |_| {});
        world.check();
        world.run(100, false, |_| {});
        world.shrink();
        world.check();
    });
    assert!(runs < 100 || moved > 100 && crashes > 100 && during_changes > 0, "{moved} {crashes} {during_changes}");
}

#[test]
fn members_leave_and_die_meanwhile_and_nothing_that_was_acknowledged_is_lost() {
    simulate_leaving(false);
}

#[test]
fn members_that_leave_without_power_still_agree_with_the_others() {
    simulate_leaving(true);
}

/// A log of commands of all kinds, one batch each; and after each, the log's length and the records.
fn written(seed: u64) -> (Vec<u8>, Vec<(usize, Vec<Record>)>) {
    let (mut draws, mut machine) = (Draws(seed), Machine::start(0, Vec::new(), true, BEGIN, 1));
    let mut states = Vec::new();
    for step in 0..60 {
        let now = BEGIN + 10 * step;
        machine.host.node().borrow_mut().now = now;
        let (key, other, number) = (draws.below(12), draws.below(12), draws.below(100));
        let line = match draws.below(14) {
            0..3 => format!("SET {key} {}", "v".repeat(number as usize)),
            3 => format!("SET {key} {number} PX {}", 1 + number),
            4 => format!("APPEND {key} {number}"),
            5 => format!("SETRANGE {key} {number} abc"),
            6 => format!("INCRBY counter {number}"),
            7 => format!("DEL {key} {other}"),
            8 => format!("PEXPIRE {key} {number}"),
            9 => format!("PERSIST {key}"),
            10 => format!("RENAME {key} {other}"),
            11 => format!("MULTI\r\nSET {key} 1\r\nSET {other} 2\r\nEXEC"),
            12 if number < 10 => "FLUSHALL".to_owned(),
            12 => format!("GETEX {key} PX {number}"),
            _ => format!("COPY {key} {other} REPLACE"),
        };
        for bucket in machine.host.buckets() {
            bucket.sweep(now, 1);
        }
        machine.clients.each[0].0.requests.feed(format!("{line}\r\n").as_bytes());
        machine.clients.each[0].0.turn(&mut machine.host);
        machine.clients.settle(&mut machine.host);
        let mut batch = machine.journal.borrow_mut();
        if !batch.is_empty() {
            let ready = batch.close(now, 0).unwrap();
            machine.disk.extend_from_slice(&ready.frame.joined());
            batch.begin();
        }
        drop(batch);
        states.push((machine.disk.len(), records(machine.host.member())));
    }
    (machine.disk, states)
}

#[test]
fn a_log_that_is_cut_anywhere_holds_a_whole_number_of_batches() {
    for seed in 0..8 {
        let (log, states) = written(seed);
        for cut in 0..=log.len() {
            let mut host = Host::with_journal(node(BEGIN), peer(0, 0), policy(), None);
            let (_, whole) = recover(&log[..cut], &mut host);
            let due = states.iter().rfind(|(length, _)| *length == whole).map(|(_, state)| state);
            assert!(whole <= cut && states.iter().all(|(length, _)| *length > cut || *length <= whole));
            assert_eq!(&records(host.member()), due.unwrap_or(&Vec::new()), "of the first {cut} bytes, seed {seed}");
        }
    }
}

#[test]
fn a_changed_byte_is_detected_and_is_damage_if_later_batches_were_kept() {
    let mut log = Vec::new();
    for number in 0..20_u8 {
        let mut frame = vec![number; 60].into();
        maquette_store::journal::frame::close(&mut frame, log.len() as u64);
        log.extend_from_slice(&frame.joined());
    }
    for changed in 0..log.len() {
        let mut log = log.clone();
        log[changed] ^= 0x10;
        let mut frames = Frames::new(&log[..], 0, log.len() as u64);
        while frames.next_frame().unwrap() == Next::Frame {}
        let at = frames.at() as usize;
        assert_eq!(at, changed / 60 * 60);
        // The next batch says that this one was durable.
        assert_eq!(was_kept(&log[at..], at as u64), at + 60 < log.len(), "byte {changed}");
    }
}
