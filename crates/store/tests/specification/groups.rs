//! A pool with parity: members are lost for good, with their disks, or are halted or cut off until they are taken for
//! lost; processes die and are restarted, those of parity members too. Every acknowledged write is there, once, and
//! nobody is told anything untrue.
//!
//! `SEEDS=100000` runs more cases; a failure names the seed that `SEED=` runs again.

mod disk;
mod drains;
mod harm;
mod rest;
mod returns;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;

use maquette_store::connection::Connection;
use maquette_store::host::Host;
use maquette_store::journal::frame::{FRAME_HEADER, close};
use maquette_store::journal::{Journal, start, write_snapshot};
use maquette_store::log::Event;
use maquette_store::member::{Identity, Peer, Role};
use maquette_store::parity;
use maquette_store::parity::column::FileName;
use maquette_store::parity::data::{DataMember, Position};
use maquette_store::parity::facts::Facts;
use maquette_store::parity::group::ParityMember;
use maquette_store::parity::message::{Message, Successor};
use maquette_store::parity::spare::{Spare, Taking};
use maquette_store::parity::views::Acceptor;
use quantities::Time;

use crate::clients::{CLIENTS, Clients};
use crate::persistence::{BEGIN, KEYS, node, policy, recover};
use crate::pool::Draws;
use crate::seeds::of_each_seed;
use crate::table::{check_values, table_of};
use disk::Disk;

/// A member that is silent for longer is taken for lost. [ms]
const PATIENCE: u64 = 300;
/// The interval at which members do what is due by time. [ms]
const TICK: u64 = 20;
/// The interval at which members look whether what they wait for has come about. [ms]
const FULL_TICK: u64 = 1_000;
/// The number of members that host servers. They keep their identities however often they are rebuilt.
const DATA: usize = 4;
/// The place of the first parity member.
const PARITY: usize = 4;

type Value = Option<Vec<u8>>;

/// A client's request.
struct ClientRequest {
    key: u64,
    after: Value,
    due: String,
}

impl ClientRequest {
    /// A random request about a key with this value: its line, and the expected outcome. None instead of most deletions
    /// while data should grow.
    fn draw(key: u64, before: &Value, storing: bool, draws: &mut Draws) -> Option<(String, ClientRequest)> {
        let value = draws.below(1_000).to_string();
        let bulk = |value: &Value| {
            let text = value.as_ref().map(|value| String::from_utf8_lossy(value));
            text.map_or("$-1\r\n".to_owned(), |text| format!("${}\r\n{text}\r\n", text.len()))
        };
        let (line, after, due) = match draws.below(4) {
            0 => (format!("GET {key}"), before.clone(), bulk(before)),
            1 if storing => {
                let after = [before.clone().unwrap_or_default(), value.clone().into_bytes()].concat();
                (format!("APPEND {key} {value}"), Some(after.clone()), format!(":{}\r\n", after.len()))
            }
            2 if storing => (format!("SET {key} {value} GET"), Some(value.into_bytes()), bulk(before)),
            _ if storing && draws.percent(70) => return None,
            _ => (format!("GETDEL {key}"), None, bulk(before)),
        };
        Some((line, ClientRequest { key, after, due }))
    }
}

enum GroupRole {
    Data(Box<DataMember>),
    Parity(Box<ParityMember>),
    Spare(Spare, Disk),
}

/// The replies and messages of a turn.
struct Turn {
    position: Position,
    clients: Vec<usize>,
    sends: Vec<(Identity, Vec<u8>)>,
}

/// A process and its disk.
struct Machine {
    host: Host,
    journal: Journal,
    disk: Disk,
    log: u64,
    facts: Facts,
    part: GroupRole,
    output: parity::Output,
    turns: VecDeque<Turn>,
    clients: Clients<ClientRequest>,
    /// The members to which it has links, and their places.
    links: BTreeMap<Identity, usize>,
    /// How often each member that it has met has been rebuilt.
    lives: BTreeMap<Identity, u32>,
    runs: u16,
    ticked: u64,
    /// When it last ticked whether what it waits for has come about.
    ticked_in_full: u64,
    becomes: Option<(Identity, Successor)>,
}

fn at(place: usize, role: Role, life: u32) -> Peer {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1_000 + place as u16));
    Peer { identity: Identity(place as u32 + 100), address, clients: address, role, life }
}

impl Machine {
    /// Starts from a disk, in a group with k parity members.
    fn start(place: usize, k: usize, role: Role, disk: Disk, facts: Facts, now: u64, runs: u16) -> Machine {
        let (journal, own) = (Journal::default(), at(place, role, facts.life));
        let mut host = Host::with_journal(node(now), own.clone(), policy(), Some(Rc::clone(&journal)));
        let bytes = disk.recoverable();
        let (run, length) = recover(&bytes, &mut host);
        let last = FileName::log(disk.last_log());
        if let Some((log, _)) = disk.0.borrow_mut().get_mut(&last) {
            log.truncate(log.len() - (bytes.len() - length));
        }
        start(&mut host, &journal, run.as_ref(), own, policy(), place == 0);
        let (own, first) = (host.member().own().clone(), facts.sessions_before(u64::from(runs)));
        let part = match own.role {
            Role::Data => GroupRole::Data(Box::new(DataMember::new(&facts, PATIENCE, first))),
            Role::Parity => GroupRole::Parity(Box::new(ParityMember::new(own.identity, k, &facts, PATIENCE, first))),
            Role::Spare => GroupRole::Spare(Spare::new(PATIENCE), Disk::default()),
        };
        Machine {
            clients: Clients::connect(&host, now),
            host,
            journal,
            log: disk.last_log() + 1,
            disk,
            facts,
            part,
            output: parity::Output::default(),
            turns: VecDeque::new(),
            links: BTreeMap::new(),
            lives: BTreeMap::from([(own.identity, own.life)]),
            runs,
            ticked: now,
            ticked_in_full: now,
            becomes: None,
        }
    }

    fn own(&self) -> &Peer {
        self.host.member().own()
    }

    /// Begins another log, and makes a snapshot of everything before it.
    fn save(&mut self, now: u64) {
        let mut host = Host::with_journal(node(now), at(0, Role::Data, 0), policy(), None);
        let (Some(run), _) = recover(&self.disk.recoverable(), &mut host) else { return };
        let mut bytes = Vec::new();
        write_snapshot(host.member(), &run, &mut bytes).unwrap();
        self.log += 1;
        // Logs have a header; in this test it is a frame without entries.
        let mut header = vec![0; FRAME_HEADER + 8].into();
        close(&mut header, 0);
        self.disk.write(FileName::log(self.log), &header.joined());
        self.disk.0.borrow_mut().insert(FileName::snapshot(self.log), (bytes, true));
        if let GroupRole::Data(data) = &mut self.part {
            data.survey(&self.disk).unwrap();
        }
    }

    fn may_acknowledge(&self, position: Position, now: u64) -> bool {
        match &self.part {
            GroupRole::Data(data) => data.may_acknowledge(position, now),
            _ => true,
        }
    }

    /// Handles a message about its group.
    fn receive(&mut self, now: u64, from: Identity, message: Message) {
        match (&mut self.part, message) {
            (GroupRole::Data(data), message) => data.receive(now, from, message, &self.disk, &mut self.output).unwrap(),
            (GroupRole::Parity(parity), message) => parity.receive(from, message, &mut self.output),
            (GroupRole::Spare(spare, disk), Message::Part { rebuilding, request, piece, bytes }) => {
                let answer = match spare.takes(now, from, rebuilding) {
                    Taking::Refused => Message::Busy(rebuilding),
                    taking => {
                        if taking == Taking::First {
                            *disk = Disk::default();
                        }
                        disk.write_at(piece, &bytes);
                        Message::Stored(request)
                    }
                };
                self.output.sends.push((from, answer));
            }
            (GroupRole::Spare(spare, _), Message::Become(it)) if spare.becomes(from, &it) => {
                self.becomes = Some((from, it))
            }
            (GroupRole::Spare(..), _) => {}
        }
    }

    /// Records its facts, before any message that rests on them leaves.
    fn keep_facts(&mut self) {
        self.facts = match &self.part {
            GroupRole::Data(data) => data.facts(),
            GroupRole::Parity(parity) => parity.facts(),
            GroupRole::Spare(..) => Facts::default(),
        };
    }
}

/// A message in flight from one member to another.
#[derive(Clone)]
struct UnderWay {
    from: (usize, Identity),
    to: usize,
    is_of_group: bool,
    bytes: Vec<u8>,
}

struct World {
    /// How many members of the group may be lost.
    k: usize,
    machines: Vec<Option<Machine>>,
    links: BTreeMap<(u64, u64), UnderWay>,
    last: BTreeMap<(usize, usize), u64>,
    draws: Draws,
    delay: u64,
    now: u64,
    sent: u64,
    model: BTreeMap<u64, Vec<u8>>,
    unknown: BTreeMap<u64, [Value; 2]>,
    /// Members that nobody can reach, and until when.
    cut_off: BTreeMap<usize, u64>,
    /// Members that can reach only each other, and until when.
    split: Option<(BTreeSet<usize>, u64)>,
    /// When the next member of the group is harmed.
    harm: Option<u64>,
    /// The number of rebuilt members.
    rebuilt: u64,
    /// Deaths while a server was splitting or merging.
    during_changes: u64,
    /// How often a parity member has taken over the lead of a group.
    led: usize,
    /// How often a parity member has been given a group's parity.
    made: usize,
    /// How many members lived on and were told that they had been taken for lost.
    replaced: u64,
    /// How many members were taken for lost, and were readmitted before another process was that member.
    readmitted: u64,
    /// Members that are leaving in order, or have left.
    leaving: BTreeSet<Identity>,
    /// The data members among these that have left, and are in no group any more.
    left: BTreeSet<Identity>,
    /// How often each member has been rebuilt.
    lives: BTreeMap<Identity, u32>,
    /// How many rebuildings of lost members have begun.
    begun: usize,
}

impl World {
    fn new(seed: u64, k: usize) -> World {
        let mut draws = Draws(seed);
        let delay = 1 + draws.below(30);
        let mut world = World {
            k,
            machines: Vec::new(),
            links: BTreeMap::new(),
            last: BTreeMap::new(),
            draws,
            delay,
            now: BEGIN,
            sent: 0,
            model: BTreeMap::new(),
            unknown: BTreeMap::new(),
            cut_off: BTreeMap::new(),
            split: None,
            harm: None,
            rebuilt: 0,
            during_changes: 0,
            led: 0,
            made: 0,
            replaced: 0,
            readmitted: 0,
            leaving: BTreeSet::new(),
            left: BTreeSet::new(),
            lives: BTreeMap::new(),
            begun: 0,
        };
        for place in 0..DATA + 2 * k {
            let role =
                [Role::Data, Role::Parity, Role::Spare][(place >= PARITY) as usize + (place >= PARITY + k) as usize];
            world.add(role);
        }
        world
    }

    fn add(&mut self, role: Role) {
        let place = self.machines.len();
        self.machines.push(Some(Machine::start(place, self.k, role, Disk::default(), Facts::default(), self.now, 1)));
        self.connect_all(place);
    }

    fn places(&self) -> Vec<usize> {
        (0..self.machines.len()).filter(|place| self.machines[*place].is_some()).collect()
    }

    fn send(&mut self, place: usize, to: Identity, is_of_group: bool, bytes: Vec<u8>) {
        let machine = self.machines[place].as_ref().unwrap();
        // Without a link the message is lost: it is asked for again, or sent again when the two meet.
        let Some(&there) = machine.links.get(&to) else { return };
        let from = (place, machine.own().identity);
        self.sent += 1;
        let at = self.now + 1 + self.draws.below(self.delay);
        let last = self.last.entry((place, there)).or_default();
        *last = at.max(*last);
        self.links.insert((*last, self.sent), UnderWay { from, to: there, is_of_group, bytes });
    }

    /// Writes a machine's turn to disk and sends what may be sent; unless it dies meanwhile, with probability `dies`.
    /// [1/10,000]
    fn commit(&mut self, place: usize, dies: u64) {
        let now = self.now;
        // A restarted parity member has nothing; a member that is lost before it has caught up can't be rebuilt.
        let keeps_parity = matches!(&self.machines[place], Some(Machine { part: GroupRole::Parity(_), .. }));
        let may_die = !keeps_parity || self.is_covered();
        let Some(machine) = &mut self.machines[place] else { return };
        let sends = machine.clients.settle(&mut machine.host);
        let mut batch = machine.journal.borrow_mut();
        if !batch.is_empty() {
            let ready = batch.close(now, 0).expect("all can be written");
            let is_torn = may_die && self.draws.below(10_000) < dies;
            let length = if is_torn { self.draws.below(ready.frame.len() as u64) as usize } else { ready.frame.len() };
            machine.disk.write(FileName::log(machine.log), &ready.frame.joined()[..length]);
            batch.begin();
            drop(batch);
            if is_torn {
                return self.crash(place);
            }
        } else {
            drop(batch);
        }
        let length = machine.disk.0.borrow().get(&FileName::log(machine.log)).map_or(0, |(bytes, _)| bytes.len());
        let position = (machine.log, length as u64);
        let replied = |(client, (connection, _)): (usize, &(Connection, _))| {
            (!connection.reply.unsent().is_empty()).then_some(client)
        };
        let clients = machine.clients.each.iter().enumerate().filter_map(replied).collect();
        machine.turns.push_back(Turn { position, clients, sends });
        if let GroupRole::Data(data) = &mut machine.part {
            data.has_written(position);
            data.pump(now, &machine.disk, &mut machine.output).unwrap();
        }
        machine.keep_facts();
        let output = std::mem::take(&mut machine.output);
        self.led += output.events.iter().filter(|event| matches!(event, Event::LeadsGroup)).count();
        self.made += output.events.iter().filter(|event| matches!(event, Event::ParityMade { .. })).count();
        self.begun += output.events.iter().filter(|event| matches!(event, Event::MemberTakenForLost { .. })).count();
        for (to, message) in output.sends {
            self.send(place, to, true, postcard::to_stdvec(&message).unwrap());
        }
        self.release(place);
        self.become_another(place);
        self.begin_life(place);
    }

    /// Sends the replies and messages that may leave.
    fn release(&mut self, place: usize) {
        let now = self.now;
        loop {
            let Some(machine) = &mut self.machines[place] else { return };
            if !machine.turns.front().is_some_and(|turn| machine.may_acknowledge(turn.position, now)) {
                return;
            }
            let Some(turn) = machine.turns.pop_front() else { return };
            // A client that waits for a later turn waits for this one too.
            let later: BTreeSet<usize> = machine.turns.iter().flat_map(|turn| turn.clients.clone()).collect();
            for client in turn.clients.into_iter().filter(|client| !later.contains(client)) {
                self.send_replies(place, client);
            }
            for (to, bytes) in turn.sends {
                self.send(place, to, false, bytes);
            }
        }
    }

    fn send_replies(&mut self, place: usize, client: usize) {
        let Some(machine) = &mut self.machines[place] else { return };
        let (connection, asked) = &mut machine.clients.each[client];
        let reply = String::from_utf8_lossy(connection.reply.unsent()).into_owned();
        connection.reply.was_sent(reply.len());
        let ClientRequest { key, after, due } = asked.take().expect("it has asked");
        assert_eq!(reply, due, "key {key}");
        match after {
            Some(value) => drop(self.model.insert(key, value)),
            None => drop(self.model.remove(&key)),
        }
    }

    /// The outcomes of the requests of a machine's clients become unknown.
    fn forget_clients(&mut self, place: usize) {
        let Some(machine) = &mut self.machines[place] else { return };
        self.during_changes += u64::from(machine.host.member().servers().any(|(_, server)| !server.is_steady()));
        for (_, asked) in &mut machine.clients.each {
            let Some(ClientRequest { key, after, .. }) = asked.take() else { continue };
            self.unknown.insert(key, [self.model.remove(&key), after]);
        }
    }

    /// Breaks all links to and from a machine.
    fn part(&mut self, place: usize) {
        let others = self.places().into_iter().filter(|other| *other != place);
        self.part_from(place, others.collect());
    }

    /// Breaks the links between a machine and these others. Of the messages in flight, each side still gets a prefix.
    fn part_from(&mut self, place: usize, others: Vec<usize>) {
        for other in others {
            for link in [(place, other), (other, place)] {
                let of_link = self.links.iter().filter(|(_, it)| (it.from.0, it.to) == link);
                let under_way: Vec<(u64, u64)> = of_link.map(|(at, _)| *at).collect();
                let comes = self.draws.below(under_way.len() as u64 + 1) as usize;
                for at in &under_way[comes..] {
                    self.links.remove(at);
                }
                let (one, other) = link;
                let Some(machine) = &mut self.machines[one] else { continue };
                let lost: Vec<Identity> =
                    machine.links.iter().filter(|(_, there)| **there == other).map(|(identity, _)| *identity).collect();
                for identity in lost {
                    machine.links.remove(&identity);
                    match &mut machine.part {
                        GroupRole::Data(data) => data.disconnect(identity),
                        GroupRole::Parity(parity) => parity.disconnect(identity),
                        GroupRole::Spare(spare, _) => spare.disconnect(identity),
                    }
                    machine.host.with_member(|member, _, outputs| member.disconnect(identity, outputs));
                }
            }
        }
    }

    /// A process dies and is restarted.
    fn crash(&mut self, place: usize) {
        self.forget_clients(place);
        self.part(place);
        let Some(machine) = self.machines[place].take() else { return };
        let Machine { disk, facts, runs, .. } = machine;
        self.machines[place] = Some(Machine::start(place, self.k, Role::Data, disk, facts, self.now, runs + 1));
        self.connect_all(place);
    }

    /// A machine is gone, with its disk.
    fn lose(&mut self, place: usize) {
        self.forget_clients(place);
        self.part(place);
        self.cut_off.remove(&place);
        self.machines[place] = None;
    }

    /// A spare that has all of a lost member becomes it.
    fn become_another(&mut self, place: usize) {
        let Some(machine) = &mut self.machines[place] else { return };
        let Some((parity, successor)) = machine.becomes.take() else { return };
        let (GroupRole::Spare(_, disk), runs) = (&machine.part, machine.runs + 1) else { return };
        let disk = disk.clone();
        for (file, extent) in &successor.files {
            let mut files = disk.0.borrow_mut();
            let (bytes, is_whole) = files.get_mut(file).expect("it was given");
            assert_eq!(bytes.len() as u64, extent.length, "{file}");
            *is_whole = extent.is_whole;
        }
        let (life, views) = (successor.life, Acceptor::of(successor.view));
        let facts = Facts { covered_by: Some(parity), life, views, ..Facts::default() };
        self.forget_clients(place);
        self.part(place);
        self.machines[place] = Some(Machine::start(place, self.k, Role::Data, disk, facts, self.now, runs));
        assert_eq!(self.machines[place].as_ref().unwrap().own().identity, successor.identity);
        self.rebuilt += 1;
        // A spare that became the member in an earlier life can hear of that late.
        let last = self.lives.entry(successor.identity).or_default();
        *last = life.max(*last);
        self.connect_all(place);
    }

    /// A member that was readmitted to its group meets all others again, in its new life.
    fn begin_life(&mut self, place: usize) {
        let Some(Machine { part: GroupRole::Data(data), host, lives, .. }) = &mut self.machines[place] else { return };
        let Some(life) = data.take_new_life() else { return };
        host.with_member(|member, _, outputs| member.begin_life(life, outputs));
        let identity = host.member().own().identity;
        lives.insert(identity, life);
        let last = self.lives.entry(identity).or_default();
        *last = life.max(*last);
        self.readmitted += 1;
        self.part(place);
        self.connect_all(place);
    }

    fn connect_all(&mut self, place: usize) {
        self.commit(place, 0);
        for other in self.places().into_iter().filter(|other| *other != place) {
            self.connect(place, other);
        }
    }

    /// Two machines reach each other again.
    fn connect(&mut self, one: usize, other: usize) {
        let is_cut_off = |place: &usize| self.cut_off.contains_key(place) || self.machines[*place].is_none();
        let is_split = |(part, _): &(BTreeSet<usize>, u64)| part.contains(&one) != part.contains(&other);
        if [one, other].iter().any(is_cut_off) || self.split.as_ref().is_some_and(is_split) {
            return;
        }
        for (place, met) in [(one, other), (other, one)] {
            let peer = self.machines[met].as_ref().unwrap().own().clone();
            let machine = self.machines[place].as_mut().unwrap();
            if machine.lives.get(&peer.identity).is_some_and(|life| *life > peer.life) {
                let (from, life) = (machine.own().identity, machine.lives[&peer.identity]);
                self.machines[met].as_mut().unwrap().receive(self.now, from, Message::Lost(life));
                return;
            }
            let before = machine.lives.insert(peer.identity, peer.life);
            let (from, former) = (machine.own().identity, machine.links.get(&peer.identity).copied());
            if let Some(former) = former.filter(|_| before.is_some_and(|life| life < peer.life))
                && let Some(former) = &mut self.machines[former]
            {
                former.receive(self.now, from, Message::Lost(peer.life));
            }
        }
        for (place, met) in [(one, other), (other, one)] {
            let peer = self.machines[met].as_ref().unwrap().own().clone();
            let machine = self.machines[place].as_mut().unwrap();
            machine.links.insert(peer.identity, met);
            match (&mut machine.part, peer.role) {
                (GroupRole::Data(data), Role::Parity) => data.connect(self.now, peer.identity, &mut machine.output),
                (GroupRole::Parity(parity), role) => parity.connect(peer.identity, role, &mut machine.output),
                _ => {}
            }
            machine.host.with_member(|member, _, outputs| {
                if !member.membership().is_welcome() {
                    member.join(peer.identity, outputs);
                }
                member.connect(peer, outputs);
            });
        }
        self.commit(one, 0);
        self.commit(other, 0);
    }

    /// Lets the next event happen, if any is due.
    fn step(&mut self, dies: u64) {
        let due = |machine: &Machine| {
            let since =
                machine.host.member().deadline().map(|it| it.since(Time::ZERO).picoseconds().div_ceil(1_000_000));
            let deadline = since.map(|since| machine.host.node().borrow().since + since);
            deadline.into_iter().chain([machine.ticked + TICK]).min()
        };
        let woken =
            self.places().into_iter().filter_map(|place| Some((due(self.machines[place].as_ref()?)?, place))).min();
        let Some((woken, place)) = woken else { return };
        match self.links.first_key_value().map(|((at, _), _)| *at) {
            Some(at) if at <= woken => {
                let Some((_, it)) = self.links.pop_first() else { return };
                self.set_time(at);
                let Some(machine) = &mut self.machines[it.to] else { return };
                if it.is_of_group {
                    machine.receive(at, it.from.1, postcard::from_bytes(&it.bytes).unwrap());
                } else {
                    let message = postcard::from_bytes(&it.bytes).unwrap();
                    machine.host.with_member(|member, now, outputs| member.receive(now, it.from.1, message, outputs));
                }
                self.commit(it.to, dies);
            }
            _ => {
                self.set_time(woken);
                self.tick(place);
                self.commit(place, dies);
            }
        }
    }

    /// Does what is due by time on a machine.
    fn tick(&mut self, place: usize) {
        let now = self.now;
        self.unite();
        if self.cut_off.get(&place).is_some_and(|until| *until <= now) {
            self.cut_off.remove(&place);
            self.connect_all(place);
        }
        let Some(machine) = &mut self.machines[place] else { return };
        machine.host.with_member(|member, now, outputs| member.wake(now, outputs));
        if now.saturating_sub(machine.ticked_in_full) >= FULL_TICK {
            machine.ticked_in_full = now;
            machine.host.with_member(|member, now, outputs| member.tick(now, outputs));
        }
        let passed = now.saturating_sub(std::mem::replace(&mut machine.ticked, now));
        machine.go_on_leaving(now);
        if machine.has_left() {
            return self.lose(place);
        }
        match &mut machine.part {
            GroupRole::Data(data) if data.is_lost() => {
                self.replaced += 1;
                self.lose(place);
            }
            GroupRole::Data(data) => data.tick(now, &mut machine.output),
            GroupRole::Parity(parity) => parity.tick(passed, &mut machine.output),
            GroupRole::Spare(..) => {}
        }
    }

    fn set_time(&mut self, now: u64) {
        self.now = self.now.max(now);
        self.machines.iter().flatten().for_each(|machine| machine.host.node().borrow_mut().now = self.now);
    }

    /// A random client sends a request about a key whose value is known and that no other request is about.
    fn ask(&mut self, storing: bool, dies: u64) {
        let (places, key) = (self.places(), self.draws.below(KEYS));
        let place = places[self.draws.below(places.len() as u64) as usize];
        let client = self.draws.below(CLIENTS as u64) as usize;
        let machines = self.machines.iter().flatten();
        let mut asked = machines.flat_map(|machine| &machine.clients.each).filter_map(|(_, it)| it.as_ref());
        let is_free = self.machines[place].as_ref().is_some_and(|machine| machine.clients.each[client].1.is_none());
        if !is_free || asked.any(|asked| asked.key == key) || self.unknown.contains_key(&key) {
            return;
        }
        let before = self.model.get(&key).cloned();
        let Some((line, asked)) = ClientRequest::draw(key, &before, storing, &mut self.draws) else { return };
        let Some(machine) = &mut self.machines[place] else { return };
        machine.clients.each[client].1 = Some(asked);
        let connection = &mut machine.clients.each[client].0;
        connection.requests.feed(format!("{line}\r\n").as_bytes());
        connection.turn(&mut machine.host);
        machine.clients.remember_tickets(client);
        self.commit(place, dies);
    }

    fn members(&self, role: Role) -> Vec<usize> {
        let is_one = |place: &usize| self.machines[*place].as_ref().is_some_and(|machine| machine.own().role == role);
        self.places().into_iter().filter(is_one).collect()
    }

    fn run(&mut self, requests: usize, storing: bool) {
        for _ in 0..requests {
            self.ask(storing, 10);
            for _ in 0..self.draws.below(20) {
                self.step(10);
            }
            let data = self.members(Role::Data);
            let place = data[self.draws.below(data.len() as u64) as usize];
            self.harm_another();
            match self.draws.below(300) {
                7..10 if self.k > 1 => self.harm_some(),
                0..4 => self.crash(place),
                4..7 => {
                    if let Some(machine) = &mut self.machines[place] {
                        machine.save(self.now);
                    }
                }
                10..15 => self.drain(),
                7 if self.is_covered() && self.rebuilt < 4 => self.lose(place),
                8 if self.is_covered() && self.rebuilt < 4 => {
                    self.part(place);
                    self.cut_off.insert(place, self.now + self.draws.below(8 * PATIENCE));
                }
                9 if self.is_covered() => self.crash(PARITY),
                _ => {}
            }
            self.replace_lost();
            self.replace_those_that_left();
        }
        self.until_nothing_is_under_way();
    }

    /// Checks that every key is where it belongs, once, with a value that it may have. Returns the number of servers.
    fn check(&self) -> usize {
        let (servers, values) = table_of(self.machines.iter().flatten().map(|machine| machine.host.member()));
        check_values(&values, &self.model, &self.unknown);
        let members = self.machines.iter().flatten().map(|machine| machine.host.member());
        let knows = |gone: &Identity| members.clone().any(|member| member.membership().peer(*gone).is_some());
        assert!(!self.left.iter().any(knows), "a member that has left is still known: {:?}", self.left);
        servers
    }
}

/// Runs whole lives of a pool that survives the loss of k members, and checks that enough has happened in them.
fn live(test: &str, usual: u64, k: usize) {
    let (mut most, mut rebuilt, mut during_changes, mut replaced) = (0, 0, 0, 0);
    let (mut led, mut made, mut left) = (0, 0, 0);
    let seeds = of_each_seed(test, usual, |seed| {
        let mut world = World::new(seed, k);
        world.run(300, true);
        most = most.max(world.check());
        world.run(150, false);
        world.check();
        (rebuilt, during_changes) = (rebuilt + world.rebuilt, during_changes + world.during_changes);
        replaced += world.replaced;
        (led, made, left) = (led + world.led, made + world.made, left + world.left.len());
    });
    let is_enough = most >= 6 && rebuilt > 0 && during_changes > 0 && replaced > 0 && left > 0;
    let has_changed = k == 1 || led > 0 && made > seeds as usize;
    assert!(
        seeds < usual || is_enough && has_changed,
        "{most} {rebuilt} {during_changes} {replaced} {led} {made} {left}"
    );
}

#[test]
fn any_member_may_be_lost_for_good_and_nothing_that_was_acknowledged_is() {
    live("for_good", 60, 1);
}

#[test]
fn any_two_members_of_a_group_may_be_lost_at_once_and_nothing_that_was_acknowledged_is() {
    live("at_once", 300, 2);
}

#[test]
fn a_spare_is_given_one_member_at_a_time() {
    let (mut spare, [one, other]) = (Spare::new(PATIENCE), [Identity(1), Identity(2)]);
    assert_eq!(spare.takes(0, one, 7), Taking::First);
    assert_eq!(spare.takes(PATIENCE, one, 7), Taking::Further);
    assert_eq!(spare.takes(2 * PATIENCE, other, 7), Taking::Refused, "another giver, with the same number");
    assert_eq!(spare.takes(2 * PATIENCE, one, 8), Taking::First, "the earlier parts are discarded");
    assert_eq!(spare.takes(9 * PATIENCE, other, 7), Taking::First, "nothing came for long");
    spare.disconnect(other);
    assert_eq!(spare.takes(9 * PATIENCE, one, 8), Taking::First, "the link to the giver is gone");
}

/// A pool whose group survives two losses and has just lost two members at once; the first is about to be rebuilt from
/// both parities.
fn two_are_lost() -> World {
    let mut world = World::new(1, 2);
    world.run(60, true);
    (world.begun, world.rebuilt, world.led) = (0, 0, 0);
    let victims = world.members(Role::Data);
    victims[..2].iter().for_each(|place| world.lose(*place));
    while world.begun == 0 {
        world.step(0);
    }
    world
}

#[test]
fn a_rebuilding_goes_on_after_the_follower_was_unreachable_for_a_moment() {
    let mut world = two_are_lost();
    let parities = world.members(Role::Parity);
    world.part_from(parities[0], vec![parities[1]]);
    // Enough time for each member to look at what is due, but too little for any to be taken for lost.
    let until = world.now + 2 * TICK;
    while world.now < until {
        world.step(0);
    }
    world.connect(parities[0], parities[1]);
    world.until_nothing_is_under_way();
    world.check();
    assert_eq!((world.begun, world.rebuilt, world.led), (2, 2, 0), "each of the two is rebuilt once, by the same lead");
}
