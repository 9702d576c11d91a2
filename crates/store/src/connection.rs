//! One client: bytes in, bytes out, and what the server remembers of it between its requests.

use std::rc::Rc;

use crate::bucket::Bucket;
use crate::commands::{Context, dispatch};
use crate::node::{Client, Node};
use crate::record::Milliseconds;
use crate::resp::{Limits, OwnedArguments, Reply, Requests};

/// A client whose replies wait that are larger than this together is not asked for more requests before it has read some. [B]
const MOST_UNSENT: usize = 1 << 20;
/// After so many requests it is the others' turn.
const MOST_IN_TURN: usize = 1_024;

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
        }
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
}

impl Connection {
    /// A client that is connected.
    pub fn new(client: Rc<Client>, node: &Node) -> Connection {
        Connection { requests: Requests::default(), reply: Reply::default(), session: Session::new(client, node) }
    }

    /// Carries out what was received, as far as it may at a time.
    pub fn turn(&mut self, bucket: &mut Bucket, node: &mut Node, now: Milliseconds) -> Pause {
        for _ in 0..MOST_IN_TURN {
            if self.session.is_leaving || self.session.client.is_killed.get() {
                return Pause::Leave;
            }
            if self.reply.unsent().len() > MOST_UNSENT {
                return Pause::Send;
            }
            let limits = if self.session.is_authenticated { node.settings.limits } else { Limits::STRANGER };
            match self.requests.next(limits) {
                Ok(Some(arguments)) => {
                    let (session, reply) = (&mut self.session, &mut self.reply);
                    dispatch(&mut Context { bucket, node, session, reply, now }, arguments);
                }
                Ok(None) => return Pause::Receive,
                Err(error) => {
                    node.counts.errors += 1;
                    self.reply.error(&format!("ERR {error}"));
                    self.session.is_leaving = true;
                }
            }
        }
        Pause::Turn
    }

    /// The client is gone.
    pub fn end(&mut self, bucket: &mut Bucket, node: &mut Node) {
        self.session.unwatch(bucket);
        node.disconnect(&self.session.client);
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
