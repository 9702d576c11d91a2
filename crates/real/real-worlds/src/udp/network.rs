//! Ranks on UDP.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};

use bytes::Bytes;
use endpoint::{Error, Message, Result};
use messaging::{Datagram, Datagrams, Destination};
use quantities::{Rank, Rate, Time};

use super::{Group, Piece, UdpCounts, UdpPort};
use crate::Clock;

/// The settings of a [`UdpNetwork`].
#[derive(Debug)]
pub struct UdpSettings {
    /// This rank.
    pub me: Rank,
    /// The address of each rank's own socket, as others see it. Ranks that this one does not communicate with may be
    /// absent: where one sends to many, the many know only the one.
    pub ranks: Vec<Option<SocketAddr>>,
    /// This rank's own socket, bound to the address of the interface to be used.
    pub socket: UdpSocket,
    /// Where broadcasts are sent; if none, they are sent to one rank after another.
    pub group: Option<Group>,
    /// The highest rate, counting what datagrams take on an Ethernet; unlimited if none.
    pub rate: Option<Rate>,
    /// The longest datagram that can be received: [`messaging::Parameters::datagram`]. [B]
    pub longest: usize,
    /// The clock.
    pub clock: Clock,
}

/// A rank's network of datagrams over UDP. Its calls block, so its futures are ready when first polled.
#[derive(Debug)]
pub struct UdpNetwork {
    me: Rank,
    ranks: Vec<Option<SocketAddr>>,
    by_address: BTreeMap<SocketAddr, Rank>,
    port: UdpPort,
}

impl UdpNetwork {
    /// A rank on the network.
    ///
    /// # Errors
    /// [`Error::Network`], from [`UdpPort::new`].
    pub fn new(settings: UdpSettings) -> Result<UdpNetwork> {
        let UdpSettings { me, ranks, socket, group, rate, longest, clock } = settings;
        let port = UdpPort::new(socket, group, longest, clock).map_err(failed)?;
        port.limit(rate);
        let addresses = (0..).map(Rank).zip(&ranks);
        let by_address = addresses.filter_map(|(rank, address)| Some(((*address)?, rank))).collect();
        Ok(UdpNetwork { me, ranks, by_address, port })
    }

    /// The sockets.
    pub const fn port(&self) -> &UdpPort {
        &self.port
    }

    /// The counters of its port.
    pub fn counts(&self) -> UdpCounts {
        self.port.counts()
    }

    /// Appends what has arrived to `arrived`, without waiting for more.
    ///
    /// # Errors
    /// [`Error::Network`].
    pub fn take_arrived(&self, arrived: &mut Vec<Datagram>) -> Result<()> {
        self.wait(Some(Time::ZERO), arrived)
    }

    fn wait(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()> {
        self.port.receive(until, |from, bytes| arrived.extend(self.take(from, bytes))).map_err(failed)
    }

    /// Sends `datagrams`, all to the same destination.
    fn send_run(&self, to: Destination, datagrams: &[(Destination, Datagram)]) -> io::Result<()> {
        let pieces: Vec<Piece<'_>> = datagrams.iter().map(|(_, datagram)| piece(datagram)).collect();
        match (to, self.port.group()) {
            (Destination::One(rank), _) => match self.ranks.get(rank.0 as usize) {
                Some(Some(address)) => self.port.send_all(*address, &pieces),
                // This rank's address is unknown: what is sent to it is lost.
                _ => Ok(()),
            },
            (Destination::All, Some(group)) => self.port.send_all(group, &pieces),
            (Destination::All, None) => {
                let others = (0..).map(Rank).zip(&self.ranks).filter(|(rank, _)| *rank != self.me);
                others.filter_map(|(_, address)| *address).try_for_each(|to| self.port.send_all(to, &pieces))
            }
        }
    }

    /// The datagram from `from`, if that is a rank and the datagram can be read.
    fn take(&self, from: SocketAddr, bytes: &[u8]) -> Option<Datagram> {
        let Some(rank) = self.by_address.get(&from) else {
            self.port.count(|counts| counts.strangers += 1);
            return None;
        };
        if *rank == self.me {
            return None;
        }
        let read = Datagram::from_bytes(&Bytes::copy_from_slice(bytes)).ok();
        // A sender that claims another rank than its address belongs to is a stranger.
        let datagram = read.filter(|datagram| datagram.source() == Some(*rank));
        if datagram.is_none() {
            self.port.count(|counts| counts.unreadable += 1);
        }
        datagram
    }
}

impl Datagrams for UdpNetwork {
    fn now(&self) -> Time {
        self.port.now()
    }

    async fn send(&self, datagrams: &[(Destination, Datagram)]) -> Result<()> {
        let mut runs = datagrams.chunk_by(|(one, _), (next, _)| one == next);
        runs.try_for_each(|run| run.first().map_or(Ok(()), |(to, _)| self.send_run(*to, run))).map_err(failed)
    }

    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()> {
        self.wait(until, arrived)
    }
}

fn piece(datagram: &Datagram) -> Piece<'_> {
    let payload: &Message = datagram.payload();
    let zeros = usize::try_from(payload.unseen().0).unwrap_or(usize::MAX);
    Piece { header: datagram.header(), payload: payload.content().map_or(&[], |content| &content[..]), zeros }
}

fn failed(error: io::Error) -> Error {
    Error::Network(error.to_string())
}
