//! The sockets of a rank, their options and counters.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};

use nix::sys::socket::{setsockopt, sockopt};
use quantities::{Rate, Time};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::Group;
use super::pace::Pace;
use super::receiving::Arriving;
use crate::Clock;

/// How much the kernel is asked to buffer for each socket, in each direction. [B]
const BUFFER: usize = 4 << 20;

/// The counters of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpCounts {
    /// Datagrams handed to the kernel.
    pub datagrams: u64,
    /// System calls that handed them over.
    pub calls: u64,
    /// Bytes of headers handed to the kernel. [B]
    pub headers: u64,
    /// Bytes of payloads handed to the kernel, which makes the only copy of them; zeros in place of what is only a size
    /// are included. [B]
    pub payloads: u64,
    /// Datagrams that arrived.
    pub received: u64,
    /// How often the kernel had no room and had to be waited for.
    pub waits: u64,
    /// Datagrams that the system refused to send at the time; to the other ranks they are lost.
    pub refused: u64,
    /// Datagrams from addresses that belong to no rank.
    pub strangers: u64,
    /// Datagrams from ranks that could not be read.
    pub unreadable: u64,
}

/// Datagrams as bytes: a rank's own UDP socket and, if there is a group, one for what is sent to all.
///
/// What is sent is gathered from where it is, as many datagrams at once as the kernel takes; what arrives is received
/// in batches. Calls block.
#[derive(Debug)]
pub struct UdpPort {
    pub(super) own: UdpSocket,
    pub(super) all: Option<UdpSocket>,
    pub(super) group: Option<SocketAddr>,
    address: SocketAddr,
    clock: Clock,
    pub(super) pace: Cell<Option<Pace>>,
    pub(super) counts: Cell<UdpCounts>,
    /// Whether the kernel splits long pieces into datagrams.
    pub(super) cuts: Cell<bool>,
    pub(super) arriving: RefCell<Arriving>,
}

/// How much the kernel buffers for a socket, which may be less than was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelBuffers {
    /// For sending. [B]
    pub send: usize,
    /// For receiving. [B]
    pub receive: usize,
}

impl UdpPort {
    /// A port on `socket`, which is bound, and on `group` if there is one. Datagrams longer than `longest` bytes can't
    /// be received.
    ///
    /// # Errors
    /// Errors of the system when a socket can't be created or configured, or the group can't be joined.
    pub fn new(socket: UdpSocket, group: Option<Group>, longest: usize, clock: Clock) -> io::Result<UdpPort> {
        let address = socket.local_addr()?;
        prepare(&socket)?;
        let all = match group {
            Some(group) => {
                send_by(&socket, group)?;
                Some(join(group)?)
            }
            None => None,
        };
        Ok(UdpPort {
            own: socket,
            all,
            group: group.map(|group| SocketAddr::V4(group.address)),
            address,
            clock,
            pace: Cell::new(None),
            counts: Cell::new(UdpCounts::default()),
            cuts: Cell::new(true),
            arriving: RefCell::new(Arriving::new(longest)),
        })
    }

    /// Limits sending to `rate`, counting what datagrams take on an Ethernet.
    pub fn limit(&self, rate: Option<Rate>) {
        self.pace.set(rate.map(Pace::new));
    }

    /// Limits what is waiting to be sent to about `bytes`, as the kernel counts: until the interface has sent enough,
    /// the next call waits. What is in the queue of the interface counts as waiting.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn limit_backlog(&self, bytes: usize) -> io::Result<()> {
        // The kernel takes twice what it is asked for.
        SockRef::from(&self.own).set_send_buffer_size(bytes / 2)
    }

    /// The address of its own socket.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the group, if there is one.
    pub const fn group(&self) -> Option<SocketAddr> {
        self.group
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Its counters.
    pub fn counts(&self) -> UdpCounts {
        self.counts.get()
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut UdpCounts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }

    /// How much the kernel buffers for its own socket.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn buffers(&self) -> io::Result<KernelBuffers> {
        let socket = SockRef::from(&self.own);
        Ok(KernelBuffers { send: socket.send_buffer_size()?, receive: socket.recv_buffer_size()? })
    }
}

/// Makes the socket non-blocking, with large buffers, and has errors of lower layers reported.
fn prepare(socket: &UdpSocket) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    let large = SockRef::from(socket);
    // A privileged process may exceed the system's limit; others get as much as the limit allows.
    if setsockopt(socket, sockopt::RcvBufForce, &BUFFER).is_err() {
        large.set_recv_buffer_size(BUFFER)?;
    }
    if setsockopt(socket, sockopt::SndBufForce, &BUFFER).is_err() {
        large.set_send_buffer_size(BUFFER)?;
    }
    if socket.local_addr()?.is_ipv4() {
        // Otherwise a full queue of the interface would drop datagrams silently.
        setsockopt(socket, sockopt::Ipv4RecvErr, &true)?;
    }
    Ok(())
}

fn send_by(socket: &UdpSocket, group: Group) -> io::Result<()> {
    let socket = SockRef::from(socket);
    socket.set_multicast_if_v4(&group.interface)?;
    socket.set_multicast_loop_v4(group.has_local_peers)?;
    socket.set_multicast_ttl_v4(group.hops)
}

/// A socket that receives what is sent to the group, and nothing else.
fn join(group: Group) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::V4(group.address).into())?;
    socket.set_multicast_all_v4(false)?;
    socket.join_multicast_v4(group.address.ip(), &group.interface)?;
    let socket = UdpSocket::from(socket);
    prepare(&socket)?;
    Ok(socket)
}

/// Whether this machine can send to `group` on `interface` and hear itself, which some containers forbid.
///
/// # Errors
/// Errors of the system, or that nothing arrived within a second.
pub fn receives_multicast(group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
    let socket = UdpSocket::bind(SocketAddrV4::new(interface, 0))?;
    let address = SocketAddrV4::new(group, socket.local_addr()?.port());
    let group = Group { address, interface, hops: 1, has_local_peers: true };
    let clock = Clock::starting_now();
    let port = UdpPort::new(socket, Some(group), 16, clock)?;
    port.send_all(SocketAddr::V4(address), &[super::Piece { header: b"heard?", payload: &[], zeros: 0 }])?;
    let until = clock.now() + quantities::Duration::from_microseconds(1_000_000);
    let mut heard = false;
    while !heard && clock.now() < until {
        port.receive(Some(until), |from, bytes| heard |= from == port.address() && bytes == b"heard?")?;
    }
    if heard { Ok(()) } else { Err(io::Error::new(io::ErrorKind::TimedOut, "nothing came back")) }
}
