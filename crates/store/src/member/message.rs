//! What members tell each other.

use std::net::SocketAddr;

use programs::linear_hash::{Contents, Request, ScanRequest, ToClientOf, ToServerOf};
use serde::{Deserialize, Serialize};

use super::Placement;

/// What tells a member from others: a random number, chosen when it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity(pub u32);

/// What members know of each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Which.
    pub identity: Identity,
    /// Where other members reach it.
    pub address: SocketAddr,
    /// Where clients reach it.
    pub clients: SocketAddr,
}

/// What a member tells another.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(
    serialize = "C::Entry: Serialize, C::Operation: Serialize, C::Outcome: Serialize, C::Found: Serialize",
    deserialize = "C::Entry: Deserialize<'de>, C::Operation: Deserialize<'de>, C::Outcome: Deserialize<'de>, C::Found: Deserialize<'de>"
))]
pub enum Message<C: Contents> {
    /// The sender is new, and stands by.
    Join(Peer),
    /// These are there, and this is known of who hosts which server.
    Welcome(Vec<Peer>, Placement),
    /// This one is there.
    Member(Peer),
    /// A client's request for a server that the receiver hosts.
    Request(u32, Request<C::Operation>),
    /// A part of a client's scan, for a server that the receiver hosts, or knows more of than the sender.
    Scan {
        /// Which server.
        server: u32,
        /// What it is asked.
        request: ScanRequest,
        /// How often it was passed on.
        hops: u32,
    },
    /// From one server to another.
    ToServer {
        /// The sender's server.
        from: u32,
        /// The receiver's.
        to: u32,
        /// What it is told.
        message: ToServerOf<C>,
        /// Who hosts which server, with what opens a server and with the token.
        placement: Option<Placement>,
    },
    /// From a server to a client of the receiver.
    ToClient {
        /// Which server; none, when the sender hosts none that could say more.
        server: Option<u32>,
        /// Which client.
        client: u64,
        /// What it is told.
        message: ToClientOf<C>,
    },
    /// The sender does not host this server.
    NotHere(u32),
}
