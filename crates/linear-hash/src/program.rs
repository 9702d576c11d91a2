//! Clients and servers as ranks: clients build a table, each inserting its own part of the keys.

use endpoint::{Endpoint, Error, Needs, Program, Result};
use quantities::{Bytes, Duration, Rank, Time};

use super::client_loop::ClientLoop;
use super::{
    ClientCounts, ClientPhase, Envelope, Extent, Growth, Key, KeyHash, Phase, Server, ServerCounts, ServerOutput,
    ServerPhase, Table,
};

/// Builds a table, and runs the phases after that.
///
/// ```text
///   rank    0 .. servers - 1           server a is rank a
///           servers .. + clients - 1   client k is rank servers + k
/// ```
///
/// Client k inserts the keys from k N / clients to (k + 1) N / clients of all N, one after the other, each when the one
/// before is acknowledged. Then it says goodbye to every server. The server with the token ends the build when it has
/// all goodbyes and does not split, or need not finish its split.
///
/// The phases follow one by one: every server tells every client when the previous phase is over, splits and merges
/// included, and a client begins the next when all servers have told it so.
///
/// ```text
///   messages   2 per insert, 2 more for each that went to a wrong server (one forwarded, one to its client),
///              2 for each chunk of a split and 1 for the token;
///              servers (clients + 1) at the end, and servers clients more for each further phase
///   time       of an insert without waiting: that of two messages, one after the other
/// ```
///
/// Servers send to each other at any time, so sends must not wait for their receive:
/// two servers could wait for each other.
///
/// Source: LH*LH paper, sections 3 and 5.
#[derive(Clone, Debug)]
pub struct LinearHash {
    /// The most servers.
    pub servers: u32,
    /// c, the number of clients.
    pub clients: u32,
    /// The keys to insert.
    pub keys: Vec<Key>,
    /// The size of the value of each key. [B]
    pub body: Bytes,
    /// The hash function for keys.
    pub hash: KeyHash,
    /// When a server splits.
    pub growth: Growth,
    /// How long a server computes for each request, after it has answered it.
    pub server_time: Duration,
    /// What clients do once the table is built.
    pub then: Vec<Phase>,
    /// Whether splits that are under way when clients are done are completed; if not, servers end in the middle of
    /// them.
    pub finish_splits: bool,
}

/// The results of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankEnd {
    /// A server.
    Server(ServerEnd),
    /// A client.
    Client(ClientEnd),
}

/// The results of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerEnd {
    /// How many entries it has when the table is built; none if it did not join the file.
    pub entries: Option<u64>,
    /// When each of its splits began.
    pub splits: Vec<Time>,
    /// Its counters.
    pub counts: ServerCounts,
    /// How many messages it sent, except those that end the run.
    pub messages: u64,
    /// How far the file has grown.
    pub file: Extent,
    /// Its results after each further phase.
    pub then: Vec<ServerPhase>,
}

/// The results of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientEnd {
    /// Its inserts, in order.
    pub inserts: Vec<Insert>,
    /// Its counters.
    pub counts: ClientCounts,
    /// How many messages it sent, except those that end the run.
    pub messages: u64,
    /// Its results after each further phase.
    pub then: Vec<ClientPhase>,
}

/// An insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insert {
    /// When it began.
    pub begun: Time,
    /// When it was acknowledged.
    pub acknowledged: Time,
    /// Whether the key was new.
    pub stored: bool,
}

impl LinearHash {
    /// How many ranks it has.
    pub const fn ranks(&self) -> u32 {
        self.servers.saturating_add(self.clients)
    }

    /// The part of the keys that client k inserts, and works on in later phases.
    pub(super) fn share(&self, client: u32) -> &[Key] {
        let keys = self.keys.len() as u64;
        let edge = |client: u32| (keys * u64::from(client) / u64::from(self.clients.max(1))) as usize;
        self.keys.get(edge(client)..edge(client + 1)).unwrap_or_default()
    }

    fn check<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        if self.servers == 0 || self.clients == 0 {
            return Err(Error::Unfit("a table needs a server and a client".to_string()));
        }
        if endpoint.size() != self.ranks() {
            let LinearHash { servers, clients, .. } = self;
            let size = endpoint.size();
            return Err(Error::Unfit(format!("{servers} servers and {clients} clients do not make {size} ranks")));
        }
        Ok(())
    }
}

impl Program for LinearHash {
    const NEEDS: Needs = Needs::ANY_SOURCE;
    type Output = RankEnd;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<RankEnd> {
        self.check(endpoint)?;
        let Rank(rank) = endpoint.rank();
        if rank < self.servers {
            Ok(RankEnd::Server(ServerLoop::new(self, endpoint).run().await?))
        } else {
            Ok(RankEnd::Client(ClientLoop::new(self, endpoint, rank - self.servers).run().await?))
        }
    }
}

/// Waits for the next message, and decodes it.
pub(super) async fn next<E: Endpoint>(endpoint: &E) -> Result<(Rank, Envelope)> {
    let (from, message) = endpoint.receive_any(None).await?;
    let envelope = Envelope::decode(&message).map_err(|error| error.from_rank(from))?;
    Ok((from, envelope))
}

pub(super) async fn send<E: Endpoint>(endpoint: &E, to: Rank, envelope: &Envelope) -> Result<()> {
    endpoint.send(to, envelope.encode().map_err(|error| error.from_rank(endpoint.rank()))?).await
}

pub(super) fn misdirected(from: Rank) -> Error {
    Error::Unfit(format!("rank {from} sent data that is not for this rank"))
}

/// A server at work.
struct ServerLoop<'a, E> {
    program: &'a LinearHash,
    endpoint: &'a E,
    server: Server,
    /// The server's outputs, kept to reuse the memory.
    outputs: Vec<ServerOutput>,
    splits: Vec<Time>,
    messages: u64,
    /// How many clients have said goodbye.
    goodbyes: u32,
    /// How far the file has grown, once that is settled.
    over: Option<Extent>,
}

impl<'a, E: Endpoint> ServerLoop<'a, E> {
    fn new(program: &'a LinearHash, endpoint: &'a E) -> ServerLoop<'a, E> {
        let growth = Growth { most_servers: program.growth.most_servers.min(program.servers), ..program.growth };
        let server = Server::new(endpoint.rank().0, growth);
        ServerLoop {
            program,
            endpoint,
            server,
            outputs: Vec::new(),
            splits: Vec::new(),
            messages: 0,
            goodbyes: 0,
            over: None,
        }
    }

    async fn run(mut self) -> Result<ServerEnd> {
        let ServerPhase { entries, counts, messages, file } = self.phase().await?;
        let splits = std::mem::take(&mut self.splits);
        let mut then = Vec::new();
        for _ in &self.program.then {
            self.resume_clients().await?;
            then.push(self.phase().await?);
        }
        Ok(ServerEnd { entries, splits, counts, messages, file, then })
    }

    async fn resume_clients(&mut self) -> Result<()> {
        (self.goodbyes, self.over) = (0, None);
        for client in self.program.servers..self.program.ranks() {
            send(self.endpoint, Rank(client), &Envelope::Next).await?;
        }
        Ok(())
    }

    /// Serves until all clients have said goodbye, and nothing is under way.
    async fn phase(&mut self) -> Result<ServerPhase> {
        let file = loop {
            self.step().await?;
            if let Some(file) = self.file_to_end() {
                self.end_others(file).await?;
                break file;
            }
            if let Some(file) = self.over.filter(|&file| self.is_settled(file)) {
                break file;
            }
        };
        let entries = self.server.table().map(Table::len);
        Ok(ServerPhase { entries, counts: self.server.counts, messages: self.messages, file })
    }

    /// Handles the next message: first answers, then computes.
    async fn step(&mut self) -> Result<()> {
        let before = self.server.counts;
        let mut outputs = self.take().await?;
        for _ in before.splits..self.server.counts.splits {
            self.splits.push(self.endpoint.now());
        }
        for output in outputs.drain(..) {
            self.messages += 1;
            let (to, envelope) = match output {
                ServerOutput::Client(client, message) => {
                    let client = u32::try_from(client).unwrap_or(u32::MAX);
                    (self.program.servers.saturating_add(client), Envelope::ToClient(message))
                }
                ServerOutput::Server(server, message) => (server, Envelope::ToServer(message)),
            };
            send(self.endpoint, Rank(to), &envelope).await?;
        }
        self.outputs = outputs;
        let answered = self.server.counts.answered - before.answered;
        let work = self.program.server_time.picoseconds().saturating_mul(answered);
        if work > 0 {
            self.endpoint.compute(Duration::from_picoseconds(work)).await;
        }
        Ok(())
    }

    async fn take(&mut self) -> Result<Vec<ServerOutput>> {
        let (from, envelope) = next(self.endpoint).await?;
        let (from_server, mut outputs) = (from.0 < self.program.servers, std::mem::take(&mut self.outputs));
        match envelope {
            Envelope::Request(request) if !from_server => self.server.request(request, &mut outputs),
            Envelope::Scan(request) if !from_server => self.server.scan(request, &mut outputs),
            Envelope::ToServer(message) if from_server => self.server.take(from.0, message, &mut outputs),
            Envelope::Goodbye if !from_server => self.goodbyes += 1,
            Envelope::Over(file) if from_server => self.over = Some(file),
            _ => return Err(misdirected(from)),
        }
        Ok(outputs)
    }

    /// The file's extent, if this server may declare it final: it has the token and does not split, and no client will
    /// make another request.
    fn file_to_end(&self) -> Option<Extent> {
        self.server.token().filter(|_| self.is_steady() && self.goodbyes == self.program.clients)
    }

    async fn end_others(&self, file: Extent) -> Result<()> {
        let others = (0..self.program.servers).map(Rank).filter(|&other| other != self.endpoint.rank());
        for other in others {
            send(self.endpoint, other, &Envelope::Over(file)).await?;
        }
        Ok(())
    }

    /// Whether nothing more will arrive: every client has said goodbye, and all of its table is there.
    fn is_settled(&self, file: Extent) -> bool {
        self.goodbyes == self.program.clients && (self.is_steady() || self.endpoint.rank().0 >= file.buckets())
    }

    /// Whether nothing is under way that must be completed.
    fn is_steady(&self) -> bool {
        self.server.is_steady() || !self.program.finish_splits
    }
}
