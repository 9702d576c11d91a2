//! When packets are born, and where they go.

use machines::model::{FlitNetwork, NodeId};
use quantities::{Duration, Time};

use super::Offer;
use super::random::Stream;
use crate::network::Order;

/// A stream of births for each node, which depends on the seed and the node alone.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    offer: &'a Offer,
    cycle: Duration,
    streams: Vec<Stream>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(network: &FlitNetwork, offer: &'a Offer, seed: u64) -> Sources<'a> {
        let streams = (0..network.injection.len() as u64).map(|node| Stream::new(seed, node)).collect();
        Sources { offer, cycle: super::cycle_of(network), streams }
    }

    /// When the first packet of each node is born: in cycle 0 at the earliest.
    pub(super) fn first(&mut self) -> Vec<Time> {
        let birth = |stream: &mut Stream| Time::ZERO + self.cycle * (self.offer.gaps.draw(stream) - 1);
        self.streams.iter_mut().map(birth).collect()
    }

    /// The packet that is born at `source` at `now`, and when the next is.
    pub(super) fn birth(&mut self, source: NodeId, now: Time, token: u64) -> (Order, Time) {
        let stream = &mut self.streams[source.0 as usize];
        let destination = self.offer.destinations.draw(source, stream);
        let order = Order { source, destination, bytes: self.offer.bytes, flits: self.offer.flits, token };
        (order, now + self.cycle * self.offer.gaps.draw(stream))
    }
}
