//! Background traffic beside programs: packets that are born at a given rate, as in open-loop traffic, and share the
//! network with the packets of the programs' messages.
//!
//! A node's source puts a packet into the node's injection queue when it is born, but not before its last one has left
//! the node: packets born meanwhile wait outside, so that a message of a program has at most one packet of the node's
//! source before it, however far the network falls behind.

use machines::model::{FlitNetwork, NodeId};
use quantities::{Duration, Time};

use super::sources::Sources;
use super::tally::{Flight, Tally, Totals};
use super::{Load, Offer, Unfit};
use crate::answer::BackgroundStatistics;
use crate::flit::network::Injection;

/// Background traffic, from the beginning of a run until the last program has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Background {
    /// Who sends to whom, and how much. A rate of 0 means no traffic.
    pub load: Load,
    /// Which nodes send it. The pattern says where it goes.
    pub sources: BackgroundSources,
}

/// Which nodes send background traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackgroundSources {
    /// All nodes of the machine.
    #[default]
    All,
    /// Those that hold no rank.
    Idle,
}

/// The next action of a source that has no packet in its node's injection queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::flit) enum Next {
    /// It injects this packet now.
    Inject(Injection),
    /// Its next packet is born at this time.
    At(Time),
    /// It has none before the horizon.
    Never,
}

/// The background traffic of a run, in motion.
#[derive(Debug)]
pub(in crate::flit) struct BackgroundTraffic {
    sources: Sources,
    tally: Tally,
    /// The last instant at which it is active.
    until: Time,
}

/// The tokens of background packets have this bit, and no others do.
const TOKEN: u64 = 1 << 63;

impl BackgroundTraffic {
    /// The traffic of `load` from the nodes for which `sends` holds.
    pub(in crate::flit) fn new(
        network: &FlitNetwork,
        load: &Load,
        sends: impl Fn(NodeId) -> bool,
    ) -> Result<BackgroundTraffic, Unfit> {
        let sources = Sources::new(network, Offer::new(network, load)?, load.seed, sends);
        Ok(BackgroundTraffic { sources, tally: Tally::new(), until: Time::NEVER })
    }

    /// Whether a packet with `token` belongs to background traffic.
    #[inline]
    pub(in crate::flit) const fn has(token: u64) -> bool {
        token & TOKEN != 0
    }

    /// The next action of `source` at `now`, if it has no packet in its node's injection queue.
    pub(in crate::flit) fn next(&mut self, now: Time, source: NodeId) -> Next {
        let birth = self.sources.next(source);
        if birth == Time::NEVER || birth.max(now) > self.until {
            return Next::Never;
        }
        if birth > now {
            return Next::At(birth);
        }
        let (order, born) = self.sources.inject(source, self.tally.next_token() | TOKEN);
        self.tally.injected(Flight { source, destination: order.destination, born, granted: now });
        Next::Inject(order)
    }

    /// A packet has arrived. It counts if the traffic had not ended before.
    pub(in crate::flit) fn delivered(&mut self, now: Time, token: u64) {
        if now <= self.until {
            self.tally.arrived(now, token & !TOKEN, |_| 0);
        }
    }

    /// How many of its packets are in the network or in injection queues.
    pub(in crate::flit) fn in_flight(&self) -> u64 {
        self.tally.in_flight()
    }

    /// Ends the traffic: nothing is born after `now`, and nothing counts that arrives after it.
    pub(in crate::flit) fn end(&mut self, now: Time) {
        self.until = self.until.min(now);
    }

    /// What happened until it ended.
    pub(in crate::flit) fn statistics(&mut self) -> BackgroundStatistics {
        let until = self.until;
        let born = self.sources.born(until);
        let Totals { born, arrived, latency, .. } = self.tally.totals(until, born);
        let mean = latency.checked_div(u128::from(arrived));
        let mean_latency = mean.map(|mean| Duration::from_picoseconds(u64::try_from(mean).unwrap_or(u64::MAX)));
        BackgroundStatistics { offered: born, delivered: arrived, mean_latency, until }
    }
}
