//! What members tell each other.

use std::fmt;
use std::net::SocketAddr;

use programs::linear_hash::{Contents, Request, ScanRequest, ToClientOf};
use serde::{Deserialize, Serialize};

use super::{Asked, Departure, Noted, Placement, Sequenced};

/// What tells a member from others: a random number, chosen when it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity(pub u32);

impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:08x}", self.0)
    }
}

/// What members know of each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Which.
    pub identity: Identity,
    /// Where other members reach it.
    pub address: SocketAddr,
    /// Where clients reach it.
    pub clients: SocketAddr,
    /// What it is there for.
    pub role: Role,
    /// How often it was lost, and rebuilt on another one.
    pub life: u32,
}

/// What a member is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// To host servers.
    #[default]
    Data,
    /// To keep parity of those that do.
    Parity,
    /// To become one of those, if it is lost.
    Spare,
}

impl Role {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Data => "data",
            Role::Parity => "parity",
            Role::Spare => "spare",
        }
    }
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
    /// These are there, this is known of who hosts which server, and these leave, or have left.
    Welcome(Vec<Peer>, Placement, Vec<(Identity, Departure)>),
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
    /// A client's request that one server sends on to another: who has asked asks again if it is lost.
    Forward {
        /// The sender's server.
        from: u32,
        /// The receiver's.
        to: u32,
        /// The request.
        request: Request<C::Operation>,
    },
    /// Anything else that one server tells another, which must not be lost.
    Sequenced(Sequenced<C>),
    /// The sender has taken all sequenced messages of the receiver up to this one, and keeps what came of them.
    Acknowledged(u64),
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
    /// The sender was there before, and is there again, perhaps somewhere else.
    Back(Peer),
    /// These are there.
    There(Vec<Peer>, Vec<(Identity, Departure)>),
    /// So many servers there are to be.
    Resize(Asked),
    /// The sender leaves.
    Leaving(Departure),
    /// This the sender knows of the receiver, who leaves.
    Noted(Noted),
}

impl<C: Contents> Message<C> {
    /// Whether only time is lost with it: it is of a client's request, which the client sends again, or is told again when that comes.
    pub const fn may_be_lost(&self) -> bool {
        match self {
            Message::Request(..)
            | Message::Scan { .. }
            | Message::Forward { .. }
            | Message::ToClient { .. }
            | Message::NotHere(_) => true,
            Message::Join(_)
            | Message::Welcome(..)
            | Message::Member(_)
            | Message::Back(_)
            | Message::There(..)
            | Message::Resize(_)
            | Message::Leaving(_)
            | Message::Noted(_) => false,
            // They are kept until they are acknowledged, but sent again only when members meet again.
            Message::Sequenced(_) | Message::Acknowledged(_) => false,
        }
    }
}
