//! Counts packets from birth to arrival.

use machines::model::NodeId;
use quantities::Time;

/// A packet that has been born and has not arrived.
#[derive(Clone, Copy, Debug)]
struct Flight {
    born: Time,
    /// When it was granted its injection channel; known once it has left its source.
    granted: Time,
    hops: u32,
    /// Whether it was born in the measurement.
    counts: bool,
}

/// What has happened up to an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) born: u64,
    pub(super) arrived: u64,
    /// Latencies of the packets that arrived, summed. [ps]
    pub(super) latency: u128,
    /// Packets on their way or waiting, integrated over time. [packet ps]
    pub(super) waiting: u128,
}

impl Totals {
    /// What has happened since `before`.
    pub(super) fn since(&self, before: &Totals) -> Totals {
        Totals {
            born: self.born - before.born,
            arrived: self.arrived - before.arrived,
            latency: self.latency - before.latency,
            waiting: self.waiting - before.waiting,
        }
    }

    /// The mean latency of the packets that arrived, if any did. [ps]
    pub(super) fn mean_latency(&self) -> Option<f64> {
        (self.arrived > 0).then(|| self.latency as f64 / self.arrived as f64)
    }

    /// The mean latency by Little's law, which counts those that still wait too. [ps]
    pub(super) fn little(&self) -> f64 {
        self.waiting as f64 / self.born.max(1) as f64
    }
}

/// The packets in flight, and what is known of those that arrived.
#[derive(Debug)]
pub(super) struct Tally {
    flights: Vec<Flight>,
    unused: Vec<u32>,
    /// For each node, since when its injection channel is free of the packets that have left.
    free_since: Vec<Time>,
    totals: Totals,
    in_flight: u64,
    last_change: Time,
    /// Whether packets that are born now count.
    measuring: bool,
    /// Packets that count and have not arrived.
    pub(super) missing: u64,
    /// Of the packets that count and have arrived. [ps]
    pub(super) latencies: Vec<u64>,
    /// The same from the grant of the injection channel. [ps]
    pub(super) network_latencies: Vec<u64>,
    /// Channels on their ways, summed.
    pub(super) hops: u64,
}

impl Tally {
    pub(super) fn new(nodes: usize) -> Tally {
        Tally {
            flights: Vec::new(),
            unused: Vec::new(),
            free_since: vec![Time::ZERO; nodes],
            totals: Totals::default(),
            in_flight: 0,
            last_change: Time::ZERO,
            measuring: false,
            missing: 0,
            latencies: Vec::new(),
            network_latencies: Vec::new(),
            hops: 0,
        }
    }

    /// From now on, packets that are born count, or don't.
    pub(super) fn measure(&mut self, measuring: bool) {
        self.measuring = measuring;
    }

    /// Whether packets that are born now count.
    pub(super) fn is_measuring(&self) -> bool {
        self.measuring
    }

    /// The token of the packet that is born next.
    pub(super) fn next_token(&self) -> u64 {
        self.unused.last().map_or(self.flights.len() as u64, |&token| u64::from(token))
    }

    /// A packet is born.
    pub(super) fn born(&mut self, now: Time, hops: u32) {
        self.pass(now);
        let flight = Flight { born: now, granted: now, hops, counts: self.measuring };
        match self.unused.pop() {
            Some(token) => self.flights[token as usize] = flight,
            None => self.flights.push(flight),
        }
        self.in_flight += 1;
        self.totals.born += 1;
        self.missing += u64::from(self.measuring);
    }

    /// The tail of a packet has left its source. It had the channel since the one before it had left, or since its birth.
    pub(super) fn departed(&mut self, now: Time, node: NodeId, token: u64) {
        let flight = &mut self.flights[token as usize];
        let free_since = &mut self.free_since[node.0 as usize];
        flight.granted = flight.born.max(*free_since);
        *free_since = now;
    }

    /// A packet has arrived.
    pub(super) fn arrived(&mut self, now: Time, token: u64) {
        self.pass(now);
        let flight = self.flights[token as usize];
        let latency = now.since(flight.born).picoseconds();
        self.in_flight -= 1;
        self.totals.arrived += 1;
        self.totals.latency += u128::from(latency);
        self.unused.push(token as u32);
        if flight.counts {
            self.missing -= 1;
            self.latencies.push(latency);
            self.network_latencies.push(now.since(flight.granted).picoseconds());
            self.hops += u64::from(flight.hops);
        }
    }

    /// What has happened up to `now`.
    pub(super) fn totals(&mut self, now: Time) -> Totals {
        self.pass(now);
        self.totals
    }

    fn pass(&mut self, now: Time) {
        self.totals.waiting += u128::from(now.since(self.last_change).picoseconds()) * u128::from(self.in_flight);
        self.last_change = now;
    }
}
