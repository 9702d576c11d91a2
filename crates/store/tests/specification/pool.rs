//! Members of a pool, connected by links with random delays that keep the order: a file grows over them and shrinks
//! while all of them send requests, and every answer equals that of a map. Messages that may be lost sometimes are.
//!
//! `make soak` runs more cases; a failure names the seed that `SEED=` runs again.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};

use linear_hash::{Body, Bounds, Growth, Key, KeyHash, Operation, OperationOutcome, Pairs, ScanKind, Span, h};
use maquette_store::member::{Answer, Durability, Identity, Member, Message, Output, Peer, Policy, Role, Ticket};
use quantities::{Duration, Time, splitmix64};

use crate::seeds::of_each_seed;

/// Random numbers from a seed.
pub struct Draws(pub u64);

impl Draws {
    pub fn below(&mut self, limit: u64) -> u64 {
        splitmix64::draw(&mut self.0) % limit.max(1)
    }

    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

fn key(number: u64) -> Key {
    number.to_string().into_bytes().into()
}

fn c_of(number: u64) -> u64 {
    KeyHash::Uniform.of(&key(number))
}

fn time(now: u64) -> Time {
    Time::ZERO + Duration::from_microseconds(now)
}

/// A request's key, and the answer that it must have.
struct ExpectedAnswer {
    key: u64,
    due: OperationOutcome,
}

struct Pool {
    members: Vec<Member<Pairs>>,
    /// Messages under way, by their arrival and a number that keeps the order: sender, receiver and message.
    links: BTreeMap<(u64, u64), (usize, usize, Message<Pairs>)>,
    /// When the last message of each link arrives.
    last: BTreeMap<(usize, usize), u64>,
    draws: Draws,
    /// The longest delay of a message. [us]
    delay: u64,
    /// The fraction of messages between clients and servers that are lost. [%]
    lost: u64,
    now: u64,
    sent: u64,
    asked: BTreeMap<(usize, Ticket), ExpectedAnswer>,
    /// The keys that scans have found so far.
    scans: BTreeMap<(usize, Ticket), Vec<Key>>,
    counted: Option<u64>,
    /// The keys that a read has found, and the place to go on from.
    read: Option<(Vec<Key>, Option<u64>)>,
    model: BTreeMap<u64, u64>,
    /// Members that leave or have left: they make no requests.
    leaving: BTreeSet<usize>,
    /// Members that are not there: what is sent to them is lost.
    down: BTreeSet<usize>,
    /// A member that messages which must not be lost do not reach.
    held_of: Option<usize>,
    /// What has been sent to it, and by whom.
    held: Vec<(usize, Message<Pairs>)>,
}

impl Pool {
    fn new(seed: u64) -> Pool {
        let mut draws = Draws(seed);
        let (delay, lost) = (1 + draws.below(300), draws.below(3) * draws.below(10));
        let mut pool = Pool {
            members: Vec::new(),
            links: BTreeMap::new(),
            last: BTreeMap::new(),
            draws,
            delay,
            lost,
            now: 0,
            sent: 0,
            asked: BTreeMap::new(),
            scans: BTreeMap::new(),
            counted: None,
            read: None,
            model: BTreeMap::new(),
            leaving: BTreeSet::new(),
            down: BTreeSet::new(),
            held_of: None,
            held: Vec::new(),
        };
        pool.add();
        pool
    }

    fn identity(member: usize) -> Identity {
        Identity(member as u32 + 100)
    }

    fn add(&mut self) {
        let number = self.members.len();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, number as u16));
        let own = Peer { identity: Pool::identity(number), address, clients: address, role: Role::Data, life: 0 };
        let growth =
            Growth { capacity: 10, sensitivity: 0.8, shrink: Some(0.3), apart: false, most_servers: 1 << 20, chunk: 4 };
        let patience = Duration::from_microseconds(10 * self.delay);
        let policy = Policy { growth, servers_each: 2, patience, durability: Durability::default() };
        let mut outputs = Vec::new();
        if number == 0 {
            self.members.push(Member::founding(own, policy, |_| Pairs::default()));
            return;
        }
        let member = Member::joining(own, policy, |_| Pairs::default());
        let at = Pool::identity(self.some_member());
        member.join(at, &mut outputs);
        self.members.push(member);
        self.carry(number, outputs);
        (0..number).for_each(|other| self.connect(number, other));
    }

    /// Two members are connected, if both are up.
    fn connect(&mut self, one: usize, other: usize) {
        for (number, met) in [(one, other), (other, one)] {
            if !self.down.contains(&one) && !self.down.contains(&other) {
                let (met, mut outputs) = (self.members[met].own().clone(), Vec::new());
                self.members[number].connect(met, &mut outputs);
                self.carry(number, outputs);
            }
        }
    }

    /// A member that stands by is gone, or comes back as it was.
    fn set_down(&mut self, gone: usize, is_down: bool) {
        if !is_down {
            self.down.remove(&gone);
            return (0..self.members.len()).filter(|other| *other != gone).for_each(|other| self.connect(gone, other));
        }
        self.down.insert(gone);
        for number in (0..self.members.len()).filter(|number| *number != gone) {
            let mut outputs = Vec::new();
            self.members[number].disconnect(Pool::identity(gone), &mut outputs);
            self.carry(number, outputs);
        }
    }

    /// Members that were not admitted yet ask another one: the one asked before may have left.
    fn join_again(&mut self) {
        for number in 0..self.members.len() {
            let (at, mut outputs) = (self.some_member(), Vec::new());
            if !self.members[number].membership().is_welcome() && at != number {
                self.members[number].join(Pool::identity(at), &mut outputs);
                self.carry(number, outputs);
            }
        }
    }

    /// A member that is up and does not leave.
    fn some_member(&mut self) -> usize {
        let stays = |number: &usize| !self.leaving.contains(number) && !self.down.contains(number);
        let stay: Vec<usize> = (0..self.members.len()).filter(stays).collect();
        stay[self.draws.below(stay.len() as u64) as usize]
    }

    /// A member is asked to leave.
    fn leave(&mut self, number: usize) {
        self.leaving.insert(number);
        let mut outputs = Vec::new();
        self.members[number].leave(time(self.now), &mut outputs);
        self.carry(number, outputs);
    }

    /// Carries out a member's outputs.
    fn carry(&mut self, from: usize, outputs: Vec<Output<Pairs>>) {
        for output in outputs {
            match output {
                Output::Send(to, message) => self.send(from, to.0 as usize - 100, message),
                Output::Done(ticket, Answer::Outcome(outcome)) => {
                    let ExpectedAnswer { key, due } =
                        self.asked.remove(&(from, ticket)).expect("it was asked for once");
                    assert_eq!(outcome, due, "of key {key}");
                }
                Output::Done(ticket, Answer::Found(found)) => {
                    let keys = found.into_iter().map(|(key, _)| key);
                    self.scans.get_mut(&(from, ticket)).unwrap().extend(keys);
                }
                Output::Done(_, Answer::Read(found, next)) => {
                    self.read = Some((found.into_iter().map(|(key, _)| key).collect(), next));
                }
                Output::Done(_, Answer::Count(count)) => self.counted = Some(count),
            }
        }
    }

    fn send(&mut self, from: usize, to: usize, message: Message<Pairs>) {
        let is_down = self.down.contains(&from) || self.down.contains(&to);
        if is_down || message.may_be_lost() && self.draws.percent(self.lost) {
            return;
        }
        if self.held_of == Some(to) && !message.may_be_lost() {
            return self.held.push((from, message));
        }
        self.sent += 1;
        let at = self.now + 1 + self.draws.below(self.delay);
        let last = self.last.entry((from, to)).or_default();
        *last = at.max(*last);
        self.links.insert((*last, self.sent), (from, to, message));
    }

    /// The next event: a message arrives, or a member sends something again. Returns false if neither is due.
    fn step(&mut self) -> bool {
        let woken =
            self.members.iter().enumerate().filter_map(|(number, member)| Some((member.deadline()?, number))).min();
        let comes = self.links.first_key_value().map(|((at, _), _)| *at);
        let mut outputs = Vec::new();
        match (comes, woken) {
            (Some(at), woken) if woken.is_none_or(|(deadline, _)| time(at) <= deadline) => {
                let Some((_, (from, to, message))) = self.links.pop_first() else { return false };
                self.now = at;
                self.members[to].receive(time(at), Pool::identity(from), message, &mut outputs);
                self.carry(to, outputs);
            }
            (_, Some((deadline, number))) => {
                self.now = deadline.since(Time::ZERO).picoseconds().div_ceil(1_000_000);
                self.members[number].wake(time(self.now), &mut outputs);
                self.carry(number, outputs);
            }
            _ => return false,
        }
        true
    }

    /// Has some member make a request on a key for which no other request is under way.
    fn ask(&mut self, storing: bool) {
        let (member, number) = (self.some_member(), self.draws.below(300));
        if self.asked.values().any(|asked| asked.key == number) {
            return;
        }
        let body = |value: u64| Body::from(value.to_le_bytes().to_vec());
        let (value, before) = (self.draws.below(1 << 40), self.model.get(&number).copied());
        let (operation, due) = match self.draws.below(4) {
            0 | 1 if storing => {
                self.model.insert(number, value);
                (Operation::Put(key(number), body(value)), OperationOutcome::Found(before.map(body)))
            }
            0 | 1 => {
                self.model.remove(&number);
                (Operation::Remove(key(number)), OperationOutcome::Found(before.map(body)))
            }
            2 => (Operation::Get(key(number)), OperationOutcome::Found(before.map(body))),
            _ => {
                self.model.entry(number).or_insert(value);
                (Operation::Insert(key(number), body(value)), OperationOutcome::Is(before.is_none()))
            }
        };
        let mut outputs = Vec::new();
        let ticket = self.members[member].ask(time(self.now), c_of(number), operation, &mut outputs);
        self.asked.insert((member, ticket), ExpectedAnswer { key: number, due });
        self.carry(member, outputs);
    }

    /// Has some member store a value under a key that no other request is about, or remove what is there.
    fn change(&mut self, number: u64, value: Option<u64>) {
        let member = self.some_member();
        self.change_by(member, number, value);
    }

    fn change_by(&mut self, member: usize, number: u64, value: Option<u64>) {
        let body = |value: u64| Body::from(value.to_le_bytes().to_vec());
        let (operation, before) = match value {
            Some(value) => (Operation::Put(key(number), body(value)), self.model.insert(number, value)),
            None => (Operation::Remove(key(number)), self.model.remove(&number)),
        };
        let mut outputs = Vec::new();
        let ticket = self.members[member].ask(time(self.now), c_of(number), operation, &mut outputs);
        self.asked
            .insert((member, ticket), ExpectedAnswer { key: number, due: OperationOutcome::Found(before.map(body)) });
        self.carry(member, outputs);
    }

    /// The server that has the token; none while that is on its way.
    fn token(&self) -> Option<u32> {
        let mut servers = self.members.iter().flat_map(Member::servers);
        servers.find_map(|(number, server)| server.token().map(|_| number))
    }

    fn run(&mut self, requests: usize, storing: bool) {
        for _ in 0..requests {
            self.ask(storing);
            for _ in 0..self.draws.below(20) {
                self.step();
            }
            if self.members.len() < 5 + self.leaving.len() && self.draws.percent(2) {
                self.add();
            }
            if self.draws.percent(5) {
                self.join_again();
            }
        }
        self.until_nothing_is_under_way();
    }

    /// Removes all keys; then there are no requests, and members only check now and then whether the file should
    /// shrink.
    fn empty(&mut self) {
        while let Some(number) = self.model.keys().next().copied() {
            self.change(number, None);
        }
        for _ in 0..200 {
            self.until_nothing_is_under_way();
            for number in 0..self.members.len() {
                let mut outputs = Vec::new();
                self.members[number].tick(time(self.now), &mut outputs);
                self.carry(number, outputs);
            }
        }
    }

    fn until_nothing_is_under_way(&mut self) {
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < 1_000_000, "{} requests are never answered", self.asked.len());
        }
        assert!(self.asked.is_empty());
    }

    fn until(&mut self, is_over: impl Fn(&Pool) -> bool) {
        let mut steps = 0..100_000;
        while !is_over(self) {
            assert!(steps.next().is_some() && self.step(), "it is never over");
        }
    }

    /// The keys that a member finds by a scan.
    fn scan(&mut self, member: usize) -> Vec<Key> {
        let mut outputs = Vec::new();
        let ticket = self.members[member].scan(time(self.now), ScanKind::Entries, &mut outputs);
        self.scans.insert((member, ticket), Vec::new());
        self.counted = None;
        self.carry(member, outputs);
        self.until(|pool| pool.counted.is_some());
        let mut found = self.scans.remove(&(member, ticket)).unwrap();
        found.sort_unstable();
        found
    }

    /// The keys that are found by reading part by part, each through another member, which knows little of the table.
    fn read(&mut self) -> Vec<Key> {
        let (mut keys, mut place) = (Vec::new(), Some(0));
        while let Some(from) = place {
            let member = self.some_member();
            let mut outputs = Vec::new();
            let rest = Span { first: from, last: u64::MAX };
            self.members[member].read(time(self.now), rest, &mut outputs);
            self.carry(member, outputs);
            self.until(|pool| pool.read.is_some());
            let (found, next) = self.read.take().expect("it is over");
            keys.extend(found);
            place = next;
        }
        keys.sort_unstable();
        keys
    }

    /// The servers, each with the member that hosts it; checks that they are numbered from 0 without gaps, and each is
    /// hosted once.
    fn servers(&self) -> BTreeMap<u32, usize> {
        let mut hosts = BTreeMap::new();
        for (number, member) in self.members.iter().enumerate() {
            for (server, _) in member.servers() {
                assert_eq!(hosts.insert(server, number), None, "server {server} is in two places");
            }
        }
        assert!(hosts.keys().copied().eq(0..hosts.len() as u32), "{hosts:?}");
        hosts
    }

    fn check(&mut self) {
        let mut keys: Vec<Key> = self.model.keys().map(|&number| key(number)).collect();
        keys.sort_unstable();
        let member = self.some_member();
        assert_eq!(self.scan(member), keys);
        assert_eq!(self.read(), keys);
        self.until_nothing_is_under_way();
        let entries: u64 =
            self.members.iter().flat_map(Member::servers).filter_map(|(_, server)| Some(server.table()?.len())).sum();
        assert_eq!(entries, keys.len() as u64);
        let tokens = self.members.iter().flat_map(Member::servers).filter(|(_, server)| server.token().is_some());
        assert_eq!(tokens.count(), 1, "there is one token");
    }
}

#[test]
fn a_file_grows_over_all_members_and_shrinks_and_every_answer_is_right() {
    let (mut most, mut forwarded) = (0, 0);
    let runs = of_each_seed("a_file_grows", 300, |seed| {
        let mut pool = Pool::new(seed);
        pool.run(600, true);
        pool.check();
        let servers = pool.servers();
        let hosts: BTreeSet<usize> = servers.values().copied().collect();
        assert!(servers.len() <= 2 * pool.members.len());
        assert!(servers.len() < pool.members.len() || hosts.len() == pool.members.len(), "{servers:?}");
        most = most.max(servers.len());
        forwarded += pool.members.iter().map(|member| member.hosted().counts().forwarded).sum::<u64>();
        pool.empty();
        assert_eq!(pool.servers().len(), 1);
    });
    assert!(runs < 100 || most >= 8 && forwarded > 0, "{most} servers, {forwarded} requests were sent on");
}

#[test]
fn an_unanswered_request_is_given_up() {
    let mut pool = Pool::new(1);
    pool.add();
    pool.until_nothing_is_under_way();
    let (member, mut outputs) = (&mut pool.members[1], Vec::new());
    let operation = Operation::Contains(key(1));
    let ticket = member.ask(time(0), c_of(1), operation.clone(), &mut outputs);
    let again = member.deadline().expect("it is sent again");
    member.wake(again, &mut outputs);
    assert_eq!(outputs.len(), 2);
    member.give_up(ticket);
    assert_eq!(member.deadline(), None);
    // The place is free again, and has another ticket.
    assert_ne!(member.ask(again, c_of(1), operation, &mut outputs), ticket);
}

#[test]
fn a_scan_of_its_own_servers_leaves_others_their_turn_between_its_parts() {
    const KEYS: u64 = 1_000;
    let mut pool = Pool::new(1);
    let member = &mut pool.members[0];
    for number in 0..KEYS {
        member.ask(
            time(0),
            c_of(number),
            Operation::Put(key(number), Body::from(number.to_le_bytes().to_vec())),
            &mut Vec::new(),
        );
    }
    let (now, mut outputs, mut found) = (time(7), Vec::new(), BTreeSet::new());
    let (mut most, mut turns, mut counted) = (0, 0, None);
    member.scan(now, ScanKind::Entries, &mut outputs);
    while counted.is_none() {
        let mut parts = 0;
        for output in outputs.drain(..) {
            match output {
                Output::Done(_, Answer::Found(part)) => {
                    parts += 1;
                    found.extend(part.into_iter().map(|(key, _)| key));
                }
                Output::Done(_, Answer::Count(count)) => counted = Some(count),
                output => panic!("{output:?}"),
            }
        }
        (most, turns) = (parts.max(most), turns + 1);
        assert_eq!(member.goes_on(), counted.is_none());
        if member.goes_on() {
            assert_eq!(member.deadline(), Some(now));
            member.wake(now, &mut outputs);
        }
    }
    assert_eq!((found.len() as u64, counted), (KEYS, Some(KEYS)));
    assert!(most <= 8 && turns > 10, "{turns} turns, at most {most} parts in one");
}

#[test]
fn a_large_request_is_sent_again_later_than_others_unless_a_link_was_renewed() {
    let mut pool = Pool::new(1);
    pool.add();
    pool.until_nothing_is_under_way();
    let founder = pool.members[0].own().clone();
    let (member, mut outputs) = (&mut pool.members[1], Vec::new());
    let (operation, extra) = (Operation::Contains(key(1)), Duration::from_microseconds(5_000));
    let small = member.ask(time(0), c_of(1), operation.clone(), &mut outputs);
    let again = member.deadline().expect("it is sent again");
    member.give_up(small);
    let large = member.ask_patiently(time(0), c_of(1), operation.clone(), extra, &mut outputs);
    assert_eq!(member.deadline(), Some(again + extra));
    outputs.clear();
    member.connect(founder, &mut outputs);
    assert_eq!(member.deadline(), Some(again));
    member.wake(again, &mut outputs);
    assert!(matches!(&outputs[..], [Output::Send(_, Message::Request(..))]), "{outputs:?}");
    // The next time is later again: it waits for twice as long, and for the rest.
    assert_eq!(member.deadline(), Some(again + again.since(time(0)) * 2 + extra));
    member.give_up(large);
    // The place is free again, for a request that is like others.
    member.ask(time(0), c_of(1), operation, &mut outputs);
    assert_eq!(member.deadline(), Some(again));
}

#[test]
fn a_member_leaves_at_any_time_and_every_answer_is_right() {
    let (mut moved, mut most_at_once) = (0, 0);
    let runs = of_each_seed("a_member_leaves", 300, |seed| {
        let mut pool = Pool::new(seed);
        let requests = 50 + pool.draws.below(300) as usize;
        pool.run(requests, true);
        (pool.members.len()..3).for_each(|_| pool.add());
        for _ in 0..1 + pool.draws.below(2) {
            for _ in 0..pool.draws.below(100) {
                pool.step();
            }
            // Others may be joining, and another one may be leaving.
            let leaver = pool.some_member();
            if pool.members[leaver].most_servers_of_others() > 0 {
                pool.leave(leaver);
            }
            for _ in 0..pool.draws.below(40) {
                pool.ask(true);
                pool.step();
            }
        }
        pool.run(300, true);
        for leaver in pool.leaving.clone() {
            let member = &pool.members[leaver];
            assert!(
                member.membership().has_left(),
                "member {leaver} never leaves: {:?}",
                member.membership().departure()
            );
            assert_eq!(member.servers().count(), 0);
            let identity = Pool::identity(leaver);
            for (number, other) in pool.members.iter().enumerate().filter(|(number, _)| *number != leaver) {
                let knows_it = other.membership().peer(identity).is_some()
                    || other.hints().iter().any(|(_, host)| host == identity);
                assert!(!knows_it || pool.leaving.contains(&number), "{number} still knows {leaver}");
            }
            let departure = member.membership().departure().unwrap();
            moved += departure.moved.len();
            most_at_once = most_at_once.max(departure.moved.len());
        }
        pool.check();
        pool.run(300, true);
        pool.check();
        pool.empty();
        assert_eq!(pool.servers().len(), 1);
    });
    assert!(runs < 100 || moved > 200 && most_at_once > 1, "{moved} servers moved, {most_at_once} of one member");
}

/// A founder that is full as soon as it has more than 8 entries, and members that stand by.
fn standing_by(seed: u64, members: usize) -> Pool {
    let mut pool = Pool::new(seed);
    (pool.members.len()..members).for_each(|_| pool.add());
    pool.until_nothing_is_under_way();
    pool
}

#[test]
fn no_server_is_opened_at_a_member_that_is_gone() {
    of_each_seed("no_server_is_opened", 100, |seed| {
        let mut pool = standing_by(seed, 5);
        (1..4).for_each(|gone| pool.set_down(gone, true));
        pool.run(300, true);
        let hosts: BTreeSet<usize> = pool.servers().into_values().collect();
        assert_eq!(hosts, BTreeSet::from([0, 4]), "the one that is there takes its share");
        pool.check();
        assert!(pool.servers().len() <= 4, "two members host two servers each");
        (1..4).for_each(|back| pool.set_down(back, false));
        pool.run(100, true);
        let hosts: BTreeSet<usize> = pool.servers().into_values().collect();
        assert!(hosts.len() > 2, "those that are back take their share: {hosts:?}");
        pool.check();
    });
}

#[test]
fn a_member_leaves_although_one_that_stood_by_is_gone_for_good() {
    of_each_seed("gone_for_good_stood_by", 100, |seed| {
        let mut pool = standing_by(seed, 4);
        pool.set_down(3, true);
        pool.run(100, true);
        pool.leave(0);
        pool.run(100, true);
        assert!(
            pool.members[0].membership().has_left(),
            "it waits for {:?}",
            pool.members[0].uninformed().collect::<Vec<_>>()
        );
        pool.check();
        // If the one that stood by does come back, it hears who has left.
        pool.set_down(3, false);
        pool.run(100, true);
        assert_eq!(pool.members[3].membership().peer(Pool::identity(0)), None);
        pool.check();
    });
}

#[test]
fn a_member_that_has_left_gets_its_answers_although_the_only_host_it_knew_has_left_too() {
    of_each_seed("the_only_host_it_knew", 100, |seed| {
        let mut pool = standing_by(seed, 4);
        pool.lost = 100;
        (0..5).for_each(|number| pool.change_by(1, number, Some(number)));
        [1, 0].into_iter().for_each(|leaver| pool.leave(leaver));
        pool.until(|pool| pool.members[1].membership().has_left() && pool.members[0].membership().has_left());
        pool.lost = 0;
        pool.until_nothing_is_under_way();
        pool.check();
    });
}

#[test]
fn a_split_waits_for_members_only_if_as_many_servers_are_wanted() {
    let mut pool = standing_by(1, 3);
    [1, 2].into_iter().for_each(|gone| pool.set_down(gone, true));
    // Nobody joins meanwhile.
    for _ in 0..200 {
        pool.ask(true);
        pool.until_nothing_is_under_way();
    }
    let servers = pool.servers().len() as u32;
    assert_eq!(servers, 2, "one member is there, and hosts two");
    assert!(pool.members[0].waits_for_hosts());
    let resize = |pool: &mut Pool, most: u32| {
        let mut outputs = Vec::new();
        pool.members[0].resize(time(pool.now), Bounds { least: 1, most }, &mut outputs);
        pool.carry(0, outputs);
    };
    resize(&mut pool, servers);
    assert!(!pool.members[0].waits_for_hosts(), "more servers are not wanted");
    resize(&mut pool, servers + 1);
    assert!(pool.members[0].waits_for_hosts());
}

#[test]
fn a_member_that_leaves_waits_for_one_that_has_servers_and_is_not_connected() {
    let mut pool = standing_by(1, 3);
    pool.run(200, true);
    let absent = pool.servers().into_values().find(|host| *host > 0).expect("the file has grown");
    pool.set_down(absent, true);
    let mut outputs = Vec::new();
    pool.members[0].leave(time(pool.now), &mut outputs);
    pool.carry(0, outputs);
    for _ in 0..2_000 {
        pool.step();
    }
    let awaited: Vec<Identity> = pool.members[0].uninformed().map(|peer| peer.identity).collect();
    assert!(!pool.members[0].membership().has_left());
    assert_eq!(awaited, [Pool::identity(absent)]);
}

#[test]
fn a_scan_finds_every_key_once_while_servers_move() {
    of_each_seed("a_scan_finds_every_key_once", 300, |seed| {
        let mut pool = Pool::new(seed);
        pool.run(200, true);
        (pool.members.len()..3).for_each(|_| pool.add());
        pool.until_nothing_is_under_way();
        let leaver = pool.servers().values().next().copied().expect("somebody hosts server 0");
        pool.leave(leaver);
        for _ in 0..pool.draws.below(60) {
            pool.step();
        }
        pool.check();
        assert!(pool.members[leaver].membership().has_left());
    });
}

#[test]
fn a_scan_does_not_wait_until_a_server_has_moved() {
    of_each_seed("a_scan_does_not_wait", 300, |seed| {
        let (mut pool, keys) = (standing_by(seed, 3), 0..8);
        keys.clone().for_each(|number| pool.change(number, Some(number)));
        pool.until_nothing_is_under_way();
        let leaver = pool.servers()[&0];
        pool.leave(leaver);
        let moves = |pool: &Pool| pool.members[leaver].servers().any(|(_, server)| server.moves_away());
        pool.until(moves);
        // The receiver of the server does not get to ask for another chunk.
        pool.held_of = Some(leaver);
        (0..pool.draws.below(10)).for_each(|_| {
            pool.step();
        });
        let member = pool.draws.below(3) as usize;
        let found = if seed % 2 == 0 { pool.read() } else { pool.scan(member) };
        assert_eq!(found, keys.map(key).collect::<Vec<Key>>());
        assert!(moves(&pool), "it still moves");
        pool.held_of = None;
        let held = std::mem::take(&mut pool.held);
        held.into_iter().for_each(|(from, message)| pool.send(from, leaver, message));
        pool.until_nothing_is_under_way();
        assert!(pool.members[leaver].membership().has_left());
    });
}

#[test]
fn a_server_gets_the_token_that_was_sent_to_it_while_it_was_on_its_way() {
    let mut pool = standing_by(0, 4);
    let is_split = (0..300).any(|_| {
        pool.ask(true);
        pool.until_nothing_is_under_way();
        pool.token() == Some(1)
    });
    assert!(is_split);
    // Server 0 becomes so small that all of it is sent in one go.
    let (even, odd): (Vec<u64>, Vec<u64>) = (0..300).partition(|number| h(1, c_of(*number)) == 0);
    let stored: Vec<u64> = even.into_iter().filter(|number| pool.model.contains_key(number)).collect();
    stored.into_iter().for_each(|number| pool.change(number, None));
    pool.until_nothing_is_under_way();
    let leaver = pool.servers()[&0];
    pool.leave(leaver);
    let goes = |pool: &Pool| pool.members[leaver].membership().departure().and_then(|it| it.moved.get(&0).copied());
    while goes(&pool).is_none() && pool.step() {}
    let to = goes(&pool).expect("it is leaving").0 as usize - 100;
    let slow = 1_000 * pool.delay;
    let its: Vec<(u64, u64)> =
        pool.links.iter().filter(|(_, it)| (it.0, it.1) == (leaver, to)).map(|(at, _)| *at).collect();
    for (at, order) in its {
        let message = pool.links.remove(&(at, order)).expect("it is under way");
        pool.last.insert((leaver, to), at + slow);
        pool.links.insert((at + slow, order), message);
    }
    // Meanwhile server 1 splits, and server 0 is the next to do so.
    let comes = pool.now + slow;
    for number in odd {
        pool.change(number, Some(number));
        while pool.links.keys().next().is_some_and(|(at, _)| *at < comes) {
            pool.step();
        }
    }
    assert!(pool.now < comes && pool.token().is_none(), "server 0 has been told before it has come");
    pool.until_nothing_is_under_way();
    pool.check();
}

/// Whether each place is in one of these spans, and whether none is in two.
fn covers(spans: impl Iterator<Item = Span>) -> (bool, bool) {
    let (mut spans, mut next, mut is_disjoint) = (spans.collect::<Vec<Span>>(), 0, true);
    spans.sort_unstable();
    for Span { first, last } in spans {
        if u128::from(first) > next {
            return (false, is_disjoint);
        }
        is_disjoint &= u128::from(first) == next;
        next = next.max(u128::from(last) + 1);
    }
    (next == 1 << 64, is_disjoint)
}

#[test]
fn each_key_is_scanned_by_some_member_at_any_time_and_is_a_key_of_one_at_rest() {
    of_each_seed("each_key_is_scanned", 200, |seed| {
        let mut pool = Pool::new(seed);
        let members = 2 + pool.draws.below(3) as usize;
        (1..members).for_each(|_| pool.add());
        for step in 0..600 {
            if pool.draws.percent(40) {
                pool.ask(step < 400);
            }
            if step == 450 && pool.draws.percent(50) {
                pool.until_nothing_is_under_way();
                let leaver = pool.some_member();
                pool.leave(leaver);
            }
            pool.step();
            assert!(covers(pool.members.iter().flat_map(Member::spans_to_scan)).0, "at step {step}");
        }
        pool.until_nothing_is_under_way();
        assert_eq!(covers(pool.members.iter().flat_map(|member| member.hosted().own_spans())), (true, true));
    });
}
