//! The lobby's sockets, and the socket for rounds.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};

use endpoint::{Error, Result};
use quantities::{Rank, Rate, Time};
use real_worlds::Clock;
use real_worlds::udp::{Group, Piece, UdpNetwork, UdpPort, UdpSettings};

use super::{DATAGRAM, Meeting, group_of_rounds};
use crate::lobby::{Envelope, LONGEST, LobbyMessage, Mismatch, Strange, To, Token};

/// All sockets of a sender or a receiver.
#[derive(Debug)]
pub(super) struct Wire {
    lobby: UdpPort,
    rounds: UdpSocket,
    meeting: Meeting,
    envelope: Envelope,
    clock: Clock,
}

impl Wire {
    pub(super) fn new(meeting: &Meeting) -> std::io::Result<Wire> {
        let Meeting { group, interface, secret, .. } = meeting;
        let clock = Clock::starting_now();
        let lobby = UdpSocket::bind((*interface, 0))?;
        Ok(Wire {
            lobby: UdpPort::new(lobby, Some(at(meeting, *group)), LONGEST, clock)?,
            rounds: UdpSocket::bind((*interface, 0))?,
            envelope: Envelope::new(secret.as_ref().map(|secret| secret.of_lobby()).as_ref()),
            meeting: meeting.clone(),
            clock,
        })
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    pub(super) const fn meeting(&self) -> &Meeting {
        &self.meeting
    }

    /// The port of the socket for rounds.
    pub(super) fn port(&self) -> std::io::Result<u16> {
        Ok(self.rounds.local_addr()?.port())
    }

    /// Sends a message in the lobby.
    pub(super) fn send_message(&self, to: To, message: &LobbyMessage) -> Result<()> {
        let mut nonce = [0; 24];
        getrandom::fill(&mut nonce).map_err(failed)?;
        let bytes = self.envelope.write(message, nonce);
        let address = match to {
            To::Group => SocketAddr::V4(self.meeting.group),
            To::One(address) => address,
        };
        self.send(address, &bytes)
    }

    /// Tells a sender that its datagrams cannot be read, and why.
    pub(super) fn notice(&self, to: SocketAddr, why: Mismatch) -> Result<()> {
        self.send(to, &why.notice())
    }

    fn send(&self, to: SocketAddr, bytes: &[u8]) -> Result<()> {
        self.lobby.send_all(to, &[Piece { header: bytes, payload: &[], zeros: 0 }]).map_err(failed)
    }

    /// Receives messages in the lobby until `until`, except its own.
    pub(super) fn listen(
        &self,
        until: Time,
        mut receive: impl FnMut(SocketAddr, std::result::Result<LobbyMessage, Strange>),
    ) -> Result<()> {
        let own = self.lobby.address();
        let take = |from: SocketAddr, bytes: &[u8]| {
            if from != own {
                receive(from, self.envelope.read(bytes));
            }
        };
        self.lobby.receive(Some(until), take).map_err(failed)
    }

    /// The network of a round.
    pub(super) fn network(&self, me: Rank, ranks: Vec<Option<SocketAddr>>, rate: Option<Rate>) -> Result<UdpNetwork> {
        UdpNetwork::new(UdpSettings {
            me,
            ranks,
            socket: self.rounds.try_clone().map_err(failed)?,
            group: Some(at(&self.meeting, group_of_rounds(self.meeting.group))),
            rate,
            longest: DATAGRAM,
            clock: self.clock,
        })
    }

    /// The address of this process in rounds.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.rounds.local_addr().ok()
    }
}

fn at(meeting: &Meeting, address: SocketAddrV4) -> Group {
    Group { address, interface: meeting.interface, hops: meeting.hops, has_local_peers: true }
}

fn failed(error: impl ToString) -> Error {
    Error::Network(error.to_string())
}

/// A number that nobody else draws.
pub(super) fn token() -> Result<Token> {
    let mut token = Token([0; 16]);
    getrandom::fill(&mut token.0).map_err(failed)?;
    Ok(token)
}

/// The address as IPv4, the only kind used.
pub(super) const fn v4(address: SocketAddr) -> Ipv4Addr {
    match address.ip() {
        IpAddr::V4(address) => address,
        IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
    }
}
