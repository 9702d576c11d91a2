//! Open-loop traffic, as given to `maquette run traffic` and `maquette saturate`.

use std::ffi::OsString;

use clap::Args;
use machines::model::Machine;

use super::choice::choice;
use super::failure::Failure;
use super::quantity::whole;
use super::settings::Settings;
use experiment::open_loop::{MOST_CYCLES, OpenLoop};
use experiment::{EngineName as Engine, PatternName};

/// Who sends to whom on which machine, and for how long.
#[derive(Args, Debug)]
pub(super) struct Traffic {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE")]
    machine: OsString,
    #[command(flatten)]
    settings: Settings,
    /// The pattern: which node sends to which.
    #[arg(long, default_value = "uniform", value_parser = choice::<PatternName>())]
    pattern: PatternName,
    /// The node that a hot spot is at; 0, if left out.
    #[arg(long, value_name = "NODE", value_parser = whole(0..=u32::MAX))]
    hot_node: Option<u32>,
    /// The share of packets that go to the hot spot specifically; 0.1, if left out.
    #[arg(long, value_name = "SHARE")]
    hot_fraction: Option<f64>,
    /// The length of a packet, header included. [flits]
    #[arg(long, value_name = "FLITS", default_value_t = 16, value_parser = whole(0..=u32::MAX))]
    packet: u32,
    /// The seed of random choices.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The length of the warm-up; until the latency has settled, if left out. [cycles]
    #[arg(long, value_name = "CYCLES", value_parser = whole(1..=MOST_CYCLES))]
    warm_up: Option<u64>,
    /// The length of the measurement; if left out, until it is decided whether the network carries the load. [cycles]
    #[arg(long, value_name = "CYCLES", value_parser = whole(1..=MOST_CYCLES))]
    measure: Option<u64>,
    /// The most cycles to decide that; those in which each node sends 20,000 packets, if left out. [cycles]
    #[arg(long, value_name = "CYCLES", value_parser = whole(1..=MOST_CYCLES), conflicts_with = "measure")]
    budget: Option<u64>,
    /// The mean latency above which a load is too much; five times that of the empty network and at least 500, if left
    /// out. [cycles]
    #[arg(long, value_name = "CYCLES", value_parser = whole(1..=u64::MAX))]
    latency_limit: Option<u64>,
}

impl Traffic {
    /// The machine.
    pub(super) fn machine(&self) -> Result<Machine, Failure> {
        let given = [("--hot-node", self.hot_node.is_some()), ("--hot-fraction", self.hot_fraction.is_some())];
        if let Some((argument, _)) = given.iter().find(|given| given.1 && self.pattern != PatternName::HotSpot) {
            let found = format!("a hot spot with {} traffic", self.pattern.name());
            return Err(Failure::argument(*argument, found, "none but with --pattern hot-spot"));
        }
        self.settings.load(&self.machine)
    }

    /// The traffic as data, with the engine that moves the flits.
    pub(super) fn open_loop(&self, engine: Engine) -> OpenLoop {
        OpenLoop {
            pattern: self.pattern,
            hot_node: self.hot_node,
            hot_fraction: self.hot_fraction,
            packet: self.packet,
            seed: self.seed,
            warm_up: self.warm_up,
            measure: self.measure,
            budget: self.budget,
            latency_limit: self.latency_limit,
            engine,
        }
    }
}
