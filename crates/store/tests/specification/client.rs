//! Clients of a pool of the store's own members, which split and merge between requests and during them: every reply
//! equals that of a map, in order, however bytes are cut, and a client has requested the slots only once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration as WallDuration;

use linear_hash::Growth;
use maquette_store::bucket::Bucket;
use maquette_store::client::{Error, MemberNumber, Options, Routes};
use maquette_store::connection::{Connection, Pause};
use maquette_store::host::Host;
use maquette_store::member::{Answer, Durability, Identity, Message, Output, Peer, Policy, Role, Ticket};
use maquette_store::node::{Node, Settings};
use maquette_store::resp::Value;
use proptest::prelude::*;
use quantities::Duration;

use crate::pool::Draws;
use crate::seeds::of_each_seed;

/// [ms since 1970]
const BEGINNING: u64 = 1_700_000_000_000;

fn address(member: usize) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 20_000 + member as u16).into()
}

/// A connection between a client and a member.
struct Wire {
    member: usize,
    number: MemberNumber,
    sent: VecDeque<u8>,
    connection: Connection,
}

struct Client {
    routes: Routes,
    wires: Vec<Wire>,
    /// The values of its own keys.
    model: BTreeMap<u64, Vec<u8>>,
    /// The answers that it expects.
    due: Vec<Value>,
    left: u64,
}

struct World {
    hosts: Vec<Host>,
    links: BTreeMap<(usize, usize), VecDeque<Message<Bucket>>>,
    clients: Vec<Client>,
    draws: Draws,
    now: u64,
    /// Whether servers merge, too.
    shrinks: bool,
    /// The link, from one member to another, on which nothing arrives.
    held: Option<(usize, usize)>,
    /// Whether a key may leave a member and come back, by merges or by two splits. If that happens while a client has
    /// several requests for the key under way, they may be answered in another order; so then each of these is for
    /// another key.
    keys_return: bool,
}

impl World {
    fn new(seed: u64) -> World {
        let mut draws = Draws(seed);
        let (members, servers_each) = (1 + draws.below(5), 1 + draws.below(3) as u32);
        let shrinks = draws.percent(60);
        World::of(draws, members, servers_each, shrinks)
    }

    fn of(draws: Draws, members: u64, servers_each: u32, shrinks: bool) -> World {
        let (hosts, links, clients) = (Vec::new(), BTreeMap::new(), Vec::new());
        let keys_return = shrinks || members > 1 && servers_each > 1;
        let mut world = World { hosts, links, clients, draws, now: BEGINNING, shrinks, held: None, keys_return };
        (0..members).for_each(|_| world.add_member(servers_each));
        world
    }

    fn add_member(&mut self, servers_each: u32) {
        let number = self.hosts.len();
        let own = Peer {
            identity: Identity(100 + number as u32),
            address: address(number),
            clients: address(number),
            role: Role::Data,
            life: 0,
        };
        let shrink = self.shrinks.then_some(0.3);
        let growth = Growth { capacity: 20, sensitivity: 0.8, shrink, apart: false, most_servers: 1 << 14, chunk: 4 };
        let policy = Policy {
            growth,
            servers_each,
            patience: Duration::from_microseconds(1_000),
            durability: Durability::default(),
        };
        let node = Node::new(Settings::default(), 6379, [number as u64, 2, 3], self.now);
        self.hosts.push(Host::new(node, own, policy, number == 0));
        if number > 0 {
            self.hosts[number].with_member(|member, _, outputs| member.join(Identity(100), outputs));
        }
        let all: Vec<Peer> = self.hosts.iter().map(|host| host.member().own().clone()).collect();
        for (one, other) in (0..number).flat_map(|other| [(number, other), (other, number)]) {
            self.hosts[one].with_member(|member, _, outputs| member.connect(all[other].clone(), outputs));
        }
    }

    fn elapsed(&self) -> WallDuration {
        WallDuration::from_millis(self.now - BEGINNING)
    }

    fn add_client(&mut self, requests: u64) {
        let at = self.draws.below(self.hosts.len() as u64) as usize;
        let routes = Routes::new(vec![address(at)], Options::default(), self.elapsed()).unwrap();
        self.clients.push(Client {
            routes,
            wires: Vec::new(),
            model: BTreeMap::new(),
            due: Vec::new(),
            left: requests,
        });
    }

    /// A client's next requests, and the answers that it expects.
    fn ask(&mut self, client: usize, most: u64, storing: bool) {
        let now = self.elapsed();
        let Client { routes, model, due, left, .. } = &mut self.clients[client];
        let count = (1 + self.draws.below(most)).min(*left);
        *left -= count;
        let mut commands: Vec<Vec<Vec<u8>>> = Vec::new();
        let (keys, mut asked) = (if self.keys_return && most > 8 { 400 } else { 80 }, BTreeSet::new());
        let draws = &mut self.draws;
        let mut draw = |draws: &mut Draws| loop {
            let number = draws.below(keys);
            if asked.insert(number) || !self.keys_return {
                break number;
            }
        };
        for _ in 0..count {
            let number = draw(draws);
            let key = |number: u64| format!("{client}:{number}").into_bytes();
            let value = draws.below(1 << 40).to_string().into_bytes();
            let text = |value: Option<Vec<u8>>| value.map_or(Value::Null, Value::Text);
            let (arguments, answer) = match draws.below(6) {
                0 | 1 if storing => {
                    let before = model.insert(number, value.clone());
                    (vec![b"GETSET".to_vec(), key(number), value], text(before))
                }
                0 | 1 => {
                    let removed = model.remove(&number).is_some();
                    (vec![b"DEL".to_vec(), key(number)], Value::Integer(removed.into()))
                }
                2 if most > 1 => {
                    let other = draw(draws);
                    let values = [number, other].map(|number| text(model.get(&number).cloned()));
                    (vec![b"MGET".to_vec(), key(number), key(other)], Value::List(values.to_vec()))
                }
                3 => (vec![b"ECHO".to_vec(), value.clone()], Value::Text(value)),
                _ => (vec![b"GET".to_vec(), key(number)], text(model.get(&number).cloned())),
            };
            commands.push(arguments);
            due.push(answer);
        }
        let commands: Vec<Vec<&[u8]>> =
            commands.iter().map(|arguments| arguments.iter().map(|argument| &argument[..]).collect()).collect();
        routes.ask(now, commands.iter().map(|arguments| &arguments[..]));
    }

    /// Does something that may happen now: a member receives a message, or some bytes from or to a client arrive.
    fn step(&mut self) {
        let is_busy = |(link, queue): &(&(usize, usize), &VecDeque<_>)| !queue.is_empty() && self.held != Some(**link);
        let busy: Vec<(usize, usize)> = self.links.iter().filter(is_busy).map(|(link, _)| *link).collect();
        if !busy.is_empty() && self.draws.percent(40) {
            let (from, to) = busy[self.draws.below(busy.len() as u64) as usize];
            let message = self.links.get_mut(&(from, to)).and_then(VecDeque::pop_front).unwrap();
            let identity = Identity(100 + from as u32);
            self.hosts[to].with_member(|member, now, outputs| member.receive(now, identity, message, outputs));
        }
        for client in 0..self.clients.len() {
            self.exchange(client);
        }
        (0..self.hosts.len()).for_each(|host| self.carry(host));
        if self.draws.percent(10) {
            self.tick();
        }
    }

    fn tick(&mut self) {
        self.now += 1;
        let now = self.elapsed();
        for host in &mut self.hosts {
            host.node().borrow_mut().now = self.now;
            host.with_member(|member, at, outputs| {
                if member.deadline().is_some_and(|deadline| deadline <= at) {
                    member.wake(at, outputs);
                }
                member.tick(at, outputs);
            });
        }
        self.clients.iter_mut().for_each(|client| client.routes.wake(now));
    }

    /// Has some bytes between a client and the members arrive.
    fn exchange(&mut self, client: usize) {
        let now = self.elapsed();
        let Client { routes, wires, .. } = &mut self.clients[client];
        for (number, at) in routes.to_open(now) {
            let member = usize::from(at.port()) - 20_000;
            let host = &self.hosts[member];
            let who = host.node().borrow_mut().connect("client".to_owned(), String::new(), self.now);
            let mut connection = Connection::new(who, &host.node().borrow());
            connection.session.follows_slots = true;
            routes.opened(number);
            wires.push(Wire { member, number, sent: VecDeque::new(), connection });
        }
        for wire in wires {
            wire.sent.extend(routes.unsent(wire.number));
            routes.was_sent(wire.number, routes.unsent(wire.number).len());
            let some = self.draws.below(200) as usize;
            let arrived: Vec<u8> = wire.sent.drain(..some.min(wire.sent.len())).collect();
            wire.connection.requests.feed(&arrived);
            while wire.connection.turn(&mut self.hosts[wire.member]) == Pause::Turn {}
            let unsent = wire.connection.reply.unsent();
            let replied = unsent[..unsent.len().min(self.draws.below(100) as usize)].to_vec();
            wire.connection.reply.was_sent(replied.len());
            routes.received(now, wire.number, &replied);
        }
    }

    /// Passes a member's outputs on to their receivers.
    fn carry(&mut self, host: usize) {
        for output in self.hosts[host].take_outputs() {
            match output {
                Output::Send(to, message) => {
                    self.links.entry((host, to.0 as usize - 100)).or_default().push_back(message);
                }
                Output::Done(ticket, answer) => self.answered(host, ticket, answer),
            }
        }
    }

    fn answered(&mut self, host: usize, ticket: Ticket, answer: Answer<Bucket>) {
        let mut wires = self.clients.iter_mut().flat_map(|client| &mut client.wires);
        let waits = |wire: &&mut Wire| wire.member == host && wire.connection.waits_for(ticket);
        if let Some(wire) = wires.find(waits) {
            wire.connection.answered(&mut self.hosts[host], ticket, answer);
        }
    }

    /// Runs until all requests of all clients are answered.
    fn run(&mut self, requests: u64, most: u64, storing: bool) {
        self.clients.iter_mut().for_each(|client| client.left = requests);
        for _ in 0..4_000_000 {
            let mut is_over = true;
            for client in 0..self.clients.len() {
                let asking = &mut self.clients[client];
                if asking.routes.is_done() {
                    let answers: Vec<Value> =
                        asking.routes.answers().unwrap().into_iter().map(Result::unwrap).collect();
                    assert_eq!(answers, std::mem::take(&mut asking.due));
                    if asking.left > 0 {
                        self.ask(client, most, storing);
                    }
                }
                let asking = &self.clients[client];
                is_over &= asking.left == 0 && asking.due.is_empty();
            }
            if is_over {
                return;
            }
            self.step();
        }
        panic!("some requests are never answered");
    }

    /// The first client's answer to a request.
    fn command(&mut self, arguments: &[&str]) -> Result<Value, String> {
        let arguments: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_bytes()).collect();
        let now = self.elapsed();
        self.clients[0].routes.ask(now, [&arguments[..]]);
        for _ in 0..100_000 {
            if self.clients[0].routes.is_done() {
                let answer = self.clients[0].routes.answers().unwrap().pop().unwrap();
                return answer.map_err(|error| error.to_string());
            }
            self.step();
        }
        panic!("{arguments:?} is never answered");
    }

    /// Whether the number of servers becomes `due`, and stays.
    fn has_servers(&mut self, due: usize) -> bool {
        let servers = |world: &World| world.hosts.iter().map(|host| host.member().servers().count()).sum::<usize>();
        for _ in 0..20_000 {
            self.step();
        }
        let first = servers(self);
        (0..5_000).for_each(|_| self.step());
        (first, servers(self)) == (due, due)
    }

    /// Has a member leave, unless it is the only one.
    fn leave(&mut self) {
        if self.hosts.len() > 1 {
            let leaving = self.draws.below(self.hosts.len() as u64) as usize;
            self.hosts[leaving].with_member(|member, now, outputs| member.leave(now, outputs));
        }
    }

    /// How often servers have split and merged.
    fn changes(&self) -> u64 {
        self.hosts.iter().map(|host| host.member().hosted().counts()).map(|counts| counts.splits + counts.merges).sum()
    }
}

/// Clients of a pool receive the answers of a map, and are told of each change once; so none ever has to request the
/// slots again.
fn clients_are_told_of_each_change_once(seed: u64, most: u64, leaves: bool) {
    let mut world = World::new(seed);
    world.keys_return |= leaves;
    (0..3).for_each(|_| world.add_client(0));
    for storing in [true, false, true] {
        if leaves && !storing {
            world.leave();
        }
        world.run(250, most, storing);
    }
    for client in &world.clients {
        let counts = client.routes.counts();
        assert_eq!((counts.maps, counts.delays), (1, 0), "{counts:?}");
        // The counts of a server that is merged or moves are lost.
        if !world.shrinks && !leaves {
            assert!(counts.adjustments <= world.changes(), "{counts:?} of {}", world.changes());
            // Each of several requests under way at once is redirected.
            assert!(most > 1 || counts.moved <= world.changes(), "{counts:?} of {}", world.changes());
        }
    }
}

#[test]
fn every_answer_is_right_while_a_pool_splits_and_merges() {
    of_each_seed("every_answer", 60, |seed| {
        clients_are_told_of_each_change_once(seed, [1, 8, 64][(seed % 3) as usize], seed / 3 % 2 == 1);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn every_answer_is_right_in_any_pool(seed in any::<u64>(), most in prop::sample::select(vec![1_u64, 8, 64]), leaves: bool) {
        clients_are_told_of_each_change_once(seed, most, leaves);
    }
}

#[test]
fn clients_are_not_redirected_to_a_member_that_has_not_heard_of_its_server_yet() {
    let mut world = World::of(Draws(1), 2, 1, false);
    world.add_client(0);
    world.run(10, 1, true);
    world.held = Some((0, 1));
    while world.changes() == 0 {
        world.run(1, 1, true);
    }
    let keys: Vec<String> = (0..80).map(|number| format!("0:{number}")).collect();
    let arguments: Vec<[&[u8]; 2]> = keys.iter().map(|key| [&b"GET"[..], key.as_bytes()]).collect();
    let now = world.elapsed();
    world.clients[0].routes.ask(now, arguments.iter().map(|arguments| &arguments[..]));
    (0..5_000).for_each(|_| world.step());
    let routes = &world.clients[0].routes;
    assert!(!routes.is_done() && routes.counts().moved == 0, "{:?}", routes.counts());
    world.held = None;
    (0..5_000).for_each(|_| world.step());
    let routes = &world.clients[0].routes;
    assert!(routes.is_done() && routes.counts().adjustments == 1, "{:?}", routes.counts());
}

/// What concerns the whole table does not wait until the keys have moved that a split moves.
#[test]
fn slots_are_told_and_all_keys_found_while_a_server_splits() {
    let mut world = World::of(Draws(1), 3, 1, false);
    world.add_client(0);
    world.clients[0].routes = Routes::new(vec![address(2)], Options::default(), world.elapsed()).unwrap();
    world.run(10, 1, true);
    let all_are_steady =
        |world: &World| world.hosts.iter().all(|host| host.member().servers().all(|(_, it)| it.is_steady()));
    while world.changes() == 0 {
        world.run(1, 1, true);
    }
    // Some keys have moved, and the new server confirms no more.
    let has_keys = |world: &World| world.hosts[1].member().servers().any(|(_, it)| !it.contents().is_empty());
    assert!((0..5_000).any(|_| {
        world.step();
        has_keys(&world)
    }));
    world.held = Some((1, 0));
    // The last map of slots is old by then.
    (0..5_000).for_each(|_| world.step());
    assert!(!all_are_steady(&world));
    let Ok(Value::List(ranges)) = world.command(&["CLUSTER", "SLOTS"]) else { panic!("a list of ranges is due") };
    // The server that splits has them all until its other half is complete.
    let of_one =
        |range: &Value| matches!(range, Value::List(it) if it[..2] == [Value::Integer(0), Value::Integer(16_383)]);
    assert!(ranges.len() == 1 && of_one(&ranges[0]), "{ranges:?}");
    let keys = world.clients[0].model.len();
    assert_eq!(world.command(&["DBSIZE"]), Ok(Value::Integer(keys as i64)));
    let Ok(Value::List(found)) = world.command(&["KEYS", "*"]) else { panic!("a list of keys is due") };
    let (mut scanned, mut cursor) = (Vec::new(), "0".to_owned());
    while {
        let Ok(Value::List(part)) = world.command(&["SCAN", &cursor]) else { panic!("a part is due") };
        let [Value::Text(next), Value::List(keys)] = &part[..] else { panic!("a cursor and keys are due: {part:?}") };
        scanned.extend_from_slice(keys);
        cursor = String::from_utf8_lossy(next).into_owned();
        cursor != "0"
    } {}
    let distinct = |found: &[Value]| found.iter().map(|key| format!("{key:?}")).collect::<BTreeSet<String>>().len();
    assert_eq!([found, scanned].map(|found| (found.len(), distinct(&found))), [(keys, keys); 2]);
    assert!(!all_are_steady(&world));
    world.held = None;
    (0..5_000).for_each(|_| world.step());
    assert!(all_are_steady(&world));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn the_number_of_servers_is_the_requested_one(seed in any::<u64>()) {
        // At most eight servers, each with room for 20 records.
        let mut world = World::of(Draws(seed), 4, 2, true);
        world.add_client(0);
        world.run(1, 1, true);
        prop_assert!(world.has_servers(1));
        prop_assert_eq!(world.command(&["CLUSTER", "GROW", "4"]), Ok(Value::Integer(5)));
        prop_assert!(world.has_servers(5));
        // A member that comes later hears of it, too.
        world.add_member(2);
        world.run(100, 8, true);
        prop_assert!(world.command(&["CLUSTER", "GROW", "99"]).unwrap_err().contains("ERR no room for"));
        let records = world.clients[0].model.len();
        // More records than one server has room for, but not more than two have.
        prop_assume!((21..=40).contains(&records));
        prop_assert!(world.command(&["CLUSTER", "SHRINK", "4"]).unwrap_err().contains("records on 1 servers"));
        prop_assert!(world.command(&["CLUSTER", "SHRINK", "99"]).unwrap_err().contains("one has to remain"));
        prop_assert_eq!(world.command(&["CLUSTER", "SHRINK", "3"]), Ok(Value::Integer(2)));
        prop_assert!(world.has_servers(2));
        // Records beyond the room of two servers do not make the file grow.
        world.run(300, 8, true);
        prop_assert!(world.clients[0].model.len() > 40 && world.has_servers(2));
        prop_assert_eq!(world.command(&["CLUSTER", "GROW"]), Ok(Value::Integer(3)));
        world.run(2_000, 8, false);
        prop_assert!(world.has_servers(3));
        prop_assert_eq!(world.command(&["CLUSTER", "SHRINK", "0"]), Ok(Value::Integer(3)));
        prop_assert!(world.has_servers(1));
        prop_assert!(world.command(&["CLUSTER", "GROW", "-1"]).unwrap_err().contains("allowed is a number of servers"));
    }
}

/// A client that has requested the slots, and was told that all are on the first of these members.
fn ready(members: usize) -> (Routes, Vec<MemberNumber>) {
    let mut routes = Routes::new((0..members).map(address).collect(), Options::default(), WallDuration::ZERO).unwrap();
    let mut numbers = open(&mut routes, WallDuration::ZERO);
    let map = "+OK\r\n*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:20000\r\n";
    routes.received(WallDuration::ZERO, numbers[0], map.as_bytes());
    assert!(routes.is_done());
    assert!(routes.answers().unwrap().is_empty());
    numbers.truncate(1);
    (routes, numbers)
}

/// Opens all connections that are due, and sends what waits on them.
fn open(routes: &mut Routes, now: WallDuration) -> Vec<MemberNumber> {
    let opened: Vec<MemberNumber> = routes.to_open(now).into_iter().map(|(number, _)| number).collect();
    for &number in &opened {
        routes.opened(number);
        sent(routes, number);
    }
    opened
}

fn sent(routes: &mut Routes, number: MemberNumber) -> String {
    let bytes = String::from_utf8(routes.unsent(number).to_vec()).unwrap();
    routes.was_sent(number, bytes.len());
    bytes
}

#[test]
fn a_write_that_may_have_been_carried_out_is_not_sent_again() {
    let (mut routes, numbers) = ready(2);
    let now = WallDuration::from_secs(1);
    routes.ask(now, [&[&b"SET"[..], b"a", b"1"][..], &[b"GET", b"a"], &[b"INCR", b"b"]]);
    let whole = routes.unsent(numbers[0]).len();
    // Nothing of the last one has been sent yet.
    routes.was_sent(numbers[0], whole - "*2\r\n$4\r\nINCR\r\n$1\r\nb\r\n".len());
    routes.gone(now, numbers[0], &ErrorKind::ConnectionReset.into());
    assert!(!routes.is_done());
    // Now the slots are requested from the other member.
    let other = open(&mut routes, now);
    assert_eq!((other.len(), routes.counts().maps), (1, 2));
    let later = now + WallDuration::from_millis(20);
    routes.wake(later);
    let again = routes.to_open(later);
    assert_eq!(again.len(), 1);
    routes.opened(again[0].0);
    assert!(sent(&mut routes, again[0].0).ends_with("GET\r\n$1\r\na\r\n*2\r\n$4\r\nINCR\r\n$1\r\nb\r\n"));
    routes.received(later, again[0].0, b"+OK\r\n$1\r\n1\r\n:1\r\n");
    assert!(routes.is_done());
    let answers = routes.answers().unwrap();
    assert!(matches!(answers[0], Err(Error::Lost { .. })), "{answers:?}");
    assert_eq!(*answers[1].as_ref().unwrap(), Value::Text(b"1".to_vec()));
    assert_eq!(*answers[2].as_ref().unwrap(), Value::Integer(1));
}

#[test]
fn a_lost_member_is_called_ever_more_rarely_until_the_patience_ends() {
    let (mut routes, numbers) = ready(1);
    routes.gone(WallDuration::ZERO, numbers[0], &ErrorKind::ConnectionReset.into());
    routes.ask(WallDuration::ZERO, [&[&b"SET"[..], b"a", b"1"][..]]);
    let (mut now, mut calls) = (WallDuration::ZERO, 0);
    while !routes.is_done() {
        for (number, _) in routes.to_open(now) {
            calls += 1;
            routes.gone(now, number, &ErrorKind::ConnectionRefused.into());
        }
        now = routes.deadline().max(now);
        routes.wake(now);
    }
    assert_eq!(now, Options::default().patience);
    assert!((10..40).contains(&calls), "{calls} calls");
    assert!(routes.counts().maps < 14, "{:?}", routes.counts());
    let answers = routes.answers().unwrap();
    let error = answers[0].as_ref().unwrap_err();
    assert_eq!(
        error.to_string(),
        "no answer within 10 s: the last problem was: can't reach 127.0.0.1:20000: connection refused"
    );
}

#[test]
fn two_members_that_redirect_to_each_other_do_not_go_on_for_ever() {
    let (mut routes, mut numbers) = ready(1);
    routes.ask(WallDuration::ZERO, [&[&b"GET"[..], b"foo"][..]]);
    let mut now = WallDuration::ZERO;
    while !routes.is_done() {
        for (place, &number) in numbers.iter().enumerate() {
            let asked = sent(&mut routes, number);
            // A new connection first announces the client's capabilities.
            let greeted = if asked.contains("CAPA") { "+OK\r\n" } else { "" };
            let other = 20_001 - place;
            let moved =
                if asked.contains("foo") { format!("-MOVED 12182 127.0.0.1:{other}\r\n") } else { String::new() };
            let mapped = if asked.contains("SLOTS") { "-ERR none\r\n" } else { "" };
            routes.received(now, number, format!("{greeted}{mapped}{moved}").as_bytes());
        }
        let is_idle = numbers.iter().all(|&number| routes.unsent(number).is_empty());
        let opened = routes.to_open(now);
        if is_idle && opened.is_empty() && !routes.is_done() {
            now = routes.deadline().max(now);
            routes.wake(now);
        }
        for (number, _) in opened {
            routes.opened(number);
            numbers.push(number);
        }
    }
    let answers = routes.answers().unwrap();
    assert!(matches!(answers[0], Err(Error::SentOn { times: 16, .. })), "{answers:?}");
    assert!(now < Options::default().patience, "{now:?}");
    assert_eq!(numbers.len(), 2);
}

#[test]
fn a_wrong_password_is_reported_and_no_request_is_made() {
    let options = Options { password: Some(b"x".to_vec()), ..Options::default() };
    let mut routes = Routes::new(vec![address(0)], options, WallDuration::ZERO).unwrap();
    let numbers = open(&mut routes, WallDuration::ZERO);
    routes.received(WallDuration::ZERO, numbers[0], b"-WRONGPASS no\r\n-NOAUTH no\r\n-NOAUTH no\r\n");
    assert!(routes.is_done());
    assert_eq!(routes.answers().unwrap_err().to_string(), "127.0.0.1:20000 refuses: WRONGPASS no");
}

#[test]
fn commands_on_one_connection_are_refused_and_the_others_are_sent() {
    let (mut routes, numbers) = ready(1);
    let commands: [&[&[u8]]; 4] = [&[b"multi"], &[], &[b"NOSUCH", b"a"], &[b"DEL", b"a", b"b"]];
    routes.ask(WallDuration::ZERO, commands);
    assert_eq!(sent(&mut routes, numbers[0]).matches("del").count(), 2);
    routes.received(WallDuration::ZERO, numbers[0], b"-ERR unknown command\r\n:1\r\n:1\r\n");
    let answers = routes.answers().unwrap();
    assert!(matches!(answers[0], Err(Error::OfOneConnection(_))) && matches!(answers[1], Err(Error::Empty)));
    assert!(matches!(answers[2], Err(Error::Refused { .. })), "{answers:?}");
    assert_eq!(*answers[3].as_ref().unwrap(), Value::Integer(2));
}
