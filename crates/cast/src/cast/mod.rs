//! Whole transfers over UDP and IP multicast: the lobby and one round after the other.

mod attended;
mod receive;
mod send;
mod wire;

pub use receive::{ReceiveSettings, Received, receive};
pub use send::{SendSettings, Sent, send};

use std::net::{Ipv4Addr, SocketAddrV4};

use messaging::SEAL;
use quantities::{Bytes, Duration};

use crate::files::FileError;
use crate::lobby::{Announce, Mismatch};
use crate::secret::Secret;

/// The largest datagram that fits into an Ethernet frame. [B]
const DATAGRAM: usize = 1_472;

/// Where sender and receivers meet.
#[derive(Clone, Debug)]
pub struct Meeting {
    /// The group's address, and the port of the lobby; rounds have the port after it.
    pub group: SocketAddrV4,
    /// The address of this machine's interface that is used, and no other.
    pub interface: Ipv4Addr,
    /// How many routers datagrams may cross, and one more.
    pub hops: u32,
    /// What is sealed with; without it, nothing is.
    pub secret: Option<Secret>,
}

/// What happens, for a person who watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A receiver is there, or is back: its name.
    Joined(String),
    /// A round begins with so many receivers.
    Begins(usize),
    /// So many bytes of those that are to be sent in this round were.
    Sent(Bytes, Bytes),
    /// This receiver was lost; it may come back.
    Lost(String),
    /// This receiver does not want it, or cannot go on, for that reason.
    Refused(String, String),
    /// This receiver has everything.
    Done(String),
    /// There is something to be had from that address, and so much of it is here already.
    Found(Announce, Ipv4Addr, Bytes),
    /// So much has come of so much.
    Has(Bytes, Bytes),
    /// The sender is gone, or has left, for that reason.
    SenderLeft(String),
    /// For a receiver: what is sent from that address cannot be read.
    SenderMismatch(Mismatch, Ipv4Addr),
    /// For a sender: somebody at that address says that it cannot read what is sent, since that is so for it. Anybody could say so.
    ReceiverMismatch(Mismatch, Ipv4Addr),
}

/// Who is told what happens, and can end it.
pub trait Watch {
    /// This happens.
    fn see(&mut self, event: Event);
    /// Whether it is to end now.
    fn ends(&self) -> bool;
}

/// Why it did not go on.
#[derive(Debug, thiserror::Error)]
pub enum CastError {
    /// A file or a folder.
    #[error(transparent)]
    File(#[from] FileError),
    /// The network.
    #[error("the network: {0}")]
    Network(String),
    /// The files were not wanted, or could not be kept.
    #[error("{0}")]
    Refused(String),
    /// Nobody came.
    #[error("{0}")]
    Nobody(String),
    /// It was asked to end.
    #[error("interrupted")]
    Interrupted,
}

impl From<endpoint::Error> for CastError {
    fn from(error: endpoint::Error) -> CastError {
        match error {
            endpoint::Error::Stopped => CastError::Interrupted,
            // A file that cannot be read: see `round::send`.
            endpoint::Error::Unfit(what) => CastError::Refused(what),
            other => CastError::Network(other.to_string()),
        }
    }
}

impl From<std::io::Error> for CastError {
    fn from(error: std::io::Error) -> CastError {
        CastError::Network(error.to_string())
    }
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_microseconds(1_000 * milliseconds)
}

/// Rounds use the port after the lobby's.
fn group_of_rounds(lobby: SocketAddrV4) -> SocketAddrV4 {
    SocketAddrV4::new(*lobby.ip(), lobby.port().saturating_add(1))
}

/// How long the messaging's datagrams may be so that they fit when they are sealed, too.
const fn inner(datagram: usize, sealed: bool) -> usize {
    if sealed { datagram - SEAL } else { datagram }
}
