//! Open-loop traffic straight on the network: no programs, no nodes' costs, only packets that are born at a given rate
//! whether or not the network keeps up.
//!
//! A *cycle* is the flit time of the nodes' injection channels. Every node tosses a coin each cycle, and with the
//! probability `rate / packet` a packet of `packet` flits is born and joins the node's queue. A run warms up, measures,
//! and drains: the packets born during the measurement are those whose latency counts, and traffic goes on until the last
//! of them has arrived. A load that is far too much is told as soon as the queues show it; whether any other is carried,
//! `decision` tells from the measurement, and as long as it doesn't, another one follows that is twice as long.

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
use machines::model::{ChannelId, FlitNetwork, NodeId, Place};
use machines::routing::usual_chance;
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

/// The lowest rate that can be asked for. [flits/node/cycle]
pub const LOWEST_RATE: f64 = 1e-6;

/// What the network is offered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Who sends to whom.
    pub pattern: Pattern,
    /// How much each node sends: at most 1. [flits/node/cycle]
    pub rate: f64,
    /// The length of a packet, header included. [flits]
    pub packet: u32,
    /// What all random choices follow from.
    pub seed: u64,
}

/// How long a run takes, and when a load counts as too much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    /// The length of the warm-up; if left out, until a period is like the one before. With a length, the measurement
    /// goes on to its end even if the load is too much. [cycles]
    pub warm_up: Option<u64>,
    /// The length of the measurement; if left out, so long that its outcome is decided. [cycles]
    pub measure: Option<u64>,
    /// Where the length of the measurement is left out, the most cycles of warm-up and measurements: what is not decided
    /// then is [`Verdict::Undecided`]. If left out, those in which 20,000 packets of each node are born. [cycles]
    pub budget: Option<u64>,
    /// The mean latency above which a load is too much; if left out, five times that of the empty network, and at least
    /// 500, which is BookSim's. [cycles]
    pub latency_limit: Option<u64>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Whether the network carries the load.
    pub verdict: Verdict,
    /// The flit time of the nodes' injection channels.
    pub cycle: Duration,
    /// The cycles before the measurement, or before the run was given up.
    pub warmed_up: u64,
    /// The cycles of the measurement; of the last period if it was not reached.
    pub measured: u64,
    /// The cycles of the whole run.
    pub cycles: u64,
    /// The mean latency above which the load would have been too much. [cycles]
    pub latency_limit: u64,
    /// Flits born in the measured cycles. [flits/node/cycle]
    pub offered: f64,
    /// Flits that arrived in the measured cycles. [flits/node/cycle]
    pub accepted: f64,
    /// Of the packets born in the measured cycles, if all have arrived.
    pub packets: Option<Packets>,
    /// For each channel, the share of the measured cycles that flits occupied it. A packet counts when it has crossed.
    pub utilisation: Vec<f64>,
    /// Flits times channels crossed in the whole run.
    pub flit_hops: u64,
    /// What the measurement shows, if it was long enough to show anything.
    pub evidence: Option<Evidence>,
}

/// What a measurement shows of whether the network carries the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// The share of the packets born that did not arrive.
    pub deficit: Estimate,
    /// The mean latency by Little's law, which counts those that still wait too. [ps]
    pub latency: Estimate,
    /// By how much the packets on their way or waiting became more from the beginning to the end, in terms of their mean.
    pub backlog_growth: Estimate,
    /// By how much the latency of what arrived grew from the beginning to the end, in terms of its mean.
    pub latency_growth: Estimate,
}

/// A value that is known up to chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// In 95 of 100 cases the true value is no farther from it.
    pub margin: f64,
}

/// What became of the packets that were born in the measured cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct Packets {
    /// From birth to the arrival of the tail.
    pub latency: Distribution,
    /// From the grant of the injection channel to the arrival of the tail.
    pub network_latency: Distribution,
    /// Channels on their ways, those from and to nodes included, on average.
    pub hops: f64,
}

/// Whether the network carries a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Stable,
    /// It does not.
    Saturated(Sign),
    /// What was measured does not tell; a longer measurement may.
    Undecided,
    /// Packets wait for each other for good: who holds what and waits for what.
    Deadlocked(String),
    /// It was asked to end before it was known.
    Interrupted,
}

/// By what a load is known to be too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The mean latency exceeds the limit, counted with the packets that still wait.
    Latency,
    /// Fewer flits arrive than are born.
    Accepted,
    /// The packets that are on their way or wait become more and more.
    Backlog,
    /// Packets of the measurement don't arrive.
    Drain,
}

impl fmt::Display for Sign {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Sign::Latency => "the mean latency, with the packets that still wait, exceeds the limit",
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

/// Whether `load` can be offered to `network`.
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

/// The channels from `source` to `destination`, which may be the same node.
fn route(network: &FlitNetwork, source: NodeId, destination: NodeId) -> impl Iterator<Item = ChannelId> {
    let chance = usual_chance(source, destination);
    let after = move |channel: &ChannelId| match network.channels[channel.0 as usize].to {
        Place::Router(at) => Some(network.routing.step(at, source, destination, chance).fixed()),
        Place::Node(_) => None,
    };
    std::iter::successors(Some(network.injection[source.0 as usize]), after)
}

/// How many nodes are asked about their packets' time through the empty network.
const ASKED: usize = 64;

/// The mean time of a packet through the empty network, from some nodes to where they send. [cycles]
fn mean_zero_load(network: &FlitNetwork, offer: &Offer) -> f64 {
    let nodes = network.injection.len();
    let mut stream = Stream::new(0, 0);
    let (mut total, mut count) = (0.0, 0.0);
    for node in (0..nodes).step_by(nodes.div_ceil(ASKED).max(1)) {
        let source = NodeId(node as u32);
        let way: Vec<ChannelId> = route(network, source, offer.destinations.draw(source, &mut stream)).collect();
        total += zero_load(network, &way, offer.flits).picoseconds() as f64;
        count += 1.0;
    }
    total / count / cycle_of(network).picoseconds() as f64
}
