//! When packets are born, and where they go.
//!
//! Births are not stored: however far a network falls behind, each source has one stream of random numbers that makes
//! its packets when their turn comes to be injected, and a second copy of it, further ahead, that counts the packets
//! born.

use machines::model::{FlitNetwork, NodeId};
use quantities::{Duration, Time};

use super::Offer;
use super::random::Stream;
use crate::flit::network::Injection;

/// The births of one node from some point on.
#[derive(Clone, Debug)]
struct Births {
    stream: Stream,
    /// When the next packet is born.
    next: Time,
}

impl Births {
    /// The destination of the next packet to be born.
    #[inline]
    fn pass(&mut self, node: NodeId, offer: &Offer, cycle: Duration) -> NodeId {
        let destination = offer.destinations.draw(node, &mut self.stream);
        self.next = later(self.next, cycle, offer.gaps.draw(&mut self.stream));
        destination
    }
}

/// `cycles` cycles after `time`; never, if that is later than can be counted.
fn later(time: Time, cycle: Duration, cycles: u64) -> Time {
    let picoseconds = cycle.picoseconds().saturating_mul(cycles);
    Time::from_picoseconds(time.picoseconds().saturating_add(picoseconds))
}

/// How many packets have been born, and when.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Born {
    pub(super) packets: u64,
    /// The instants of their births, summed. [ps]
    pub(super) instants: u128,
}

/// A stream of births for each node, which depends only on the seed and the node.
#[derive(Debug)]
pub(super) struct Sources {
    offer: Offer,
    cycle: Duration,
    /// For each node, its packets that have not been injected.
    waiting: Vec<Births>,
    /// For each node, its packets that have not been counted.
    uncounted: Vec<Births>,
    born: Born,
}

impl Sources {
    /// The births of the nodes for which `sends` holds; the others have none.
    pub(super) fn new(network: &FlitNetwork, offer: Offer, seed: u64, sends: impl Fn(NodeId) -> bool) -> Sources {
        let cycle = super::cycle_of(network);
        let births = |node: NodeId| {
            let mut stream = Stream::new(seed, u64::from(node.0));
            // In cycle 0 at the earliest.
            let first = later(Time::ZERO, cycle, offer.gaps.draw(&mut stream) - 1);
            Births { stream, next: if sends(node) { first } else { Time::NEVER } }
        };
        let waiting: Vec<Births> = (0..network.injection.len() as u32).map(NodeId).map(births).collect();
        Sources { offer, cycle, uncounted: waiting.clone(), waiting, born: Born::default() }
    }

    /// When the next packet that `source` injects is born, or was born.
    pub(super) fn next(&self, source: NodeId) -> Time {
        self.waiting[source.0 as usize].next
    }

    /// The next packet that `source` injects, and when it was born.
    pub(super) fn inject(&mut self, source: NodeId, token: u64) -> (Injection, Time) {
        let births = &mut self.waiting[source.0 as usize];
        let born = births.next;
        let destination = births.pass(source, &self.offer, self.cycle);
        let order = Injection { source, destination, bytes: self.offer.bytes, flits: self.offer.flits, token };
        (order, born)
    }

    /// The packets born up to the end of `now`.
    pub(super) fn born(&mut self, now: Time) -> Born {
        for (node, births) in (0..).map(NodeId).zip(&mut self.uncounted) {
            while births.next <= now {
                self.born.packets += 1;
                self.born.instants += u128::from(births.next.picoseconds());
                births.pass(node, &self.offer, self.cycle);
            }
        }
        self.born
    }
}
