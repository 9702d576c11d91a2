//! What one process hosts: a member of the pool with its servers, and the state that its clients share. It routes
//! requests to servers.
//!
//! By what route a request is executed is said in its command's row of the table ([`Route`]):
//!
//! - on keys of a server of this member, by that server, at once;
//! - on keys of one other server, by that server, as this member's request; a client that follows slots is told MOVED
//!   instead, unless the slots are moving;
//! - on keys of several servers, if it can be split, by each key's server; the replies are combined;
//! - on the whole table, by all servers, or by those of this member for a client that follows slots; a SCAN by the one
//!   at its cursor;
//! - without keys, by any bucket.

mod copying;
mod draining;
mod pool;
mod resizing;
mod table;
mod waiting;
pub(crate) mod watching;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;

use linear_hash::{Contents, FETCHED_AT_ONCE, Growth, Server, ToServer};
use quantities::{Duration, Time};

use crate::bucket::Bucket;
use crate::cluster::slots_of;
use crate::commands::{self, Command, Context, Flag, Gather, Invocation, Keys, Route};
use crate::connection::Session;
use crate::contents::{CROSS_SLOT, EncodedReply, Operation, RemoteSession};
use crate::journal::{Journal, JournalWriter};
use crate::large::LARGE;
use crate::member::{Durability, Identity, Member, Message, Output, Peer, Policy, Role, Sequenced, Ticket};
use crate::node::Node;
use crate::record::Milliseconds;
use crate::resp::{OwnedArguments, Reply, Requests, Upcoming};
use crate::slot::{c_of, slot_of};
use copying::Copying;
pub use table::{Matching, Scanned};
pub use waiting::Waiting;

/// What a member hosts.
#[derive(Debug)]
pub struct Host {
    node: Rc<RefCell<Node>>,
    member: Member<Bucket>,
    /// Executes requests without keys, on a member without a server.
    spare: Bucket,
    /// The journal, if there is one.
    journal: Option<Journal>,
    outputs: Vec<Output<Bucket>>,
    /// When all servers were last asked for their levels. [ms since 1970]
    mapped: Milliseconds,
    /// Large values that are being copied.
    copying: Vec<Copying>,
    /// How many requests were executed by the server that has all keys and are not counted there yet.
    uncounted: u64,
}

/// The most requests under way for which a client may have several at once; beyond that each client has one.
pub(crate) const MOST_UNDER_WAY: usize = 4_096;
/// At least so much of a value that is arriving is written to the journal at once, except at its end. [B]
const LEAST_OF_PART: usize = 64 << 10;
/// Assumed: so much of a request reaches another member, and its disk, in a millisecond, even if both are busy. [B]
pub(crate) const LEAST_PACE: usize = 32 << 10;
/// The member's time, in which a millisecond counts as a microsecond: its clock has 2^63 ps, and would end after 106
/// days otherwise.
fn time(node: &Node) -> Time {
    Time::ZERO + Duration::from_microseconds(node.now.saturating_sub(node.since))
}

/// A client's request, with the client's state and the reply to be written.
#[derive(Debug)]
pub struct Call<'a> {
    /// The request.
    pub invocation: Invocation<'a>,
    /// The client's state.
    pub session: &'a mut Session,
    /// The reply to the client.
    pub reply: &'a mut Reply,
}

/// Executes a client's request on a bucket. Returns the member's time. The borrow of the node ends before the member is
/// told of the request: a server that this opens borrows the node, too.
#[inline]
fn execute_on(bucket: &mut Bucket, node: &RefCell<Node>, call: &mut Call<'_>) -> Time {
    let node = &mut *node.borrow_mut();
    let now = node.now;
    let context = &mut Context { bucket, node, session: call.session, reply: call.reply, now };
    commands::execute(context, call.invocation);
    time(node)
}

impl Host {
    /// A host whose member founds a pool, or has yet to join one. Times of the policy are in those of the member's
    /// clock: a microsecond for a millisecond.
    pub fn new(node: Node, own: Peer, policy: Policy, founds: bool) -> Host {
        let mut host = Host::with_journal(node, own, policy, None);
        if founds {
            host.member.found();
        }
        host
    }

    /// A host whose member has no server yet, and whose servers write changes of their records to this journal.
    pub fn with_journal(node: Node, own: Peer, policy: Policy, journal: Option<Journal>) -> Host {
        let node = Rc::new(RefCell::new(node));
        let of_server = {
            let (node, journal) = (Rc::clone(&node), journal.clone());
            move |server| {
                let journal = journal.as_ref().map(|journal| JournalWriter::new(Rc::clone(journal), server));
                Bucket::of_server(RemoteSession::of(&node)).with_journal(journal)
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
            uncounted: 0,
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
        if self.uncounted > 0 {
            let requests = std::mem::take(&mut self.uncounted);
            self.with_member(|member, now, outputs| member.has_answered(now, 0, requests, true, outputs));
        }
        std::mem::take(&mut self.outputs)
    }

    /// Writes the next part of an arriving large value to the journal, if it will be stored on this member. Writing it
    /// all at once would take long. Returns false if the value has arrived, but more of it has to be written before its
    /// request is executed.
    pub fn journal_arriving(&mut self, requests: &mut Requests) -> bool {
        let Some(journal) = &self.journal else { return true };
        let Some((arguments, arriving)) = requests.arriving() else { return true };
        let stores = Invocation::of(arguments).has(Flag::NeedsRoom);
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

    /// Whether a message of another member would take long to take at once: it has large values that will be stored on
    /// this one and are written to the journal in parts before, or changes some that others share and that are copied
    /// in parts before.
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

    /// Executes a client's request, where its row of the table says, and replies; or returns what the reply waits for.
    #[inline]
    pub fn execute(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let Ok(command) = call.invocation.admit(call.session) else {
            // The reply says why.
            self.execute_on_any(call);
            return None;
        };
        if let Route::Host(handle) = command.route {
            return handle(self, call);
        }
        if self.execute_on_holder_of_all(call) {
            return None;
        }
        if call.session.transaction.is_some() && !command.has(Flag::NotQueued) {
            self.execute_on_any(call);
            return None;
        }
        match command.route {
            Route::Server | Route::Split(..) => self.execute_on_keys(call),
            Route::Pool(handle) | Route::Host(handle) => handle(self, call),
        }
    }

    /// Executes a request on the server that has all keys, if there is one.
    #[inline]
    fn execute_on_holder_of_all(&mut self, call: &mut Call<'_>) -> bool {
        let Some(bucket) = self.member.holder_of_all() else { return false };
        self.uncounted += 1;
        execute_on(bucket, &self.node, call);
        true
    }

    /// Executes a request without keys, or one that is refused or queued: any bucket will do, unless the client watches
    /// keys.
    fn execute_on_any(&mut self, call: &mut Call<'_>) {
        if self.execute_on_holder_of_all(call) {
            return;
        }
        let c = call.session.watched.first().map(|(key, _)| c_of(key));
        let bucket = match c.and_then(|c| self.member.holder(c)) {
            Some((_, bucket)) => bucket,
            None => self.member.contents_mut().next().unwrap_or(&mut self.spare),
        };
        execute_on(bucket, &self.node, call);
    }

    /// Executes a request on the server that has its keys, or on several.
    fn execute_on_keys(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let Some(first) = call.invocation.keys().next() else {
            self.execute_on_any(call);
            return None;
        };
        let c = c_of(first);
        if self.execute_locally(c, call) || self.redirects(c, call) {
            return None;
        }
        match parts(call.invocation) {
            Some((gather, parts)) if parts.len() > 1 => Some(self.ask_parts(gather, parts, call.reply)),
            _ => {
                let request = Operation::Request(call.reply.version, call.invocation.arguments.into());
                Some(Waiting::Reply(self.ask(c, request)))
            }
        }
    }

    /// Executes a request on the server of this member that has the key of hash C, if there is one and it has all other
    /// keys, too.
    fn execute_locally(&mut self, c: u64, call: &mut Call<'_>) -> bool {
        let Some((server, bucket)) = self.member.holder(c) else { return false };
        if bucket.refuses(c, call.invocation.keys().skip(1)).is_some() {
            return false;
        }
        let now = execute_on(bucket, &self.node, call);
        let stores = call.invocation.has(Flag::NeedsRoom);
        self.member.has_answered(now, server, 1, stores, &mut self.outputs);
        true
    }

    /// Has the records of a client's next requests fetched from memory: all at the same time, rather than one after
    /// another as they are executed.
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

    /// A client has gone: it is disconnected from the node, and watches nothing any more.
    pub fn forget(&mut self, session: &mut Session) {
        self.unwatch(session);
        self.node.borrow_mut().disconnect(&session.client);
    }

    fn ask(&mut self, c: u64, operation: Operation) -> Ticket {
        let now = time(&self.node.borrow());
        let extra = Duration::from_microseconds((operation.size() / LEAST_PACE) as u64);
        self.member.ask_patiently(now, c, operation, extra, &mut self.outputs)
    }

    fn ask_parts(&mut self, gather: Gather, parts: Vec<(u64, OwnedArguments)>, reply: &Reply) -> Waiting {
        let replies = vec![EncodedReply::default(); parts.len()];
        let mut tickets = BTreeMap::new();
        for (part, (c, request)) in parts.into_iter().enumerate() {
            tickets.insert(self.ask(c, Operation::Request(reply.version, request)), part);
        }
        Waiting::Parts { gather, tickets, replies }
    }

    /// Redirects a client, if it follows slots, except while the slots move to this member, or from it to one that has
    /// not spoken as their host yet: then the member sends the request itself, as for any other client, and the client
    /// does not have to retry.
    fn redirects(&self, c: u64, call: &mut Call<'_>) -> bool {
        if !call.session.follows_slots {
            return false;
        }
        let mut slots = call.invocation.keys().map(slot_of);
        let slot = slots.next().unwrap_or_default();
        if slots.any(|other| other != slot) {
            call.reply.error(CROSS_SLOT);
            return true;
        }
        let Some((host, keys)) = self.member.sends_to(c) else { return false };
        let Some(peer) = self.member.membership().peer(host) else { return false };
        let moved = format!("MOVED {slot} {}", peer.clients);
        if call.session.takes_ranges {
            let (first, last) = slots_of(keys);
            call.reply.error(&format!("{moved} {first} {last}"));
        } else {
            call.reply.error(&moved);
        }
        true
    }
}

/// The keys of a stored request.
pub(crate) fn keys_of(request: &OwnedArguments) -> impl Iterator<Item = &[u8]> {
    Invocation::of(request.borrowed()).keys()
}

/// A request for each key, with its hash, if a request can be split so.
pub(crate) fn parts(invocation: Invocation<'_>) -> Option<(Gather, Vec<(u64, OwnedArguments)>)> {
    let Invocation { command, arguments } = invocation;
    let Command { route: Route::Split(name, gather), keys: Keys { step, .. }, .. } = *command? else { return None };
    let part = |first: usize| {
        let of_part = (first..first + step).map(|index| arguments.value(index));
        (c_of(arguments.get(first)), [name.as_bytes().into()].into_iter().chain(of_part).collect())
    };
    // A server refuses one that lacks a value.
    let is_whole = (arguments.len() - 1).is_multiple_of(step);
    is_whole.then(|| (gather, (1..arguments.len()).step_by(step).map(part).collect()))
}

/// Whether a message between servers brings records with large values, or large replies that had such a value.
pub(crate) fn brings_large_values(sequenced: &Sequenced<Bucket>) -> bool {
    let ToServer::Chunk { buckets, applied, .. } = sequenced.message.get() else { return false };
    let is_large = |reply: &EncodedReply| reply.len() >= LARGE;
    buckets.iter().flatten().any(|record| record.number_of_large().is_some())
        || applied.iter().any(|(_, applied)| applied.outcome.as_ref().is_some_and(is_large))
}
