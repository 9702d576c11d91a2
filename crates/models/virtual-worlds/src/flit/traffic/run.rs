//! A run: packets are born, the network carries them, and the course of the run is decided period by period.

use std::sync::Arc;

use machines::model::{FlitNetwork, NodeId};
use quantities::{Duration, Time};

use super::course::Course;
use super::sources::Sources;
use super::tally::{Flight, Tally, Totals};
use super::{Load, Offer, TrafficOutcome, Unfit, Verdict, Windows};
use crate::events::EventQueue;
use crate::flit::network::forwarding::Forwarding;
use crate::flit::network::{Engine, NetworkEvent, Notice, Schedule, stuck};

/// The number of packets described one by one when the network is stuck.
const PACKETS_DESCRIBED: usize = 20;

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Its phase.
    pub phase: Phase,
    /// The cycles that have passed.
    pub cycles: u64,
}

/// The phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It fills the network.
    WarmUp,
    /// Packets that are born are counted.
    Measurement,
    /// It waits for the last of those to arrive.
    Drain,
}

/// Offers `load` to `network`. At the end of every period, `watch` is called with the progress of the run, and returns
/// whether the run goes on.
///
/// # Errors
/// The parameter of the load that does not fit the network.
pub fn run<E: Engine>(
    network: &Arc<FlitNetwork>,
    load: &Load,
    windows: &Windows,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<TrafficOutcome, Unfit> {
    let offer = Offer::new(network, load)?;
    let mut traffic: OpenLoop<'_, E> = OpenLoop::new(network, &offer, load.seed);
    let mut course = Course::new(network, &offer, windows);
    traffic.tick_at(course.next_tick());
    let verdict = loop {
        let Some(tick) = traffic.instant() else { break Verdict::Stable };
        if let Some(verdict) = course.drained(&traffic) {
            break verdict;
        }
        if let Some(now) = tick {
            if let Some(verdict) = course.period_ended(now, &mut traffic) {
                break verdict;
            }
            if !watch(course.progress()) {
                break Verdict::Interrupted;
            }
            traffic.tick_at(course.next_tick());
        }
    };
    Ok(course.outcome(verdict, traffic))
}

/// What happens next in a run.
#[derive(Clone, Copy, Debug)]
enum TrafficEvent {
    Network(NetworkEvent),
    Birth(NodeId),
    /// A period ends.
    Tick,
}

/// The events to come.
#[derive(Debug, Default)]
struct Queue {
    events: EventQueue<TrafficEvent>,
    /// How many of them are the network's.
    network: usize,
}

impl Schedule for Queue {
    #[inline]
    fn at(&mut self, time: Time, event: NetworkEvent) {
        self.network += 1;
        self.events.put(time, TrafficEvent::Network(event));
    }
}

/// Sources, network and sinks.
pub(super) struct OpenLoop<'a, E> {
    network: &'a FlitNetwork,
    engine: E,
    sources: Sources,
    forwarding: Forwarding,
    pub(super) tally: Tally,
    queue: Queue,
    /// Whether a period has ended at the present instant, of which more may come.
    ticks: bool,
    batch: Vec<TrafficEvent>,
    events: Vec<NetworkEvent>,
    /// The sources that can inject a packet, if they have one by now.
    free: Vec<NodeId>,
    notices: Vec<Notice>,
}

impl<'a, E: Engine> OpenLoop<'a, E> {
    fn new(network: &'a Arc<FlitNetwork>, offer: &Offer, seed: u64) -> OpenLoop<'a, E> {
        let sources = Sources::new(network, offer.clone(), seed, |_| true);
        let mut queue = Queue::default();
        for node in (0..network.injection.len() as u32).map(NodeId) {
            queue.events.put(sources.next(node), TrafficEvent::Birth(node));
        }
        OpenLoop {
            network,
            engine: E::new(network, seed, false),
            sources,
            forwarding: Forwarding::new(network),
            tally: Tally::new(),
            queue,
            ticks: false,
            batch: Vec::new(),
            events: Vec::new(),
            free: Vec::new(),
            notices: Vec::new(),
        }
    }

    fn tick_at(&mut self, time: Time) {
        self.queue.events.put(time, TrafficEvent::Tick);
    }

    /// Processes the next events; returns the time if a period has ended with them.
    fn instant(&mut self) -> Option<Option<Time>> {
        let now = self.queue.events.take_instant(&mut self.batch)?;
        for event in self.batch.drain(..) {
            match event {
                TrafficEvent::Network(event) => self.events.push(event),
                TrafficEvent::Birth(node) => self.free.push(node),
                TrafficEvent::Tick => self.ticks = true,
            }
        }
        if !self.events.is_empty() {
            self.carry(now);
        }
        // The order in which they came depends on how long ago they were scheduled; the engines must not see that.
        self.free.sort_unstable();
        for index in 0..self.free.len() {
            self.inject(now, self.free[index]);
        }
        self.free.clear();
        let more = (self.ticks || self.forwarding.has_waiting()) && self.queue.events.next_time() == Some(now);
        if !more && self.forwarding.has_waiting() {
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
                Notice::Departed { node, .. } => self.free.push(node),
                Notice::Delivered { token, .. } => {
                    let network = self.network;
                    self.tally.arrived(now, token, |flight| network.way(flight.source, flight.destination).count());
                }
                Notice::Forward { .. } => self.forwarding.ask(notice),
            }
        }
    }

    /// The injection channel of `source` is free: its next packet gets it as soon as it is born.
    fn inject(&mut self, now: Time, source: NodeId) {
        let birth = self.sources.next(source);
        if birth > now {
            self.queue.events.put(birth, TrafficEvent::Birth(source));
            return;
        }
        let (order, born) = self.sources.inject(source, self.tally.next_token());
        self.tally.injected(Flight { source, destination: order.destination, born, granted: now });
        self.engine.inject(now, order, &mut self.queue);
    }

    /// The totals up to `now`.
    pub(super) fn totals(&mut self, now: Time) -> Totals {
        let born = self.sources.born(now);
        self.tally.totals(now, born)
    }

    /// How long each channel has been busy.
    pub(super) fn busy(&mut self) -> Vec<Duration> {
        let now = self.queue.events.now();
        self.engine.statistics(now).channels.iter().map(|channel| channel.busy).collect()
    }

    /// Flits times channels crossed so far.
    pub(super) fn flit_hops(&mut self) -> u64 {
        let now = self.queue.events.now();
        self.engine.statistics(now).flit_hops
    }

    /// A deadlock: nothing moves in the network, but packets are in it.
    pub(super) fn deadlock(&self) -> Option<Verdict> {
        let stuck = self.queue.network == 0 && !self.forwarding.has_waiting() && self.engine.in_flight() > 0;
        stuck.then(|| Verdict::Deadlocked(stuck::describe(self.network, &self.engine.stuck(), PACKETS_DESCRIBED)))
    }
}
