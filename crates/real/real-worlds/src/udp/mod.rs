//! Datagrams over UDP, and to all ranks at once by IP multicast.
//!
//! ```text
//!     Messenger<UdpNetwork>           the endpoint of a program
//!         |  Datagrams
//!     UdpNetwork                      maps addresses to ranks; turns strangers away
//!         |  bytes
//!     UdpPort  --- own socket ------  sends everything, so that its address tells the rank; gets what is sent to one
//!              \-- group's socket --  gets what is sent to all
//! ```
//!
//! Only the kernel copies what is sent: a call gathers headers and parts of messages from where they are, up to 64
//! datagrams at once, which the kernel splits (UDP_SEGMENT) as late as it can. Without a group a broadcast is sent to
//! one rank after another.
//!
//! Linux only.

mod network;
mod pace;
mod port;
mod receiving;
mod sending;

use std::net::{Ipv4Addr, SocketAddrV4};

pub use network::{UdpNetwork, UdpSettings};
pub use port::{KernelBuffers, UdpCounts, UdpPort, receives_multicast};
pub use receiving::wait_for_any;
pub use sending::Piece;

/// The destination of datagrams to all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The group's address and port, the same for all ranks.
    pub address: SocketAddrV4,
    /// The address of the interface of this machine that is used.
    pub interface: Ipv4Addr,
    /// How many routers they may cross, plus one: 1 stays on the local network.
    pub hops: u32,
    /// Whether other ranks are on this machine, too. If not, a rank does not receive what it sends itself.
    pub has_local_peers: bool,
}
