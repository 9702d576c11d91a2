//! A server: it answers for its keys, sends on what is another's, and splits when its turn has come.

use std::collections::BTreeMap;

use super::message::{Applied, Body, Key};
use super::{Extent, Operation, Outcome, Place, Request, Split, Table, ToClient, ToServer, forward};

/// As often as a request is sent on between servers. As long as none splits meanwhile it is never more.
const MOST_FORWARDS: u32 = 2;

/// When a server splits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// V: what a server has room for. [entries]
    pub capacity: u64,
    /// M: the share of it that is used. 0.7 to 0.9 as a rule.
    pub sensitivity: f64,
    /// As many servers as there can be.
    pub most_servers: u32,
    /// How much goes over at a time while a server splits: at least so many entries, or a local bucket if it has more.
    pub chunk: u64,
}

impl Growth {
    /// T: the server with the token splits when it has more entries than
    ///
    /// ```text
    ///   T = M V (2^i + n) / 2^i
    /// ```
    ///
    /// Source: LH*LH paper, section 3.
    pub fn threshold(&self, file: Extent) -> f64 {
        let before = f64::from(1_u32 << file.i());
        self.sensitivity * self.capacity as f64 * f64::from(file.buckets()) / before
    }
}

/// What a server does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerOutput {
    /// Tells a client something.
    Client(u32, ToClient),
    /// Tells another server something.
    Server(u32, ToServer),
}

/// What a server counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// Requests that it answered.
    pub answered: u64,
    /// Requests that it sent on.
    pub forwarded: u64,
    /// How often it split.
    pub splits: u64,
    /// The most requests that waited for their bucket at once.
    pub most_waiting: usize,
}

/// A server's state.
#[derive(Clone, Debug)]
pub struct Server {
    /// a
    number: u32,
    growth: Growth,
    /// Its table; none before it is in the file.
    table: Option<Table<Key, Body>>,
    /// The file's extent, as long as it has the token.
    token: Option<Extent>,
    /// To whom half of the table is going.
    splits_to: Option<u32>,
    /// Requests whose buckets are on their way here.
    waiting: Vec<Request>,
    /// The last request of each client.
    applied: BTreeMap<u32, Applied>,
    /// Of these, the numbers that the server knows to whom half of the table is going.
    told: BTreeMap<u32, u64>,
    /// What was counted.
    pub counts: ServerCounts,
}

impl Server {
    /// Server `number`. Server 0 is in the file from the beginning, and has the token.
    pub fn new(number: u32, growth: Growth) -> Server {
        let first = number == 0;
        Server {
            number,
            growth,
            table: first.then(|| Table::new(0)),
            token: first.then(Extent::default),
            splits_to: None,
            waiting: Vec::new(),
            applied: BTreeMap::new(),
            told: BTreeMap::new(),
            counts: ServerCounts::default(),
        }
    }

    /// Its table, if it is in the file.
    pub const fn table(&self) -> Option<&Table<Key, Body>> {
        self.table.as_ref()
    }

    /// The file's extent, if it has the token.
    pub const fn token(&self) -> Option<Extent> {
        self.token
    }

    /// Takes a request, from a client or sent on.
    pub fn request(&mut self, request: Request, outputs: &mut Vec<ServerOutput>) {
        let Some(table) = &self.table else {
            let gone = ToClient::Gone { number: request.number, server: self.number };
            outputs.push(ServerOutput::Client(request.client, gone));
            return;
        };
        let (level, c) = (table.level(), request.c);
        if let Some(next) = forward(self.number, level, c) {
            return self.send_on(next, level, request, outputs);
        }
        match (table.place(c), self.splits_to) {
            (Place::Here, _) => self.answer(request, outputs),
            (Place::Shipped, Some(to)) => self.send_on(to, level + 1, request, outputs),
            (Place::Shipped | Place::Awaited, _) => {
                self.waiting.push(request);
                self.counts.most_waiting = self.counts.most_waiting.max(self.waiting.len());
            }
        }
    }

    /// Sends a request on, and tells the client that this server, of level `level`, was the wrong one. A request that was
    /// sent on twice while servers split goes back to its client instead, which knows better by now.
    fn send_on(&mut self, to: u32, level: u32, mut request: Request, outputs: &mut Vec<ServerOutput>) {
        let (client, number) = (request.client, request.number);
        outputs.push(ServerOutput::Client(client, ToClient::Adjust { server: self.number, level }));
        if request.forwards == MOST_FORWARDS {
            outputs.push(ServerOutput::Client(client, ToClient::Again { number }));
            return;
        }
        self.counts.forwarded += 1;
        request.forwards += 1;
        outputs.push(ServerOutput::Server(to, ToServer::Forward(request)));
    }

    /// Applies a request, or remembers how it went the first time.
    fn answer(&mut self, request: Request, outputs: &mut Vec<ServerOutput>) {
        let Request { client, number, c, operation, forwards } = request;
        let outcome = match self.applied.get(&client) {
            Some(last) if last.number > number => return, // the client has its answer, and has gone on
            Some(last) if last.number == number => last.outcome.clone(),
            _ => {
                let outcome = self.table.as_mut().and_then(|table| apply(table, c, operation));
                self.applied.insert(client, Applied { number, c, outcome: outcome.clone() });
                outcome
            }
        };
        let Some(outcome) = outcome else { return };
        self.counts.answered += 1;
        outputs.push(ServerOutput::Client(client, ToClient::Reply { number, outcome, forwards }));
        self.consider_split(outputs);
    }

    /// Begins to split, if this server has the token, is not at it already, and has more than the threshold.
    fn consider_split(&mut self, outputs: &mut Vec<ServerOutput>) {
        let (Some(file), None, Some(table)) = (self.token, self.splits_to, &mut self.table) else { return };
        if !table.is_whole() {
            return;
        }
        let Some(Split { to, level, .. }) = file.next_split().filter(|split| split.to < self.growth.most_servers)
        else {
            return;
        };
        if table.len() as f64 <= self.growth.threshold(file) {
            return;
        }
        self.splits_to = Some(to);
        self.counts.splits += 1;
        let extent = table.halve();
        self.told.clear();
        outputs.push(ServerOutput::Server(to, ToServer::Open { level, extent }));
        self.ship(outputs);
    }

    /// Ships the next chunk; after the last one the token goes on.
    fn ship(&mut self, outputs: &mut Vec<ServerOutput>) {
        let (Some(to), Some(table)) = (self.splits_to, &mut self.table) else { return };
        let (mut buckets, mut entries, mut last) = (Vec::new(), 0, false);
        while entries < self.growth.chunk.max(1) {
            let Some(bucket) = table.ship() else {
                last = true;
                break;
            };
            entries += bucket.len() as u64 + 1; // an empty bucket takes its time, too
            buckets.push(bucket);
        }
        let number = self.number;
        let gone = |c| table.place(c) == Place::Shipped || forward(number, table.level(), c).is_some();
        // Of clients whose requests were others the receiver has to know the numbers: older ones may still come again.
        let applied = self.applied.iter_mut().map(|(client, record)| {
            let outcome = if gone(record.c) { record.outcome.take() } else { None };
            (*client, Applied { outcome, ..*record })
        });
        let news = applied.filter(|(client, record)| {
            let told = self.told.insert(*client, record.number);
            record.outcome.is_some() || told != Some(record.number)
        });
        let applied = news.collect();
        outputs.push(ServerOutput::Server(to, ToServer::Chunk { buckets, applied, last }));
        if last {
            self.splits_to = None;
            self.pass_on_the_token(outputs);
        }
    }

    fn pass_on_the_token(&mut self, outputs: &mut Vec<ServerOutput>) {
        let Some(mut file) = self.token.take() else { return };
        file.grow();
        if file.n() == self.number {
            self.token = Some(file);
            self.consider_split(outputs);
        } else {
            outputs.push(ServerOutput::Server(file.n(), ToServer::Token(file)));
        }
    }

    /// Takes what server `from` says.
    pub fn take(&mut self, from: u32, message: ToServer, outputs: &mut Vec<ServerOutput>) {
        match message {
            ToServer::Forward(request) => self.request(request, outputs),
            ToServer::Token(file) => {
                self.token = Some(file);
                self.consider_split(outputs);
            }
            ToServer::Open { level, extent } => self.table = Some(Table::filling(level, extent)),
            ToServer::Chunk { buckets, applied, last } => {
                let Some(table) = &mut self.table else { return };
                buckets.into_iter().for_each(|bucket| table.arrive(bucket));
                for (client, record) in applied {
                    let known = self.applied.entry(client).or_insert_with(|| record.clone());
                    if (known.number, known.outcome.is_some()) < (record.number, record.outcome.is_some()) {
                        *known = record;
                    }
                }
                if !last {
                    outputs.push(ServerOutput::Server(from, ToServer::Received));
                }
                for request in std::mem::take(&mut self.waiting) {
                    self.request(request, outputs);
                }
                self.consider_split(outputs);
            }
            ToServer::Received => self.ship(outputs),
        }
    }
}

/// Applies an operation to a table; none where the key's place is not there.
fn apply(table: &mut Table<Key, Body>, c: u64, operation: Operation) -> Option<Outcome> {
    Some(match operation {
        Operation::Insert(key, body) => {
            let free = table.get(c, &key).is_none();
            if free {
                table.put(c, key, body).ok()?;
            }
            Outcome::Is(free)
        }
        Operation::Put(key, body) => Outcome::Found(table.put(c, key, body).ok()?),
        Operation::Get(key) => Outcome::Found(table.get(c, &key).cloned()),
        Operation::Remove(key) => Outcome::Found(table.remove(c, &key)),
        Operation::Contains(key) => Outcome::Is(table.get(c, &key).is_some()),
    })
}
