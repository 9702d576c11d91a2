//! One client: bytes in, bytes out, and what the server remembers of it between its requests.

use std::rc::Rc;

use crate::bucket::Bucket;
use crate::host::{Host, Waiting};
use crate::member::{Answer, Ticket};
use crate::node::{Client, Node};
use crate::record::Milliseconds;
use crate::resp::{Limits, OwnedArguments, Reply, Requests};

/// A client whose replies wait that are larger than this together is not asked for more requests before it has read some. [B]
const MOST_UNSENT: usize = 1 << 20;
/// After so many requests it is the others' turn.
const MOST_IN_TURN: usize = 1_024;

/// So long a client waits for another server. [ms]
const LONGEST_WAIT: Milliseconds = 10_000;
/// What it is told then.
const NOT_ANSWERED: &str =
    "CLUSTERDOWN The server of this key has not answered for 10 s; whether the request was carried out is not known";

/// A transaction that is being put together.
#[derive(Debug, Default)]
pub struct Transaction {
    /// Its requests.
    pub requests: Vec<OwnedArguments>,
    /// What these take. [B]
    pub size: usize,
    /// Whether one of them can't be carried out.
    pub is_broken: bool,
}

/// What the replies to a client are.
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

/// What the server remembers of a client between its requests.
#[derive(Debug)]
pub struct Session {
    /// What others may know of it.
    pub client: Rc<Client>,
    /// Whether it has said who it is, or need not.
    pub is_authenticated: bool,
    /// Its transaction, if it is in one.
    pub transaction: Option<Transaction>,
    /// The keys that it watches, and what was seen of each.
    pub watched: Vec<(Box<[u8]>, u64)>,
    /// What is replied.
    pub replies: Replies,
    /// Whether it has said goodbye.
    pub is_leaving: bool,
    /// Whether it follows slots: then it is told where a key is that is not here, instead of being answered.
    pub follows_slots: bool,
    /// Whether it wants to know of all slots that are where one is that has moved.
    pub takes_ranges: bool,
}

impl Session {
    /// A session that begins.
    pub fn new(client: Rc<Client>, node: &Node) -> Session {
        Session {
            client,
            is_authenticated: node.settings.password.is_none(),
            transaction: None,
            watched: Vec::new(),
            replies: Replies::On,
            is_leaving: false,
            follows_slots: false,
            takes_ranges: false,
        }
    }

    /// It was replied to a request, from `end` on: whether it wants to know.
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

    /// Ends its transaction without carrying it out.
    pub fn leave_transaction(&mut self) -> Option<Transaction> {
        self.client.queued.set(None);
        self.transaction.take()
    }

    /// Watches no key any more.
    pub fn unwatch(&mut self, bucket: &mut Bucket) {
        self.watched.drain(..).for_each(|(key, _)| bucket.unwatch(&key));
        self.client.watches.set(0);
    }
}

/// Why a client does not go on for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It has to send more.
    Receive,
    /// It has to read what it was sent.
    Send,
    /// It is another's turn.
    Turn,
    /// Another server has to answer.
    Answer,
    /// It goes, as soon as it has read what it was sent.
    Leave,
}

/// A client's connection.
#[derive(Debug)]
pub struct Connection {
    /// What it sends.
    pub requests: Requests,
    /// What it is sent.
    pub reply: Reply,
    /// What is remembered.
    pub session: Session,
    /// What other servers have to answer before it goes on, and since when. [ms since 1970]
    waiting: Option<Waiting>,
    since: Milliseconds,
}

impl Connection {
    /// A client that is connected.
    pub fn new(client: Rc<Client>, node: &Node) -> Connection {
        Connection {
            requests: Requests::default(),
            reply: Reply::default(),
            session: Session::new(client, node),
            waiting: None,
            since: 0,
        }
    }

    /// Carries out what was received, as far as it may at a time.
    pub fn turn(&mut self, host: &mut Host) -> Pause {
        if self.waiting.is_some() {
            return Pause::Answer;
        }
        let mut limits = self.limits(host);
        for _ in 0..MOST_IN_TURN {
            if self.session.is_leaving || self.session.client.is_killed.get() {
                return Pause::Leave;
            }
            if self.reply.unsent().len() > MOST_UNSENT {
                return Pause::Send;
            }
            match self.requests.next(limits) {
                Ok(Some(arguments)) => {
                    let was_known = self.session.is_authenticated;
                    self.waiting = host.carry_out(&mut self.session, &mut self.reply, arguments);
                    if self.waiting.is_some() {
                        self.since = host.node().borrow().now;
                        return Pause::Answer;
                    }
                    if was_known != self.session.is_authenticated {
                        limits = self.limits(host);
                    }
                }
                Ok(None) => return Pause::Receive,
                Err(error) => {
                    host.node().borrow_mut().counts.errors += 1;
                    self.reply.error(&format!("ERR {error}"));
                    self.session.is_leaving = true;
                }
            }
        }
        Pause::Turn
    }

    /// The client is gone.
    pub fn end(&mut self, host: &mut Host) {
        host.forget(&mut self.session);
    }

    fn limits(&self, host: &Host) -> Limits {
        if self.session.is_authenticated { host.node().borrow().settings.limits } else { Limits::STRANGER }
    }

    /// What other servers have to answer before it goes on.
    pub const fn waiting(&self) -> Option<&Waiting> {
        self.waiting.as_ref()
    }

    /// Tells the client, if it has waited for another server for too long. Whether it has.
    pub fn gives_up(&mut self, host: &mut Host) -> bool {
        let late = host.node().borrow().now.saturating_sub(self.since) > LONGEST_WAIT;
        let is_late = |waiting: &mut Waiting| late && !matches!(waiting, Waiting::Snapshot);
        let Some(waiting) = self.waiting.take_if(is_late) else { return false };
        host.give_up(&waiting);
        let end = self.reply.end();
        self.reply.error(NOT_ANSWERED);
        self.session.has_replied(&mut self.reply, end);
        true
    }

    /// Another server has answered.
    pub fn answered(&mut self, host: &mut Host, ticket: Ticket, answer: Answer<Bucket>) {
        let Some(waiting) = self.waiting.take() else { return };
        let end = self.reply.end();
        self.waiting = host.answered(waiting, ticket, answer, &mut self.session, &mut self.reply);
        if self.waiting.is_none() {
            self.session.has_replied(&mut self.reply, end);
        }
    }

    /// The snapshot that it waits for is made, or can't be.
    pub fn was_saved(&mut self, has_failed: bool) {
        let Some(Waiting::Snapshot) = self.waiting else { return };
        let end = self.reply.end();
        match has_failed {
            false => self.reply.ok(),
            true => self.reply.error("ERR the snapshot could not be made; what is stored is in the logs"),
        }
        self.waiting = None;
        self.session.has_replied(&mut self.reply, end);
    }

    /// Whether it had its time: to say who it is, or to say anything.
    pub fn is_overdue(&self, node: &Node, now: Milliseconds) -> bool {
        let client = &self.session.client;
        let is_idle = |most| now.saturating_sub(client.last.get()) > most * 1000;
        let is_strange =
            !self.session.is_authenticated && now.saturating_sub(client.since) > node.settings.time_to_authenticate;
        is_strange || node.settings.most_idle.is_some_and(is_idle)
    }
}
