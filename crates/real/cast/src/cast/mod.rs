//! Whole transfers over UDP and IP multicast: the lobby and one round after another.

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
    /// The address of the interface of this machine that is used; no other is.
    pub interface: Ipv4Addr,
    /// How many routers datagrams may cross, plus one.
    pub hops: u32,
    /// The secret with which datagrams are sealed; without it, none is.
    pub secret: Option<Secret>,
}

/// What happens, for a person who watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A receiver has joined, or is back: its name.
    Joined(String),
    /// A round begins with this many receivers.
    Begins(usize),
    /// How many bytes have been sent, of those to be sent in this round.
    Sent(Bytes, Bytes),
    /// This receiver was lost; it may come back.
    Lost(String),
    /// This receiver does not want the files, or cannot continue, for this reason.
    Refused(String, String),
    /// This receiver has everything.
    Done(String),
    /// The sender at this address offers something, and this much of it has been received already.
    Found(Announce, Ipv4Addr, Bytes),
    /// How much has been received, and of how much.
    Has(Bytes, Bytes),
    /// The sender is gone, or has left, for this reason.
    SenderLeft(String),
    /// For a receiver: datagrams from this address cannot be read.
    SenderMismatch(Mismatch, Ipv4Addr),
    /// For a sender: somebody at this address reports that the sender's datagrams cannot be read. Anybody could claim
    /// so.
    ReceiverMismatch(Mismatch, Ipv4Addr),
}

/// An observer, which can end the transfer.
pub trait Watch {
    /// Reports an event.
    fn see(&mut self, event: Event);
    /// Whether to end now.
    fn ends(&self) -> bool;
}

/// Why a transfer failed.
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
    /// Nobody joined.
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

/// Rounds use the port after that of the lobby.
fn group_of_rounds(lobby: SocketAddrV4) -> SocketAddrV4 {
    SocketAddrV4::new(*lobby.ip(), lobby.port().saturating_add(1))
}

/// How long the messaging's datagrams may be so that they also fit when they are sealed.
const fn inner(datagram: usize, sealed: bool) -> usize {
    if sealed { datagram - SEAL } else { datagram }
}
