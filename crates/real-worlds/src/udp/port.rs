//! The sockets of a rank, and what they are set to.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};

use nix::sys::socket::{setsockopt, sockopt};
use quantities::{Rate, Time};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::pace::Pace;
use super::receiving::Arriving;
use super::{Group, UdpCounts};
use crate::Clock;

/// How much the kernel is asked to hold for each socket, in each direction. [B]
const BUFFER: usize = 4 << 20;

/// Datagrams as bytes: one UDP socket of a rank's own, and where there is a group one for what comes to all.
///
/// What is sent is gathered from where it lies, as many datagrams at once as the kernel takes; what comes is taken in batches. Its calls
/// block.
#[derive(Debug)]
pub struct UdpPort {
    pub(super) own: UdpSocket,
    pub(super) all: Option<UdpSocket>,
    pub(super) group: Option<SocketAddr>,
    address: SocketAddr,
    clock: Clock,
    pub(super) pace: Cell<Option<Pace>>,
    pub(super) counts: Cell<UdpCounts>,
    /// Whether the kernel cuts long pieces into datagrams.
    pub(super) cuts: Cell<bool>,
    pub(super) arriving: RefCell<Arriving>,
}

/// How much the kernel holds for a socket: it may be less than was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelBuffers {
    /// Of what is to be sent. [B]
    pub send: usize,
    /// Of what has come. [B]
    pub receive: usize,
}

impl UdpPort {
    /// A port on `socket`, which is bound, and on `group` if there is one. What is longer than `longest` bytes can't be received.
    ///
    /// # Errors
    /// What the system says when a socket can't be had or set, or the group not be joined.
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

    /// Sends no faster than at `rate`, counted in what datagrams take of an Ethernet.
    pub fn limit(&self, rate: Option<Rate>) {
        self.pace.set(rate.map(Pace::new));
    }

    /// Holds no more than about so many bytes back of what is to be sent, as the kernel counts them: as long as the interface has not
    /// sent as much, the next call waits. What is in the queue of the interface counts as held back.
    ///
    /// # Errors
    /// What the system says.
    pub fn hold_back_at_most(&self, bytes: usize) -> io::Result<()> {
        // The kernel takes twice of what it is asked for.
        SockRef::from(&self.own).set_send_buffer_size(bytes / 2)
    }

    /// The address of its own socket.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the group, if it has one.
    pub const fn group(&self) -> Option<SocketAddr> {
        self.group
    }

    /// What time it is.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// What went through it.
    pub fn counts(&self) -> UdpCounts {
        self.counts.get()
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut UdpCounts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }

    /// How much the kernel holds for its own socket.
    ///
    /// # Errors
    /// What the system says.
    pub fn buffers(&self) -> io::Result<KernelBuffers> {
        let socket = SockRef::from(&self.own);
        Ok(KernelBuffers { send: socket.send_buffer_size()?, receive: socket.recv_buffer_size()? })
    }
}

/// Calls do not block by themselves, buffers are large, and what goes wrong below is told.
fn prepare(socket: &UdpSocket) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    let large = SockRef::from(socket);
    // Who may have more than the system's limit gets it; others get as much as the limit is.
    if setsockopt(socket, sockopt::RcvBufForce, &BUFFER).is_err() {
        large.set_recv_buffer_size(BUFFER)?;
    }
    if setsockopt(socket, sockopt::SndBufForce, &BUFFER).is_err() {
        large.set_send_buffer_size(BUFFER)?;
    }
    if socket.local_addr()?.is_ipv4() {
        // Without it a full queue of the interface would drop datagrams and say nothing.
        setsockopt(socket, sockopt::Ipv4RecvErr, &true)?;
    }
    Ok(())
}

fn send_by(socket: &UdpSocket, group: Group) -> io::Result<()> {
    let socket = SockRef::from(socket);
    socket.set_multicast_if_v4(&group.interface)?;
    socket.set_multicast_loop_v4(group.others_here)?;
    socket.set_multicast_ttl_v4(group.hops)
}

/// A socket that gets what comes to the group, and nothing else.
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

/// Whether this machine sends to `group` on `interface` and hears itself: some containers let nobody do so.
///
/// # Errors
/// What the system says, or that nothing came within a second.
pub fn hears_multicast(group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
    let socket = UdpSocket::bind(SocketAddrV4::new(interface, 0))?;
    let address = SocketAddrV4::new(group, socket.local_addr()?.port());
    let group = Group { address, interface, hops: 1, others_here: true };
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
