//! Clients that keep making requests while a table grows from one server to many: the servers and clients of the store,
//! without sockets.

mod client;
mod follower;
mod server;
mod workload;

use endpoint::{Endpoint, Error, Needs, Program, Result};
use quantities::{Bytes, Duration, Rank, Time};

use super::{Envelope, Extent, Growth, KeyHash, ServerCounts, ToClient, ToServer};
use client::ClientLoop;
pub use follower::{Follower, FollowerAction};
use server::ServerLoop;
pub use workload::{Ask, Draws, Popularity, Workload};

/// What happens when a client asks the wrong server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// Servers forward requests that are not for them, and the client's image is adjusted, as in LH*.
    #[default]
    Forward,
    /// The client is told which server has the key, and asks there itself, as the store's own clients do.
    Moved,
    /// The same, and the client also asks for the map of the whole file each time.
    Refresh,
}

impl Routing {
    /// All of them.
    pub const fn all() -> [Routing; 3] {
        [Routing::Forward, Routing::Moved, Routing::Refresh]
    }

    /// Its name on the command line.
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
            Routing::Forward => "Servers forward requests, and adjust the client's image (LH*)",
            Routing::Moved => "A client is told which server has these keys, and asks there",
            Routing::Refresh => "The same, and it asks for the map of all servers each time",
        }
    }
}

quantities::written_by_name!(Routing);

/// The costs of a server's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// How long a server computes for a request, before it answers it, forwards it, or redirects the client.
    pub request: Duration,
    /// How long it computes for a request for the map, per server in the file.
    pub map: Duration,
    /// The size of the map, per server in the file. [B]
    pub map_size: Bytes,
    /// How many servers a client asks for the map at once; it takes the first answer.
    pub asked_for_map: u32,
}

/// Clients that make requests while a table grows.
///
/// ```text
///   rank    0 .. servers - 1           server a is rank a
///           servers .. + clients - 1   client k is rank servers + k
/// ```
///
/// Each client makes one request at a time, following its part of the [`Workload`], until it has made all its inserts.
/// Then it says goodbye to server 0, which tells the other servers when it has all goodbyes. The server with the token
/// ends the run when it is not splitting, and server 0 tells the clients.
///
/// ```text
///   messages   2 per request; more if the client asked the wrong server:
///              forward   1 forwarded request, 1 adjustment
///              moved     1 redirection, 1 more request
///              refresh   the same, and for each server that it asks for the map: 1 request and 1 map; and, as maps have to be right
///                        everywhere, as many for each split as there are servers
///              2 for each chunk of a split and 2 to choose the next; 2 clients + 2 servers at the end
/// ```
///
/// Source: LH*LH paper, sections 2 and 3. The Redis Cluster specification allows a client to refresh like this, and
/// valkey-go issue #140 describes one that does.
#[derive(Clone, Debug)]
pub struct Growing {
    /// The most servers.
    pub servers: u32,
    /// The clients' requests.
    pub workload: Workload,
    /// What happens when a client asks the wrong server.
    pub routing: Routing,
    /// The size of the value of each key. [B]
    pub body: Bytes,
    /// When a server splits.
    pub growth: Growth,
    /// The costs of a server's work.
    pub costs: Costs,
    /// The seed of the clients' random choices.
    pub seed: u64,
}

/// The purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A client's request.
    Request,
    /// Its answer.
    Reply,
    /// A forwarded request.
    Forward,
    /// An image adjustment.
    Adjustment,
    /// A redirection of a client.
    Moved,
    /// A client must repeat its request.
    Again,
    /// A client's request for the map.
    MapRequest,
    /// The map.
    Map,
    /// A message between servers for a split.
    Split,
    /// The announcement of a split to all other servers, so that maps are right.
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

    /// Its name.
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

    /// The purpose of a message; none for those that end the run.
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

/// How many messages there are of each kind, and their total size. [B]
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

    /// Adds the messages of another rank.
    pub fn add(&mut self, other: &Traffic) {
        for ((messages, bytes), (others, their_bytes)) in self.0.iter_mut().zip(other.0) {
            *messages += others;
            *bytes += their_bytes;
        }
    }
}

/// The results of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrowingEnd {
    /// A server.
    Server(GrowingServer),
    /// A client.
    Client(GrowingClient),
}

/// The results of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowingServer {
    /// How many entries it has; none if it did not join the file.
    pub entries: Option<u64>,
    /// When each of its splits began.
    pub splits: Vec<Time>,
    /// Its counters.
    pub counts: ServerCounts,
    /// How long it computed for requests.
    pub on_requests: Duration,
    /// How long it computed for maps.
    pub on_maps: Duration,
    /// The messages that it sent.
    pub traffic: Traffic,
    /// How far the file has grown.
    pub file: Extent,
}

/// The results of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowingClient {
    /// Its requests, in order.
    pub asked: Vec<Asked>,
    /// How often its image was adjusted, or it was redirected.
    pub adjustments: u64,
    /// The messages that it sent.
    pub traffic: Traffic,
}

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// When it began.
    pub begun: Time,
    /// How long it took.
    pub took: Duration,
    /// How often it was forwarded between servers, or the client was redirected.
    pub detours: u32,
    /// How many maps the client requested because of it.
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

/// Sends and counts a message.
async fn send<E: Endpoint>(endpoint: &E, traffic: &mut Traffic, to: u32, envelope: &Envelope) -> Result<()> {
    let message = envelope.encode().map_err(|error| error.from_rank(endpoint.rank()))?;
    if let Some(kind) = Kind::of(envelope) {
        traffic.count(kind, message.size());
    }
    endpoint.send(Rank(to), message).await
}

/// The hash function of all runs: servers get about the same number of keys.
const HASH: KeyHash = KeyHash::Uniform;
