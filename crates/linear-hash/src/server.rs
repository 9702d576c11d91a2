//! A server: it answers for its keys and forwards requests for others.

use std::collections::BTreeMap;

use super::contents::{Contents, OutputOf, Pairs};
use super::message::Applied;
use super::reorganisation::Change;
use super::{Bounds, EntryPlace, Extent, Growth, Request, ScanRequest, Table, ToClient, ToServer, forward, h};

/// The most times that a request is forwarded between servers. It never needs more unless servers split meanwhile.
pub(super) const MOST_FORWARDS: u32 = 2;

/// An output of a server: `C` is a message to a client, `S` one to another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerOutput<C = ToClient, S = ToServer> {
    /// A message to a client.
    Client(u64, C),
    /// A message to another server.
    Server(u32, S),
}

/// What a server counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// Requests that it answered.
    pub answered: u64,
    /// Requests that it forwarded.
    pub forwarded: u64,
    /// How often it split.
    pub splits: u64,
    /// How often it merged with what it had split off.
    pub merges: u64,
}

/// A server's state. `C` is its contents.
#[derive(Clone, Debug)]
pub struct Server<C: Contents = Pairs> {
    /// a, its number.
    pub(super) number: u32,
    pub(super) growth: Growth,
    pub(super) bounds: Bounds,
    /// Its contents.
    pub(super) contents: C,
    /// The file's extent, while it has the token.
    pub(super) token: Option<Extent>,
    /// The reorganisation that is under way.
    pub(super) change: Option<Change>,
    /// While it moves: the server that it must leave for afterwards, and how many local buckets that one has.
    pub(super) asked_to_leave: Option<(u32, u32)>,
    /// How many requests it must answer before it checks again whether the file may shrink.
    pub(super) rest: u64,
    /// How many requests it has answered since it got the token.
    pub(super) since: u64,
    /// Parts of scans that wait until their keys have moved.
    pub(super) scans: Vec<ScanRequest>,
    /// The last request of each client.
    pub(super) applied: BTreeMap<u64, Applied<C::Outcome>>,
    /// The numbers of these requests that the server receiving its buckets already knows.
    pub(super) known_to_receiver: BTreeMap<u64, u64>,
    /// Its counters.
    pub counts: ServerCounts,
}

impl Server {
    /// Server `number`. Server 0 is in the file from the beginning, and has the token.
    pub fn new(number: u32, growth: Growth) -> Server {
        Server::keeping(None, number, growth)
    }
}

impl<C: Contents> Server<C> {
    /// Server `number`, with contents that have no table yet. Server 0 is in the file from the beginning, and has the
    /// token.
    pub fn keeping(mut contents: C, number: u32, growth: Growth) -> Server<C> {
        let first = number == 0;
        if first {
            contents.open(Table::new(0));
        }
        Server {
            number,
            growth,
            bounds: Bounds::default(),
            contents,
            token: first.then(Extent::default),
            change: None,
            asked_to_leave: None,
            rest: 0,
            since: 0,
            scans: Vec::new(),
            applied: BTreeMap::new(),
            known_to_receiver: BTreeMap::new(),
            counts: ServerCounts::default(),
        }
    }

    /// Its table, if it is in the file.
    pub fn table(&self) -> Option<&Table<C::Entry>> {
        self.contents.table()
    }

    /// Its contents.
    pub const fn contents(&self) -> &C {
        &self.contents
    }

    /// The same, mutable: a caller that adds or removes entries must call [`Server::has_answered`].
    pub const fn contents_mut(&mut self) -> &mut C {
        &mut self.contents
    }

    /// Whether it is in the file, has all its keys, and neither splits nor merges.
    pub fn is_steady(&self) -> bool {
        self.change.is_none() && self.table().is_some_and(Table::is_whole)
    }

    /// Whether the key C is its own, and its place is in this table now.
    #[inline]
    pub fn holds(&self, c: u64) -> bool {
        let table = self.contents.table().filter(|table| forward(self.number, table.level(), c).is_none());
        table.is_some_and(|table| table.place(c) == EntryPlace::Held)
    }

    /// The file's extent, if it has the token.
    pub const fn token(&self) -> Option<Extent> {
        self.token
    }

    /// Takes a request, from a client or forwarded by a server.
    pub fn request(&mut self, request: Request<C::Operation>, outputs: &mut Vec<OutputOf<C>>) {
        let Some(table) = self.contents.table() else {
            let gone = ToClient::Gone { number: request.number, server: self.number };
            outputs.push(ServerOutput::Client(request.client, gone));
            return;
        };
        let (number, level, c) = (self.number, table.level(), request.c);
        if let Some(next) = forward(number, level, c) {
            return self.send_on(next, Some((number, level)), request, outputs);
        }
        match (table.place(c), self.change) {
            (EntryPlace::Held, _) => self.answer(request, outputs),
            (EntryPlace::Shipped, Some(Change::SplitsTo(to))) => {
                self.send_on(to, Some((number, level + 1)), request, outputs);
            }
            (EntryPlace::Shipped, Some(Change::LeavesFor(to))) => {
                self.send_on(to, Some((to, level.saturating_sub(1))), request, outputs);
            }
            // The server that still has it answers; if the key has left meanwhile, it arrives here before the request
            // returns.
            (EntryPlace::Awaited, Some(Change::TakesOver(from))) => self.send_on(from, None, request, outputs),
            (EntryPlace::Shipped, Some(Change::MovesAway)) | (EntryPlace::Awaited, Some(Change::Arrives)) => {
                self.send_on(number, None, request, outputs);
            }
            (EntryPlace::Awaited, None) => self.send_on(h(level.saturating_sub(1), c), None, request, outputs),
            (EntryPlace::Shipped | EntryPlace::Awaited, _) => {
                let again = ToClient::Again { number: request.number };
                outputs.push(ServerOutput::Client(request.client, again));
            }
        }
    }

    /// Forwards a request, and tells the client a server's level if it asked the wrong server. A request that was
    /// forwarded twice while servers split or merged goes back to its client instead, whose image is better by now.
    fn send_on(
        &mut self,
        to: u32,
        adjustment: Option<(u32, u32)>,
        mut request: Request<C::Operation>,
        outputs: &mut Vec<OutputOf<C>>,
    ) {
        let (client, number) = (request.client, request.number);
        if let Some((server, level)) = adjustment {
            outputs.push(ServerOutput::Client(client, ToClient::Adjust { server, level }));
        }
        if request.forwards == MOST_FORWARDS {
            outputs.push(ServerOutput::Client(client, ToClient::Again { number }));
            return;
        }
        self.counts.forwarded += 1;
        request.forwards += 1;
        outputs.push(ServerOutput::Server(to, ToServer::Forward(request)));
    }

    /// Applies a request, or returns its remembered outcome if it is repeated and must not be applied again.
    fn answer(&mut self, request: Request<C::Operation>, outputs: &mut Vec<OutputOf<C>>) {
        let Request { client, number, c, operation, forwards } = request;
        let (stores, may_repeat) = (C::stores(&operation), C::may_repeat(&operation));
        let outcome = match self.applied.get_mut(&client) {
            Some(last) if last.number > number => return, // the client has its answer, and has moved on
            Some(last) if last.number == number => last.outcome.clone(),
            before => {
                // A request that can't be carried out yet is repeated.
                let outcome @ Some(_) = self.contents.apply(c, operation) else { return };
                let applied = |outcome: &Option<C::Outcome>| Applied { number, c, outcome: outcome.clone() };
                match before {
                    _ if may_repeat => {}
                    Some(last) => *last = applied(&outcome),
                    None => drop(self.applied.insert(client, applied(&outcome))),
                }
                outcome
            }
        };
        let Some(outcome) = outcome else { return };
        outputs.push(ServerOutput::Client(client, ToClient::Reply { number, outcome, forwards }));
        self.has_answered(1, stores, outputs);
    }

    /// `requests` requests were answered, which may have stored something: the file may now have to grow, or to shrink.
    pub fn has_answered(&mut self, requests: u64, stores: bool, outputs: &mut Vec<OutputOf<C>>) {
        self.counts.answered += requests;
        self.rest = self.rest.saturating_sub(requests);
        self.since += requests;
        self.consider_split(outputs);
        if !stores {
            self.consider_shrinking(outputs);
        }
    }
}
