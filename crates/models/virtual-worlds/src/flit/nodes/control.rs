//! The control network: a node's broadcast goes to all other nodes, one broadcast after the other.
//!
//! A processor hands a broadcast over; the network carries it after those before it, at its own rate, and it has
//! reached every node one latency after its last byte. The sender's part is over when the network has taken that byte.

use endpoint::{Message, Passage, Received, Tag};
use machines::model::ControlNetwork;
use quantities::{Duration, Rank, Time};

use super::processor::ProcessorWork;
use super::{Nodes, OperationStatus, Receive, WorldEvent};
use crate::flit::network::Engine;
use crate::matching::{MatchPattern, Matching};

/// The control network of a machine, in motion.
#[derive(Debug)]
pub(super) struct Control {
    costs: ControlNetwork,
    /// From when on the network is free.
    free: Time,
    /// How many broadcasts are under way.
    under_way: u32,
    broadcasts: Vec<Broadcast>,
    /// For each rank, the broadcasts that have arrived and the receives that wait for one.
    matching: Vec<Matching<Receive>>,
}

/// A message for all ranks.
#[derive(Debug)]
struct Broadcast {
    from: Rank,
    message: Message,
    /// The sender's operation.
    operation: u32,
    /// When the program sent it.
    sent: Time,
    /// When it had reached every node.
    arrived: Time,
}

impl Control {
    pub(super) fn new(costs: ControlNetwork, ranks: u32) -> Control {
        let matching = (0..ranks).map(|_| Matching::default()).collect();
        Control { costs, free: Time::ZERO, under_way: 0, broadcasts: Vec::new(), matching }
    }

    /// The broadcasts that have arrived and were not received: sender and receiver.
    pub(super) fn unreceived(&self) -> impl Iterator<Item = (Rank, Rank)> {
        let ranks = (0..).map(Rank).zip(&self.matching);
        ranks.flat_map(|(to, matching)| matching.kept().map(move |(from, _, _)| (Rank(from), to)))
    }

    /// Whether no broadcast is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.under_way == 0
    }

    /// The processor's cost to begin a broadcast, and to receive one.
    pub(super) fn overhead(&self) -> Duration {
        self.costs.overhead
    }
}

impl<E: Engine> Nodes<E> {
    /// Whether nodes can broadcast.
    pub fn has_control_network(&self) -> bool {
        self.control.is_some()
    }

    /// Starts to broadcast a message to all other ranks, on a machine with a control network.
    pub fn multicast(&mut self, from: Rank, message: Message, operation: u32) {
        let sent = self.now();
        let Some(control) = &mut self.control else { return };
        control.broadcasts.push(Broadcast { from, message, operation, sent, arrived: Time::NEVER });
        let number = control.broadcasts.len() as u32 - 1;
        self.process(from, 0, ProcessorWork::Broadcast(number));
    }

    /// Starts to receive the next broadcast of `from`.
    pub fn receive_multicast(&mut self, rank: Rank, from: Rank, operation: u32) {
        let receive = Receive { operation, processor: 0, posted: self.now(), deadline: None };
        let pattern = MatchPattern { from: from.0, tag: 0 };
        let Some(control) = &mut self.control else { return };
        let matching = &mut control.matching[rank.0 as usize];
        match matching.find(pattern) {
            Some(number) => self.process(rank, 0, ProcessorWork::TakeBroadcast { number, operation }),
            None => matching.post(pattern, receive),
        }
    }

    /// The sender's processor has begun the broadcast: the network carries it as soon as it is free.
    pub(super) fn broadcast(&mut self, number: u32) {
        let now = self.now();
        let Some(control) = &mut self.control else { return };
        let Broadcast { from, message, operation, .. } = &control.broadcasts[number as usize];
        let taken = control.free.max(now) + control.costs.rate.time_of(message.size());
        let (from, operation, there) = (*from, *operation, taken + control.costs.latency);
        control.free = taken;
        control.under_way += 1;
        self.queue.put(there, WorldEvent::Broadcast(number));
        // The sender's processor is kept busy until the network has its last byte.
        self.process(from, 0, ProcessorWork::Compute { work: taken.since(now), operation });
    }

    /// A broadcast has reached every node.
    pub(super) fn broadcast_arrived(&mut self, number: u32) {
        let now = self.now();
        let Some(control) = &mut self.control else { return };
        control.under_way -= 1;
        let Broadcast { from, arrived, .. } = &mut control.broadcasts[number as usize];
        *arrived = now;
        let from = *from;
        for rank in (0..self.nodes.len() as u32).filter(|rank| *rank != from.0) {
            let Some(matching) = self.control.as_mut().and_then(|control| control.matching.get_mut(rank as usize))
            else {
                return;
            };
            match matching.match_receive(from.0, 0) {
                Some(Receive { operation, posted, .. }) => {
                    self.nodes[rank as usize].statistics.receive_idle += now.since(posted);
                    self.process(Rank(rank), 0, ProcessorWork::TakeBroadcast { number, operation });
                }
                None => matching.keep(from.0, 0, number),
            }
        }
    }

    /// The program has its broadcast.
    pub(super) fn broadcast_received(&mut self, rank: u32, number: u32, operation: u32) {
        let Some(control) = &self.control else { return };
        let Broadcast { from, message, sent, arrived, .. } = &control.broadcasts[number as usize];
        let received = Received { from: *from, tag: Tag::default(), message: message.clone() };
        let outcome = OperationStatus::Received(received, Passage { sent: *sent, arrived: *arrived });
        self.finish(rank, operation, outcome);
    }
}
