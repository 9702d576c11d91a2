//! The client of a pool without sockets and clock: which request goes to which member, and which reply belongs to which
//! request.
//!
//! ```text
//!   ask ──> Batch ──> slot ──> Slots: member ──> Link: bytes to be sent ──> unsent
//!                                 ^                │ what is expected, in order
//!   answers <── Batch <───────────┼── reply <──── Link <── received
//!                                 └── MOVED: adjust, and send again
//! ```
//!
//! The time since the client began is an argument.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use super::request::{Batch, encode};
use super::slots::{MemberNumber, Moved, Slots};
use super::{Counts, Error, Options};
use crate::resp::{Replies, Value};
use crate::slot::SLOT_BITS;

/// How often a request is redirected by MOVED before it fails.
const MOST_REDIRECTIONS: u32 = 16;
/// From this redirection on, a request waits before it is sent again.
const QUICK_REDIRECTIONS: u32 = 4;
/// How long a request waits before it is sent again: at first, then twice as long each time, and at most.
const SHORTEST_DELAY: Duration = Duration::from_millis(1);
const LONGEST_DELAY: Duration = Duration::from_millis(250);
/// How long until a member that was gone is called again: at first, then twice as long each time, and at most.
const CALL_AGAIN: Duration = Duration::from_millis(10);
const CALL_AGAIN_AT_LAST: Duration = Duration::from_secs(1);
/// How long it may take to open a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// How long the map of slots holds before it may be asked for again.
const MAP_HOLDS: Duration = Duration::from_secs(1);

/// The request that a reply answers.
#[derive(Debug)]
enum Expected {
    /// The password.
    Password,
    /// What the client says it understands.
    Capabilities,
    /// The request for the map of slots.
    Map,
    /// A request of the batch, and how many bytes are sent to the member before it.
    Request(usize, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    Closed,
    /// It has to be open by then.
    Opening(Duration),
    Open,
}

/// The connection to a member.
#[derive(Debug)]
struct MemberConnection {
    state: ConnectionState,
    unsent: Vec<u8>,
    /// How many of these were sent.
    sent: usize,
    /// How much was sent on this connection in all. [B]
    sent_before: u64,
    replies: Replies,
    expected: VecDeque<Expected>,
    /// How many times in a row it could not be reached.
    failures: u32,
    /// It is not called before this time.
    not_before: Duration,
}

impl MemberConnection {
    fn new() -> MemberConnection {
        MemberConnection {
            state: ConnectionState::Closed,
            unsent: Vec::new(),
            sent: 0,
            sent_before: 0,
            replies: Replies::default(),
            expected: VecDeque::new(),
            failures: 0,
            not_before: Duration::ZERO,
        }
    }

    /// Begins anew. Returns which replies were expected, and how much was sent. [B]
    fn reset(&mut self) -> (VecDeque<Expected>, u64) {
        let new = MemberConnection { failures: self.failures, not_before: self.not_before, ..MemberConnection::new() };
        let old = std::mem::replace(self, new);
        (old.expected, old.sent_before)
    }
}

/// The client of a pool: see [`Pool`](super::Pool), which does the input and output for it.
#[derive(Debug)]
pub struct Routes {
    options: Options,
    slots: Slots,
    links: Vec<MemberConnection>,
    batch: Batch,
    /// How many requests of each slot are under way.
    under_way: Vec<u32>,
    /// Requests to be sent again while others of the same slot are under way. They are sent together when those are
    /// back, which keeps their order.
    held: BTreeMap<u16, BTreeSet<usize>>,
    /// Requests that are to be sent again, and when.
    later: BTreeSet<(Duration, usize)>,
    /// When it gives up, unless an answer arrives.
    gives_up: Duration,
    /// What went wrong last.
    trouble: String,
    /// The member that was asked for the map of slots.
    map_of: Option<MemberNumber>,
    /// When the map was last asked for.
    mapped: Duration,
    /// Why nothing can be asked at all.
    failure: Option<Error>,
    counts: Counts,
}

impl Routes {
    /// A client that knows these members and asks for the map of slots. It is ready as soon as [`Routes::is_done`].
    ///
    /// # Errors
    /// [`Error::Empty`] without a member.
    pub fn new(members: Vec<SocketAddr>, options: Options, now: Duration) -> Result<Routes, Error> {
        if members.is_empty() {
            return Err(Error::Empty);
        }
        let mut routes = Routes {
            links: members.iter().map(|_| MemberConnection::new()).collect(),
            slots: Slots::new(members),
            batch: Batch::default(),
            under_way: vec![0; 1 << SLOT_BITS],
            held: BTreeMap::new(),
            later: BTreeSet::new(),
            gives_up: now.saturating_add(options.patience),
            options,
            trouble: "nothing".to_owned(),
            map_of: None,
            mapped: now,
            failure: None,
            counts: Counts::default(),
        };
        routes.ask_for_map(now, None);
        Ok(routes)
    }

    /// Its counters.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Sends the requests of a batch to their members. The previous batch must be over.
    pub(super) fn begin(&mut self, now: Duration, batch: Batch) {
        self.batch = batch;
        self.gives_up = now.saturating_add(self.options.patience);
        "nothing".clone_into(&mut self.trouble);
        for request in 0..self.batch.len() {
            self.send(request);
        }
    }

    /// Sends some commands together, each given by its name and its arguments: what [`Pool`](super::Pool) does for its
    /// callers.
    pub fn ask<'a>(&mut self, now: Duration, commands: impl IntoIterator<Item = &'a [&'a [u8]]>) {
        let mut batch = Batch::default();
        commands.into_iter().for_each(|arguments| batch.ask(arguments));
        self.begin(now, batch);
    }

    /// Whether all commands have their answers, or none can come.
    pub const fn is_done(&self) -> bool {
        self.failure.is_some() || self.slots.are_known() && self.batch.is_answered()
    }

    /// The answer to each command.
    ///
    /// # Errors
    /// Why no member could be asked for the map of slots, or that the password was refused.
    pub fn answers(&mut self) -> Result<Vec<Result<Value, Error>>, Error> {
        if let Some(failure) = self.failure.take() {
            self.give_up();
            self.failure = None;
            return Err(failure);
        }
        Ok(std::mem::take(&mut self.batch).answers())
    }

    /// The members to which a connection is to be opened now.
    pub fn to_open(&mut self, now: Duration) -> Vec<(MemberNumber, SocketAddr)> {
        let mut calls = Vec::new();
        for (number, link) in self.links.iter_mut().enumerate() {
            if link.state == ConnectionState::Closed && !link.unsent.is_empty() && link.not_before <= now {
                link.state = ConnectionState::Opening(now.saturating_add(CONNECT_WITHIN));
                self.counts.connections += 1;
                calls.push((MemberNumber(number), self.slots.address(MemberNumber(number))));
            }
        }
        calls
    }

    /// The connection to a member is open.
    pub fn opened(&mut self, member: MemberNumber) {
        self.links[member.0].state = ConnectionState::Open;
    }

    /// Whether there is no connection to a member, or it is to be dropped.
    pub fn is_closed(&self, member: MemberNumber) -> bool {
        self.links[member.0].state == ConnectionState::Closed
    }

    /// What is still to be sent to a member.
    pub fn unsent(&self, member: MemberNumber) -> &[u8] {
        let link = &self.links[member.0];
        &link.unsent[link.sent..]
    }

    /// The first `bytes` bytes of it were sent.
    pub fn was_sent(&mut self, member: MemberNumber, bytes: usize) {
        let link = &mut self.links[member.0];
        link.sent += bytes;
        link.sent_before += bytes as u64;
        if link.sent == link.unsent.len() {
            link.unsent.clear();
            link.sent = 0;
        }
    }

    /// Bytes have arrived from a member.
    pub fn received(&mut self, now: Duration, member: MemberNumber, bytes: &[u8]) {
        self.links[member.0].replies.feed(bytes);
        loop {
            let link = &mut self.links[member.0];
            let reply = match link.replies.next_reply() {
                Ok(None) => return,
                Ok(Some(reply)) => Ok(reply),
                Err(error) => Err(error),
            };
            let unasked = || io::Error::new(ErrorKind::InvalidData, "a reply without a request");
            let taken = reply.and_then(|reply| Ok((link.expected.pop_front().ok_or_else(unasked)?, reply)));
            match taken {
                Ok((expected, reply)) => self.take(now, member, expected, reply),
                Err(error) => return self.gone(now, member, &error),
            }
        }
    }

    fn take(&mut self, now: Duration, member: MemberNumber, expected: Expected, reply: Value) {
        self.links[member.0].failures = 0;
        match (expected, reply) {
            (Expected::Password, Value::Error(message)) => {
                self.failure = Some(Error::Refused { address: self.slots.address(member), message });
            }
            (Expected::Password | Expected::Capabilities, _) => {}
            (Expected::Map, reply) => self.take_map(member, reply),
            (Expected::Request(request, _), reply) => {
                self.is_back(request);
                match reply {
                    Value::Error(message) => self.take_error(now, member, request, message),
                    reply => self.answer(now, request, Ok(reply)),
                }
                self.release(request);
            }
        }
    }

    /// A request is not under way any more.
    fn is_back(&mut self, request: usize) {
        if let Some(slot) = self.batch.request(request).slot {
            self.under_way[usize::from(slot)] -= 1;
        }
    }

    /// Sends the requests that were held while others of the same slot were under way, if none is any more.
    fn release(&mut self, request: usize) {
        let slot = if self.held.is_empty() { None } else { self.batch.request(request).slot };
        let Some(slot) = slot.filter(|slot| self.under_way[usize::from(*slot)] == 0) else { return };
        self.held.remove(&slot).into_iter().flatten().for_each(|request| self.send(request));
    }

    /// Sends a request again as soon as no other of its slot is under way.
    fn send_again(&mut self, request: usize) {
        match self.batch.request(request).slot {
            Some(slot) => {
                self.held.entry(slot).or_default().insert(request);
                self.release(request);
            }
            None => self.send(request),
        }
    }

    fn take_map(&mut self, member: MemberNumber, reply: Value) {
        self.map_of = None;
        let address = self.slots.address(member);
        if self.slots.learn(member, &reply, self.counts.sent) {
            self.links.resize_with(self.slots.members(), MemberConnection::new);
        } else if !self.slots.are_known() && self.failure.is_none() {
            match reply {
                // The reply of a store that knows nothing of slots.
                Value::Error(message) if message.starts_with("ERR ") => self.slots.learn_that_there_is_one(member),
                Value::Error(message) => self.failure = Some(Error::Refused { address, message }),
                other => {
                    let cause = io::Error::new(ErrorKind::InvalidData, format!("{other:?} is not a map of slots"));
                    self.failure = Some(Error::Broken { address, cause });
                }
            }
        }
    }

    /// A request was not executed: it is sent to another member, or sent again, or the error is its answer.
    fn take_error(&mut self, now: Duration, member: MemberNumber, request: usize, message: String) {
        let address = self.slots.address(member);
        let slot = self.batch.request(request).slot;
        if let (Some(moved), Some(slot)) = (Moved::read(&message, address), slot) {
            self.counts.moved += 1;
            let asked = self.batch.request(request);
            asked.redirections += 1;
            let (times, at) = (asked.redirections, asked.sent_after);
            self.counts.adjustments += u64::from(self.slots.adjust(member, moved, at, self.counts.sent));
            self.links.resize_with(self.slots.members(), MemberConnection::new);
            let is_elsewhere = self.slots.owner(slot) != Some(member) || !self.slots.was_known(slot, at);
            match times {
                MOST_REDIRECTIONS.. => self.answer(now, request, Err(Error::SentOn { times, address: moved.to })),
                0..QUICK_REDIRECTIONS if is_elsewhere => self.send_again(request),
                _ => {
                    // Members that have heard too little send it to each other; a member that is asked for the map asks
                    // all servers.
                    self.ask_for_map(now, None);
                    self.delay(now, request);
                }
            }
        } else if message.starts_with("TRYAGAIN ") || message.starts_with("LOADING ") {
            self.trouble = format!("{address} says {message}");
            self.delay(now, request);
        } else {
            self.answer(now, request, Err(Error::Refused { address, message }));
        }
    }

    fn answer(&mut self, now: Duration, request: usize, answer: Result<Value, Error>) {
        self.batch.answer(request, answer);
        self.gives_up = now.saturating_add(self.options.patience);
    }

    /// Sends a request again after a delay.
    fn delay(&mut self, now: Duration, request: usize) {
        let delays = &mut self.batch.request(request).delays;
        let delay = LONGEST_DELAY.min(SHORTEST_DELAY * (1 << (*delays).min(10)));
        *delays += 1;
        self.counts.delays += 1;
        self.later.insert((now.saturating_add(delay), request));
    }

    fn send(&mut self, request: usize) {
        let slot = self.batch.request(request).slot;
        let owner = slot.and_then(|slot| self.slots.owner(slot));
        let member = owner.unwrap_or_else(|| self.anyone(None));
        if let Some(slot) = slot {
            self.under_way[usize::from(slot)] += 1;
        }
        self.introduce(member);
        let link = &mut self.links[member.0];
        let begins = link.sent_before + (link.unsent.len() - link.sent) as u64;
        link.expected.push_back(Expected::Request(request, begins));
        link.unsent.extend_from_slice(self.batch.bytes(request));
        self.batch.request(request).sent_after = self.counts.sent;
        self.counts.sent += 1;
    }

    /// The member that could be reached best, if possible another one than `other_than`.
    fn anyone(&self, other_than: Option<MemberNumber>) -> MemberNumber {
        let rank = |number: &usize| (other_than == Some(MemberNumber(*number)), self.links[*number].failures);
        MemberNumber((0..self.links.len()).min_by_key(rank).unwrap_or(0))
    }

    /// On a new connection, authenticates and says what the client understands.
    fn introduce(&mut self, member: MemberNumber) {
        let link = &mut self.links[member.0];
        if link.state != ConnectionState::Closed || !link.unsent.is_empty() {
            return;
        }
        if let Some(password) = &self.options.password {
            encode([&b"AUTH"[..], password].into_iter(), &mut link.unsent);
            link.expected.push_back(Expected::Password);
        }
        encode([&b"CLIENT"[..], b"CAPA", b"ranges", b"table"].into_iter(), &mut link.unsent);
        link.expected.push_back(Expected::Capabilities);
    }

    /// Asks for the map of slots, unless that was just done.
    fn ask_for_map(&mut self, now: Duration, other_than: Option<MemberNumber>) {
        let holds = self.counts.maps > 0 && now < self.mapped.saturating_add(MAP_HOLDS);
        if self.map_of.is_some() || self.slots.are_known() && holds {
            return;
        }
        let member = self.anyone(other_than);
        self.introduce(member);
        let link = &mut self.links[member.0];
        encode([&b"CLUSTER"[..], b"SLOTS"].into_iter(), &mut link.unsent);
        link.expected.push_back(Expected::Map);
        (self.map_of, self.mapped) = (Some(member), now);
        self.counts.maps += 1;
    }

    /// A member can't be reached, or the connection to it broke.
    pub fn gone(&mut self, now: Duration, member: MemberNumber, cause: &io::Error) {
        let address = self.slots.address(member);
        let was_open = self.links[member.0].state == ConnectionState::Open;
        let (expected, sent) = self.links[member.0].reset();
        if expected.is_empty() && was_open {
            // It has closed a connection that nobody used.
            return;
        }
        let link = &mut self.links[member.0];
        let wait = CALL_AGAIN_AT_LAST.min(CALL_AGAIN * (1 << link.failures.min(10)));
        link.not_before = now.saturating_add(wait);
        link.failures += 1;
        let is_clear = self.links.iter().any(|link| link.failures == 0);
        self.trouble = Error::Unreachable { address, cause: copy(cause) }.to_string();
        if self.map_of == Some(member) {
            self.map_of = None;
        }
        if !self.slots.are_known() && !is_clear {
            self.failure = Some(match was_open {
                true => Error::Broken { address, cause: copy(cause) },
                false => Error::Unreachable { address, cause: copy(cause) },
            });
            return;
        }
        for (request, begins) in expected.into_iter().filter_map(|expected| match expected {
            Expected::Request(request, begins) => Some((request, begins)),
            Expected::Password | Expected::Capabilities | Expected::Map => None,
        }) {
            self.is_back(request);
            if begins >= sent || self.batch.request(request).is_read {
                self.delay(now, request);
            } else {
                self.answer(now, request, Err(Error::Lost { address, cause: copy(cause) }));
            }
            self.release(request);
        }
        self.ask_for_map(now, Some(member));
    }

    /// When [`Routes::wake`] is to be called, if nothing arrives before.
    pub fn deadline(&self) -> Duration {
        let later = self.later.first().map(|(time, _)| *time);
        let of_links = self.links.iter().filter_map(|link| match link.state {
            ConnectionState::Opening(until) => Some(until),
            ConnectionState::Closed if !link.unsent.is_empty() => Some(link.not_before),
            ConnectionState::Closed | ConnectionState::Open => None,
        });
        of_links.chain(later).fold(self.gives_up, Duration::min)
    }

    /// Time has passed: sends again what is due, and gives up what has waited too long.
    pub fn wake(&mut self, now: Duration) {
        while let Some((_, request)) = self.later.first().copied().filter(|(time, _)| *time <= now) {
            self.later.pop_first();
            self.send_again(request);
        }
        for number in 0..self.links.len() {
            if matches!(self.links[number].state, ConnectionState::Opening(until) if until <= now) {
                self.gone(now, MemberNumber(number), &ErrorKind::TimedOut.into());
            }
        }
        if now >= self.gives_up && !self.is_done() {
            self.give_up();
        }
    }

    /// Stops waiting for anything that is under way. Late replies would be taken for replies to other requests, so
    /// connections begin anew.
    pub fn give_up(&mut self) {
        for (number, link) in self.links.iter().enumerate() {
            for expected in &link.expected {
                let Expected::Request(request, begins) = *expected else { continue };
                if begins < link.sent_before && !self.batch.request(request).is_read {
                    let address = self.slots.address(MemberNumber(number));
                    let cause = io::Error::new(ErrorKind::TimedOut, "the reply did not arrive in time");
                    self.batch.answer(request, Err(Error::Lost { address, cause }));
                }
            }
        }
        let (patience, last) = (self.options.patience, &self.trouble);
        for request in self.batch.unanswered() {
            let last = format!("the last problem was: {last}");
            self.batch.answer(request, Err(Error::Late { patience, last }));
        }
        if !self.slots.are_known() {
            self.failure = Some(Error::Late { patience, last: last.clone() });
        }
        self.later.clear();
        self.held.clear();
        self.under_way.fill(0);
        self.map_of = None;
        for link in self.links.iter_mut().filter(|link| !link.expected.is_empty()) {
            link.reset();
        }
    }
}

fn copy(cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), cause.to_string())
}
