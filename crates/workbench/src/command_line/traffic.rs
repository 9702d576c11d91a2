//! Open-loop traffic, as `maquette run traffic` and `maquette saturate` are given it.

use clap::{Args, ValueEnum};
use machines::model::{FlitNetwork, Interconnect, Machine, NodeId};
use virtual_worlds::traffic::{Load, Parameter, Pattern, Unfit, Verdict, Windows};

use super::failure::Failure;
use super::settings::Settings;

/// The longest window that can be asked for: half a day of work for the smallest machines. [cycles]
const MOST_CYCLES: u64 = 10_000_000_000;

/// Who sends to whom on which machine, and for how long.
#[derive(Args, Debug)]
pub(super) struct Traffic {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE")]
    machine: String,
    #[command(flatten)]
    settings: Settings,
    /// Who sends to whom.
    #[arg(long, value_enum, default_value = "uniform")]
    pattern: PatternName,
    /// The node that a hot spot is at.
    #[arg(long, value_name = "NODE", default_value_t = 0)]
    hot_node: u32,
    /// The share of packets that are meant for the hot spot in particular.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    hot_fraction: f64,
    /// The length of a packet, header included. [flits]
    #[arg(long, value_name = "FLITS", default_value_t = 16)]
    packet: u32,
    /// What random choices follow from.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The length of the warm-up; until the latency has settled, if left out. [cycles]
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u64).range(1..=MOST_CYCLES))]
    warm_up: Option<u64>,
    /// The length of the measurement; if left out, it goes on until it is decided whether the network carries the load.
    /// [cycles]
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u64).range(1..=MOST_CYCLES))]
    measure: Option<u64>,
    /// The most cycles in which that is to be decided; those in which each node sends 20,000 packets, if left out.
    /// [cycles]
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u64).range(1..=MOST_CYCLES), conflicts_with = "measure")]
    budget: Option<u64>,
    /// The mean latency above which a load is too much; five times that of the empty network and at least 500, if left
    /// out. [cycles]
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u64).range(1..))]
    latency_limit: Option<u64>,
}

/// Who sends to whom.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum PatternName {
    /// To any node, all equally likely.
    Uniform,
    /// From row y, column x to row x, column y.
    Transpose,
    /// To the node whose binary digits are the opposite.
    BitComplement,
    /// To the node whose binary digits are in reverse.
    BitReverse,
    /// To the node whose binary digits are turned round by one.
    Shuffle,
    /// Nearly half way round in every dimension.
    Tornado,
    /// To the next in every dimension.
    Neighbour,
    /// Some of them to one node, the others as with uniform.
    HotSpot,
}

impl Traffic {
    /// The machine that is meant.
    pub(super) fn machine(&self) -> Result<Machine, Failure> {
        self.settings.load(&self.machine)
    }

    /// What it is offered at `rate`.
    pub(super) fn load(&self, rate: f64) -> Load {
        Load { pattern: self.pattern(), rate, packet: self.packet, seed: self.seed }
    }

    fn pattern(&self) -> Pattern {
        match self.pattern {
            PatternName::Uniform => Pattern::Uniform,
            PatternName::Transpose => Pattern::Transpose,
            PatternName::BitComplement => Pattern::BitComplement,
            PatternName::BitReverse => Pattern::BitReverse,
            PatternName::Shuffle => Pattern::Shuffle,
            PatternName::Tornado => Pattern::Tornado,
            PatternName::Neighbour => Pattern::Neighbour,
            PatternName::HotSpot => Pattern::HotSpot { node: NodeId(self.hot_node), fraction: self.hot_fraction },
        }
    }

    /// How long it is offered.
    pub(super) fn windows(&self) -> Windows {
        Windows { warm_up: self.warm_up, measure: self.measure, budget: self.budget, latency_limit: self.latency_limit }
    }
}

/// The network of `machine`, which traffic needs.
pub(super) fn network(machine: &Machine) -> Result<&FlitNetwork, Failure> {
    match &machine.interconnect {
        Interconnect::Flits(network) => Ok(network),
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => {
            Err(Failure::argument("--machine", machine.name.as_str(), "a machine with a network of routers"))
        }
    }
}

/// What is said of a load, in a word or a sentence.
pub(super) fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Stable => "stable".to_string(),
        Verdict::Saturated(sign) => format!("saturated: {sign}"),
        Verdict::Undecided => "not decided".to_string(),
        Verdict::Deadlocked(how) => format!("deadlocked: {how}"),
        Verdict::Interrupted => "interrupted".to_string(),
    }
}

impl From<Unfit> for Failure {
    fn from(unfit: Unfit) -> Failure {
        let argument = match unfit.parameter {
            Parameter::Pattern => "--pattern",
            Parameter::HotNode => "--hot-node",
            Parameter::HotFraction => "--hot-fraction",
            Parameter::Rate => "--rate",
            Parameter::Packet => "--packet",
        };
        Failure::argument(argument, unfit.found, unfit.allowed)
    }
}
