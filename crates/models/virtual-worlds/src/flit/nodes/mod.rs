//! The nodes: what a message costs between the program that sends it and the program that receives it.
//!
//! A node has processors, which run the program, and a communication processor, which works beside them. To send, a
//! processor sets the message up and hands it over; the communication processor cuts it into packets and injects them.
//! At the other end, the communication processor takes the packets in and reassembles the message; when a receive asks
//! for it, a processor completes it. A synchronous send is over when a system message, handled by the communication
//! processors alone, has come back.
//!
//! [`Nodes`] offers operations that are started and later reported as done; the code that runs programs on it decides
//! what follows.

mod background;
mod communication;
mod control;
mod in_transit;
mod messages;
mod processor;
mod serial;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use endpoint::{Error, Message, Passage, Received, Result, Tag};
use machines::model::{FlitNetwork, Machine, NodeCosts};
use quantities::{Duration, Rank, Time};

use self::background::Background;
use self::control::Control;
use self::in_transit::InTransit;
use self::messages::{Letter, Letters};
use self::serial::Serial;
use crate::answer::RankStatistics;
use crate::events::EventQueue;
use crate::flit::network::forwarding::Forwarding;
use crate::flit::network::{Engine, NetworkEvent, Notice, Recorder};
use crate::flit::traffic::BackgroundTraffic;
use crate::horizon::beyond;
use crate::matching::Matching;
pub use crate::matching::{ANY, MatchPattern};
use crate::sparse::Sparse;
use crate::stop::ProgressSnapshot;

/// An event: the network's or a node's.
#[derive(Clone, Copy, Debug)]
enum WorldEvent {
    Network(NetworkEvent),
    /// A processor (rank, processor) has finished its work.
    Processor(u32, u16),
    /// A rank's communication processor has finished its work.
    Communication(u32),
    /// The deadline of one of a rank's receives.
    Deadline(u32),
    /// A broadcast has reached every node.
    Broadcast(u32),
    /// The time for which an operation waits has come.
    Wake(u32),
    /// The next packet of a node's background traffic is born.
    Birth(u32),
}

impl WorldEvent {
    /// What ends when the event happens, in words.
    fn describe(self) -> String {
        match self {
            WorldEvent::Network(_) => "the way of a packet".to_owned(),
            WorldEvent::Processor(rank, _) => format!("what rank {rank} does"),
            WorldEvent::Communication(rank) => format!("what the communication processor of rank {rank} does"),
            WorldEvent::Deadline(rank) => format!("what rank {rank} waits for"),
            WorldEvent::Broadcast(_) => "a broadcast".to_owned(),
            WorldEvent::Wake(_) => "a wait".to_owned(),
            WorldEvent::Birth(node) => format!("the wait for the next packet of node {node}"),
        }
    }
}

impl From<NetworkEvent> for WorldEvent {
    fn from(event: NetworkEvent) -> WorldEvent {
        WorldEvent::Network(event)
    }
}

/// An operation that has finished, or has started.
#[derive(Clone, Debug)]
pub struct Done {
    /// The rank that started it.
    pub rank: Rank,
    /// The number that it was started with.
    pub operation: u32,
    /// What happened.
    pub result: OperationStatus,
}

/// The outcome of an operation.
#[derive(Clone, Debug)]
pub enum OperationStatus {
    /// It has not finished: a processor has taken it up. Reported only after [`Nodes::report_starts`].
    Started,
    /// It has finished, with no message: it was a send or a computation.
    Over,
    /// A message was received, with the times of its passage.
    Received(Received, Passage),
    /// A message was found, and left to receives.
    Probed(Received),
    /// The deadline passed.
    Late,
}

/// A message that no receive took.
#[derive(Clone, Copy, Debug)]
pub struct Unreceived {
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// Its tag.
    pub tag: u32,
    /// The sender's number for the send.
    pub operation: u32,
}

/// A receive that was posted.
#[derive(Clone, Copy, Debug)]
pub struct Receive {
    /// The rank's number for it.
    pub operation: u32,
    processor: u16,
    posted: Time,
    /// When the receive ends if it has matched no message by then.
    deadline: Option<Time>,
}

#[derive(Clone, Debug, Default)]
struct NodeState {
    processors: Vec<Serial<processor::ProcessorWork>>,
    /// The cost before the next send: zero after the first.
    cold_send: Duration,
    /// The cost before the next receive.
    cold_receive: Duration,
    communication: Serial<communication::Task>,
    matching: Matching<Receive>,
    in_transit: InTransit,
    statistics: RankStatistics,
    /// When packets had left the node minus when they were ready, summed: modulo 2^128, since the terms come in any
    /// order. [ps]
    away: u128,
}

/// The nodes of a machine and the network between them, in motion.
#[derive(Debug)]
pub struct Nodes<E> {
    costs: NodeCosts,
    network: Arc<FlitNetwork>,
    /// Whether packets of one message may overtake each other.
    reorders: bool,
    engine: E,
    queue: EventQueue<WorldEvent>,
    nodes: Sparse<NodeState>,
    letters: Letters,
    control: Option<Control>,
    done: VecDeque<Done>,
    /// The operations that wait for a time, and their ranks.
    sleeping: BTreeMap<u32, Rank>,
    forwarding: Forwarding,
    background: Option<Background>,
    /// A node whose processor forwards packets and has no time for anything else.
    starved: Option<u32>,
    messages: u64,
    reports_starts: bool,
    events: Vec<WorldEvent>,
    notices: Vec<Notice>,
}

impl<E: Engine> Nodes<E> {
    /// Nodes at rest, `ranks` of them with a program.
    pub fn new(machine: &Machine, network: &Arc<FlitNetwork>, ranks: u32, seed: u64, log: bool) -> Nodes<E> {
        let NodeCosts { cold_send, cold_receive, .. } = machine.node;
        let node = NodeState { processors: vec![Serial::default()], cold_send, cold_receive, ..NodeState::default() };
        let nodes = network.injection.len();
        Nodes {
            costs: machine.node,
            control: machine.control_network.map(|costs| Control::new(costs, ranks)),
            reorders: network.selection != machines::routing::Selection::Fixed,
            engine: E::new(network, seed, log),
            queue: EventQueue::default(),
            nodes: Sparse::filled(node, nodes.max(ranks as usize)),
            letters: Letters::default(),
            done: VecDeque::new(),
            sleeping: BTreeMap::new(),
            forwarding: Forwarding::new(network),
            background: None,
            starved: None,
            messages: 0,
            reports_starts: false,
            events: Vec::new(),
            notices: Vec::new(),
            network: Arc::clone(network),
        }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.queue.now()
    }

    /// The next operation to report.
    pub fn next_done(&mut self) -> Option<Done> {
        self.done.pop_front()
    }

    /// From now on, also reports when a processor takes up a send or a computation.
    pub fn report_starts(&mut self) {
        self.reports_starts = true;
    }

    /// Gives the node of `rank` at least `count` processors.
    pub fn provide_processors(&mut self, rank: Rank, count: u16) {
        let processors = &mut self.nodes[rank.0 as usize].processors;
        if processors.len() < usize::from(count) {
            processors.resize_with(usize::from(count), Serial::default);
        }
    }

    /// Starts to compute for `work`.
    pub fn compute(&mut self, rank: Rank, processor: u16, work: Duration, operation: u32) {
        self.process(rank, processor, processor::ProcessorWork::Compute { work, operation });
    }

    /// Starts to wait until `time`, which takes no processor.
    pub fn sleep(&mut self, rank: Rank, time: Time, operation: u32) {
        self.sleeping.insert(operation, rank);
        self.queue.put(time.max(self.now()), WorldEvent::Wake(operation));
    }

    fn wake(&mut self, operation: u32) {
        if let Some(rank) = self.sleeping.remove(&operation) {
            self.finish(rank.0, operation, OperationStatus::Over);
        }
    }

    /// Starts to receive a message, until `deadline` at the latest: if it has matched none by then, it ends with
    /// [`OperationStatus::Late`].
    pub fn receive(
        &mut self,
        rank: Rank,
        processor: u16,
        pattern: MatchPattern,
        deadline: Option<Time>,
        operation: u32,
    ) {
        let now = self.now();
        let deadline = deadline.map(|deadline| deadline.max(now));
        let cold = std::mem::take(&mut self.nodes[rank.0 as usize].cold_receive);
        self.warm_up(rank, processor, cold);
        let receive = Receive { operation, processor, posted: now, deadline };
        match self.nodes[rank.0 as usize].matching.find(pattern) {
            Some(letter) => self.matched(receive, letter),
            None => {
                self.nodes[rank.0 as usize].matching.post(pattern, receive);
                self.wait_until(rank, deadline);
            }
        }
    }

    /// Starts to wait for a message that no receive takes, which takes no processor.
    pub fn probe(&mut self, rank: Rank, pattern: MatchPattern, deadline: Option<Time>, operation: u32) {
        let now = self.now();
        let deadline = deadline.map(|deadline| deadline.max(now));
        let probe = Receive { operation, processor: 0, posted: now, deadline };
        match self.nodes[rank.0 as usize].matching.probe(pattern) {
            Some(letter) => self.probed(probe, letter),
            None => {
                self.nodes[rank.0 as usize].matching.post_probe(pattern, probe);
                self.wait_until(rank, deadline);
            }
        }
    }

    fn wait_until(&mut self, rank: Rank, deadline: Option<Time>) {
        if let Some(deadline) = deadline.filter(|deadline| *deadline < Time::NEVER) {
            self.queue.put(deadline, WorldEvent::Deadline(rank.0));
        }
    }

    /// A probe has found a message, which stays where it is.
    fn probed(&mut self, probe: Receive, letter: u32) {
        let now = self.now();
        let Letter { from, to, tag, ref message, .. } = self.letters[letter];
        let found = Received { from, tag: Tag(tag), message: Message::of_size(message.size()) };
        self.nodes[to.0 as usize].statistics.receive_idle += now.since(probe.posted);
        self.finish(to.0, probe.operation, OperationStatus::Probed(found));
    }

    /// Advances to the next instant at which anything happens; returns whether there was one.
    ///
    /// # Errors
    /// If something would happen later than can be counted, or never.
    pub fn step(&mut self) -> Result<bool> {
        if let Some(event) = self.queue.beyond() {
            return Err(beyond(event.describe()));
        }
        if let Some(node) = self.starved {
            let reason = format!(
                "what the program on node {node} does would never end: its processor forwards packets all the time"
            );
            return Err(Error::Unfit(reason));
        }
        let mut events = std::mem::take(&mut self.events);
        let Some(now) = self.queue.take_instant(&mut events) else { return self.check_no_deadline_is_left() };
        if events.iter().any(|event| matches!(event, WorldEvent::Network(_))) {
            self.network_instant(now, &events);
        }
        for event in events.drain(..) {
            match event {
                WorldEvent::Network(_) => {}
                WorldEvent::Processor(rank, processor) => self.processor_done(rank, processor),
                WorldEvent::Communication(rank) => self.communication_done(rank),
                WorldEvent::Deadline(rank) => self.deadline_passed(rank),
                WorldEvent::Broadcast(number) => self.broadcast_arrived(number),
                WorldEvent::Wake(operation) => self.wake(operation),
                WorldEvent::Birth(node) => self.source_ready(node),
            }
        }
        self.events = events;
        if self.forwarding.has_waiting() && self.queue.next_time() != Some(now) {
            self.forward(now);
        }
        if self.background.is_some() {
            self.inject_background(now);
        }
        Ok(true)
    }

    /// Nothing happens any more. An error if a rank waits for a deadline that is too late to be counted.
    fn check_no_deadline_is_left(&self) -> Result<bool> {
        let waits = |node: &NodeState| node.matching.posted().any(|receive| receive.deadline.is_some());
        match (0_u32..).zip(&self.nodes).find(|(_, node)| waits(node)) {
            Some((rank, _)) => Err(beyond(WorldEvent::Deadline(rank).describe())),
            None => Ok(false),
        }
    }

    /// Hands the network its events of an instant, and acts on its notices.
    fn network_instant(&mut self, now: Time, events: &[WorldEvent]) {
        let of_the_network = events.iter().filter_map(|event| match event {
            WorldEvent::Network(event) => Some(*event),
            _ => None,
        });
        let mut notices = std::mem::take(&mut self.notices);
        self.engine.instant(now, of_the_network, &mut self.queue, &mut notices);
        for notice in notices.drain(..) {
            match notice {
                Notice::Departed { node, token } if BackgroundTraffic::has(token) => self.source_ready(node.0),
                Notice::Delivered { token, .. } if BackgroundTraffic::has(token) => {
                    self.background_delivered(now, token);
                }
                Notice::Departed { node, token } => self.departed(now, node.0, token),
                Notice::Delivered { node, token } => self.delivered(node.0, token),
                Notice::Forward { .. } => self.forwarding.ask(notice),
            }
        }
        self.notices = notices;
    }

    /// The processors of nodes that route in software forward the packets that have come, before their programs go on.
    fn forward(&mut self, now: Time) {
        let per_packet = self.forwarding.per_packet();
        self.forwarding.serve(now, |router, waiting, time| {
            self.nodes[router.0 as usize].processors[0].stolen += per_packet;
            self.engine.forwarded(waiting, time, &mut self.queue);
        });
    }

    fn deadline_passed(&mut self, rank: u32) {
        let now = self.now();
        let node = &mut self.nodes[rank as usize];
        if let Some(receive) = node.matching.withdraw(|receive| receive.deadline == Some(now)) {
            node.statistics.receive_idle += now.since(receive.posted);
            self.finish(rank, receive.operation, OperationStatus::Late);
        }
    }

    fn finish(&mut self, rank: u32, operation: u32, result: OperationStatus) {
        self.done.push_back(Done { rank: Rank(rank), operation, result });
    }

    /// The messages that have arrived and that no receive took, by receiver, sender and tag.
    pub fn unreceived(&self) -> impl Iterator<Item = Unreceived> {
        let nodes = (0..).map(Rank).zip(&self.nodes);
        nodes.flat_map(move |(to, node)| {
            node.matching.kept().map(move |(from, tag, letter)| {
                let operation = self.letters[letter].sending.0;
                Unreceived { from: Rank(from), to, tag, operation }
            })
        })
    }

    /// The broadcasts that have arrived and that a rank has not received: sender and receiver.
    pub fn unreceived_broadcasts(&self) -> impl Iterator<Item = (Rank, Rank)> {
        self.control.iter().flat_map(Control::unreceived)
    }

    /// The network, for inspection.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// How far the run has come.
    pub fn reached(&self) -> ProgressSnapshot {
        ProgressSnapshot { time: self.now(), messages: self.messages, packets: self.engine.arrived() }
    }

    /// Ends the run: what the network did, what each rank waited for, messages sent.
    pub fn end(self) -> (Recorder, Vec<RankStatistics>, u64) {
        let statistics = |node: &NodeState| {
            let send_away = Duration::from_picoseconds(u64::try_from(node.away).unwrap_or(u64::MAX));
            RankStatistics { send_away, ..node.statistics }
        };
        let ranks = self.nodes.iter().map(statistics).collect();
        (self.engine.finish(), ranks, self.messages)
    }
}
