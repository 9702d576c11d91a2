//! The course of a run: its phase, and the totals so far.

use machines::model::FlitNetwork;
use quantities::{Duration, Time};

use super::decision::{Decision, decide};
use super::run::{OpenLoop, Phase, Progress};
use super::tally::{MeasuredPackets, Totals};
use super::{Distribution, Evidence, Offer, Packets, Sign, TrafficOutcome, Verdict, Windows};
use crate::flit::network::Engine;

/// The fewest cycles in a period.
const LEAST_PERIOD: u64 = 1_000;
/// The fewest expected births in a period, over all nodes and per node.
const LEAST_BIRTHS: f64 = 1_000.0;
const LEAST_BIRTHS_OF_NODE: f64 = 3.0;
/// The number of expected births per node within which it should be decided whether the load is carried, unless another
/// budget is set.
const BUDGET_OF_NODE: f64 = 20_000.0;
/// Batches of a measurement.
const BATCHES: u64 = 32;
/// The most periods of a warm-up whose length is not given. If it has not settled by then, the measurement will show
/// it.
const MOST_WARM_UP: u64 = 16;
/// The number of measurement lengths within which the last packet that counts must have arrived.
const MOST_DRAIN: u64 = 10;
/// How much two periods may differ and still count as alike.
const TOLERANCE: f64 = 0.05;
/// How many standard deviations a period must fall behind to indicate overload.
const DEVIATIONS: f64 = 5.0;
/// BookSim's limit of the mean latency. [cycles]
const LEAST_LIMIT: u64 = 500;
/// The limit as a multiple of the mean latency of the empty network.
const LIMIT_OF_ZERO_LOAD: f64 = 5.0;

/// The result of a measurement.
struct Measurement {
    decision: Decision,
    evidence: Option<Evidence>,
    totals: Totals,
    /// How long channels were busy.
    busy: Vec<Duration>,
}

/// The phase of a run, and the totals so far.
pub(super) struct Course {
    cycle: Duration,
    nodes: usize,
    flits: u32,
    windows: Windows,
    /// [cycles]
    period: u64,
    /// [cycles]
    limit: u64,
    /// The most cycles of warm-up and measurements, if no length is given. [cycles]
    budget: u64,
    phase: Phase,
    cycles: u64,
    /// The length of the present period. [cycles]
    step: u64,
    /// When the present phase or measurement began. [cycles]
    phase_began: u64,
    /// The length of the present measurement, or of the last one. [cycles]
    measure: u64,
    /// When that measurement began. [cycles]
    measurement_began: u64,
    /// The totals when the present period began.
    at_period: Totals,
    /// The period that ended last, and the one before it.
    recent: Totals,
    before: Option<Totals>,
    /// The totals when the present batch began.
    at_batch: Totals,
    batches: Vec<Totals>,
    /// The totals, and how long channels had been busy, when the measurement began.
    at_measurement: (Totals, Vec<Duration>),
    found: Option<Measurement>,
}

impl Course {
    pub(super) fn new(network: &FlitNetwork, offer: &Offer, windows: &Windows) -> Course {
        let zero_load = super::mean_zero_load(network, offer);
        let period = period(network, offer);
        // Nothing happens after the horizon: warm-up, measurement and drain, which may last ten measurements, end
        // before it.
        let most = Time::NEVER.picoseconds() / super::cycle_of(network).picoseconds().max(1) / 32;
        let windows = Windows { warm_up: windows.warm_up.map(|length| length.min(most)), ..*windows };
        let limit = windows.latency_limit.unwrap_or(LEAST_LIMIT.max((LIMIT_OF_ZERO_LOAD * zero_load) as u64));
        Course {
            cycle: super::cycle_of(network),
            nodes: network.injection.len(),
            flits: offer.flits,
            windows,
            period,
            limit,
            budget: windows.budget.unwrap_or_else(|| budget(offer)).min(most),
            phase: Phase::WarmUp,
            cycles: 0,
            step: 0,
            phase_began: 0,
            measure: windows.measure.unwrap_or(BATCHES * period).clamp(1, most),
            measurement_began: 0,
            at_period: Totals::default(),
            recent: Totals::default(),
            before: None,
            at_batch: Totals::default(),
            batches: Vec::new(),
            at_measurement: (Totals::default(), Vec::new()),
            found: None,
        }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress { phase: self.phase, cycles: self.cycles }
    }

    /// When the present period ends: with its phase or batch, if that ends earlier.
    pub(super) fn next_tick(&mut self) -> Time {
        let passed = self.cycles - self.phase_began;
        let left = match (self.phase, self.windows.warm_up) {
            (Phase::WarmUp, Some(length)) => length - passed,
            (Phase::Measurement, _) => self.batch_end(self.batches.len() as u64) - passed,
            _ => self.period,
        };
        // The rest is cut into equal parts, so that none is too short to be meaningful.
        self.step = left.div_ceil(left.div_ceil(self.period).max(1)).max(1);
        Time::ZERO + self.cycle * (self.cycles + self.step)
    }

    /// When batch number `batch` of a measurement ends. [cycles from its beginning]
    fn batch_end(&self, batch: u64) -> u64 {
        let batches = BATCHES.min(self.measure);
        (u128::from(self.measure) * u128::from(batch + 1) / u128::from(batches)) as u64
    }

    /// Acts on the end of a period. Returns the verdict if the run ends with it.
    pub(super) fn period_ended<E: Engine>(&mut self, now: Time, traffic: &mut OpenLoop<'_, E>) -> Option<Verdict> {
        self.cycles += self.step;
        let totals = traffic.totals(now);
        self.before = (self.cycles > self.step).then_some(self.recent);
        self.recent = totals.since(&self.at_period);
        self.at_period = totals;
        if let Some(deadlock) = traffic.deadlock() {
            return Some(deadlock);
        }
        let may_be_overloaded = self.windows.warm_up.is_none() || self.phase == Phase::Drain;
        if may_be_overloaded && self.is_overloaded() {
            return Some(Verdict::Saturated(Sign::Latency));
        }
        let passed = self.cycles - self.phase_began;
        match self.phase {
            Phase::WarmUp if self.is_warm(passed) => self.begin_measurement(now, traffic),
            Phase::WarmUp => {}
            Phase::Measurement => return self.measured_up_to(passed, now, traffic),
            Phase::Drain if passed >= MOST_DRAIN * self.period.max(self.measure) => {
                return Some(Verdict::Saturated(Sign::Drain));
            }
            Phase::Drain => {}
        }
        None
    }

    /// The verdict, if the last packet that counts has arrived.
    pub(super) fn drained<E: Engine>(&self, traffic: &OpenLoop<'_, E>) -> Option<Verdict> {
        let found = self.found.as_ref().filter(|_| self.phase == Phase::Drain)?;
        if traffic.tally.measured.latencies.count < found.totals.born {
            return None;
        }
        let mean = traffic.tally.measured.latencies.mean().unwrap_or(0.0);
        let high = found.decision == Decision::Stable && self.in_cycles(mean) > self.limit as f64;
        Some(if high { Verdict::Saturated(Sign::Latency) } else { found.decision.verdict() })
    }

    /// Whether the load is so excessive that the last two periods show it: the mean latency, including packets that
    /// still wait, exceeds the limit, and births exceed arrivals by more than chance would explain.
    fn is_overloaded(&self) -> bool {
        let Totals { born, arrived, .. } = self.before.map_or(self.recent, |before| before.and(&self.recent));
        let behind = born as f64 - arrived as f64;
        let high = self.in_cycles(self.recent.little()) > self.limit as f64;
        high && behind > DEVIATIONS * ((born + arrived) as f64).sqrt()
    }

    fn is_warm(&self, passed: u64) -> bool {
        match self.windows.warm_up {
            Some(length) => passed >= length,
            None => self.is_steady() || passed >= MOST_WARM_UP * self.period,
        }
    }

    /// Whether in the last period packets took as long as in the one before, and as many arrived.
    fn is_steady(&self) -> bool {
        let Some(before) = self.before else { return false };
        let (Some(old), Some(new)) = (before.mean_latency(), self.recent.mean_latency()) else { return false };
        let alike = |old: f64, new: f64| (new - old).abs() <= TOLERANCE * new;
        alike(old, new) && alike(before.arrived as f64, self.recent.arrived as f64)
    }

    fn begin_measurement<E: Engine>(&mut self, now: Time, traffic: &mut OpenLoop<'_, E>) {
        self.enter(Phase::Measurement);
        self.measurement_began = self.cycles;
        if self.windows.measure.is_none() {
            self.measure = self.measure.min(self.budget.saturating_sub(self.cycles)).max(1);
        }
        self.batches.clear();
        self.at_batch = self.at_period;
        self.at_measurement = (self.at_period, traffic.busy());
        traffic.tally.begin_measurement(now);
    }

    /// Acts on `passed` measured cycles, if a batch is full or the measurement is over.
    fn measured_up_to<E: Engine>(&mut self, passed: u64, now: Time, traffic: &mut OpenLoop<'_, E>) -> Option<Verdict> {
        if passed == self.batch_end(self.batches.len() as u64) {
            self.batches.push(self.at_period.since(&self.at_batch));
            self.at_batch = self.at_period;
        }
        if passed < self.measure {
            return None;
        }
        let (decision, evidence) = decide(&self.batches, (self.cycle * self.limit).picoseconds() as f64);
        if decision == Decision::Undecided && self.can_extend() {
            self.measure *= 2;
            self.begin_measurement(now, traffic);
            return None;
        }
        traffic.tally.end_measurement(now);
        let (before, busy_before) = &self.at_measurement;
        let busy = traffic.busy().iter().zip(busy_before).map(|(&after, &before)| after - before).collect();
        self.found = Some(Measurement { decision, evidence, totals: self.at_period.since(before), busy });
        self.enter(Phase::Drain);
        match decision {
            Decision::Saturated(sign) => Some(Verdict::Saturated(sign)),
            Decision::Stable | Decision::Undecided => self.drained(traffic),
        }
    }

    /// Whether a measurement twice as long as the last ends within the budget.
    fn can_extend(&self) -> bool {
        self.windows.measure.is_none() && self.cycles + 2 * self.measure <= self.budget
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.phase_began = self.cycles;
    }

    fn in_cycles(&self, picoseconds: f64) -> f64 {
        picoseconds / self.cycle.picoseconds() as f64
    }

    pub(super) fn outcome<E: Engine>(self, verdict: Verdict, mut traffic: OpenLoop<'_, E>) -> TrafficOutcome {
        let flit_hops = traffic.flit_hops();
        let complete = self.drained(&traffic).is_some();
        let evidence = self.found.as_ref().and_then(|found| found.evidence);
        let (totals, busy, warmed_up, measured) = match self.found {
            Some(found) => (found.totals, found.busy, self.measurement_began, self.measure),
            None => (self.recent, Vec::new(), self.cycles - self.step, self.step),
        };
        let per_node = |packets: u64| (packets * u64::from(self.flits)) as f64 / (self.nodes as f64 * measured as f64);
        let length = (self.cycle * measured).picoseconds() as f64;
        TrafficOutcome {
            verdict,
            cycle: self.cycle,
            warmed_up,
            measured,
            cycles: self.cycles,
            latency_limit: self.limit,
            offered: per_node(totals.born),
            accepted: per_node(totals.arrived),
            packets: if complete { packets(&traffic.tally.measured) } else { None },
            utilisation: busy.iter().map(|busy| busy.picoseconds() as f64 / length).collect(),
            flit_hops,
            evidence,
        }
    }
}

/// The cycles of a period: enough for packets to cross the network twice, and for births to be compared.
pub(super) fn period(network: &FlitNetwork, offer: &Offer) -> u64 {
    let births_a_cycle = network.injection.len() as f64 * offer.chance;
    let crossings = (2.0 * super::mean_zero_load(network, offer)) as u64;
    let births = (LEAST_BIRTHS / births_a_cycle).max(LEAST_BIRTHS_OF_NODE / offer.chance);
    LEAST_PERIOD.max(births as u64).max(crossings)
}

/// Statistics of the packets that count.
fn packets(measured: &MeasuredPackets) -> Option<Packets> {
    Some(Packets {
        latency: Distribution::of(&measured.latencies)?,
        network_latency: Distribution::of(&measured.network_latencies)?,
        hops: measured.hops as f64 / measured.latencies.count as f64,
    })
}

/// The most cycles of a run for which no other budget is set.
fn budget(offer: &Offer) -> u64 {
    (BUDGET_OF_NODE / offer.chance) as u64
}
