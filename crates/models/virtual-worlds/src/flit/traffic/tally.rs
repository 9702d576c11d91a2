//! Counts packets from birth to arrival.

use std::ops::RangeInclusive;

use machines::model::NodeId;
use quantities::Time;

use super::distribution::Histogram;
use super::sources::Born;

/// A packet in the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) source: NodeId,
    pub(super) destination: NodeId,
    pub(super) born: Time,
    /// When it was granted its injection channel.
    pub(super) granted: Time,
}

/// The totals up to an instant, or between two instants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) born: u64,
    pub(super) arrived: u64,
    /// Latencies of the packets that arrived, summed. [ps]
    pub(super) latency: u128,
    /// Packets on their way or waiting, integrated over time. [packet ps]
    pub(super) waiting: u128,
}

impl Totals {
    /// The totals since `before`.
    pub(super) fn since(&self, before: &Totals) -> Totals {
        Totals {
            born: self.born - before.born,
            arrived: self.arrived - before.arrived,
            latency: self.latency - before.latency,
            waiting: self.waiting - before.waiting,
        }
    }

    /// The totals of two spans of time together.
    pub(super) fn and(&self, other: &Totals) -> Totals {
        Totals {
            born: self.born + other.born,
            arrived: self.arrived + other.arrived,
            latency: self.latency + other.latency,
            waiting: self.waiting + other.waiting,
        }
    }

    /// The mean latency of the packets that arrived, if any did. [ps]
    pub(super) fn mean_latency(&self) -> Option<f64> {
        (self.arrived > 0).then(|| self.latency as f64 / self.arrived as f64)
    }

    /// The mean latency by Little's law, which also counts packets that still wait. [ps]
    pub(super) fn little(&self) -> f64 {
        self.waiting as f64 / self.born.max(1) as f64
    }
}

/// The packets of a measurement: those that are born in it.
#[derive(Debug, Default)]
pub(super) struct MeasuredPackets {
    /// From birth to arrival.
    pub(super) latencies: Histogram,
    /// From the grant of the injection channel to arrival.
    pub(super) network_latencies: Histogram,
    /// Channels on their ways, summed.
    pub(super) hops: u64,
}

/// The packets in the network, and statistics of those that arrived. Packets that wait to be injected are kept by the
/// sources.
#[derive(Debug)]
pub(super) struct Tally {
    flights: Vec<Flight>,
    unused: Vec<u32>,
    arrived: u64,
    /// The instants of their arrivals, summed. [ps]
    arrivals: u128,
    latency: u128,
    /// The births that count: after the first instant, up to the second.
    counts: Option<RangeInclusive<Time>>,
    pub(super) measured: MeasuredPackets,
}

impl Tally {
    pub(super) fn new() -> Tally {
        Tally {
            flights: Vec::new(),
            unused: Vec::new(),
            arrived: 0,
            arrivals: 0,
            latency: 0,
            counts: None,
            measured: MeasuredPackets::default(),
        }
    }

    /// From now on, only packets that are born after `now` are measured.
    pub(super) fn begin_measurement(&mut self, now: Time) {
        let first = Time::from_picoseconds(now.picoseconds() + 1);
        self.counts = Some(first..=Time::NEVER);
        self.measured = MeasuredPackets::default();
    }

    /// Packets that are born after `now` are not measured.
    pub(super) fn end_measurement(&mut self, now: Time) {
        self.counts = self.counts.take().map(|counts| *counts.start()..=now);
    }

    /// How many packets are in the network.
    pub(super) fn in_flight(&self) -> u64 {
        (self.flights.len() - self.unused.len()) as u64
    }

    /// The token of the packet that is injected next.
    pub(super) fn next_token(&self) -> u64 {
        self.unused.last().map_or(self.flights.len() as u64, |&token| u64::from(token))
    }

    /// A packet is injected.
    pub(super) fn injected(&mut self, flight: Flight) {
        match self.unused.pop() {
            Some(token) => self.flights[token as usize] = flight,
            None => self.flights.push(flight),
        }
    }

    /// A packet has arrived; `hops` counts the channels on its way.
    pub(super) fn arrived(&mut self, now: Time, token: u64, hops: impl FnOnce(&Flight) -> usize) {
        let flight = &self.flights[token as usize];
        let latency = now.since(flight.born).picoseconds();
        self.arrived += 1;
        self.arrivals += u128::from(now.picoseconds());
        self.latency += u128::from(latency);
        self.unused.push(token as u32);
        if self.counts.as_ref().is_some_and(|counts| counts.contains(&flight.born)) {
            self.measured.latencies.add(latency);
            self.measured.network_latencies.add(now.since(flight.granted).picoseconds());
            self.measured.hops += hops(flight) as u64;
        }
    }

    /// The totals up to `now`, when `born` packets had been born.
    pub(super) fn totals(&self, now: Time, born: Born) -> Totals {
        let now = u128::from(now.picoseconds());
        let since_birth = u128::from(born.packets) * now - born.instants;
        let since_arrival = u128::from(self.arrived) * now - self.arrivals;
        Totals {
            born: born.packets,
            arrived: self.arrived,
            latency: self.latency,
            waiting: since_birth - since_arrival,
        }
    }
}
