//! Clients that ask all the while, as a table grows from one server to many: the servers and clients of the store, without their sockets.

mod client;
mod follower;
mod server;
mod workload;

use endpoint::{Endpoint, Error, Needs, Program, Result};
use quantities::{Bytes, Duration, Rank, Time};

use super::{Envelope, Extent, Growth, KeyHash, ServerCounts, ToClient, ToServer};
use client::ClientLoop;
pub use follower::{Follower, Step};
use server::ServerLoop;
pub use workload::{Ask, Draws, Popularity, Workload};

/// Who finds out that a client was wrong, and what it is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// Servers send on what is not theirs, and the client's image is adjusted, as in LH*.
    #[default]
    Forward,
    /// The client is told which server has these keys, and asks there itself: what the store's own clients do.
    Moved,
    /// The same, and it asks for the whole map of the file each time that it was wrong.
    Refresh,
}

impl Routing {
    /// All of them.
    pub const fn all() -> [Routing; 3] {
        [Routing::Forward, Routing::Moved, Routing::Refresh]
    }

    /// Its name, as it is written on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Routing::Forward => "forward",
            Routing::Moved => "moved",
            Routing::Refresh => "refresh",
        }
    }

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Routing::Forward => "Servers send requests on, and adjust the client's image (LH*)",
            Routing::Moved => "A client is told which server has these keys, and asks there",
            Routing::Refresh => "The same, and it asks for the map of all servers each time",
        }
    }
}

quantities::written_by_name!(Routing);

/// What a server's work takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// How long a server computes for a request, before it answers it, sends it on, or says where to ask.
    pub request: Duration,
    /// How long for each server that there is, when it is asked for the map.
    pub map: Duration,
    /// How long what it says then is, for each server that there is. [B]
    pub map_size: Bytes,
    /// As many servers a client asks for the map at once, and takes what the first says.
    pub asked_for_map: u32,
}

/// Clients that ask, as a table grows.
///
/// ```text
///   rank    0 .. servers - 1           server a is rank a
///           servers .. + clients - 1   client k is rank servers + k
/// ```
///
/// Each client asks for one thing at a time, as its part of the [`Workload`] says, until it has made all its inserts. Then it says goodbye
/// to server 0, which tells the other servers when it has all goodbyes. The server with the token ends the run when it does not split, and
/// server 0 tells the clients.
///
/// ```text
///   messages   2 a request; more where the client was wrong:
///              forward   1 that is sent on, 1 adjustment
///              moved     1 that says where to ask, 1 more request
///              refresh   the same, and as often as it asks several servers at once: 1 that asks for the map, and the map; and, as maps
///                        have to be right everywhere, as many for each split as there are servers
///              2 for each chunk of a split and 2 for who is next; 2 clients + 2 servers at the end
/// ```
///
/// Source: LH*LH paper, sections 2 and 3. What a client does that refreshes is what the Redis Cluster specification allows for, and what valkey-go
/// issue #140 tells of.
#[derive(Clone, Debug)]
pub struct Growing {
    /// How many servers there are room for.
    pub servers: u32,
    /// What clients ask for.
    pub workload: Workload,
    /// Who finds out that a client was wrong.
    pub routing: Routing,
    /// How much is stored under each key. [B]
    pub body: Bytes,
    /// When a server splits.
    pub growth: Growth,
    /// What a server's work takes.
    pub costs: Costs,
    /// What the choices of clients follow from.
    pub seed: u64,
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A client's request.
    Request,
    /// Its answer.
    Reply,
    /// A request that is sent on.
    Forward,
    /// An image adjustment.
    Adjustment,
    /// A client is told where to ask.
    Moved,
    /// A client is to ask again.
    Again,
    /// A client asks for the map.
    MapRequest,
    /// The map.
    Map,
    /// What servers tell each other to split.
    Split,
    /// What a server that has split tells all others, so that maps are right.
    Grown,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 10] = [
        Kind::Request,
        Kind::Reply,
        Kind::Forward,
        Kind::Adjustment,
        Kind::Moved,
        Kind::Again,
        Kind::MapRequest,
        Kind::Map,
        Kind::Split,
        Kind::Grown,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Request => "requests",
            Kind::Reply => "replies",
            Kind::Forward => "requests sent on",
            Kind::Adjustment => "image adjustments",
            Kind::Moved => "MOVED",
            Kind::Again => "to ask again",
            Kind::MapRequest => "requests for the map",
            Kind::Map => "maps",
            Kind::Split => "of splits",
            Kind::Grown => "news of splits",
        }
    }

    /// That of a message; none for those that end the run.
    const fn of(envelope: &Envelope) -> Option<Kind> {
        Some(match envelope {
            Envelope::Request(_) => Kind::Request,
            Envelope::ToServer(ToServer::Forward(_)) => Kind::Forward,
            Envelope::ToServer(_) => Kind::Split,
            Envelope::ToClient(ToClient::Reply { .. }) => Kind::Reply,
            Envelope::ToClient(ToClient::Adjust { .. }) => Kind::Adjustment,
            Envelope::ToClient(ToClient::Again { .. } | ToClient::Gone { .. }) => Kind::Again,
            Envelope::Moved { .. } => Kind::Moved,
            Envelope::MapRequest => Kind::MapRequest,
            Envelope::Map { .. } => Kind::Map,
            Envelope::Grown(_) => Kind::Grown,
            Envelope::Scan(_)
            | Envelope::ToClient(ToClient::Scanned { .. })
            | Envelope::Goodbye
            | Envelope::Over(_)
            | Envelope::Next => return None,
        })
    }
}

/// How many messages of each kind, and how long they are together. [B]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic([(u64, u64); Kind::ALL.len()]);

impl Traffic {
    /// Messages of a kind, and their bytes.
    pub const fn of(&self, kind: Kind) -> (u64, Bytes) {
        let (messages, bytes) = self.0[kind as usize];
        (messages, Bytes(bytes))
    }

    const fn count(&mut self, kind: Kind, size: Bytes) {
        let (messages, bytes) = &mut self.0[kind as usize];
        *messages += 1;
        *bytes += size.0;
    }

    /// Counts those of another rank, too.
    pub fn add(&mut self, other: &Traffic) {
        for ((messages, bytes), (others, their_bytes)) in self.0.iter_mut().zip(other.0) {
            *messages += others;
            *bytes += their_bytes;
        }
    }
}

/// What a rank has when it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrowingEnd {
    /// A server.
    Server(GrowingServer),
    /// A client.
    Client(GrowingClient),
}

/// What a server has when it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowingServer {
    /// How many entries; none, when it did not come into the file.
    pub entries: Option<u64>,
    /// When each of its splits began.
    pub splits: Vec<Time>,
    /// What it counted.
    pub counts: ServerCounts,
    /// How long it computed for requests.
    pub on_requests: Duration,
    /// And for maps.
    pub on_maps: Duration,
    /// What it sent.
    pub traffic: Traffic,
    /// How far the file has grown.
    pub file: Extent,
}

/// What a client has when it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowingClient {
    /// Its requests, in their order.
    pub asked: Vec<Asked>,
    /// How often its image was adjusted, or it was told where to ask.
    pub adjustments: u64,
    /// What it sent.
    pub traffic: Traffic,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// When it was begun.
    pub begun: Time,
    /// How long that took.
    pub took: Duration,
    /// How often it was sent on between servers, or the client was told to ask elsewhere.
    pub detours: u32,
    /// As many maps the client asked for because of it.
    pub maps: u32,
}

impl Growing {
    /// How many ranks it has.
    pub const fn ranks(&self) -> u32 {
        self.servers.saturating_add(self.workload.clients)
    }

    fn check<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let (servers, clients) = (self.servers, self.workload.clients);
        if servers == 0 || clients == 0 {
            return Err(Error::Unfit("a table needs a server and a client".to_string()));
        }
        if endpoint.size() != self.ranks() {
            let size = endpoint.size();
            return Err(Error::Unfit(format!("{servers} servers and {clients} clients do not make {size} ranks")));
        }
        Ok(())
    }
}

impl Program for Growing {
    const NEEDS: Needs = Needs::ANY_SOURCE;
    type Output = GrowingEnd;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<GrowingEnd> {
        self.check(endpoint)?;
        let Rank(rank) = endpoint.rank();
        if rank < self.servers {
            Ok(GrowingEnd::Server(ServerLoop::new(self, endpoint).run().await?))
        } else {
            Ok(GrowingEnd::Client(ClientLoop::new(self, endpoint, rank - self.servers).run().await?))
        }
    }
}

/// Sends, and counts it.
async fn send<E: Endpoint>(endpoint: &E, traffic: &mut Traffic, to: u32, envelope: &Envelope) -> Result<()> {
    let message = envelope.encode().map_err(|error| error.from_rank(endpoint.rank()))?;
    if let Some(kind) = Kind::of(envelope) {
        traffic.count(kind, message.size());
    }
    endpoint.send(Rank(to), message).await
}

/// The hash of all runs: servers get about as many keys each.
const HASH: KeyHash = KeyHash::Uniform;
