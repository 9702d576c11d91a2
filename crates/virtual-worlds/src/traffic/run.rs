//! A run: packets are born, the network carries them, and the course of the run is decided period by period.

use machines::model::{FlitNetwork, NodeId};
use quantities::{Duration, Time};

use super::sources::Sources;
use super::tally::{Tally, Totals};
use super::{Distribution, Load, Offer, Outcome, Packets, Sign, Unfit, Verdict, Windows};
use crate::events::EventQueue;
use crate::network::forwarding::Forwarding;
use crate::network::{Engine, NetworkEvent, Notice, Schedule, stuck};

/// The least cycles of a period.
const LEAST_PERIOD: u64 = 1_000;
/// The fewest expected births of a period.
const LEAST_BIRTHS: f64 = 1_000.0;
/// Periods of a measurement whose length is not given.
const MEASURED_PERIODS: u64 = 10;
/// Periods in which a run must have warmed up.
const MOST_WARM_UP: u64 = 100;
/// Periods, or measurements, in which the last packet that counts must have arrived.
const MOST_DRAIN: u64 = 10;
/// How much two periods may differ that count as alike, and how much fewer flits than are born may arrive.
const TOLERANCE: f64 = 0.05;
/// As many packets are described one by one when the network is stuck.
const PACKETS_DESCRIBED: usize = 20;
/// BookSim's limit of the mean latency. [cycles]
const LEAST_LIMIT: u64 = 500;
/// The limit in terms of the mean latency of the empty network.
const LIMIT_OF_ZERO_LOAD: f64 = 5.0;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it does.
    pub phase: Phase,
    /// The cycles that have passed.
    pub cycles: u64,
}

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It fills the network.
    WarmUp,
    /// Packets that are born count.
    Measurement,
    /// It waits for the last of those.
    Drain,
}

/// Offers `load` to `network`. Whenever a period has ended, `watch` is told how far the run is, and says whether it goes
/// on.
///
/// # Errors
/// The parameter of the load that does not fit the network.
pub fn run<E: Engine>(
    network: &FlitNetwork,
    load: &Load,
    windows: &Windows,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Outcome, Unfit> {
    let offer = Offer::new(network, load)?;
    let mut traffic: Traffic<'_, E> = Traffic::new(network, &offer, load.seed);
    let mut course = Course::new(network, &offer, windows);
    traffic.tick_at(course.next_tick());
    let verdict = loop {
        let Some(tick) = traffic.instant() else { break Verdict::Stable };
        if course.phase == Phase::Drain && traffic.tally.missing == 0 {
            break course.judge(&traffic.tally);
        }
        if let Some(now) = tick {
            if let Some(verdict) = course.period_ended(now, &mut traffic) {
                break verdict;
            }
            if !watch(Progress { phase: course.phase, cycles: course.cycles }) {
                break Verdict::Interrupted;
            }
            traffic.tick_at(course.next_tick());
        }
    };
    Ok(course.outcome(verdict, traffic))
}

/// What happens next in a run.
#[derive(Clone, Copy, Debug)]
enum Event {
    Network(NetworkEvent),
    Birth(NodeId),
    /// A period ends.
    Tick,
}

/// The events to come.
#[derive(Debug, Default)]
struct Queue {
    events: EventQueue<Event>,
    /// How many of them are the network's.
    network: usize,
}

impl Schedule for Queue {
    #[inline]
    fn at(&mut self, time: Time, event: NetworkEvent) {
        self.network += 1;
        self.events.put(time, Event::Network(event));
    }
}

/// Sources, network and sinks.
struct Traffic<'a, E> {
    network: &'a FlitNetwork,
    engine: E,
    sources: Sources<'a>,
    forwarding: Forwarding,
    tally: Tally,
    queue: Queue,
    /// Whether a period has ended at the present instant, of which more may come.
    ticks: bool,
    batch: Vec<Event>,
    events: Vec<NetworkEvent>,
    births: Vec<NodeId>,
    notices: Vec<Notice>,
}

impl<'a, E: Engine> Traffic<'a, E> {
    fn new(network: &'a FlitNetwork, offer: &'a Offer, seed: u64) -> Traffic<'a, E> {
        let mut sources = Sources::new(network, offer, seed);
        let mut queue = Queue::default();
        for (node, time) in sources.first().into_iter().enumerate() {
            queue.events.put(time, Event::Birth(NodeId(node as u32)));
        }
        Traffic {
            network,
            engine: E::new(network, seed, false),
            sources,
            forwarding: Forwarding::new(network),
            tally: Tally::new(network.injection.len()),
            queue,
            ticks: false,
            batch: Vec::new(),
            events: Vec::new(),
            births: Vec::new(),
            notices: Vec::new(),
        }
    }

    fn tick_at(&mut self, time: Time) {
        self.queue.events.put(time, Event::Tick);
    }

    /// Lets the next events happen; gives the time if a period has ended with them.
    fn instant(&mut self) -> Option<Option<Time>> {
        let now = self.queue.events.take_instant(&mut self.batch)?;
        for event in self.batch.drain(..) {
            match event {
                Event::Network(event) => self.events.push(event),
                Event::Birth(node) => self.births.push(node),
                Event::Tick => self.ticks = true,
            }
        }
        if !self.events.is_empty() {
            self.carry(now);
        }
        // The order in which they came depends on how long ago they were put in; the engines shall see no such thing.
        self.births.sort_unstable();
        for index in 0..self.births.len() {
            self.birth(now, self.births[index]);
        }
        self.births.clear();
        let more = (self.ticks || self.forwarding.is_asked()) && self.queue.events.next_time() == Some(now);
        if !more && self.forwarding.is_asked() {
            let (engine, queue) = (&mut self.engine, &mut self.queue);
            self.forwarding.serve(now, |_, waiting, time| engine.forwarded(waiting, time, queue));
        }
        let ended = self.ticks && !more;
        self.ticks &= more;
        Some(ended.then_some(now))
    }

    fn carry(&mut self, now: Time) {
        self.queue.network -= self.events.len();
        self.engine.instant(now, self.events.drain(..), &mut self.queue, &mut self.notices);
        for notice in self.notices.drain(..) {
            match notice {
                Notice::Departed { node, token } => self.tally.departed(now, node, token),
                Notice::Delivered { token, .. } => self.tally.arrived(now, token),
                Notice::Forward { .. } => self.forwarding.ask(notice),
            }
        }
    }

    fn birth(&mut self, now: Time, source: NodeId) {
        let (order, next) = self.sources.birth(source, now, self.tally.next_token());
        let hops = if self.tally.is_measuring() {
            super::route(self.network, source, order.destination).count() as u32
        } else {
            0
        };
        self.tally.born(now, hops);
        self.engine.inject(now, order, &mut self.queue);
        self.queue.events.put(next, Event::Birth(source));
    }

    /// How long each channel has been busy.
    fn busy(&mut self) -> Vec<Duration> {
        let now = self.queue.events.now();
        self.engine.statistics(now).channels.iter().map(|channel| channel.busy).collect()
    }

    /// Nothing moves in the network, but packets are in it.
    fn deadlock(&self) -> Option<Verdict> {
        let stuck = self.queue.network == 0 && !self.forwarding.is_asked() && self.engine.in_flight() > 0;
        stuck.then(|| Verdict::Deadlocked(stuck::describe(self.network, &self.engine.stuck(), PACKETS_DESCRIBED)))
    }
}

/// The course of a run: which phase it is in, and what was so far.
struct Course {
    cycle: Duration,
    nodes: usize,
    flits: u32,
    /// The warm-up, if its length is given. [cycles]
    warm_up: Option<u64>,
    /// The measurement. [cycles]
    measure: u64,
    period: u64,
    /// [cycles]
    limit: u64,
    phase: Phase,
    cycles: u64,
    /// The cycles of the present period.
    step: u64,
    /// When the present phase began. [cycles]
    phase_began: u64,
    /// What had happened when the present period began.
    at_period: Totals,
    /// The period before the present one.
    before: Option<Totals>,
    /// The period that ended last.
    recent: Totals,
    /// What had happened, and how long channels had been busy, when the measurement began.
    at_measurement: Option<(Totals, Vec<Duration>)>,
    /// What happened in the measurement, how long channels were busy in it, and when it began. [cycles]
    measured: Option<(Totals, Vec<Duration>, u64)>,
    overloaded: bool,
}

impl Course {
    fn new(network: &FlitNetwork, offer: &Offer, windows: &Windows) -> Course {
        let nodes = network.injection.len();
        let zero_load = super::mean_zero_load(network, offer);
        let period = period(network, offer);
        let limit = windows.latency_limit.unwrap_or(LEAST_LIMIT.max((LIMIT_OF_ZERO_LOAD * zero_load) as u64));
        Course {
            cycle: super::cycle_of(network),
            nodes,
            flits: offer.flits,
            warm_up: windows.warm_up,
            measure: windows.measure.unwrap_or(MEASURED_PERIODS * period).max(1),
            period,
            limit,
            phase: Phase::WarmUp,
            cycles: 0,
            step: 0,
            phase_began: 0,
            at_period: Totals::default(),
            before: None,
            recent: Totals::default(),
            at_measurement: None,
            measured: None,
            overloaded: false,
        }
    }

    /// When the present period ends: with its phase, if that has a length.
    fn next_tick(&mut self) -> Time {
        let passed = self.cycles - self.phase_began;
        self.step = match (self.phase, self.warm_up) {
            (Phase::WarmUp, Some(length)) => self.period.min(length - passed).max(1),
            (Phase::Measurement, _) => self.period.min(self.measure - passed),
            _ => self.period,
        };
        Time::ZERO + self.cycle * (self.cycles + self.step)
    }

    /// A period has ended: what follows from it. Gives the verdict if the run ends with it.
    fn period_ended<E: Engine>(&mut self, now: Time, traffic: &mut Traffic<'_, E>) -> Option<Verdict> {
        self.cycles += self.step;
        let totals = traffic.tally.totals(now);
        self.before = Some(self.recent);
        self.recent = totals.since(&self.at_period);
        self.at_period = totals;
        if let Some(deadlock) = traffic.deadlock() {
            return Some(deadlock);
        }
        let overload = self.in_cycles(self.recent.little()) > self.limit as f64;
        self.overloaded |= overload && self.phase == Phase::Measurement;
        let gives_up = self.warm_up.is_none() || self.phase == Phase::Drain;
        if overload && gives_up {
            return Some(Verdict::Saturated(Sign::Latency));
        }
        let passed = self.cycles - self.phase_began;
        match self.phase {
            Phase::WarmUp => self.warm_up_period_ended(passed, totals, traffic),
            Phase::Measurement if passed >= self.measure => self.measurement_ended(totals, traffic),
            Phase::Drain if passed >= MOST_DRAIN * self.period.max(self.measure) => {
                Some(Verdict::Saturated(Sign::Drain))
            }
            _ => None,
        }
    }

    fn warm_up_period_ended<E: Engine>(
        &mut self,
        passed: u64,
        totals: Totals,
        traffic: &mut Traffic<'_, E>,
    ) -> Option<Verdict> {
        let warm = self.warm_up.map_or_else(|| self.is_like_before(), |length| passed >= length);
        if warm {
            self.enter(Phase::Measurement);
            self.at_measurement = Some((totals, traffic.busy()));
            traffic.tally.measure(true);
        } else if self.warm_up.is_none() && passed >= MOST_WARM_UP * self.period {
            return Some(Verdict::Saturated(Sign::Unsettled));
        }
        None
    }

    fn measurement_ended<E: Engine>(&mut self, totals: Totals, traffic: &mut Traffic<'_, E>) -> Option<Verdict> {
        traffic.tally.measure(false);
        if let Some((before, busy_before)) = self.at_measurement.take() {
            let busy = traffic.busy().iter().zip(busy_before).map(|(&after, before)| after - before).collect();
            self.measured = Some((totals.since(&before), busy, self.phase_began));
        }
        self.enter(Phase::Drain);
        if self.overloaded {
            return Some(Verdict::Saturated(Sign::Latency));
        }
        (traffic.tally.missing == 0).then(|| self.judge(&traffic.tally))
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.phase_began = self.cycles;
    }

    /// Whether in the last period packets took as long as in the one before, and as many arrived.
    fn is_like_before(&self) -> bool {
        let Some(before) = self.before else { return false };
        let (Some(old), Some(new)) = (before.mean_latency(), self.recent.mean_latency()) else { return false };
        let alike = |old: f64, new: f64| (new - old).abs() <= TOLERANCE * new;
        alike(old, new) && alike(before.arrived as f64, self.recent.arrived as f64)
    }

    /// All packets that count have arrived.
    fn judge(&self, tally: &Tally) -> Verdict {
        let count = tally.latencies.len().max(1) as f64;
        let mean = tally.latencies.iter().map(|&latency| latency as f64).sum::<f64>() / count;
        let Some((measured, ..)) = &self.measured else { return Verdict::Stable };
        if self.in_cycles(mean) > self.limit as f64 {
            Verdict::Saturated(Sign::Latency)
        } else if (measured.arrived as f64) < (1.0 - TOLERANCE) * measured.born as f64 {
            Verdict::Saturated(Sign::Accepted)
        } else {
            Verdict::Stable
        }
    }

    fn in_cycles(&self, picoseconds: f64) -> f64 {
        picoseconds / self.cycle.picoseconds() as f64
    }

    fn outcome<E: Engine>(self, verdict: Verdict, mut traffic: Traffic<'_, E>) -> Outcome {
        let now = traffic.queue.events.now();
        let flit_hops = traffic.engine.statistics(now).flit_hops;
        let complete = self.phase == Phase::Drain && traffic.tally.missing == 0;
        let (totals, busy, warmed_up, measured) = match self.measured {
            Some((totals, busy, began)) => (totals, busy, began, self.measure),
            None => (self.recent, Vec::new(), self.cycles - self.step, self.step),
        };
        let per_node = |packets: u64| (packets * u64::from(self.flits)) as f64 / (self.nodes as f64 * measured as f64);
        let length = (self.cycle * measured).picoseconds() as f64;
        Outcome {
            verdict,
            cycle: self.cycle,
            warmed_up,
            measured,
            cycles: self.cycles,
            latency_limit: self.limit,
            offered: per_node(totals.born),
            accepted: per_node(totals.arrived),
            packets: if complete { packets(traffic.tally) } else { None },
            utilisation: busy.iter().map(|busy| busy.picoseconds() as f64 / length).collect(),
            flit_hops,
        }
    }
}

/// The cycles of a period: so many that packets can cross the network twice, and enough are born to be compared.
pub(super) fn period(network: &FlitNetwork, offer: &Offer) -> u64 {
    let births_a_cycle = network.injection.len() as f64 * offer.chance;
    let crossings = (2.0 * super::mean_zero_load(network, offer)) as u64;
    LEAST_PERIOD.max((LEAST_BIRTHS / births_a_cycle) as u64).max(crossings)
}

/// What is known of the packets that count.
fn packets(tally: Tally) -> Option<Packets> {
    let count = tally.latencies.len();
    Some(Packets {
        latency: Distribution::of(tally.latencies)?,
        network_latency: Distribution::of(tally.network_latencies)?,
        hops: tally.hops as f64 / count as f64,
    })
}
