//! What one process hosts: a member of the pool with its servers, and the state that its clients share. It routes requests to servers.
//!
//! | a request | goes to |
//! |---|---|
//! | on keys of a server of this member | that server, at once |
//! | on keys of one other server | that server, as this member's request; a client that follows slots is told MOVED instead, unless the slots are moving |
//! | on keys of several servers, if it can be split: MGET, MSET, DEL, UNLINK, EXISTS, TOUCH | each key's server; the replies are combined |
//! | on the whole table: SCAN, KEYS, DBSIZE, RANDOMKEY, FLUSHALL, FLUSHDB | all servers, or those of this member for a client that follows slots; for SCAN the one at the cursor |
//! | without keys | no server |

mod copying;
mod draining;
mod resizing;
mod waiting;
mod watching;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;

use programs::linear_hash::{Contents, FETCHED_AT_ONCE, Growth, ScanKind, Server, Span, ToServer};
use quantities::{Duration, Time};

use crate::bucket::Bucket;
use crate::cluster::{PoolState, ServerState, SlotMap, slots_of, span_of_slot};
use crate::commands::{
    Command, Context, Flag, counts_keys, dispatch, dispatch_known, find, refuses_snapshot, slot_asked_for,
};
use crate::connection::Session;
use crate::contents::{CROSS_SLOT, Guest, Operation, Outcome};
use crate::journal::{Journal, Pen};
use crate::large::LARGE;
use crate::member::{Durability, Identity, Member, Message, Output, Peer, Policy, Role, Sequenced, Ticket};
use crate::node::Node;
use crate::record::Milliseconds;
use crate::resp::{Arguments, OwnedArguments, Reply, Requests, Upcoming};
use crate::slot::{c_of, slot_of};
use copying::Copying;
pub use waiting::{Gather, Matching, Scanned, Waiting};

/// What a member hosts.
#[derive(Debug)]
pub struct Host {
    node: Rc<RefCell<Node>>,
    member: Member<Bucket>,
    /// Carries out requests without keys, on a member without a server.
    spare: Bucket,
    /// The journal, if there is one.
    journal: Option<Journal>,
    outputs: Vec<Output<Bucket>>,
    /// When all servers were last asked for their levels. [ms since 1970]
    mapped: Milliseconds,
    /// Large values that are being copied.
    copying: Vec<Copying>,
    /// How many requests went to the server that has all keys and are not counted there yet.
    asked: u64,
}

/// The most requests under way for which a client may have several at once; beyond that each client has one.
const MOST_UNDER_WAY: usize = 4_096;
/// How long a map of slots is valid; then servers are asked anew. [ms]
const MAP_HOLDS: Milliseconds = 100;
/// At least so much of a value that is arriving is written to the journal at once, except at its end. [B]
const LEAST_OF_PART: usize = 64 << 10;
/// Assumed: so much of a request reaches another member, and its disk, in a millisecond, even if both are busy. [B]
pub(crate) const LEAST_PACE: usize = 32 << 10;
/// The member's time, in which a millisecond counts as a microsecond: its clock has 2^63 ps, and would end after 106 days otherwise.
fn time(node: &Node) -> Time {
    Time::ZERO + Duration::from_microseconds(node.now.saturating_sub(node.since))
}

/// Carries out a client's request on a bucket; its command, if it is known, may be carried out. Returns the member's time. The borrow of the node
/// ends before the member hears of the request: a server that this opens borrows the node, too.
#[inline]
fn dispatch_on(
    bucket: &mut Bucket,
    node: &RefCell<Node>,
    session: &mut Session,
    reply: &mut Reply,
    command: Option<&'static Command>,
    arguments: Arguments<'_>,
) -> Time {
    let node = &mut *node.borrow_mut();
    let now = node.now;
    let context = &mut Context { bucket, node, session, reply, now };
    match command {
        Some(command) => dispatch_known(context, command, arguments),
        None => dispatch(context, arguments),
    }
    time(node)
}

impl Host {
    /// A host whose member founds a pool, or has yet to join one. Times of the policy are in those of the member's clock: a microsecond for a
    /// millisecond.
    pub fn new(node: Node, own: Peer, policy: Policy, founds: bool) -> Host {
        let mut host = Host::kept_by(node, own, policy, None);
        if founds {
            host.member.found();
        }
        host
    }

    /// A host whose member has no server yet, and whose servers write changes of their records to this journal.
    pub fn kept_by(node: Node, own: Peer, policy: Policy, journal: Option<Journal>) -> Host {
        let node = Rc::new(RefCell::new(node));
        let of_server = {
            let (node, journal) = (Rc::clone(&node), journal.clone());
            move |server| {
                let pen = journal.as_ref().map(|journal| Pen::new(Rc::clone(journal), server));
                Bucket::of_server(Guest::of(&node)).kept_by(pen)
            }
        };
        let member = Member::joining(own, policy, of_server);
        Host {
            node,
            member,
            spare: Bucket::default(),
            journal,
            outputs: Vec::new(),
            mapped: 0,
            copying: Vec::new(),
            asked: 0,
        }
    }

    /// The member, to set it up before it serves clients.
    pub const fn member_mut(&mut self) -> &mut Member<Bucket> {
        &mut self.member
    }

    /// A host whose member is the only one of its pool, and has one server.
    pub fn alone(node: Node) -> Host {
        let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, node.port));
        let own = Peer { identity: Identity(1), address: nowhere, clients: nowhere, role: Role::Data, life: 0 };
        let growth =
            Growth { capacity: u64::MAX, sensitivity: 1.0, shrink: None, apart: false, most_servers: 1, chunk: 1 };
        Host::new(
            node,
            own,
            Policy { growth, servers_each: 1, patience: Duration::ZERO, durability: Durability::default() },
            true,
        )
    }

    /// The node.
    pub const fn node(&self) -> &Rc<RefCell<Node>> {
        &self.node
    }

    /// The member.
    pub const fn member(&self) -> &Member<Bucket> {
        &self.member
    }

    /// Whether so many requests are under way that no client may have more than one.
    pub fn is_busy(&self) -> bool {
        self.member.requests_under_way() >= MOST_UNDER_WAY
    }

    /// The buckets of its servers.
    pub fn buckets(&mut self) -> impl Iterator<Item = &mut Bucket> {
        self.member.contents_mut()
    }

    /// Applies a function to the member, and keeps its outputs until [`Host::take_outputs`].
    pub fn with_member(&mut self, does: impl FnOnce(&mut Member<Bucket>, Time, &mut Vec<Output<Bucket>>)) {
        let now = time(&self.node.borrow());
        does(&mut self.member, now, &mut self.outputs);
    }

    /// Takes the member's outputs: messages to send, and answers.
    pub fn take_outputs(&mut self) -> Vec<Output<Bucket>> {
        if self.asked > 0 {
            let asked = std::mem::take(&mut self.asked);
            self.with_member(|member, now, outputs| member.has_answered(now, 0, asked, true, outputs));
        }
        std::mem::take(&mut self.outputs)
    }

    /// Writes the next part of an arriving large value to the journal, if it will be stored on this member. Writing it all at once would take long.
    /// Returns false if the value has arrived, but more of it has to be written before its request is carried out.
    pub fn keep_arriving(&mut self, requests: &mut Requests) -> bool {
        let Some(journal) = &self.journal else { return true };
        let Some((arguments, arriving)) = requests.arriving() else { return true };
        let stores = find(arguments.get(0)).is_some_and(|command| command.has(Flag::NeedsRoom));
        if !stores || arguments.len() < 2 || self.member.holder(c_of(arguments.get(1))).is_none() {
            return true;
        }
        let is_whole = arriving.is_whole();
        let (bytes, journaled) = arriving.for_journal();
        // A client may send a few bytes at a time.
        if !is_whole && bytes.len() < journaled.written() + LEAST_OF_PART {
            return true;
        }
        journal.borrow_mut().write_part(bytes, journaled) || !is_whole
    }

    /// Whether a message of another member would take long to take at once: it has large values that will be stored on this one and are written to
    /// the journal in parts before, or changes some that others share and that are copied in parts before.
    pub fn takes_long(&mut self, message: &Message<Bucket>) -> bool {
        if let Message::Sequenced(sequenced) = message {
            return self.journal.is_some() && brings_large_values(sequenced);
        }
        let Some((number, request)) = message.request() else { return false };
        let operation = &request.operation;
        let has_large = self.journal.is_some() && operation.large_values().next().is_some();
        let stores_large = has_large && Bucket::stores(operation);
        if !stores_large && !self.changes_shared(operation) {
            return false;
        }
        let is_new =
            |server: &Server<Bucket>| server.last_of(request.client).is_none_or(|last| last.number < request.number);
        self.member.servers().any(|(server, of)| server == number && of.holds(request.c) && is_new(of))
    }

    /// Carries out a client's request and replies; or returns what the reply waits for.
    #[inline]
    pub fn carry_out(&mut self, session: &mut Session, reply: &mut Reply, arguments: Arguments<'_>) -> Option<Waiting> {
        if asks_about_the_pool(arguments) {
            return self.about_the_pool(session, reply, arguments);
        }
        if is_save(arguments) && self.begins_snapshot(session) {
            return Some(Waiting::Snapshot);
        }
        self.carry_out_on_keys(session, reply, arguments)
    }

    /// Has the records of a client's next requests fetched from memory: all at the same time, rather than one after another as they are carried out.
    pub fn prefetch(&self, keys: Upcoming<'_>) {
        let (mut hashes, mut count) = ([0; FETCHED_AT_ONCE], 0);
        for (c, key) in hashes.iter_mut().zip(keys) {
            *c = c_of(key);
            count += 1;
        }
        if count > 1 {
            for (_, server) in self.member.servers() {
                let held = hashes[..count].iter().copied().filter(|c| server.holds(*c));
                server.contents().table.fetch(held);
            }
        }
    }

    /// Requests a snapshot for which a client waits, unless there is a reason to refuse it.
    fn begins_snapshot(&self, session: &Session) -> bool {
        let node = &mut *self.node.borrow_mut();
        let begins = session.is_authenticated && session.transaction.is_none() && refuses_snapshot(node).is_none();
        node.wants_snapshot |= begins;
        begins
    }

    #[inline]
    fn carry_out_on_keys(
        &mut self,
        session: &mut Session,
        reply: &mut Reply,
        arguments: Arguments<'_>,
    ) -> Option<Waiting> {
        match self.member.holder_of_all() {
            Some(bucket) => {
                self.asked += 1;
                dispatch_on(bucket, &self.node, session, reply, None, arguments);
                None
            }
            None => self.carry_out_among_servers(session, reply, arguments),
        }
    }

    /// Before a reply about slots all servers are asked for their levels, unless that was just done, so that the reply is exact.
    fn about_the_pool(
        &mut self,
        session: &mut Session,
        reply: &mut Reply,
        arguments: Arguments<'_>,
    ) -> Option<Waiting> {
        let now = self.node.borrow().now;
        let alone = self.member.holder_of_all().map(|bucket| bucket.len());
        // A member that has not been let in yet knows nobody to ask.
        let can_ask = self.member.is_welcome() && session.is_authenticated && session.transaction.is_none();
        if alone.is_none() && can_ask {
            if counts_keys(arguments) && !session.asks_each_member() {
                let ticket = self.member.scan(time(&self.node.borrow()), ScanKind::Count, &mut self.outputs);
                return Some(Waiting::Keyspace(ticket, None, arguments.into()));
            }
            if let Some(waiting) = self.of_slot(session, reply, arguments) {
                return waiting;
            }
        }
        let is_asked = is_cluster(arguments) && session.is_authenticated;
        let resizes = is_asked && session.transaction.is_none() && is_order(arguments);
        let leaves = self.leaves() && draining::is_asked_for(arguments);
        if let Some(records) = alone.or(leaves.then_some(0)).filter(|_| resizes) {
            self.carry_out_order(arguments, records, reply);
            return None;
        }
        let is_known = alone.is_some() || !resizes && now.saturating_sub(self.mapped) < MAP_HOLDS;
        if !is_asked || is_known {
            self.draw_map();
            return self.carry_out_on_keys(session, reply, arguments);
        }
        // How few servers there may be depends on the number of records.
        let kind = if resizes { ScanKind::Count } else { ScanKind::Levels };
        let ticket = self.member.scan(time(&self.node.borrow()), kind, &mut self.outputs);
        Some(Waiting::Map(ticket, arguments.into()))
    }

    /// Carries out a request for the keys of a slot on a pool, if it is one: of all servers, or of this member alone for a client that follows slots.
    fn of_slot(&mut self, session: &Session, reply: &mut Reply, arguments: Arguments<'_>) -> Option<Option<Waiting>> {
        let (slot, most) = slot_asked_for(arguments)?;
        let of_slot = span_of_slot(slot);
        let spans =
            self.spans_of(session).into_iter().filter(|span| span.first <= of_slot.first && of_slot.last <= span.last);
        let spans: Vec<Span> = spans.map(|_| of_slot).collect();
        Some(match most {
            None if spans.is_empty() => {
                reply.integer(0);
                None
            }
            Some(_) if spans.is_empty() => {
                reply.array(0);
                None
            }
            None => {
                let now = time(&self.node.borrow());
                Some(Waiting::Size(self.member.scan_within(now, &spans, ScanKind::Count, &mut self.outputs)))
            }
            Some(most) => Some(self.collect(&spans, Matching { pattern: None, most, found: Vec::new() })),
        })
    }

    /// Replies to a request that has waited for too long, if more can be said than that: an INFO then counts the keys of this member alone. Returns
    /// whether it has replied.
    pub fn reply_without(&mut self, waiting: &Waiting, session: &mut Session, reply: &mut Reply) -> bool {
        let Waiting::Keyspace(_, _, request) = waiting else { return false };
        self.draw_map();
        self.carry_out_without_keys(session, reply, request.borrowed());
        true
    }

    /// Carries out an operator's command on a pool that has `records` records.
    fn carry_out_order(&mut self, arguments: Arguments<'_>, records: u64, reply: &mut Reply) {
        if draining::is_asked_for(arguments) {
            self.drain(reply);
        } else {
            self.resize(arguments, records, reply);
        }
    }

    fn draw_map(&mut self) {
        let node = &mut *self.node.borrow_mut();
        node.slots = SlotMap::of(&self.member);
        node.pool = PoolState::of(&self.member);
        let sum = |of: fn(&ServerState) -> u64| -> u64 { node.pool.servers.iter().map(of).sum() };
        node.keyspace = (sum(|server| server.records), sum(|server| server.expiring));
    }

    /// Carries out a request without keys, or on the keys that the client watches, which are on one server.
    fn carry_out_without_keys(&mut self, session: &mut Session, reply: &mut Reply, arguments: Arguments<'_>) {
        let c = session.watched.first().map(|(key, _)| c_of(key));
        let bucket = match c.and_then(|c| self.member.holder(c)) {
            Some((_, bucket)) => bucket,
            None => self.member.contents_mut().next().unwrap_or(&mut self.spare),
        };
        dispatch_on(bucket, &self.node, session, reply, None, arguments);
    }

    /// A client has gone: it is disconnected from the node, and watches nothing any more.
    pub fn forget(&mut self, session: &mut Session) {
        self.unwatch(session);
        self.node.borrow_mut().disconnect(&session.client);
    }

    fn carry_out_among_servers(
        &mut self,
        session: &mut Session,
        reply: &mut Reply,
        arguments: Arguments<'_>,
    ) -> Option<Waiting> {
        let command = find(arguments.get(0)).and_then(|command| command.with_subcommand(arguments).ok());
        let is_queued = |command: &Command| session.transaction.is_some() && !command.has(Flag::NotQueued);
        let known = command
            .filter(|command| session.is_authenticated && command.arity.allows(arguments.len()) && !is_queued(command));
        let Some(command) = known else {
            self.carry_out_without_keys(session, reply, arguments);
            return None;
        };
        match command.name {
            "exec" => return self.exec(session, reply, arguments),
            "dbsize" | "keys" | "scan" | "randomkey" | "flushall" | "flushdb" => {
                return self.of_whole_table(command, session, reply, arguments);
            }
            _ => {}
        }
        let Some(first) = command.keys_of(arguments).next() else {
            self.carry_out_without_keys(session, reply, arguments);
            return None;
        };
        let c = c_of(first);
        let watches = command.name == "watch";
        if watches && session.transaction.is_some() {
            self.carry_out_without_keys(session, reply, arguments);
            return None;
        }
        // If the client watches keys of another member, more can be watched only on the server that has those, too.
        let is_tried = !watches || session.stamped.is_empty();
        if is_tried && self.carry_out_locally(c, command, session, reply, arguments) {
            return None;
        }
        if session.follows_slots && self.redirects(c, command, session, reply, arguments) {
            return None;
        }
        if watches {
            return self.watch_elsewhere(c, session, reply, arguments);
        }
        match parts(command, arguments) {
            Some((gather, parts)) if parts.len() > 1 => Some(self.ask_parts(gather, parts, reply)),
            _ => {
                let request = Operation::Request(reply.version, arguments.into());
                Some(Waiting::Reply(self.ask(c, request)))
            }
        }
    }

    /// Carries out a request on the server of this member that has the key of hash C, if there is one and it has all other keys, too.
    fn carry_out_locally(
        &mut self,
        c: u64,
        command: &'static Command,
        session: &mut Session,
        reply: &mut Reply,
        arguments: Arguments<'_>,
    ) -> bool {
        let Some((server, bucket)) = self.member.holder(c) else { return false };
        let watched = session.watched.iter().map(|(key, _)| &**key).filter(|_| command.name == "watch");
        if bucket.refuses(c, command.keys_of(arguments).skip(1).chain(watched)).is_some() {
            return false;
        }
        let now = dispatch_on(bucket, &self.node, session, reply, Some(command), arguments);
        self.member.has_answered(now, server, 1, command.has(Flag::NeedsRoom), &mut self.outputs);
        true
    }

    fn ask(&mut self, c: u64, operation: Operation) -> Ticket {
        let now = time(&self.node.borrow());
        let extra = Duration::from_microseconds((operation.size() / LEAST_PACE) as u64);
        self.member.ask_patiently(now, c, operation, extra, &mut self.outputs)
    }

    fn ask_parts(&mut self, gather: Gather, parts: Vec<(u64, OwnedArguments)>, reply: &Reply) -> Waiting {
        let replies = vec![Outcome::default(); parts.len()];
        let mut tickets = BTreeMap::new();
        for (part, (c, request)) in parts.into_iter().enumerate() {
            tickets.insert(self.ask(c, Operation::Request(reply.version, request)), part);
        }
        Waiting::Parts { gather, tickets, replies }
    }

    /// Redirects a client that follows slots, except while the slots move to this member, or from it to one that has not spoken as their host
    /// yet: then the member sends the request itself, as for any other client, and the client does not have to retry.
    fn redirects(
        &self,
        c: u64,
        command: &Command,
        session: &Session,
        reply: &mut Reply,
        arguments: Arguments<'_>,
    ) -> bool {
        let mut slots = command.keys_of(arguments).map(slot_of);
        let slot = slots.next().unwrap_or_default();
        if slots.any(|other| other != slot) {
            reply.error(CROSS_SLOT);
            return true;
        }
        let Some((host, keys)) = self.member.sends_to(c) else { return false };
        let Some(peer) = self.member.peer(host) else { return false };
        let moved = format!("MOVED {slot} {}", peer.clients);
        if session.takes_ranges {
            let (first, last) = slots_of(keys);
            reply.error(&format!("{moved} {first} {last}"));
        } else {
            reply.error(&moved);
        }
        true
    }
}

fn asks_about_the_pool(arguments: Arguments<'_>) -> bool {
    is_cluster(arguments) || arguments.get(0).eq_ignore_ascii_case(b"info")
}

/// Whether a request is an operator's command.
fn is_order(arguments: Arguments<'_>) -> bool {
    resizing::is_asked_for(arguments) || draining::is_asked_for(arguments)
}

fn is_save(arguments: Arguments<'_>) -> bool {
    arguments.len() == 1 && arguments.get(0).eq_ignore_ascii_case(b"save")
}

fn is_cluster(arguments: Arguments<'_>) -> bool {
    let name = arguments.get(0);
    name.len() == 7 && name.eq_ignore_ascii_case(b"cluster")
}

/// The keys of a request.
pub(crate) fn keys_of(request: &OwnedArguments) -> impl Iterator<Item = &[u8]> {
    let arguments = request.borrowed();
    let command = find(arguments.get(0)).and_then(|command| command.with_subcommand(arguments).ok());
    command.into_iter().flat_map(move |command| command.keys_of(arguments))
}

/// A request for each key, with its hash, if a request can be split so.
pub(crate) fn parts(command: &Command, arguments: Arguments<'_>) -> Option<(Gather, Vec<(u64, OwnedArguments)>)> {
    let (gather, name, step): (_, &[u8], _) = match command.name {
        "mget" => (Gather::List, b"get", 1),
        "mset" => (Gather::Ok, b"set", 2),
        "del" | "unlink" | "exists" | "touch" => (Gather::Sum, command.name.as_bytes(), 1),
        _ => return None,
    };
    let part = |first: usize| {
        let of_part = (first..first + step).map(|index| arguments.value(index));
        (c_of(arguments.get(first)), [name.into()].into_iter().chain(of_part).collect())
    };
    // A server refuses one that lacks a value.
    let is_whole = (arguments.len() - 1).is_multiple_of(step);
    is_whole.then(|| (gather, (1..arguments.len()).step_by(step).map(part).collect()))
}

/// Whether a message between servers brings records with large values, or large replies that had such a value.
pub(crate) fn brings_large_values(sequenced: &Sequenced<Bucket>) -> bool {
    let ToServer::Chunk { buckets, applied, .. } = sequenced.message.get() else { return false };
    let is_large = |reply: &Outcome| reply.len() >= LARGE;
    buckets.iter().flatten().any(|record| record.number_of_large().is_some())
        || applied.iter().any(|(_, applied)| applied.outcome.as_ref().is_some_and(is_large))
}
