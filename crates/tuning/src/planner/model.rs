//! What two small runs reveal about a machine, and the machine without contention that has about the same costs.

use endpoint::{Error, Result};
use machines::model::{Interconnect, LogGp, Machine, Protocol};
use programs::benchmarks::PingPong;
use programs::measure::Experiment;
use programs::postal::Lambda;
use quantities::{Bytes, Duration, Rank, Rate};

use super::Question;
use crate::benchmark::Benchmark;
use crate::latency::{MeasureError, Survey};
use virtual_worlds::waits_for_receivers;

/// lambda is rounded to hundredths: its trees do not depend on more.
const DENOMINATOR: u32 = 100;
/// Partners of the runs that measure it.
const PARTNERS: u32 = 4;
/// How many times they are drawn.
const DRAWS: u32 = 2;
/// With a larger lambda, all but the largest groups are served by their source alone.
const LARGEST_LAMBDA: f64 = 64.0;
/// Larger machines are measured among this many of their ranks.
const MOST_RANKS: u32 = 256;
/// The longer of the two messages measured has at least this size. [B]
const LONG: u64 = 64;
/// It has at most about this many packets, which takes a moment. A longer one is a stream of more of the same.
const MOST_PACKETS: u64 = 1 << 14;

/// The postal model of a machine, at two message sizes. Between and beyond them it is linear.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// The size of the longer messages; the others are empty. [B]
    long: Bytes,
    /// t0 of empty messages, and its increase per byte. [ps]
    send: [f64; 2],
    /// lambda t0, likewise. [ps]
    receive: [f64; 2],
    /// lambda, if known exactly.
    exact: Option<Lambda>,
}

impl Model {
    /// Measures `machine` with empty messages and with messages like those in the question.
    ///
    /// # Errors
    /// If the machine can't run the experiment.
    pub(super) fn measured(machine: &Machine, question: &Question, exact: Option<Lambda>) -> Result<Model> {
        let ranks = question.ranks().max(3).min(machine.nodes).min(MOST_RANKS);
        let long = measured_size(machine, question.bytes());
        let (empty, full) = (point(machine, ranks, Bytes(0))?, point(machine, ranks, long)?);
        let line = |empty: f64, full: f64| [empty, ((full - empty) / long.0 as f64).max(0.0)];
        Ok(Model { long, send: line(empty.0, full.0), receive: line(empty.1, full.1), exact })
    }

    /// The size of the longest messages that were measured, if those of `bytes` are longer. [B]
    pub fn extended_from(&self, bytes: Bytes) -> Option<Bytes> {
        (bytes > self.long).then_some(self.long)
    }

    /// t0 for messages of `bytes`.
    pub fn send_time(&self, bytes: Bytes) -> Duration {
        Duration::from_picoseconds((self.send[0] + self.send[1] * bytes.0 as f64).round() as u64)
    }

    /// lambda t0 for messages of `bytes`.
    pub fn receive_time(&self, bytes: Bytes) -> Duration {
        Duration::from_picoseconds((self.receive[0] + self.receive[1] * bytes.0 as f64).round() as u64)
    }

    /// lambda for messages of `bytes`; 1 if it is less.
    ///
    /// # Errors
    /// If it is not a number.
    pub fn lambda(&self, bytes: Bytes) -> Result<Lambda> {
        if let Some(exact) = self.exact {
            return Ok(exact);
        }
        let (send, receive) = (self.send_time(bytes).picoseconds(), self.receive_time(bytes).picoseconds());
        let lambda = (receive as f64 / send.max(1) as f64).min(LARGEST_LAMBDA);
        Lambda::nearest(lambda, DENOMINATOR).map_err(|error| Error::Unfit(error.to_string()))
    }

    /// The LogGP machine on which messages without contention take about as long as on `machine`:
    ///
    /// ```text
    ///   o = half of what both processors do for a message     O = what they do for a byte, on average
    ///   g = t0 of an empty message                            G = the increase of t0 per byte
    ///   L = the rest of lambda t0
    /// ```
    pub(super) fn machine(&self, machine: &Machine) -> Machine {
        if let Interconnect::LogGp(_) = machine.interconnect {
            return machine.clone();
        }
        let node = &machine.node;
        let processors = (node.processor_send + node.processor_receive).picoseconds() as f64 / 2.0;
        let overhead = processors.min(self.receive[0] / 2.0);
        let byte = |rate: Option<Rate>| rate.map_or(0.0, |rate| rate.time_of(Bytes(1)).picoseconds() as f64);
        let per_byte = (byte(node.copy_rate) + byte(node.copy_out_rate)) / 2.0;
        let gap_per_byte = self.send[1].max(1.0);
        let long = self.long.0 as f64;
        let rest = (long - 1.0).max(0.0) * gap_per_byte.max(per_byte);
        let latency = (self.receive[0] + self.receive[1] * long - rest - 2.0 * overhead).max(0.0);
        let length = |value: f64| Duration::from_picoseconds(value.round() as u64);
        let costs = LogGp {
            latency: length(latency),
            overhead: length(overhead),
            gap: length(self.send[0]),
            gap_per_byte: length(gap_per_byte),
            overhead_per_byte: length(per_byte),
            rendezvous: rendezvous_size(machine),
        };
        Machine { interconnect: Interconnect::LogGp(costs), control_network: None, ..machine.clone() }
    }
}

/// The size of the longer messages measured, for a question about messages of `bytes`: as long, up to some number of packets, but sent by
/// the same protocol.
pub(super) fn measured_size(machine: &Machine, bytes: Bytes) -> Bytes {
    let packet = match &machine.interconnect {
        Interconnect::Flits(network) => network.packet.payload,
        Interconnect::Ethernet(ethernet) => ethernet.payload,
        Interconnect::LogGp(_) => return bytes.max(Bytes(LONG)),
    };
    let other_protocol_to = match machine.node.protocol {
        Protocol::SetUp { piggyback } => piggyback.0,
        Protocol::Rendezvous { eager: Some(eager) } => eager.0,
        Protocol::Eager | Protocol::Rendezvous { eager: None } => 0,
    };
    let least = if bytes.0 > other_protocol_to { other_protocol_to.saturating_add(1) } else { LONG };
    let most = packet.0.saturating_mul(MOST_PACKETS);
    Bytes(bytes.0.min(most).max(least).max(LONG))
}

/// Whether messages whose senders wait for a receiver reach it before it asks for them. On the machine without contention they start
/// only then.
pub(super) fn arrives_before_receive(machine: &Machine) -> bool {
    let announced = matches!(machine.node.protocol, Protocol::Rendezvous { .. });
    matches!(machine.interconnect, Interconnect::Flits(_)) && !announced && waits_for_receivers(machine, Bytes(0))
}

/// The size from which a send waits for its receiver.
fn rendezvous_size(machine: &Machine) -> Option<Bytes> {
    if waits_for_receivers(machine, Bytes(0)) {
        return Some(Bytes(0));
    }
    let Protocol::Rendezvous { eager: Some(Bytes(most)) } = machine.node.protocol else { return None };
    let first = Bytes(most.saturating_add(1));
    waits_for_receivers(machine, first).then_some(first)
}

/// t0 and lambda t0 for messages of `bytes`. [ps]
fn point(machine: &Machine, ranks: u32, bytes: Bytes) -> Result<(f64, f64)> {
    if ranks >= 3 {
        let survey = Survey { ranks, source: Rank(0), partners: PARTNERS.min(ranks - 1), draws: DRAWS, seed: 1 };
        match survey.measure(machine, Experiment::OneAnswer, bytes) {
            Ok(it) => return Ok((it.send_time.value, it.send_time.value * it.lambda.value)),
            Err(MeasureError::Program(error)) => return Err(error),
            // If a send costs its sender nothing, there is no line to fit.
            Err(MeasureError::Fit { .. }) => {}
        }
    }
    if ranks < 2 {
        return Ok((1.0, 1.0));
    }
    let there_and_back = PingPong { first: Rank(0), second: Rank(ranks - 1), bytes, rounds: 1 };
    let one_way = Benchmark::OneWay(there_and_back).time(machine, ranks)?.picoseconds() as f64;
    Ok((if ranks >= 3 { one_way / LARGEST_LAMBDA } else { one_way }, one_way))
}
