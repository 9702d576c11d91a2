//! Open-loop traffic straight on the network: no programs, no costs at nodes, only packets that are born at a given
//! rate whether or not the network keeps up.
//!
//! A *cycle* is the flit time of the nodes' injection channels. Every node tosses a coin each cycle, and with
//! probability `rate / packet` a packet of `packet` flits is born and joins the node's queue. A run warms up, measures,
//! and drains: the packets born during the measurement are those whose latency counts, and traffic goes on until the
//! last of them has arrived. A load that is far too high is reported as soon as the queues show it; whether any other
//! is carried, `decision` infers from the measurement, and as long as it can't, another one follows that is twice as
//! long.

mod background;
mod course;
mod decision;
mod distribution;
mod patterns;
mod random;
mod run;
mod saturation;
mod sources;
mod tally;

use std::fmt;

use machines::facts::zero_load;
use machines::model::{ChannelId, FlitNetwork, NodeId};
use quantities::{Bytes, Duration};

pub use background::{Background, BackgroundSources};
pub(in crate::flit) use background::{BackgroundTraffic, Next};
pub use distribution::Distribution;
pub use patterns::Pattern;
pub(crate) use random::Chance;
pub use random::Stream;
pub use run::{Phase, Progress, run};
pub use saturation::{Effort, Known, Point, Search, Span, search};

use patterns::Destinations;
use random::Gaps;

/// The lowest rate that can be offered. [flits/node/cycle]
pub const LOWEST_RATE: f64 = 1e-6;

/// The load offered to the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Who sends to whom.
    pub pattern: Pattern,
    /// How much each node sends: at most 1. [flits/node/cycle]
    pub rate: f64,
    /// The length of a packet, header included. [flits]
    pub packet: u32,
    /// The seed of all random choices.
    pub seed: u64,
}

/// How long a run takes, and when a load counts as too high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    /// The length of the warm-up; if left out, until a period is like the one before. If it is set, the measurement
    /// goes on to its end even if the load is too high. [cycles]
    pub warm_up: Option<u64>,
    /// The length of the measurement; if left out, until its outcome is decided. [cycles]
    pub measure: Option<u64>,
    /// Where the length of the measurement is left out, the most cycles of warm-up and measurements: a run not decided
    /// by then is [`Verdict::Undecided`]. If left out, the cycles in which 20,000 packets of each node are born.
    /// [cycles]
    pub budget: Option<u64>,
    /// The mean latency above which a load is too high; if left out, five times that of the empty network, and at least
    /// 500, BookSim's limit. [cycles]
    pub latency_limit: Option<u64>,
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficOutcome {
    /// Whether the network carries the load.
    pub verdict: Verdict,
    /// The flit time of the nodes' injection channels.
    pub cycle: Duration,
    /// The cycles before the measurement, or before the run was given up.
    pub warmed_up: u64,
    /// The cycles of the measurement; of the last period if there was none.
    pub measured: u64,
    /// The cycles of the whole run.
    pub cycles: u64,
    /// The mean latency above which the load would have been too high. [cycles]
    pub latency_limit: u64,
    /// Flits born in the measured cycles. [flits/node/cycle]
    pub offered: f64,
    /// Flits that arrived in the measured cycles. [flits/node/cycle]
    pub accepted: f64,
    /// The packets born in the measured cycles, if all have arrived.
    pub packets: Option<Packets>,
    /// For each channel, the share of the measured cycles that flits occupied it. A packet counts when it has crossed.
    pub utilisation: Vec<f64>,
    /// Flits times channels crossed in the whole run.
    pub flit_hops: u64,
    /// What the measurement shows, if it was long enough.
    pub evidence: Option<Evidence>,
}

/// What a measurement shows of whether the network carries the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// The share of the packets born that did not arrive.
    pub deficit: Estimate,
    /// The mean latency by Little's law, which also counts packets that still wait. [ps]
    pub latency: Estimate,
    /// By how much the number of packets on their way or waiting grew from the beginning to the end, relative to its
    /// mean.
    pub backlog_growth: Estimate,
    /// By how much the latency of arriving packets grew from the beginning to the end, relative to its mean.
    pub latency_growth: Estimate,
}

/// An estimate and its margin of error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimated value.
    pub value: f64,
    /// In 95 of 100 cases the true value is within this distance.
    pub margin: f64,
}

/// What became of the packets that were born in the measured cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct Packets {
    /// From birth to the arrival of the tail.
    pub latency: Distribution,
    /// From the grant of the injection channel to the arrival of the tail.
    pub network_latency: Distribution,
    /// The mean number of channels on their ways, those from and to nodes included.
    pub hops: f64,
}

/// Whether the network carries a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Stable,
    /// It does not.
    Saturated(Sign),
    /// The measurement does not decide; a longer one may.
    Undecided,
    /// Packets wait for each other for ever: which packets hold and wait for which channels.
    Deadlocked(String),
    /// The run was interrupted before its verdict was known.
    Interrupted,
}

/// How a load is known to be too high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The mean latency exceeds the limit, counting packets that still wait.
    Latency,
    /// Fewer flits arrive than are born.
    Accepted,
    /// The number of packets on their way or waiting keeps growing.
    Backlog,
    /// Packets of the measurement don't arrive.
    Drain,
}

impl fmt::Display for Sign {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Sign::Latency => "the mean latency, counting packets that still wait, exceeds the limit",
            Sign::Accepted => "fewer flits arrive than are born",
            Sign::Backlog => "the packets on their way or waiting become more and more",
            Sign::Drain => "packets of the measurement don't arrive",
        })
    }
}

/// A parameter of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// [`Load::pattern`].
    Pattern,
    /// The node of [`Pattern::HotSpot`].
    HotNode,
    /// The fraction of [`Pattern::HotSpot`].
    HotFraction,
    /// [`Load::rate`].
    Rate,
    /// [`Load::packet`].
    Packet,
}

/// A load that cannot be offered to a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: found {found}; allowed is {allowed}", match .parameter {
    Parameter::Pattern => "pattern",
    Parameter::HotNode => "hot node",
    Parameter::HotFraction => "hot fraction",
    Parameter::Rate => "rate",
    Parameter::Packet => "packet",
})]
pub struct Unfit {
    /// What does not fit.
    pub parameter: Parameter,
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
}

impl Unfit {
    fn new(parameter: Parameter, found: impl ToString, allowed: impl ToString) -> Unfit {
        Unfit { parameter, found: found.to_string(), allowed: allowed.to_string() }
    }
}

/// A load that fits its network.
#[derive(Clone, Debug)]
struct Offer {
    destinations: Destinations,
    gaps: Gaps,
    /// Message bytes in a packet.
    bytes: Bytes,
    flits: u32,
    /// The chance of a birth at one node in one cycle.
    chance: f64,
}

impl Offer {
    fn new(network: &FlitNetwork, load: &Load) -> Result<Offer, Unfit> {
        if !(LOWEST_RATE..=1.0).contains(&load.rate) {
            let allowed = format!("{LOWEST_RATE} to 1, all that an injection channel carries");
            return Err(Unfit::new(Parameter::Rate, load.rate, allowed));
        }
        let format = network.packet;
        let (least, most) = (format.flits(Bytes(0)), format.flits(format.payload));
        if !(least..=most).contains(&load.packet) {
            let allowed = format!("{least} to {most} flits, the packets of the machine");
            return Err(Unfit::new(Parameter::Packet, format!("{} flits", load.packet), allowed));
        }
        let destinations = Destinations::new(load.pattern, network)?;
        let chance = load.rate / f64::from(load.packet);
        let bytes = Bytes(format.flit.0 * u64::from(load.packet - least)).min(format.payload);
        Ok(Offer { destinations, gaps: Gaps::new(chance), bytes, flits: load.packet, chance })
    }
}

/// Checks that `load` can be offered to `network`.
///
/// # Errors
/// The parameter that does not fit.
pub fn check(network: &FlitNetwork, load: &Load) -> Result<(), Unfit> {
    Offer::new(network, load).map(drop)
}

/// The flit time of the nodes' injection channels, which are all alike.
fn cycle_of(network: &FlitNetwork) -> Duration {
    network.injection.first().map_or(Duration::ZERO, |channel| network.channels[channel.0 as usize].flit_time)
}

/// The number of nodes whose packets' time through the empty network is averaged.
const SAMPLED_NODES: usize = 64;

/// The mean time of a packet through the empty network, from a sample of nodes to their destinations. [cycles]
fn mean_zero_load(network: &FlitNetwork, offer: &Offer) -> f64 {
    let nodes = network.injection.len();
    let mut stream = Stream::new(0, 0);
    let (mut total, mut count) = (0.0, 0.0);
    for node in (0..nodes).step_by(nodes.div_ceil(SAMPLED_NODES).max(1)) {
        let source = NodeId(node as u32);
        let way: Vec<ChannelId> = network.way(source, offer.destinations.draw(source, &mut stream)).collect();
        total += zero_load(network, &way, offer.flits).picoseconds() as f64;
        count += 1.0;
    }
    total / count / cycle_of(network).picoseconds() as f64
}
