//! Handing datagrams to the kernel.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::time;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg};

use super::UdpPort;
use super::receiving::forget_errors;

/// The most datagrams into which the kernel splits one piece.
const MOST_IN_A_BURST: usize = 64;
/// The most bytes of such a piece. [B]
const MOST_BYTES: usize = 65_000;
/// How long to wait for an interface to make room before trying again.
const ROOM: time::Duration = time::Duration::from_micros(50);
/// How many times to try a call that reported an error of an earlier datagram.
const TRIES: usize = 8;
static ZEROS: [u8; 65_536] = [0; 65_536];

/// A datagram in parts, each where it is in memory.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// What comes first.
    pub header: &'a [u8],
    /// What follows.
    pub payload: &'a [u8],
    /// How many zeros follow at the end, in place of what is only a size.
    pub zeros: usize,
}

impl<'a> Piece<'a> {
    fn size(&self) -> usize {
        self.header.len() + self.payload.len() + self.zeros
    }

    fn parts(&self) -> impl Iterator<Item = IoSlice<'a>> + use<'a> {
        // No datagram is longer than all these zeros.
        let zeros = ZEROS.get(..self.zeros).unwrap_or(&ZEROS);
        [self.header, self.payload, zeros].into_iter().filter(|part| !part.is_empty()).map(IoSlice::new)
    }
}

/// The result of a call.
enum SendProgress {
    Over,
    /// The kernel does not split pieces for this destination.
    NotCut,
}

impl UdpPort {
    /// Sends `pieces` to `to`, each as a datagram. Waits while the kernel has no room, or to keep to the rate.
    ///
    /// # Errors
    /// Errors of the system when nothing can be sent any more. An unreachable receiver is not an error.
    pub fn send_all(&self, to: SocketAddr, pieces: &[Piece<'_>]) -> io::Result<()> {
        let address = SockaddrStorage::from(to);
        let mut rest = pieces;
        while !rest.is_empty() {
            let (burst, after) = rest.split_at(self.burst(rest));
            self.keep_pace(burst);
            match self.hand_over(&address, burst)? {
                SendProgress::Over => rest = after,
                SendProgress::NotCut => self.cuts.set(false),
            }
        }
        Ok(())
    }

    /// How many of `pieces` make a burst that can be handed over at once: all must have the size of the first, and only
    /// the last may be shorter.
    fn burst(&self, pieces: &[Piece<'_>]) -> usize {
        let Some(size) = pieces.first().map(Piece::size) else { return 0 };
        if !self.cuts.get() || size == 0 {
            return 1;
        }
        let paced = self.pace.get().map_or(usize::MAX, |pace| pace.burst(size));
        let most = MOST_IN_A_BURST.min(MOST_BYTES / size).min(paced).max(1);
        let same = pieces.iter().take(most).take_while(|piece| piece.size() == size).count();
        let shorter = pieces.get(same).is_some_and(|piece| (1..size).contains(&piece.size()));
        if same < most && shorter { same + 1 } else { same }
    }

    fn keep_pace(&self, pieces: &[Piece<'_>]) {
        let Some(mut pace) = self.pace.get() else { return };
        let at = pace.send(self.now(), pieces.iter().map(Piece::size));
        self.pace.set(Some(pace));
        let now = self.now();
        if at > now {
            std::thread::sleep(time::Duration::from_nanos(at.since(now).picoseconds() / 1_000));
        }
    }

    fn hand_over(&self, to: &SockaddrStorage, pieces: &[Piece<'_>]) -> io::Result<SendProgress> {
        let parts: Vec<IoSlice<'_>> = pieces.iter().flat_map(Piece::parts).collect();
        // A size below MOST_BYTES fits.
        let size = pieces.first().and_then(|piece| u16::try_from(piece.size()).ok()).unwrap_or(u16::MAX);
        let cut = [ControlMessage::UdpGsoSegments(&size)];
        let cut = if pieces.len() > 1 { &cut[..] } else { &[] };
        for _ in 0..TRIES {
            let sent = loop {
                match sendmsg(self.own.as_raw_fd(), &parts, cut, MsgFlags::empty(), Some(to)) {
                    Err(full @ (Errno::EAGAIN | Errno::ENOBUFS)) => self.wait_for_room(full)?,
                    Err(Errno::EINTR) => {}
                    other => break other,
                }
            };
            match sent {
                Ok(_) => {
                    self.handed_over(pieces);
                    return Ok(SendProgress::Over);
                }
                Err(Errno::EIO | Errno::EINVAL | Errno::EMSGSIZE | Errno::EOPNOTSUPP) if pieces.len() > 1 => {
                    return Ok(SendProgress::NotCut);
                }
                // An error of an earlier datagram: its receiver was unreachable.
                Err(Errno::ECONNREFUSED | Errno::EHOSTUNREACH | Errno::ENETUNREACH | Errno::EPERM) => {
                    forget_errors(&self.own);
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.count(|counts| counts.refused += pieces.len() as u64);
        Ok(SendProgress::Over)
    }

    fn handed_over(&self, pieces: &[Piece<'_>]) {
        self.count(|counts| {
            counts.calls += 1;
            counts.datagrams += pieces.len() as u64;
            counts.headers += pieces.iter().map(|piece| piece.header.len() as u64).sum::<u64>();
            counts.payloads += pieces.iter().map(|piece| (piece.payload.len() + piece.zeros) as u64).sum::<u64>();
        });
    }

    /// Waits until the socket's buffer has room; a full queue of the interface does not report when it has.
    fn wait_for_room(&self, full: Errno) -> io::Result<()> {
        self.count(|counts| counts.waits += 1);
        if full == Errno::ENOBUFS {
            std::thread::sleep(ROOM);
            return Ok(());
        }
        let mut sockets = [PollFd::new(self.own.as_fd(), PollFlags::POLLOUT)];
        match poll(&mut sockets, PollTimeout::from(100_u8)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        if sockets[0].revents().is_some_and(|events| events.contains(PollFlags::POLLERR)) {
            forget_errors(&self.own);
        }
        Ok(())
    }
}
