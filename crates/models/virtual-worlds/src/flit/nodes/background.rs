//! Background traffic at the nodes: it uses their injection queues, but not their processors.

use machines::model::NodeId;
use quantities::Time;

use super::control::Control;
use super::{NodeState, Nodes, WorldEvent};
use crate::answer::BackgroundStatistics;
use crate::flit::network::Engine;
use crate::flit::traffic::{BackgroundTraffic, Next};

/// After this many instants, the run checks whether programs can still go on: a network with background traffic never
/// comes to rest.
const INSTANTS_BETWEEN_CHECKS: u64 = 4_096;

/// Background traffic, and which of its sources can go on.
#[derive(Debug)]
pub(super) struct Background {
    traffic: BackgroundTraffic,
    /// The sources that have no packet in their node's injection queue, and may have a packet to inject.
    ready: Vec<u32>,
    instants: u64,
}

impl<E: Engine> Nodes<E> {
    /// Adds `traffic` beside the programs, until [`Nodes::end_background`].
    pub(in crate::flit) fn add_background(&mut self, traffic: BackgroundTraffic) {
        let ready = (0..self.network.injection.len() as u32).collect();
        self.background = Some(Background { traffic, ready, instants: 0 });
        self.inject_background(self.now());
    }

    /// Ends background traffic. Packets already in the network are still carried.
    pub fn end_background(&mut self) {
        let now = self.now();
        if let Some(background) = &mut self.background {
            background.traffic.end(now);
        }
    }

    /// What became of background traffic, if there was any.
    pub fn background(&mut self) -> Option<BackgroundStatistics> {
        self.background.as_mut().map(|background| background.traffic.statistics())
    }

    /// The packet of a source has left its node, or its next packet is born.
    pub(super) fn source_ready(&mut self, node: u32) {
        if let Some(background) = &mut self.background {
            background.ready.push(node);
        }
    }

    pub(super) fn background_delivered(&mut self, now: Time, token: u64) {
        if let Some(background) = &mut self.background {
            background.traffic.delivered(now, token);
        }
    }

    /// At the end of an instant, when all sources that can go on are known: each injects the packet that is born.
    pub(super) fn inject_background(&mut self, now: Time) {
        if self.queue.has_present() {
            return;
        }
        self.end_background_if_programs_wait();
        let Some(Background { traffic, ready, .. }) = &mut self.background else { return };
        // By number: the result must not depend on the order in which an engine found them.
        ready.sort_unstable();
        for node in ready.drain(..) {
            match traffic.next(now, NodeId(node)) {
                Next::Inject(order) => self.engine.inject(now, order, &mut self.queue),
                Next::At(birth) => self.queue.put(birth, WorldEvent::Birth(node)),
                Next::Never => {}
            }
        }
    }

    /// Ends background traffic if programs wait for each other: they would wait beside it for ever.
    fn end_background_if_programs_wait(&mut self) {
        let Some(background) = &mut self.background else { return };
        background.instants += 1;
        if background.instants.is_multiple_of(INSTANTS_BETWEEN_CHECKS) && !self.programs_can_go_on() {
            self.end_background();
        }
    }

    /// Whether an operation of a program can still complete: part of it is under way at a node or between nodes, or it
    /// waits for a time.
    fn programs_can_go_on(&self) -> bool {
        let of_traffic = self.background.as_ref().map_or(0, |background| background.traffic.in_flight());
        let waits = |node: &NodeState| {
            let mut deadlines = node.matching.posted().filter_map(|receive| receive.deadline);
            deadlines.any(|deadline| deadline < Time::NEVER)
        };
        let works = |node: &NodeState| {
            !node.communication.is_idle() || node.processors.iter().any(|processor| !processor.is_idle())
        };
        !self.done.is_empty()
            || !self.sleeping.is_empty()
            || self.engine.in_flight() > of_traffic
            || !self.control.as_ref().is_none_or(Control::is_idle)
            || self.nodes.iter().any(|node| waits(node) || works(node))
    }
}
