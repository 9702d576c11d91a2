//! The client of a pool without sockets and clock: which request goes to which member, and which reply is whose.
//!
//! ```text
//!   ask ──> Batch ──> slot ──> Slots: member ──> Link: bytes to be sent ──> unsent
//!                                 ^                │ what is expected, in order
//!   answers <── Batch <───────────┼── reply <──── Link <── received
//!                                 └── MOVED: adjust, and send again
//! ```
//!
//! The time is an argument: since the client began.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use super::request::{Batch, encode};
use super::slots::{MemberNumber, Moved, Slots};
use super::{Counts, Error, Options};
use crate::resp::{Replies, Value};
use crate::slot::SLOT_BITS;

/// As often as a request is sent on by MOVED.
const MOST_REDIRECTIONS: u32 = 16;
/// From then on it waits before it is sent again.
const QUICK_REDIRECTIONS: u32 = 4;
/// As long as a request waits before it is sent again, which doubles each time, and in the end.
const SHORTEST_DELAY: Duration = Duration::from_millis(1);
const LONGEST_DELAY: Duration = Duration::from_millis(250);
/// Who was gone is called again after so long, which doubles each time.
const CALL_AGAIN: Duration = Duration::from_millis(10);
const CALL_AGAIN_AT_LAST: Duration = Duration::from_secs(1);
/// As long as a connection may take to come about.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// All slots are not asked for again before so long.
const MAP_HOLDS: Duration = Duration::from_secs(1);

/// What a reply is to.
#[derive(Debug)]
enum Expected {
    /// The password.
    Password,
    /// What the client understands.
    Capabilities,
    /// The question where all slots are.
    Map,
    /// A request of the batch, which begins after so many bytes of what the member is sent.
    Request(usize, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    /// Until then it has to be open.
    Opening(Duration),
    Open,
}

/// What goes to a member and comes from it.
#[derive(Debug)]
struct Link {
    state: State,
    unsent: Vec<u8>,
    /// Of these, so many were sent.
    sent: usize,
    /// What was sent of this connection, all together. [B]
    sent_before: u64,
    replies: Replies,
    expected: VecDeque<Expected>,
    /// How often in succession it could not be reached.
    failures: u32,
    /// It is not called before.
    not_before: Duration,
}

impl Link {
    fn new() -> Link {
        Link {
            state: State::Closed,
            unsent: Vec::new(),
            sent: 0,
            sent_before: 0,
            replies: Replies::default(),
            expected: VecDeque::new(),
            failures: 0,
            not_before: Duration::ZERO,
        }
    }

    /// Begins anew: what was expected of it.
    fn reset(&mut self) -> (VecDeque<Expected>, u64) {
        let new = Link { failures: self.failures, not_before: self.not_before, ..Link::new() };
        let old = std::mem::replace(self, new);
        (old.expected, old.sent_before)
    }
}

/// The client of a pool: see [`Pool`](super::Pool), which does what this says.
#[derive(Debug)]
pub struct Routes {
    options: Options,
    slots: Slots,
    links: Vec<Link>,
    batch: Batch,
    /// How many requests of each slot are under way.
    under_way: Vec<u32>,
    /// Requests of slots of which others are still under way. They go on together when those are back, and so in the order in which they were asked.
    held: BTreeMap<u16, BTreeSet<usize>>,
    /// Requests that are to be sent again, and when.
    later: BTreeSet<(Duration, usize)>,
    /// When it gives up, unless an answer comes.
    gives_up: Duration,
    /// What went wrong last.
    trouble: String,
    /// Who is asked where all slots are.
    map_of: Option<MemberNumber>,
    /// When that was last asked.
    mapped: Duration,
    /// Why nothing can be asked at all.
    failure: Option<Error>,
    counts: Counts,
}

impl Routes {
    /// A client that knows these members, and asks where slots are. It is ready as soon as [`Routes::is_done`].
    ///
    /// # Errors
    /// [`Error::Empty`] without a member.
    pub fn new(members: Vec<SocketAddr>, options: Options, now: Duration) -> Result<Routes, Error> {
        if members.is_empty() {
            return Err(Error::Empty);
        }
        let mut routes = Routes {
            links: members.iter().map(|_| Link::new()).collect(),
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

    /// What was counted.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Sends requests to whom they are for. Those before are over.
    pub(super) fn begin(&mut self, now: Duration, batch: Batch) {
        self.batch = batch;
        self.gives_up = now.saturating_add(self.options.patience);
        "nothing".clone_into(&mut self.trouble);
        for request in 0..self.batch.len() {
            self.send(request);
        }
    }

    /// Asks for some commands together, each given by its words: what [`Pool`](super::Pool) does for its callers.
    pub fn ask<'a>(&mut self, now: Duration, commands: impl IntoIterator<Item = &'a [&'a [u8]]>) {
        let mut batch = Batch::default();
        commands.into_iter().for_each(|words| batch.ask(words));
        self.begin(now, batch);
    }

    /// Whether all that was asked for has its answer, or none can come.
    pub const fn is_done(&self) -> bool {
        self.failure.is_some() || self.slots.are_known() && self.batch.is_answered()
    }

    /// What came of each command that was asked for.
    ///
    /// # Errors
    /// Why no member could be asked where slots are, or the password was refused.
    pub fn answers(&mut self) -> Result<Vec<Result<Value, Error>>, Error> {
        if let Some(failure) = self.failure.take() {
            self.give_up();
            self.failure = None;
            return Err(failure);
        }
        Ok(std::mem::take(&mut self.batch).answers())
    }

    /// Members to whom a connection is to be opened now.
    pub fn to_open(&mut self, now: Duration) -> Vec<(MemberNumber, SocketAddr)> {
        let mut calls = Vec::new();
        for (number, link) in self.links.iter_mut().enumerate() {
            if link.state == State::Closed && !link.unsent.is_empty() && link.not_before <= now {
                link.state = State::Opening(now.saturating_add(CONNECT_WITHIN));
                self.counts.connections += 1;
                calls.push((MemberNumber(number), self.slots.address(MemberNumber(number))));
            }
        }
        calls
    }

    /// A connection is there.
    pub fn opened(&mut self, member: MemberNumber) {
        self.links[member.0].state = State::Open;
    }

    /// Whether a member has no connection, or is not to have it any longer.
    pub fn is_closed(&self, member: MemberNumber) -> bool {
        self.links[member.0].state == State::Closed
    }

    /// What has still to be sent to a member.
    pub fn unsent(&self, member: MemberNumber) -> &[u8] {
        let link = &self.links[member.0];
        &link.unsent[link.sent..]
    }

    /// So much of it was sent.
    pub fn was_sent(&mut self, member: MemberNumber, bytes: usize) {
        let link = &mut self.links[member.0];
        link.sent += bytes;
        link.sent_before += bytes as u64;
        if link.sent == link.unsent.len() {
            link.unsent.clear();
            link.sent = 0;
        }
    }

    /// A member has replied.
    pub fn received(&mut self, now: Duration, member: MemberNumber, bytes: &[u8]) {
        self.links[member.0].replies.feed(bytes);
        loop {
            let link = &mut self.links[member.0];
            let reply = match link.replies.next_reply() {
                Ok(None) => return,
                Ok(Some(reply)) => Ok(reply),
                Err(error) => Err(error),
            };
            let unasked = || io::Error::new(ErrorKind::InvalidData, "a reply that nobody has asked for");
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

    /// Those that were held while requests of the same slot were under way go on, if none is any more.
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
        if self.slots.learn(member, &reply) {
            self.links.resize_with(self.slots.members(), Link::new);
        } else if !self.slots.are_known() && self.failure.is_none() {
            match reply {
                // Of a store that knows nothing of slots.
                Value::Error(message) if message.starts_with("ERR ") => self.slots.learn_that_there_is_one(member),
                Value::Error(message) => self.failure = Some(Error::Refused { address, message }),
                other => {
                    let cause = io::Error::new(ErrorKind::InvalidData, format!("{other:?} is no map of slots"));
                    self.failure = Some(Error::Broken { address, cause });
                }
            }
        }
    }

    /// A request was not carried out: it goes to another member, or again, or that is its answer.
    fn take_error(&mut self, now: Duration, member: MemberNumber, request: usize, message: String) {
        let address = self.slots.address(member);
        let slot = self.batch.request(request).slot;
        if let (Some(moved), Some(slot)) = (Moved::read(&message, address), slot) {
            self.counts.moved += 1;
            self.counts.adjustments += u64::from(self.slots.adjust(member, moved));
            self.links.resize_with(self.slots.members(), Link::new);
            let asked = self.batch.request(request);
            asked.redirections += 1;
            let times = asked.redirections;
            let is_elsewhere = self.slots.owner(slot) != Some(member);
            match times {
                MOST_REDIRECTIONS.. => self.answer(now, request, Err(Error::SentOn { times, address: moved.to })),
                0..QUICK_REDIRECTIONS if is_elsewhere => self.send_again(request),
                _ => {
                    // Members that have heard too little send it to each other; who is asked for all slots asks all servers.
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

    /// Sends a request again in a while.
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
        self.counts.sent += 1;
    }

    /// The member that could be reached best, rather another one than that.
    fn anyone(&self, other_than: Option<MemberNumber>) -> MemberNumber {
        let rank = |number: &usize| (other_than == Some(MemberNumber(*number)), self.links[*number].failures);
        MemberNumber((0..self.links.len()).min_by_key(rank).unwrap_or(0))
    }

    /// On a new connection, says who the client is and what it understands.
    fn introduce(&mut self, member: MemberNumber) {
        let link = &mut self.links[member.0];
        if link.state != State::Closed || !link.unsent.is_empty() {
            return;
        }
        if let Some(password) = &self.options.password {
            encode([&b"AUTH"[..], password].into_iter(), &mut link.unsent);
            link.expected.push_back(Expected::Password);
        }
        encode([&b"CLIENT"[..], b"CAPA", b"ranges"].into_iter(), &mut link.unsent);
        link.expected.push_back(Expected::Capabilities);
    }

    /// Asks where all slots are, unless that was just done.
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
        let was_open = self.links[member.0].state == State::Open;
        let (expected, sent) = self.links[member.0].reset();
        if expected.is_empty() && was_open {
            // It has closed what nobody used.
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

    /// When it wants to be woken, if nothing comes before.
    pub fn deadline(&self) -> Duration {
        let later = self.later.first().map(|(time, _)| *time);
        let of_links = self.links.iter().filter_map(|link| match link.state {
            State::Opening(until) => Some(until),
            State::Closed if !link.unsent.is_empty() => Some(link.not_before),
            State::Closed | State::Open => None,
        });
        of_links.chain(later).fold(self.gives_up, Duration::min)
    }

    /// Time has passed: sends again what is due, and gives up what has had its time.
    pub fn wake(&mut self, now: Duration) {
        while let Some((_, request)) = self.later.first().copied().filter(|(time, _)| *time <= now) {
            self.later.pop_first();
            self.send_again(request);
        }
        for number in 0..self.links.len() {
            if matches!(self.links[number].state, State::Opening(until) if until <= now) {
                self.gone(now, MemberNumber(number), &ErrorKind::TimedOut.into());
            }
        }
        if now >= self.gives_up && !self.is_done() {
            self.give_up();
        }
    }

    /// Nothing that is under way is waited for any longer. What comes of it all the same would be taken for replies to something else, and so
    /// connections begin anew.
    pub fn give_up(&mut self) {
        for (number, link) in self.links.iter().enumerate() {
            for expected in &link.expected {
                let Expected::Request(request, begins) = *expected else { continue };
                if begins < link.sent_before && !self.batch.request(request).is_read {
                    let address = self.slots.address(MemberNumber(number));
                    let cause = io::Error::new(ErrorKind::TimedOut, "there was no reply in time");
                    self.batch.answer(request, Err(Error::Lost { address, cause }));
                }
            }
        }
        let (patience, last) = (self.options.patience, &self.trouble);
        for request in self.batch.unanswered() {
            let last = format!("the last that was heard is: {last}");
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
