//! What two small runs reveal about a machine, and the machine without contention that has about the same costs.

use collectives::postal::Lambda;
use endpoint::{Error, Result};
use machines::model::{Interconnect, LogGp, Machine, Protocol};
use programs::benchmarks::PingPong;
use programs::measure::Experiment;
use quantities::{Bytes, Duration, Rank, Rate};

use super::Question;
use super::work::breaks_runs;
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
/// The same for messages joined from others, which only some algorithms send.
const MOST_PACKETS_JOINED: u64 = 1 << 11;

/// The same in flits, where each flit of a packet is work of its own.
const MOST_FLITS: u64 = 1 << 16;

/// The postal model of a machine, measured at a few message sizes. Between them it is linear, and beyond the longest it
/// goes on as before.
#[derive(Clone, Debug)]
pub struct Model {
    /// What was measured, from empty messages on; at least two.
    points: Vec<Point>,
    /// lambda, if known exactly.
    exact: Option<Lambda>,
}

/// What messages of one size cost.
#[derive(Clone, Copy, Debug)]
struct Point {
    bytes: Bytes,
    /// t0. [ps]
    send: f64,
    /// lambda t0. [ps]
    receive: f64,
}

impl Model {
    /// Measures `machine` with empty messages, with messages like those in the question, and with the longest that an
    /// algorithm makes of them.
    ///
    /// # Errors
    /// If the machine can't run the experiment.
    pub(super) fn measured(machine: &Machine, question: &Question, exact: Option<Lambda>) -> Result<Model> {
        let ranks = question.ranks().max(3).min(machine.nodes).min(MOST_RANKS);
        let mut sizes = vec![Bytes(0)];
        for (bytes, packets) in [(question.bytes(), MOST_PACKETS), (question.longest_joined(), MOST_PACKETS_JOINED)] {
            let size = measured_size(machine, bytes, packets);
            if sizes.last().is_some_and(|last| size > *last) {
                sizes.push(size);
            }
        }
        let points = sizes.into_iter().map(|bytes| point(machine, ranks, bytes)).collect::<Result<_>>()?;
        Ok(Model { points, exact })
    }

    /// The size of the longest messages that were measured, if those of `bytes` are longer. [B]
    pub fn extended_from(&self, bytes: Bytes) -> Option<Bytes> {
        self.points.last().map(|last| last.bytes).filter(|last| bytes > *last)
    }

    /// t0 for messages of `bytes`.
    pub fn send_time(&self, bytes: Bytes) -> Duration {
        self.time(bytes, |point| point.send)
    }

    /// lambda t0 for messages of `bytes`.
    pub fn receive_time(&self, bytes: Bytes) -> Duration {
        self.time(bytes, |point| point.receive)
    }

    fn time(&self, bytes: Bytes, of: impl Fn(&Point) -> f64) -> Duration {
        let below = |pair: &&[Point]| pair[0].bytes < bytes;
        let pair = self.points.windows(2).take_while(below).last().or(self.points.windows(2).next());
        let time = pair.map_or(0.0, |pair| {
            let (from, to) = (&pair[0], &pair[1]);
            let slope = ((of(to) - of(from)) / (to.bytes.0 - from.bytes.0) as f64).max(0.0);
            of(from) + slope * (bytes.0 - from.bytes.0) as f64
        });
        Duration::from_picoseconds(time.round() as u64)
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

    /// The LogGP machine on which messages of at most `longest` without contention take about as long as on `machine`:
    ///
    /// ```text
    ///   o = half of what both processors do for a message     O = what they do for a byte, on average
    ///   g = t0 of an empty message                            G = the increase of t0 per byte
    ///   L = the rest of lambda t0
    /// ```
    pub(super) fn machine(&self, machine: &Machine, longest: Bytes) -> Machine {
        if let Interconnect::LogGp(_) = machine.interconnect {
            return machine.clone();
        }
        let long = longest.max(Bytes(LONG));
        let time = |time: Duration| time.picoseconds() as f64;
        let (empty, sent, received) = (self.points[0], time(self.send_time(long)), time(self.receive_time(long)));
        let node = &machine.node;
        let processors = time(node.processor_send + node.processor_receive) / 2.0;
        let overhead = processors.min(empty.receive / 2.0);
        let byte = |rate: Option<Rate>| rate.map_or(0.0, |rate| time(rate.time_of(Bytes(1))));
        let per_byte = (byte(node.copy_rate) + byte(node.copy_out_rate)) / 2.0;
        let gap_per_byte = ((sent - empty.send) / long.0 as f64).max(1.0);
        let rest = (long.0 as f64 - 1.0).max(0.0) * gap_per_byte.max(per_byte);
        let latency = (received - rest - 2.0 * overhead).max(0.0);
        let length = |value: f64| Duration::from_picoseconds(value.round() as u64);
        let costs = LogGp {
            latency: length(latency),
            overhead: length(overhead),
            gap: length(empty.send),
            gap_per_byte: length(gap_per_byte),
            overhead_per_byte: length(per_byte),
            rendezvous: rendezvous_size(machine),
        };
        Machine { interconnect: Interconnect::LogGp(costs), control_network: None, ..machine.clone() }
    }
}

/// The size of the longer messages measured, for a question about messages of `bytes`: as long, up to some number of
/// packets, but sent by the same protocol.
pub(super) fn measured_size(machine: &Machine, bytes: Bytes, most_packets: u64) -> Bytes {
    let packets = |Bytes(payload): Bytes| payload.saturating_mul(most_packets);
    let most = match &machine.interconnect {
        Interconnect::Flits(network) if breaks_runs(network) => {
            packets(network.packet.payload).min(network.packet.flit.0.saturating_mul(MOST_FLITS))
        }
        Interconnect::Flits(network) => packets(network.packet.payload),
        Interconnect::Ethernet(ethernet) => packets(ethernet.payload),
        Interconnect::LogGp(_) => return bytes.max(Bytes(LONG)),
    };
    let Bytes(other_protocol_to) = other_protocol_to(machine);
    let least = if bytes.0 > other_protocol_to { other_protocol_to.saturating_add(1) } else { LONG };
    Bytes(bytes.0.min(most).max(least).max(LONG))
}

/// The size up to which messages go by another protocol than longer ones. [B]
pub(super) fn other_protocol_to(machine: &Machine) -> Bytes {
    match machine.node.protocol {
        Protocol::SetUp { piggyback } => piggyback,
        Protocol::Rendezvous { eager: Some(eager) } => eager,
        Protocol::Eager | Protocol::Rendezvous { eager: None } => Bytes(0),
    }
}

/// Whether messages whose senders wait for a receiver reach it before it asks for them. On the machine without
/// contention they start only then.
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

/// What messages of `bytes` cost.
fn point(machine: &Machine, ranks: u32, bytes: Bytes) -> Result<Point> {
    if ranks >= 3 {
        let survey = Survey { ranks, source: Rank(0), partners: PARTNERS.min(ranks - 1), draws: DRAWS, seed: 1 };
        match survey.measure(machine, Experiment::OneAnswer, bytes) {
            Ok(it) => {
                let send = it.send_time.value;
                return Ok(Point { bytes, send, receive: send * it.lambda.value });
            }
            Err(MeasureError::Program(error)) => return Err(error),
            // If a send costs its sender nothing, there is no line to fit.
            Err(MeasureError::Fit { .. }) => {}
        }
    }
    if ranks < 2 {
        return Ok(Point { bytes, send: 1.0, receive: 1.0 });
    }
    let there_and_back = PingPong { first: Rank(0), second: Rank(ranks - 1), bytes, rounds: 1 };
    let one_way = Benchmark::OneWay(there_and_back).time(machine, ranks)?.picoseconds() as f64;
    Ok(Point { bytes, send: if ranks >= 3 { one_way / LARGEST_LAMBDA } else { one_way }, receive: one_way })
}
