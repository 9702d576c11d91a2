//! What a client has asked for and was not told yet, in the order in which it has asked.
//!
//! Requests for different keys are with the servers that have these at the same time. Any other request waits until nothing is under way, and
//! those after it until it is over. So requests for one key are carried out in the order in which they came, wherever the key is by then.

use std::collections::VecDeque;

use crate::host::Waiting;
use crate::member::Ticket;
use crate::record::Milliseconds;

/// As many requests of one client are under way at most.
const MOST: usize = 64;
/// As many to begin with: how large replies are is not known then.
const MOST_AT_FIRST: usize = 16;
/// As much the requests may take that are under way, and as much the replies whose turn it is not yet; a single one may be larger. [B]
const MOST_HELD: usize = 1 << 20;

/// A request.
#[derive(Debug)]
struct Asked {
    /// The hash of its only key; none, if it is to be alone.
    c: Option<u64>,
    /// What it takes. [B]
    size: usize,
    /// Since when it is under way. [ms since 1970]
    since: Milliseconds,
    state: State,
}

#[derive(Debug)]
enum State {
    /// It waits for other servers, or for a snapshot.
    Waits(Waiting),
    /// It has its reply, and one before it has not.
    Replied(Vec<u8>),
}

/// All requests of a client that are under way.
#[derive(Debug)]
pub(super) struct UnderWay {
    asked: VecDeque<Asked>,
    /// As many may be under way: fewer, where replies are large.
    most: usize,
    /// What requests and replies take. [B]
    held: usize,
    /// Tickets that were not told to whoever has the answers.
    begun: Vec<Ticket>,
}

impl Default for UnderWay {
    fn default() -> UnderWay {
        UnderWay { asked: VecDeque::new(), most: MOST_AT_FIRST, held: 0, begun: Vec::new() }
    }
}

impl UnderWay {
    pub(super) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Whether no other request may be begun now, whatever it is.
    pub(super) fn is_full(&self) -> bool {
        let is_alone = self.asked.front().is_some_and(|first| first.c.is_none());
        is_alone || self.asked.len() >= self.most || !self.is_empty() && self.held > MOST_HELD
    }

    /// Whether a request may be begun whose only key has this hash, or which is to be alone.
    pub(super) fn admits(&self, c: Option<u64>) -> bool {
        let has_no_part_in = |asked: &Asked| match asked.state {
            State::Waits(_) => asked.c != c,
            State::Replied(_) => true,
        };
        self.is_empty() || c.is_some() && self.asked.iter().all(has_no_part_in)
    }

    /// A request is begun that waits.
    pub(super) fn begin(&mut self, c: Option<u64>, size: usize, waiting: Waiting, now: Milliseconds) {
        self.begun.extend(waiting.tickets());
        self.held += size;
        self.asked.push_back(Asked { c, size, since: now, state: State::Waits(waiting) });
    }

    /// A request was carried out at once, and those before it were not.
    pub(super) fn hold(&mut self, reply: Vec<u8>) {
        self.held += reply.len();
        self.asked.push_back(Asked { c: None, size: reply.len(), since: 0, state: State::Replied(reply) });
    }

    /// Tickets of what was begun since this was asked last.
    pub(super) fn take_begun(&mut self) -> Vec<Ticket> {
        std::mem::take(&mut self.begun)
    }

    /// Which request waits for what has this ticket.
    pub(super) fn place_of(&self, ticket: Ticket) -> Option<usize> {
        self.asked.iter().position(|asked| asked.waits_for(ticket))
    }

    /// What a request waits for, which the caller has to put back, or to reply.
    pub(super) fn take(&mut self, place: usize) -> Option<Waiting> {
        let asked = self.asked.get_mut(place)?;
        match std::mem::replace(&mut asked.state, State::Replied(Vec::new())) {
            State::Waits(waiting) => Some(waiting),
            replied => {
                asked.state = replied;
                None
            }
        }
    }

    /// It waits for more.
    pub(super) fn put_back(&mut self, place: usize, waiting: Waiting) {
        self.begun.extend(waiting.tickets());
        self.asked[place].state = State::Waits(waiting);
    }

    /// It has its reply.
    pub(super) fn replied(&mut self, place: usize, reply: Vec<u8>) {
        self.has_seen(reply.len());
        let asked = &mut self.asked[place];
        self.held = self.held - asked.size + reply.len();
        asked.size = reply.len();
        asked.state = State::Replied(reply);
    }

    /// So long a reply has come. A client has as many requests under way as may wait for such ones, though it is found out by and by.
    fn has_seen(&mut self, length: usize) {
        self.most = (self.most + 1).min(MOST).min(MOST_HELD / length.max(1)).max(1);
    }

    /// The first request was replied to, by so many bytes.
    pub(super) fn first_is_over(&mut self, length: usize) {
        self.has_seen(length);
        if let Some(first) = self.asked.pop_front() {
            self.held -= first.size;
        }
    }

    /// The next reply, if its turn has come.
    pub(super) fn next_reply(&mut self) -> Option<Vec<u8>> {
        let State::Replied(reply) = &mut self.asked.front_mut()?.state else { return None };
        let reply = std::mem::take(reply);
        self.held -= reply.len();
        self.asked.pop_front();
        Some(reply)
    }

    /// Takes out what waits for other servers, or has done so since before a time: the place of the request, and what it waited for.
    pub(super) fn waiting_since(&mut self, before: Milliseconds) -> Vec<(usize, Waiting)> {
        let is_late = |asked: &Asked| {
            let waits = matches!(&asked.state, State::Waits(waiting) if !matches!(waiting, Waiting::Snapshot));
            waits && asked.since < before
        };
        let late: Vec<usize> = (0..self.asked.len()).filter(|&place| is_late(&self.asked[place])).collect();
        late.into_iter().filter_map(|place| Some((place, self.take(place)?))).collect()
    }

    /// Whether a snapshot is waited for.
    pub(super) fn waits_for_snapshot(&self) -> bool {
        self.asked.front().is_some_and(|first| matches!(first.state, State::Waits(Waiting::Snapshot)))
    }
}

impl Asked {
    fn waits_for(&self, ticket: Ticket) -> bool {
        matches!(&self.state, State::Waits(waiting) if waiting.has(ticket))
    }
}
