//! The network of a rank: UDP, with every datagram sealed unless the network is trusted. The contents of messages are
//! not secret: authentication alone takes less time.

use endpoint::Result;
use messaging::{Datagram, Datagrams, Destination, SEAL, Sealed, Secrecy};
use quantities::{Rank, Time};
use real_worlds::udp::{UdpCounts, UdpNetwork};

use super::secret::Secret;

/// UDP between the ranks of a launch.
#[derive(Debug)]
pub(super) enum Network {
    /// Anybody on the network can impersonate any rank.
    Open(Box<UdpNetwork>),
    /// Nobody can without the secret, not even by replaying what a rank has sent.
    Sealed(Box<Sealed<UdpNetwork>>),
}

impl Network {
    /// Rank `me` of `ranks` on `network`.
    pub(super) fn new(network: UdpNetwork, (me, ranks): (Rank, u32), session: u32, secret: Option<&Secret>) -> Network {
        match secret {
            Some(secret) => {
                let sealed = Sealed::new(network, me, session, &secret.keys(ranks));
                Network::Sealed(Box::new(sealed.with_secrecy(Secrecy::Readable)))
            }
            None => Network::Open(Box::new(network)),
        }
    }

    /// How long a datagram may be before it is sealed, if it may be `whole` bytes long when sent.
    pub(super) const fn inner(whole: usize, is_sealed: bool) -> usize {
        if is_sealed { whole - SEAL } else { whole }
    }

    /// The counters of its sockets.
    pub(super) fn counts(&self) -> UdpCounts {
        match self {
            Network::Open(network) => network.counts(),
            Network::Sealed(sealed) => sealed.network().counts(),
        }
    }

    /// How many datagrams arrived from the address of a rank that were forged or replayed.
    pub(super) fn forged(&self) -> u64 {
        match self {
            Network::Open(_) => 0,
            Network::Sealed(sealed) => sealed.foreign(),
        }
    }
}

impl Datagrams for Network {
    fn now(&self) -> Time {
        match self {
            Network::Open(network) => network.now(),
            Network::Sealed(sealed) => sealed.now(),
        }
    }

    async fn send(&self, datagrams: &[(Destination, Datagram)]) -> Result<()> {
        match self {
            Network::Open(network) => network.send(datagrams).await,
            Network::Sealed(sealed) => sealed.send(datagrams).await,
        }
    }

    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()> {
        match self {
            Network::Open(network) => network.receive(until, arrived).await,
            Network::Sealed(sealed) => sealed.receive(until, arrived).await,
        }
    }
}
