//! Datagrams over UDP, and to all ranks at once by IP multicast.
//!
//! ```text
//!     Messenger<UdpNetwork>           the endpoint of a program
//!         |  Datagrams
//!     UdpNetwork                      which address is which rank's; strangers are turned away
//!         |  bytes
//!     UdpPort  --- own socket ------  sends everything, so that its address tells the rank; gets what is sent to one
//!              \-- group's socket --  gets what is sent to all
//! ```
//!
//! What is sent is never copied but by the kernel: a call gathers headers and parts of messages from where they lie, up to 64 datagrams
//! at once, which the kernel cuts apart (UDP_SEGMENT) as late as it can. Without a group a broadcast goes to one rank after the
//! other.
//!
//! Linux only.

mod counts;
mod network;
mod pace;
mod port;
mod receiving;
mod sending;

use std::net::{Ipv4Addr, SocketAddrV4};

pub use counts::UdpCounts;
pub use network::{UdpNetwork, UdpSettings};
pub use port::{KernelBuffers, UdpPort, hears_multicast};
pub use receiving::wait_for_any;
pub use sending::Piece;

/// Where datagrams to all ranks are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The group's address and port, the same for all ranks.
    pub address: SocketAddrV4,
    /// By which interface of this machine: the interface's address.
    pub interface: Ipv4Addr,
    /// How many routers they may cross, and one more: 1 stays on the local network.
    pub hops: u32,
    /// Whether other ranks are on this machine, too. Where there are none, a rank does not hear what it sends itself.
    pub others_here: bool,
}
