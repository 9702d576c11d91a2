//! Facts about a machine before anything runs on it.

mod bisection;
mod distances;
mod flow;
mod zero_load;

pub use bisection::{Bisection, bits_per_second_across, halvings};
pub use zero_load::zero_load;

use quantities::{Bytes, Duration};

use crate::model::{FlitNetwork, Machine};
use distances::Survey;

/// Most flits times channels of the paths whose times are worked out: about a second.
const MOST_WORK: u64 = 1 << 28;

/// Facts about a machine before anything runs on it.
#[derive(Clone, Debug)]
pub struct Facts {
    /// How many nodes.
    pub nodes: u32,
    /// How many routers.
    pub routers: usize,
    /// How many channels, those to and from nodes included.
    pub channels: usize,
    /// Facts about its network; none if it has no network, or only one node.
    pub network: Option<NetworkFacts>,
}

/// Facts about a network before anything runs on it.
#[derive(Clone, Debug)]
pub struct NetworkFacts {
    /// The most channels between two nodes, including those from the source and to the destination. The path passes one
    /// router fewer.
    pub diameter: u32,
    /// Channels between two different nodes, on average over all pairs.
    pub average_distance: f64,
    /// Whether all pairs of nodes were examined. In very large networks only the pairs whose destination is at one of
    /// some evenly spread routers are.
    pub all_pairs: bool,
    /// The capacity from one half of the nodes to the other; none for networks too large to work it out.
    pub bisection: Option<Bisection>,
    /// Times through the empty network by distance, in increasing order. Where paths are very long, only the nearest.
    pub zero_load: Vec<ZeroLoad>,
}

/// Times through the empty network over paths of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZeroLoad {
    /// Channels on the path, including those from and to nodes. It passes one router fewer.
    pub channels: u32,
    /// Ordered pairs of nodes at this distance, among those examined.
    pub pairs: u64,
    /// From injection to arrival, of a packet without payload.
    pub empty: Range,
    /// From injection to arrival, of a full packet; none if that would take too long to work out.
    pub full: Option<Range>,
}

/// The least and the most, over paths of different kinds of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub least: Duration,
    /// The most.
    pub most: Duration,
}

/// Works out the facts.
pub fn facts(machine: &Machine) -> Facts {
    machine.interconnect.model().facts(machine.nodes)
}

pub(crate) fn of_network(network: &FlitNetwork) -> NetworkFacts {
    let survey = distances::survey(network);
    let pairs: u64 = survey.kinds.iter().map(|kind| kind.pairs).sum();
    let total: u64 = survey.kinds.iter().map(|kind| kind.pairs * u64::from(kind.length)).sum();
    NetworkFacts {
        diameter: survey.kinds.iter().map(|kind| kind.length).max().unwrap_or(0),
        average_distance: total as f64 / pairs.max(1) as f64,
        all_pairs: survey.all_pairs,
        bisection: bisection::bisection(network),
        zero_load: times(network, &survey),
    }
}

/// Times by distance, from those over every kind of path.
fn times(network: &FlitNetwork, survey: &Survey<'_>) -> Vec<ZeroLoad> {
    let empty_flits = network.packet.flits(Bytes(0));
    let full_flits = network.packet.flits(network.packet.payload);
    let mut work = MOST_WORK;
    let mut rows: Vec<ZeroLoad> = Vec::new();
    for kind in &survey.kinds {
        let channels = kind.length;
        let mut affordable = |flits: u32| {
            let cost = u64::from(channels) * u64::from(flits);
            let enough = cost <= work;
            work -= if enough { cost } else { 0 };
            enough
        };
        if !affordable(empty_flits) {
            break;
        }
        let path = survey.path(kind);
        let time = |flits| Range::of(zero_load::over(&path, flits, network.switching));
        let full = affordable(full_flits).then(|| time(full_flits));
        let row = ZeroLoad { channels, pairs: kind.pairs, empty: time(empty_flits), full };
        match rows.last_mut() {
            Some(last) if last.channels == channels => last.join(&row),
            _ => rows.push(row),
        }
    }
    rows
}

impl Range {
    fn of(time: Duration) -> Range {
        Range { least: time, most: time }
    }
    fn joined(self, other: Range) -> Range {
        Range { least: self.least.min(other.least), most: self.most.max(other.most) }
    }
}

impl ZeroLoad {
    fn join(&mut self, other: &ZeroLoad) {
        self.pairs += other.pairs;
        self.empty = self.empty.joined(other.empty);
        self.full = self.full.zip(other.full).map(|(one, other)| one.joined(other));
    }
}
