//! Open-loop traffic, as `maquette run traffic` and `maquette saturate` are given it.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use machines::model::{FlitNetwork, Interconnect, Machine, NodeId};
use serde_json::{Value, json};
use virtual_worlds::flit::traffic::{Load, Parameter, Pattern, Unfit, Verdict, Windows};

use super::choice::value_name;
use super::failure::Failure;
use super::settings::Settings;
use experiment::EngineName as Engine;
use experiment::Provenance;

/// The share of packets that are meant for a hot spot, if none is asked for.
const USUAL_HOT_FRACTION: f64 = 0.1;

/// The longest window that can be asked for: half a day of work for the smallest machines. [cycles]
const MOST_CYCLES: u64 = 10_000_000_000;

/// Who sends to whom on which machine, and for how long.
#[derive(Args, Debug)]
pub(super) struct Traffic {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE")]
    machine: OsString,
    #[command(flatten)]
    settings: Settings,
    /// Who sends to whom.
    #[arg(long, value_enum, default_value = "uniform")]
    pattern: PatternName,
    /// The node that a hot spot is at; 0, if left out.
    #[arg(long, value_name = "NODE")]
    hot_node: Option<u32>,
    /// The share of packets that are meant for the hot spot in particular; 0.1, if left out.
    #[arg(long, value_name = "SHARE")]
    hot_fraction: Option<f64>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
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
        let given = [("--hot-node", self.hot_node.is_some()), ("--hot-fraction", self.hot_fraction.is_some())];
        if let Some((argument, _)) = given.iter().find(|given| given.1 && self.pattern != PatternName::HotSpot) {
            let found = format!("a hot spot with {} traffic", value_name(self.pattern));
            return Err(Failure::argument(*argument, found, "none but with --pattern hot-spot"));
        }
        self.settings.load(&self.machine)
    }

    /// What is run by `command` on `machine`, with `own` parameters of it.
    pub(super) fn experiment(&self, command: &str, machine: &Machine, engine: Engine, own: Value) -> Provenance {
        let mut parameters = json!({
            "pattern": value_name(self.pattern),
            "packet_flits": self.packet,
            "warm_up_cycles": self.warm_up,
            "measure_cycles": self.measure,
            "budget_cycles": self.budget,
            "latency_limit_cycles": self.latency_limit,
        });
        if let Pattern::HotSpot { node, fraction } = self.pattern() {
            parameters["hot_node"] = json!(node.0);
            parameters["hot_fraction"] = json!(fraction);
        }
        let experiment = Provenance::of(command).on(machine).with_engine(Some(engine.name()));
        let mut experiment = experiment.seeded(self.seed, true).given(parameters).given(own);
        experiment.draws();
        experiment
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
            PatternName::HotSpot => Pattern::HotSpot {
                node: NodeId(self.hot_node.unwrap_or(0)),
                fraction: self.hot_fraction.unwrap_or(USUAL_HOT_FRACTION),
            },
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
