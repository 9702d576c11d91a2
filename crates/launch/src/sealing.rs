//! The network of a rank: UDP, with every datagram sealed unless the network is trusted. What messages say is no secret: authentication alone
//! takes less time.

use endpoint::Result;
use messaging::{Datagram, Datagrams, Destination, SEAL, Sealed, Secrecy};
use quantities::{Rank, Time};
use real_worlds::udp::{UdpCounts, UdpNetwork};

use super::secret::Secret;

/// UDP between the ranks of a launch.
#[derive(Debug)]
pub(super) enum Network {
    /// Whoever is on the network can speak as any rank.
    Open(Box<UdpNetwork>),
    /// Who does not know the secret can't, nor by sending again what a rank has sent.
    Sealed(Box<Sealed<UdpNetwork>>),
}

impl Network {
    /// Rank `me` of so many on `network`.
    pub(super) fn new(network: UdpNetwork, (me, ranks): (Rank, u32), session: u32, secret: Option<&Secret>) -> Network {
        match secret {
            Some(secret) => {
                let sealed = Sealed::new(network, me, session, &secret.keys(ranks));
                Network::Sealed(Box::new(sealed.with_secrecy(Secrecy::Readable)))
            }
            None => Network::Open(Box::new(network)),
        }
    }

    /// How long a datagram may be, as it is where it is not sealed, if it is no longer than `whole` bytes as it is sent.
    pub(super) const fn inner(whole: usize, is_sealed: bool) -> usize {
        if is_sealed { whole - SEAL } else { whole }
    }

    /// What went through its sockets.
    pub(super) fn counts(&self) -> UdpCounts {
        match self {
            Network::Open(network) => network.counts(),
            Network::Sealed(sealed) => sealed.network().counts(),
        }
    }

    /// How many datagrams came from the address of a rank and were not its own, or had come before.
    pub(super) fn forged(&self) -> u64 {
        match self {
            Network::Open(_) => 0,
            Network::Sealed(sealed) => sealed.strange(),
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
