//! The requests of a client that are not answered yet, in the order in which they came.
//!
//! Requests for different keys are under way to their servers at the same time. Any other request waits until nothing
//! is under way, and those after it wait until it is done. So requests for one key are executed in the order in
//! which they came, wherever the key has moved by then.

use std::collections::VecDeque;

use crate::host::Waiting;
use crate::large::Pieces;
use crate::member::Ticket;
use crate::record::Milliseconds;

/// The most requests of one client that are under way at once.
pub(crate) const MOST: usize = 64;
/// The most at first, when the size of the replies is not known yet.
const MOST_AT_FIRST: usize = 16;
/// The most memory of requests that are under way and of replies that wait for their turn; a single one may be larger.
/// [B]
pub(crate) const MOST_HELD: usize = 1 << 20;

/// An INFO waits no longer for the number of keys: operators ask for it to see which members are gone. [ms]
const LONGEST_FOR_KEYSPACE: Milliseconds = 1_000;

/// A request is given up only after it could have reached another server so slowly. It is sent again after the time
/// that it takes at the pace that is assumed: eight times that is enough for it to be lost several times. [B/ms]
const LEAST_PACE: usize = crate::host::LEAST_PACE / 8;

/// A request.
#[derive(Debug)]
struct QueuedRequest {
    /// The hash of its only key; none, if no other request may be under way with it.
    c: Option<u64>,
    /// The memory that it takes. [B]
    size: usize,
    /// When it was begun. [ms since 1970]
    since: Milliseconds,
    state: RequestState,
}

#[derive(Debug)]
enum RequestState {
    /// It waits for other servers, or for a snapshot.
    Waits(Waiting),
    /// It has its reply, but a request before it has not.
    Replied(Pieces),
}

/// All requests of a client that are under way.
#[derive(Debug)]
pub(super) struct UnderWay {
    asked: VecDeque<QueuedRequest>,
    /// The most that may be under way: fewer if replies are large.
    most: usize,
    /// The memory of requests and replies. [B]
    held: usize,
    /// Tickets that the caller has not taken yet.
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

    /// Whether a request may be begun; `c` is the hash of its only key, or none if no other request may be under way
    /// with it.
    pub(super) fn admits(&self, c: Option<u64>) -> bool {
        let does_not_conflict = |asked: &QueuedRequest| match asked.state {
            RequestState::Waits(_) => asked.c != c,
            RequestState::Replied(_) => true,
        };
        self.is_empty() || c.is_some() && self.asked.iter().all(does_not_conflict)
    }

    /// Begins a request that waits.
    pub(super) fn begin(&mut self, c: Option<u64>, size: usize, waiting: Waiting, now: Milliseconds) {
        self.begun.extend(waiting.tickets());
        self.held += size;
        self.asked.push_back(QueuedRequest { c, size, since: now, state: RequestState::Waits(waiting) });
    }

    /// Holds the reply of a request that was executed at once, while those before it wait.
    pub(super) fn hold(&mut self, reply: Pieces) {
        let size = reply.len();
        self.held += size;
        self.asked.push_back(QueuedRequest { c: None, size, since: 0, state: RequestState::Replied(reply) });
    }

    /// The tickets of what was begun since the last call.
    pub(super) fn take_begun(&mut self) -> Vec<Ticket> {
        std::mem::take(&mut self.begun)
    }

    /// The place of the request that waits for the answer with this ticket.
    pub(super) fn place_of(&self, ticket: Ticket) -> Option<usize> {
        self.asked.iter().position(|asked| asked.waits_for(ticket))
    }

    /// Takes out what a request waits for; the caller has to put it back or reply.
    pub(super) fn take(&mut self, place: usize) -> Option<Waiting> {
        let asked = self.asked.get_mut(place)?;
        match std::mem::replace(&mut asked.state, RequestState::Replied(Pieces::default())) {
            RequestState::Waits(waiting) => Some(waiting),
            replied => {
                asked.state = replied;
                None
            }
        }
    }

    /// The request waits for more.
    pub(super) fn put_back(&mut self, place: usize, waiting: Waiting) {
        // All parts of a request were begun together, and there may be many.
        if !matches!(waiting, Waiting::Parts { .. }) {
            self.begun.extend(waiting.tickets());
        }
        self.asked[place].state = RequestState::Waits(waiting);
    }

    /// The request has its reply.
    pub(super) fn replied(&mut self, place: usize, reply: Pieces) {
        let size = reply.len();
        self.has_seen(size);
        let asked = &mut self.asked[place];
        self.held = self.held - asked.size + size;
        asked.size = size;
        asked.state = RequestState::Replied(reply);
    }

    /// A reply of this length has arrived. Adapts the number of requests that may be under way: it grows by one at a
    /// time and shrinks at once.
    fn has_seen(&mut self, length: usize) {
        self.most = (self.most + 1).min(MOST).min(MOST_HELD / length.max(1)).max(1);
    }

    /// The first request was replied to, with `length` bytes.
    pub(super) fn first_is_over(&mut self, length: usize) {
        self.has_seen(length);
        if let Some(first) = self.asked.pop_front() {
            self.held -= first.size;
        }
    }

    /// The next reply, if its turn has come.
    pub(super) fn next_reply(&mut self) -> Option<Pieces> {
        let RequestState::Replied(reply) = &mut self.asked.front_mut()?.state else { return None };
        let reply = std::mem::take(reply);
        self.held -= reply.len();
        self.asked.pop_front();
        Some(reply)
    }

    /// Takes out what has waited for other servers for longer than this: the place of each request, and what it waited
    /// for.
    pub(super) fn waiting_for_long(&mut self, now: Milliseconds, longest: Milliseconds) -> Vec<(usize, Waiting)> {
        let is_late = |asked: &QueuedRequest| {
            let longest = match &asked.state {
                RequestState::Waits(Waiting::Snapshot) | RequestState::Replied(_) => return false,
                RequestState::Waits(Waiting::Keyspace(..)) => longest.min(LONGEST_FOR_KEYSPACE),
                RequestState::Waits(_) => longest,
            };
            asked.since.saturating_add((asked.size / LEAST_PACE) as Milliseconds) < now.saturating_sub(longest)
        };
        let late: Vec<usize> = (0..self.asked.len()).filter(|&place| is_late(&self.asked[place])).collect();
        late.into_iter().filter_map(|place| Some((place, self.take(place)?))).collect()
    }

    /// Whether the first request waits for a snapshot.
    pub(super) fn waits_for_snapshot(&self) -> bool {
        self.asked.front().is_some_and(|first| matches!(first.state, RequestState::Waits(Waiting::Snapshot)))
    }
}

impl QueuedRequest {
    fn waits_for(&self, ticket: Ticket) -> bool {
        matches!(&self.state, RequestState::Waits(waiting) if waiting.has(ticket))
    }
}
