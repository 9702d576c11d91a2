//! Receiving datagrams from the kernel.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, recvmsg};
use nix::sys::time::TimeSpec;
use quantities::Time;

use super::UdpPort;

/// How many datagrams are received at once.
const BATCH: usize = 32;
/// How many batches are received before what arrived is processed.
const MOST_BATCHES: usize = 8;

/// Buffers for incoming datagrams.
#[derive(Debug)]
pub(super) struct Arriving {
    room: Vec<u8>,
    longest: usize,
}

impl Arriving {
    /// Buffers for datagrams of up to `longest` bytes, plus one byte that shows which are longer.
    pub(super) fn new(longest: usize) -> Arriving {
        Arriving { room: vec![0; (longest + 1) * BATCH], longest }
    }
}

impl UdpPort {
    /// Waits until something has arrived or the time is `until`; passes everything that is there to `take`, with the
    /// address of its sender.
    ///
    /// # Errors
    /// Errors of the system when nothing can be received any more.
    pub fn receive(&self, until: Option<Time>, mut take: impl FnMut(SocketAddr, &[u8])) -> io::Result<()> {
        let [own, all] = self.wait(until)?;
        let mut arriving = self.arriving.borrow_mut();
        if let (true, Some(socket)) = (all, &self.all) {
            self.empty(socket, &mut arriving, &mut take)?;
        }
        if own {
            self.empty(&self.own, &mut arriving, &mut take)?;
        }
        Ok(())
    }

    /// Whether something is at its own socket, and at the group's.
    fn wait(&self, until: Option<Time>) -> io::Result<[bool; 2]> {
        let mut sockets = [watched(&self.own), watched(self.all.as_ref().unwrap_or(&self.own))];
        let count = 1 + usize::from(self.all.is_some());
        let came = wait(&mut sockets[..count], self.time_until(until))?;
        if came && has(&sockets[0], PollFlags::POLLERR) {
            forget_errors(&self.own);
        }
        Ok([&sockets[0], &sockets[count - 1]].map(|socket| came && has(socket, PollFlags::POLLIN)))
    }

    fn time_until(&self, until: Option<Time>) -> Option<TimeSpec> {
        let until = until?;
        // The system need not be asked for the time if there is no waiting.
        let now = if until == Time::ZERO { Time::ZERO } else { self.now() };
        let nanoseconds = if until > now { until.since(now).picoseconds().div_ceil(1_000) } else { 0 };
        let part = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        Some(TimeSpec::new(part(nanoseconds / 1_000_000_000), part(nanoseconds % 1_000_000_000)))
    }

    fn empty(
        &self,
        socket: &UdpSocket,
        arriving: &mut Arriving,
        take: &mut impl FnMut(SocketAddr, &[u8]),
    ) -> io::Result<()> {
        for _ in 0..MOST_BATCHES {
            if self.batch(socket, arriving, take)? < BATCH {
                break;
            }
        }
        Ok(())
    }

    /// Receives as many datagrams as are there and fit into a batch.
    fn batch(
        &self,
        socket: &UdpSocket,
        arriving: &mut Arriving,
        take: &mut impl FnMut(SocketAddr, &[u8]),
    ) -> io::Result<usize> {
        let longest = arriving.longest;
        let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(BATCH, None);
        let mut rooms = arriving.room.chunks_exact_mut(longest + 1);
        let mut places: [[IoSliceMut<'_>; 1]; BATCH] =
            std::array::from_fn(|_| [IoSliceMut::new(rooms.next().unwrap_or_default())]);
        let came = match recvmmsg(socket.as_raw_fd(), &mut headers, places.iter_mut(), MsgFlags::MSG_DONTWAIT, None) {
            Ok(came) => came,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(0),
            Err(Errno::ECONNREFUSED | Errno::EHOSTUNREACH | Errno::ENETUNREACH) => {
                forget_errors(socket);
                return Ok(0);
            }
            Err(error) => return Err(error.into()),
        };
        let mut count = 0;
        let mut too_long = 0;
        for message in came {
            count += 1;
            match (message.address.as_ref().and_then(socket_address), message.iovs().next()) {
                (Some(from), Some(bytes)) if message.bytes <= longest => take(from, bytes),
                (Some(from), None) => take(from, &[]),
                _ => too_long += 1,
            }
        }
        self.count(|counts| {
            counts.received += count as u64;
            counts.unreadable += too_long;
        });
        Ok(count)
    }
}

/// Waits until something has arrived at one of `ports` or the time is `until`; returns the indices of those where it
/// has. All have the same clock.
///
/// # Errors
/// Errors of the system.
pub fn wait_for_any(ports: &[&UdpPort], until: Option<Time>) -> io::Result<Vec<usize>> {
    let Some(first) = ports.first() else { return Ok(Vec::new()) };
    let numbered = || ports.iter().enumerate();
    let own = numbered().map(|(place, port)| (place, &port.own));
    let all = numbered().filter_map(|(place, port)| Some((place, port.all.as_ref()?)));
    let (places, mut sockets): (Vec<usize>, Vec<PollFd<'_>>) =
        own.chain(all).map(|(place, socket)| (place, watched(socket))).unzip();
    if !wait(&mut sockets, first.time_until(until))? {
        return Ok(Vec::new());
    }
    let any = PollFlags::POLLIN | PollFlags::POLLERR;
    let ready = places.into_iter().zip(&sockets).filter(|(_, socket)| has(socket, any));
    let mut ready: Vec<usize> = ready.map(|(place, _)| place).collect();
    ready.sort_unstable();
    ready.dedup();
    Ok(ready)
}

fn watched(socket: &UdpSocket) -> PollFd<'_> {
    PollFd::new(socket.as_fd(), PollFlags::POLLIN)
}

fn has(socket: &PollFd<'_>, any: PollFlags) -> bool {
    socket.revents().is_some_and(|events| events.intersects(any))
}

/// Waits for one of them; returns whether something arrived.
fn wait(sockets: &mut [PollFd<'_>], length: Option<TimeSpec>) -> io::Result<bool> {
    match ppoll(sockets, length, None) {
        Ok(came) => Ok(came > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    if let Some(four) = address.as_sockaddr_in() {
        return Some(SocketAddr::V4(SocketAddrV4::new(four.ip(), four.port())));
    }
    address.as_sockaddr_in6().map(|six| SocketAddr::V6(SocketAddrV6::from(*six)))
}

/// Drops the kernel's errors about datagrams that did not arrive: these are sent again anyway.
pub(super) fn forget_errors(socket: &UdpSocket) {
    while recvmsg::<()>(socket.as_raw_fd(), &mut [], None, MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT).is_ok() {}
    // The last one is kept twice.
    let _ = socket.take_error();
}
