//! The connection of one client: bytes in, bytes out, and the state that the server keeps between requests.

pub(crate) mod under_way;

use std::rc::Rc;

use linear_hash::FETCHED_AT_ONCE;

use crate::bucket::Bucket;
use crate::commands::{Flag, Invocation};
use crate::contents::Watched;
use crate::host::{Call, Host};
use crate::large::Pieces;
use crate::member::{Answer, Ticket};
use crate::node::{Client, Node};
use crate::record::Milliseconds;
use crate::resp::{Arguments, Limits, OwnedArguments, Reply, Requests};
use crate::slot::c_of;
use under_way::UnderWay;

/// A client whose unsent replies take more than this must read some before more of its requests are executed. [B]
pub(crate) const MOST_UNSENT: usize = 1 << 20;
/// After this many requests it is the turn of other clients.
pub(crate) const MOST_IN_TURN: usize = 1_024;

/// The error that a client gets after it has waited for another server for too long.
const NOT_ANSWERED: &str = "CLUSTERDOWN A server that the request needs has not answered in time; \
                            whether the request was carried out is unknown";

/// A transaction whose requests are being queued.
#[derive(Debug, Default)]
pub struct Transaction {
    /// Its requests.
    pub requests: Vec<OwnedArguments>,
    /// The memory that they take. [B]
    pub size: usize,
    /// Whether one of them can't be executed.
    pub is_broken: bool,
}

/// Which replies a client gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replies {
    /// One to each request.
    #[default]
    On,
    /// None.
    Off,
    /// None to this request.
    SkipThis,
    /// None to the next one.
    SkipNext,
}

/// The state that the server keeps of a client between its requests.
#[derive(Debug)]
pub struct Session {
    /// What others may know about it.
    pub client: Rc<Client>,
    /// Whether it has authenticated, or need not.
    pub is_authenticated: bool,
    /// Its transaction, if it is in one.
    pub transaction: Option<Transaction>,
    /// The keys that it watches on a server of this member, with the count of changes seen of each.
    pub watched: Vec<(Box<[u8]>, u64)>,
    /// The watched keys that were another member's when it began to watch them, with their stamps.
    pub stamped: Vec<Watched>,
    /// Which replies it gets.
    pub replies: Replies,
    /// Whether it is to be disconnected after its last reply.
    pub is_leaving: bool,
    /// Whether it follows slots: then it is told which member has a key that is not on this one, instead of getting the
    /// reply of that member.
    pub follows_slots: bool,
    /// Whether it asks one member for the whole table, although it follows slots.
    pub takes_table: bool,
    /// Whether it wants to be told, when a slot has moved, the whole range of slots that is at the same place.
    pub takes_ranges: bool,
}

impl Session {
    /// A new session.
    pub fn new(client: Rc<Client>, node: &Node) -> Session {
        Session {
            client,
            is_authenticated: node.settings.password.is_none(),
            transaction: None,
            watched: Vec::new(),
            stamped: Vec::new(),
            replies: Replies::On,
            is_leaving: false,
            follows_slots: false,
            takes_table: false,
            takes_ranges: false,
        }
    }

    /// Whether it asks each member for the keys of that member alone, as nodes of a cluster are asked.
    pub const fn asks_each_member(&self) -> bool {
        self.follows_slots && !self.takes_table
    }

    /// The reply to a request was written, from `end` on: takes it back if the client wants none.
    #[inline]
    pub fn has_replied(&mut self, reply: &mut Reply, end: usize) {
        match self.replies {
            Replies::On => {}
            Replies::Off => reply.take_back(end),
            Replies::SkipThis => {
                reply.take_back(end);
                self.replies = Replies::On;
            }
            Replies::SkipNext => self.replies = Replies::SkipThis,
        }
    }

    /// Ends its transaction without executing it.
    pub fn leave_transaction(&mut self) -> Option<Transaction> {
        self.client.queued.set(None);
        self.transaction.take()
    }

    /// The hash of the only key of a request, which may be under way along with others of this client; none, if it has
    /// no key or several, or concerns the connection itself.
    fn only_key(&self, invocation: Invocation<'_>) -> Option<u64> {
        if !self.is_authenticated || self.transaction.is_some() || self.replies != Replies::On {
            return None;
        }
        if invocation.admit(self).is_err() || invocation.has(Flag::NotQueued) {
            return None;
        }
        let mut keys = invocation.keys();
        let first = keys.next()?;
        keys.next().is_none().then(|| c_of(first))
    }

    /// Stops watching keys.
    pub fn unwatch(&mut self, bucket: &mut Bucket) {
        self.watched.drain(..).for_each(|(key, _)| bucket.unwatch(&key));
        self.stamped.clear();
        self.count_watches();
    }

    /// Updates the number of watched keys that others see.
    pub fn count_watches(&self) {
        self.client.watches.set(self.watched.len() + self.stamped.len());
    }
}

/// Why no more requests of a client are executed for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It has to send more.
    Receive,
    /// It has to read what it was sent.
    Send,
    /// It is the turn of other clients.
    Turn,
    /// Another server has to answer.
    Answer,
    /// It is disconnected as soon as it has read what it was sent.
    Leave,
    /// It is disconnected at once, since it speaks HTTP.
    Refuse,
}

/// A client's connection.
#[derive(Debug)]
pub struct Connection {
    /// Its requests.
    pub requests: Requests,
    /// The replies to it.
    pub reply: Reply,
    /// Its state between requests.
    pub session: Session,
    /// Its requests that are not answered yet.
    under_way: UnderWay,
    /// Whether it has sent an HTTP request.
    speaks_http: bool,
}

impl Connection {
    /// The connection of this client.
    pub fn new(client: Rc<Client>, node: &Node) -> Connection {
        Connection {
            requests: Requests::default(),
            reply: Reply::default(),
            session: Session::new(client, node),
            under_way: UnderWay::default(),
            speaks_http: false,
        }
    }

    /// Executes requests that were received, up to the limit of one turn.
    pub fn turn(&mut self, host: &mut Host) -> Pause {
        if self.speaks_http {
            return Pause::Refuse;
        }
        let mut limits = self.limits(host);
        for number in 0..MOST_IN_TURN {
            // A client that does not pipeline is not at a second request.
            if number % FETCHED_AT_ONCE == 1 && self.session.is_authenticated {
                host.prefetch(self.requests.upcoming());
            }
            if self.session.client.is_killed.get() || self.session.is_leaving && self.under_way.is_empty() {
                return Pause::Leave;
            }
            if self.session.is_leaving || self.under_way.is_full() {
                return Pause::Answer;
            }
            if self.reply.unsent_size() > MOST_UNSENT {
                return Pause::Send;
            }
            match self.requests.next(limits) {
                Ok(Some(arguments)) if is_of_http(arguments) => {
                    host.node().borrow_mut().counts.http_requests += 1;
                    self.speaks_http = true;
                    return Pause::Refuse;
                }
                Ok(Some(arguments)) => {
                    let invocation = Invocation::of(arguments);
                    let (is_next, was_known) = (self.under_way.is_empty(), self.session.is_authenticated);
                    let is_held_back =
                        !is_next && (host.is_busy() || !self.under_way.admits(self.session.only_key(invocation)));
                    if is_held_back {
                        self.requests.hold_back();
                        return Pause::Answer;
                    }
                    if was_known && host.copies_first(self.session.transaction.as_ref(), invocation) {
                        self.requests.hold_back();
                        return Pause::Turn;
                    }
                    let call = Call { invocation, session: &mut self.session, reply: &mut self.reply };
                    execute(host, &mut self.under_way, call);
                    if was_known != self.session.is_authenticated {
                        limits = self.limits(host);
                    }
                }
                Ok(None) => return Pause::Receive,
                Err(error) => {
                    host.node().borrow_mut().counts.errors += 1;
                    self.session.is_leaving = true;
                    self.under_way.hold(error_reply(&format!("ERR {error}")));
                    self.reply_in_order();
                }
            }
        }
        Pause::Turn
    }

    /// The client is gone. Returns the tickets that it has waited for.
    pub fn end(&mut self, host: &mut Host) -> Vec<Ticket> {
        host.forget(&mut self.session);
        self.give_up(host, Milliseconds::MAX, 0)
    }

    fn limits(&self, host: &Host) -> Limits {
        if self.session.is_authenticated { host.node().borrow().settings.limits } else { Limits::STRANGER }
    }

    /// The tickets of what other servers have to answer, as far as the caller has not taken them yet.
    pub fn take_begun(&mut self) -> Vec<Ticket> {
        self.under_way.take_begun()
    }

    /// Whether it has requests that are not answered yet.
    pub fn waits(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Whether it waits for the answer with this ticket.
    pub fn waits_for(&self, ticket: Ticket) -> bool {
        self.under_way.place_of(ticket).is_some()
    }

    /// Whether it waits for a snapshot.
    pub fn waits_for_snapshot(&self) -> bool {
        self.under_way.waits_for_snapshot()
    }

    /// Replies with an error to requests that have waited for longer than this, and for as long as it takes to pass on
    /// a large one. Returns their tickets.
    pub fn gives_up(&mut self, host: &mut Host, longest: Milliseconds) -> Vec<Ticket> {
        let now = host.node().borrow().now;
        let tickets = self.give_up(host, now, longest);
        self.reply_in_order();
        tickets
    }

    /// Gives up requests that have waited for longer than this. Returns their tickets.
    fn give_up(&mut self, host: &mut Host, now: Milliseconds, longest: Milliseconds) -> Vec<Ticket> {
        let mut tickets = Vec::new();
        for (place, waiting) in self.under_way.waiting_for_long(now, longest) {
            host.give_up(&waiting);
            tickets.extend(waiting.tickets());
            let mut reply = Reply::of(self.reply.version);
            if !host.reply_without(&waiting, &mut self.session, &mut reply) {
                reply.error(NOT_ANSWERED);
            }
            self.under_way.replied(place, reply.into_pieces());
        }
        tickets
    }

    /// Another server has answered.
    pub fn answered(&mut self, host: &mut Host, ticket: Ticket, answer: Answer<Bucket>) {
        let Some(place) = self.under_way.place_of(ticket) else { return };
        let Some(waiting) = self.under_way.take(place) else { return };
        let (end, mut early) = (self.reply.end(), Reply::of(self.reply.version));
        let reply = if place == 0 { &mut self.reply } else { &mut early };
        match host.answered(waiting, ticket, answer, &mut self.session, reply) {
            Some(waiting) => self.under_way.put_back(place, waiting),
            None if place == 0 => {
                self.under_way.first_is_over(self.reply.end() - end);
                self.session.has_replied(&mut self.reply, end);
                self.reply_in_order();
            }
            None => self.under_way.replied(place, early.into_pieces()),
        }
    }

    /// Sends the replies whose turn has come.
    fn reply_in_order(&mut self) {
        while let Some(reply) = self.under_way.next_reply() {
            let end = self.reply.end();
            self.reply.replied(&reply);
            self.session.has_replied(&mut self.reply, end);
        }
    }

    /// The snapshot that it waits for was made, or could not be.
    pub fn was_saved(&mut self, has_failed: bool) {
        if !self.waits_for_snapshot() {
            return;
        }
        let mut reply = Reply::default();
        match has_failed {
            false => reply.ok(),
            true => reply.error("ERR the snapshot could not be made; all data is still in the logs"),
        }
        self.under_way.replied(0, reply.into_pieces());
        self.reply_in_order();
    }

    /// Whether it has taken too long to authenticate, or to send anything.
    pub fn is_overdue(&self, node: &Node, now: Milliseconds) -> bool {
        let client = &self.session.client;
        let is_idle = |most| now.saturating_sub(client.last.get()) > most * 1000;
        let is_stranger =
            !self.session.is_authenticated && now.saturating_sub(client.since) > node.settings.time_to_authenticate;
        is_stranger || node.settings.most_idle.is_some_and(is_idle)
    }
}

/// Whether this is a line of an HTTP request. Any web page can make a browser send one to any port, and its body would
/// be read as further requests: no line after one of these is executed. A browser sends `Host:` before all that the
/// page chooses but the path.
fn is_of_http(arguments: Arguments<'_>) -> bool {
    let name = arguments.get(0);
    name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:")
}

/// Has the host execute a request, which waits if it has to. If requests before it wait, so does its reply.
#[inline]
fn execute(host: &mut Host, under_way: &mut UnderWay, call: Call<'_>) {
    let mut early = (!under_way.is_empty()).then(|| Reply::of(call.reply.version));
    let Call { invocation, session, reply } = call;
    let waiting = host.execute(&mut Call { invocation, session, reply: early.as_mut().unwrap_or(reply) });
    match (waiting, early) {
        (Some(waiting), _) => {
            let (c, now) = (session.only_key(invocation), host.node().borrow().now);
            under_way.begin(c, invocation.arguments.size(), waiting, now);
        }
        (None, Some(early)) => under_way.hold(early.into_pieces()),
        (None, None) => {}
    }
}

fn error_reply(text: &str) -> Pieces {
    let mut reply = Reply::default();
    reply.error(text);
    reply.into_pieces()
}
