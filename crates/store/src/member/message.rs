//! The messages between members.

use std::fmt;
use std::net::SocketAddr;

use linear_hash::{Contents, Request, ScanRequest, ToClient, ToClientOf};
use serde::{Deserialize, Serialize};

use super::{Departure, Noted, Placement, ResizeRequest, Sequenced, SharedSettings};

/// The identity of a member: a random number, chosen when it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity(pub u32);

impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:08x}", self.0)
    }
}

/// What members know about each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// The member.
    pub identity: Identity,
    /// Its address for other members.
    pub address: SocketAddr,
    /// Its address for clients.
    pub clients: SocketAddr,
    /// Its role.
    pub role: Role,
    /// How often it has been lost, and rebuilt on a spare.
    pub life: u32,
}

/// The role of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// To host servers.
    #[default]
    Data,
    /// To keep parity of the members that host servers.
    Parity,
    /// To become such a member, if one is lost.
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

/// A client's request, or the reply to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The request.
    Request {
        /// The client.
        client: u64,
        /// The number of its request.
        number: u64,
    },
    /// The reply.
    Reply {
        /// The client.
        client: u64,
        /// The number of its request.
        number: u64,
    },
}

/// A message from one member to another.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(
    serialize = "C::Entry: Serialize, C::Operation: Serialize, C::Outcome: Serialize, C::Found: Serialize",
    deserialize = "C::Entry: Deserialize<'de>, C::Operation: Deserialize<'de>, \
                   C::Outcome: Deserialize<'de>, C::Found: Deserialize<'de>"
))]
pub enum Message<C: Contents> {
    /// The sender is new, and asks to be admitted with these settings.
    Join(Peer, SharedSettings),
    /// The pool's members, the hosts of servers as far as known, and the departures.
    Welcome(Vec<Peer>, Placement, Vec<(Identity, Departure)>),
    /// This member has joined.
    Member(Peer),
    /// A client's request for a server that the receiver hosts.
    Request(u32, Request<C::Operation>),
    /// A part of a client's scan, for a server that the receiver hosts, or knows more about than the sender.
    Scan {
        /// The server.
        server: u32,
        /// The request.
        request: ScanRequest,
        /// How often it has been passed on.
        hops: u32,
    },
    /// A client's request that one server forwards to another: if it is lost, the client sends it again.
    Forward {
        /// The sender's server.
        from: u32,
        /// The receiver's.
        to: u32,
        /// The request.
        request: Request<C::Operation>,
    },
    /// Any other message between servers: these must not be lost.
    Sequenced(Sequenced<C>),
    /// The sender has taken all sequenced messages of the receiver up to this one, and keeps their effects.
    Acknowledged(u64),
    /// From a server to a client of the receiver.
    ToClient {
        /// The answering server; none, if the sender hosts none that could say more.
        server: Option<u32>,
        /// The client.
        client: u64,
        /// The message to it.
        message: ToClientOf<C>,
    },
    /// The sender does not host this server.
    NotHere(u32),
    /// The sender is back, perhaps at another address or with other settings.
    Back(Peer, SharedSettings),
    /// The members there are, and departures.
    There(Vec<Peer>, Vec<(Identity, Departure)>),
    /// The number of servers that the pool should have.
    Resize(ResizeRequest),
    /// The sender is leaving.
    Leaving(Departure),
    /// What the sender has noted of the receiver's departure.
    Noted(Noted),
    /// The sender's settings, which differ from the receiver's: it is not admitted, if it has asked for that.
    Differs(SharedSettings),
}

impl<C: Contents> Message<C> {
    /// The client's request that it carries, if it does, and the server that it is for.
    pub const fn request(&self) -> Option<(u32, &Request<C::Operation>)> {
        match self {
            Message::Request(server, request) | Message::Forward { to: server, request, .. } => {
                Some((*server, request))
            }
            _ => None,
        }
    }

    /// The same request, mutable.
    pub const fn request_mut(&mut self) -> Option<&mut Request<C::Operation>> {
        match self {
            Message::Request(_, request) | Message::Forward { request, .. } => Some(request),
            _ => None,
        }
    }

    /// The request or the reply that it carries, if it carries one.
    pub(crate) const fn subject(&self) -> Option<Subject> {
        match self {
            Message::ToClient { client, message: ToClient::Reply { number, .. }, .. } => {
                Some(Subject::Reply { client: *client, number: *number })
            }
            message => match message.request() {
                Some((_, Request { client, number, .. })) => {
                    Some(Subject::Request { client: *client, number: *number })
                }
                None => None,
            },
        }
    }

    /// Whether losing it costs only time: it belongs to a client's request, which the client sends again, or it is
    /// repeated when that arrives.
    pub const fn may_be_lost(&self) -> bool {
        match self {
            Message::Request(..)
            | Message::Scan { .. }
            | Message::Forward { .. }
            | Message::ToClient { .. }
            | Message::NotHere(_) => true,
            Message::Join(..)
            | Message::Welcome(..)
            | Message::Member(_)
            | Message::Back(..)
            | Message::There(..)
            | Message::Resize(_)
            | Message::Leaving(_)
            | Message::Noted(_)
            | Message::Differs(_) => false,
            // They are kept until they are acknowledged, but sent again only when members meet again.
            Message::Sequenced(_) | Message::Acknowledged(_) => false,
        }
    }
}
