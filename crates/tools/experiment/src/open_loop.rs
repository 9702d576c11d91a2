//! Packets generated at a given rate whether or not the network keeps up, as data: the offered load, and the results.

use std::sync::Arc;

use machines::model::{FlitNetwork, Machine};
use serde::Deserialize;
use serde_json::{Value, json};
use virtual_worlds::flit::network::fast::Fast;
use virtual_worlds::flit::network::reference::Reference;
use virtual_worlds::flit::traffic::{
    self, Distribution, Effort, Estimate, Known, Load, Parameter, Pattern, Point, Progress, Search, TrafficOutcome,
    Unfit, Verdict, Windows,
};

use std::sync::atomic::AtomicBool;

use crate::{EngineName, Error, PatternName, Provenance};

/// The longest window allowed: half a day of work for the smallest machines. [cycles]
pub const MOST_CYCLES: u64 = 10_000_000_000;
/// The default distance between the highest load that is carried and the lowest that is not.
pub const DEFAULT_PRECISION: f64 = 0.01;

/// The traffic, and for how long.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenLoop {
    /// The traffic pattern.
    pub pattern: PatternName,
    /// The node of a hot spot; 0, if left out.
    pub hot_node: Option<u32>,
    /// The share of packets that go to a hot spot in particular; 0.1, if left out.
    pub hot_fraction: Option<f64>,
    /// The length of a packet, header included. [flits]
    pub packet: u32,
    /// The seed of random choices.
    pub seed: u64,
    /// The length of the warm-up; until the latency has settled, if left out. [cycles]
    pub warm_up: Option<u64>,
    /// The length of the measurement; if left out, until it is decided whether the load is carried. [cycles]
    pub measure: Option<u64>,
    /// The most cycles in which to decide that. [cycles]
    pub budget: Option<u64>,
    /// The mean latency above which a load is too high. [cycles]
    pub latency_limit: Option<u64>,
    /// The engine that moves the flits.
    pub engine: EngineName,
}

impl Default for OpenLoop {
    fn default() -> OpenLoop {
        OpenLoop {
            pattern: PatternName::Uniform,
            hot_node: None,
            hot_fraction: None,
            packet: 16,
            seed: 1,
            warm_up: None,
            measure: None,
            budget: None,
            latency_limit: None,
            engine: EngineName::Fast,
        }
    }
}

/// The network of `machine`, which open-loop traffic needs.
///
/// # Errors
/// If the machine has none.
pub fn network(machine: &Machine) -> Result<&Arc<FlitNetwork>, Error> {
    let allowed = "a machine with a network of routers";
    machine.network().ok_or_else(|| Error::parameter("machine", machine.name.as_str(), allowed))
}

impl OpenLoop {
    /// Checks that its windows have lengths that are allowed.
    ///
    /// # Errors
    /// The first that has not; a budget together with a fixed measurement.
    pub fn check(&self) -> Result<(), Error> {
        let lengths = [("warm_up", self.warm_up), ("measure", self.measure), ("budget", self.budget)];
        for (name, length) in lengths {
            if let Some(length) = length.filter(|length| !(1..=MOST_CYCLES).contains(length)) {
                return Err(Error::parameter(name, length, format!("1 to {MOST_CYCLES} cycles")));
            }
        }
        if self.latency_limit == Some(0) {
            return Err(Error::parameter("latency_limit", 0, "at least 1 cycle"));
        }
        match (self.budget, self.measure) {
            (Some(budget), Some(_)) => {
                Err(Error::parameter("budget", budget, "none beside a length of the measurement"))
            }
            _ => Ok(()),
        }
    }

    /// The provenance of `command` on `machine`, with its `own` parameters.
    ///
    /// # Errors
    /// If a hot spot is given for a pattern without one.
    pub fn provenance(&self, command: &str, machine: &Machine, own: Value) -> Result<Provenance, Error> {
        let mut parameters = json!({
            "pattern": self.pattern.name(),
            "packet_flits": self.packet,
            "warm_up_cycles": self.warm_up,
            "measure_cycles": self.measure,
            "budget_cycles": self.budget,
            "latency_limit_cycles": self.latency_limit,
        });
        if let Pattern::HotSpot { node, fraction } = self.pattern.pattern(self.hot_node, self.hot_fraction)? {
            parameters["hot_node"] = json!(node.0);
            parameters["hot_fraction"] = json!(fraction);
        }
        let provenance = Provenance::of(command).on(machine).with_engine(Some(self.engine.name()));
        let mut provenance = provenance.seeded(self.seed, true).given(parameters).given(own);
        provenance.mark_random();
        Ok(provenance)
    }

    /// The load offered to a network at `rate`. [flits/node/cycle]
    ///
    /// # Errors
    /// If a hot spot is given for a pattern without one.
    pub fn load(&self, rate: f64) -> Result<Load, Error> {
        let pattern = self.pattern.pattern(self.hot_node, self.hot_fraction)?;
        Ok(Load { pattern, rate, packet: self.packet, seed: self.seed })
    }

    /// How long it is offered.
    pub fn windows(&self) -> Windows {
        Windows { warm_up: self.warm_up, measure: self.measure, budget: self.budget, latency_limit: self.latency_limit }
    }

    /// Offers the load to `network` at `rate` until the result is decided, or `watch` returns false.
    ///
    /// # Errors
    /// If the network can't be offered this load.
    pub fn run(
        &self,
        network: &Arc<FlitNetwork>,
        rate: f64,
        watch: &mut impl FnMut(Progress) -> bool,
    ) -> Result<TrafficOutcome, Error> {
        let (load, windows) = (self.load(rate)?, self.windows());
        Ok(match self.engine {
            EngineName::Fast => traffic::run::<Fast>(network, &load, &windows, watch)?,
            EngineName::Reference => traffic::run::<Reference>(network, &load, &windows, watch)?,
        })
    }

    /// Searches for the rate at which `network` saturates; `on_progress` is called with what is known so far.
    ///
    /// # Errors
    /// If the network can't be offered this load.
    pub fn search(
        &self,
        network: &Arc<FlitNetwork>,
        effort: &Effort,
        on_progress: &(dyn Fn(Known) + Sync),
        stop: &AtomicBool,
    ) -> Result<Search, Error> {
        let (load, windows) = (self.load(1.0)?, self.windows());
        Ok(match self.engine {
            EngineName::Fast => traffic::search::<Fast>(network, &load, &windows, effort, on_progress, stop)?,
            EngineName::Reference => traffic::search::<Reference>(network, &load, &windows, effort, on_progress, stop)?,
        })
    }
}

impl From<Unfit> for Error {
    fn from(unfit: Unfit) -> Error {
        let name = match unfit.parameter {
            Parameter::Pattern => "pattern",
            Parameter::HotNode => "hot_node",
            Parameter::HotFraction => "hot_fraction",
            Parameter::Rate => "rate",
            Parameter::Packet => "packet",
        };
        Error::parameter(name, unfit.found, unfit.allowed)
    }
}

/// The verdict on a load for people, in a word or a sentence.
pub fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Stable => "stable".to_owned(),
        Verdict::Saturated(sign) => format!("saturated: {sign}"),
        Verdict::Undecided => "not decided".to_owned(),
        Verdict::Deadlocked(how) => format!("deadlocked: {how}"),
        Verdict::Interrupted => "interrupted".to_owned(),
    }
}

/// The deadlock of the network, if there is one.
pub fn deadlock(search: &Search) -> Option<&str> {
    search.points.iter().chain(&search.overload).find_map(|point| match &point.outcome.verdict {
        Verdict::Deadlocked(how) => Some(how.as_str()),
        _ => None,
    })
}

/// The mean latency from generation, and the 99th percentile. [cycles]
pub fn latency(outcome: &TrafficOutcome) -> Option<(f64, f64)> {
    let packets = outcome.packets.as_ref().filter(|_| outcome.verdict == Verdict::Stable)?;
    let cycle = outcome.cycle.picoseconds() as f64;
    let (_, high) = packets.latency.percentiles.iter().find(|(percent, _)| *percent == 99.0)?;
    Some((packets.latency.mean / cycle, high.picoseconds() as f64 / cycle))
}

/// The result of a load, as a JSON object. Times in picoseconds or cycles, as their names say.
pub fn outcome_json(machine: &Machine, load: &Load, outcome: &TrafficOutcome) -> Value {
    let mut object = json!({
        "program": "traffic",
        "machine": machine.name,
        "pattern": load.pattern.to_string(),
        "rate": load.rate,
        "packet_flits": load.packet,
        "seed": load.seed,
        "stable": outcome.verdict == Verdict::Stable,
        "verdict": verdict(&outcome.verdict),
        "cycle_ps": outcome.cycle.picoseconds(),
        "warm_up_cycles": outcome.warmed_up,
        "measured_cycles": outcome.measured,
        "cycles": outcome.cycles,
        "latency_limit_cycles": outcome.latency_limit,
        "offered_flits_per_node_cycle": outcome.offered,
        "accepted_flits_per_node_cycle": outcome.accepted,
        "utilisation": outcome.utilisation,
        "flit_hops": outcome.flit_hops,
    });
    if let Some(evidence) = &outcome.evidence {
        let estimate = |Estimate { value, margin }| json!({ "value": value, "margin": margin });
        object["deficit"] = estimate(evidence.deficit);
        object["backlog_growth"] = estimate(evidence.backlog_growth);
        object["latency_growth"] = estimate(evidence.latency_growth);
        object["latency_of_born_ps"] = estimate(evidence.latency);
    }
    if let Some(packets) = &outcome.packets {
        object["packets"] = json!(packets.latency.count);
        object["mean_hops"] = json!(packets.hops);
        object["latency_ps"] = spread(&packets.latency);
        object["network_latency_ps"] = spread(&packets.network_latency);
    }
    object
}

fn spread(spread: &Distribution) -> Value {
    let mut object = json!({
        "mean": spread.mean,
        "least": spread.least.picoseconds(),
        "most": spread.most.picoseconds(),
    });
    for (percent, length) in spread.percentiles {
        object[format!("p{percent}")] = json!(length.picoseconds());
    }
    object
}

/// The result of a search for saturation, as a JSON object.
pub fn search_json(machine: &Machine, load: &Load, search: &Search) -> Value {
    json!({
        "machine": machine.name,
        "pattern": load.pattern.to_string(),
        "packet_flits": load.packet,
        "seed": load.seed,
        "stable_rate": search.span.stable,
        "saturated_rate": search.span.saturated,
        "overload": search.overload.as_ref().map(point),
        "undecided_rates": search.undecided().collect::<Vec<f64>>(),
        "interrupted": search.interrupted,
        "points": search.points.iter().map(point).collect::<Vec<Value>>(),
    })
}

fn point(point: &Point) -> Value {
    let (mean, high) = latency(&point.outcome).unzip();
    json!({
        "rate": point.rate,
        "stable": point.outcome.verdict == Verdict::Stable,
        "verdict": verdict(&point.outcome.verdict),
        "offered_flits_per_node_cycle": point.outcome.offered,
        "accepted_flits_per_node_cycle": point.outcome.accepted,
        "latency_mean_cycles": mean,
        "latency_p99_cycles": high,
        "cycle_ps": point.outcome.cycle.picoseconds(),
    })
}
