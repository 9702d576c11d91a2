//! A network that does not block while nothing arrives, but lets other ranks continue.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;

use endpoint::Result;
use messaging::{Datagram, Datagrams, Destination};
use quantities::Time;

use crate::udp::UdpNetwork;

/// A rank's network.
#[derive(Debug)]
pub(super) struct PolledNetwork {
    pub(super) network: UdpNetwork,
    /// Until when it waits, if nothing arrives.
    until: Cell<Option<Time>>,
}

impl PolledNetwork {
    pub(super) const fn new(network: UdpNetwork) -> PolledNetwork {
        PolledNetwork { network, until: Cell::new(None) }
    }

    /// Until when it waits, if nothing arrives.
    pub(super) const fn until(&self) -> Option<Time> {
        self.until.get()
    }
}

impl Datagrams for PolledNetwork {
    fn now(&self) -> Time {
        self.network.now()
    }

    async fn send(&self, datagrams: &[(Destination, Datagram)]) -> Result<()> {
        self.network.send(datagrams).await
    }

    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()> {
        let before = arrived.len();
        poll_fn(|_| {
            let now = self.now();
            let taken = self.network.take_arrived(arrived);
            self.until.set(until);
            if taken.is_err() || arrived.len() > before || until.is_some_and(|until| until <= now) {
                return Poll::Ready(taken);
            }
            Poll::Pending
        })
        .await
    }
}
