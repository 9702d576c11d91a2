//! The network: wires, switch and rings, driven by events.

use std::collections::VecDeque;
use std::ops::Range;

use endpoint::Result;
use machines::model::Ethernet;
use quantities::{Bytes, Duration, Rank, Time};

use super::faults::{Fate, ReceiverFaults};
use super::fragments::{Fragment, Reassembly};
use super::link::{Passage, QueuedWire, Wire};
use super::nodes::Nodes;
use super::processors::Processors;
use super::ring::{Ring, Slot};
use crate::answer::{EthernetStatistics, FrameFate, FrameRecord};
use crate::events::EventQueue;
use crate::horizon::beyond;

/// The destination of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One rank, of another node than its source.
    One(Rank),
    /// All ranks of all nodes except that of its source.
    All,
}

/// What the sender of a frame does for its receivers, where it carries the frame to them itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The copies for all receivers but the first.
    pub copies: u64,
    /// The idle processors that are interrupted for receivers that wait.
    pub interrupts: u64,
}

/// How something came to a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// Over the wire, as a frame.
    Wire,
    /// Through the memory of the node.
    Memory,
}

/// A frame that a rank takes from the ring of its node, or what another process of the node has put into memory for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received<P> {
    /// How it came.
    pub through: Through,
    /// The sender.
    pub from: Rank,
    /// Whether it was a broadcast frame.
    pub broadcast: bool,
    /// How long its payload is, or the packet that its last fragment has completed. [B]
    pub size: Bytes,
    /// Its payload.
    pub payload: P,
}

/// Something that a rank may have waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// There is room in the transmit ring of its node again.
    Room(Rank),
    /// A frame for it has come into the receive ring of its node.
    Frame(Rank),
    /// Another process of its node has put something into memory for it.
    Memory(Rank),
    /// The time for which [`Network::wake_at`] was called has come.
    Time(Rank),
}

/// A place in the table of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameId(u32);

/// A frame under way.
#[derive(Debug)]
struct Frame<P> {
    from: Rank,
    to: Destination,
    size: Bytes,
    /// Which fragment of a longer packet it carries, if it carries one.
    fragment: Option<Fragment>,
    payload: P,
    sent: Time,
    /// How many places hold it: a broadcast is in several queues at once.
    places: u32,
}

#[derive(Clone, Copy, Debug)]
enum EthernetEvent {
    /// A node's wire to the switch is free again.
    Sent(u32),
    /// A frame's last bit is at a switch.
    AtSwitch(usize, FrameId),
    /// A switch puts a frame into the output queues.
    Forward(usize, FrameId),
    /// A switch has copied a broadcast frame for one node, and puts it into that node's output queue.
    Copied(u32, FrameId),
    /// The same for the trunk.
    CopiedAcross(usize, FrameId),
    /// The trunk from a switch to the other is free again.
    Crossed(usize),
    /// A node's wire from the switch is free again.
    Forwarded(u32),
    /// A frame's last bit is at a node.
    AtNode(u32, FrameId),
    /// A frame enters a node's receive ring, unless it is lost or the ring is full.
    Comes(u32, FrameId),
    /// An interrupt carries a frame on that has waited for tokens.
    Interrupt,
    /// An interrupt that had a processor for itself ends.
    InterruptEnds,
    /// A rank asked to be woken.
    Wake(Rank),
}

impl EthernetEvent {
    /// What ends when the event happens, in words.
    fn describe(self) -> String {
        match self {
            EthernetEvent::Wake(rank) => format!("what rank {rank} does"),
            _ => "the way of a frame".to_owned(),
        }
    }
}

/// A switched Ethernet that carries payloads of type `P`.
#[derive(Debug)]
pub struct Network<P> {
    ethernet: Ethernet,
    nodes: Nodes,
    wire: Wire,
    events: EventQueue<EthernetEvent>,
    /// The events of this instant, the last first.
    instant: Vec<EthernetEvent>,
    frames: Vec<Option<Frame<P>>>,
    free: Vec<FrameId>,
    /// From each node to the switch.
    up: Vec<QueuedWire>,
    /// From its switch to each node.
    down: Vec<QueuedWire>,
    /// From each of two switches to the other, over the trunk if there is one.
    across: [QueuedWire; 2],
    lines: Vec<ReceiverFaults>,
    /// How full the receive ring of each node is, and what each rank has to take: frames from there, in their slots,
    /// and what is in memory.
    rings: Vec<Ring>,
    arrivals: Vec<VecDeque<(Option<Slot>, Received<P>)>>,
    reassembly: Vec<Reassembly>,
    /// For each node, the ranks that wait for room in its transmit ring, in the order in which they began to.
    waiting_for_room: Vec<VecDeque<Rank>>,
    processors: Processors,
    notices: VecDeque<Notice>,
    statistics: EthernetStatistics,
    log: Option<Vec<FrameRecord>>,
}

impl<P: Clone> Network<P> {
    /// The network that `ethernet` describes, between the nodes of so many ranks, with faults that follow from `seed`.
    pub fn new(ethernet: &Ethernet, ranks: u32, seed: u64) -> Network<P> {
        let nodes = Nodes::new(ethernet, ranks);
        let each = 0..nodes.count();
        let dropped_for = vec![0; nodes.count() as usize];
        Network {
            ethernet: *ethernet,
            nodes,
            wire: Wire::new(ethernet),
            events: EventQueue::default(),
            instant: Vec::new(),
            frames: Vec::new(),
            free: Vec::new(),
            up: each.clone().map(|_| QueuedWire::default()).collect(),
            down: each.clone().map(|_| QueuedWire::default()).collect(),
            across: Default::default(),
            lines: each.clone().map(|node| ReceiverFaults::new(&ethernet.faults, seed, node)).collect(),
            rings: each.clone().map(|_| Ring::default()).collect(),
            arrivals: (0..ranks).map(|_| VecDeque::new()).collect(),
            reassembly: each.clone().map(|_| Reassembly::default()).collect(),
            waiting_for_room: each.map(|_| VecDeque::new()).collect(),
            processors: Processors::new(ethernet.processors, ranks),
            notices: VecDeque::new(),
            statistics: EthernetStatistics { dropped_for, ..EthernetStatistics::default() },
            log: None,
        }
    }

    /// The same network, which also logs what becomes of every frame.
    pub fn with_log(self) -> Network<P> {
        Network { log: Some(Vec::new()), ..self }
    }

    /// What became of every frame so far, in the order in which it was known, if a log is kept.
    pub fn take_log(&mut self) -> Option<Vec<FrameRecord>> {
        self.log.take()
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.events.now()
    }

    /// All ranks of the node of `rank`.
    pub fn neighbours(&self, rank: Rank) -> Range<u32> {
        self.nodes.ranks(self.nodes.of(rank))
    }

    /// Whether there is room in the transmit ring of a rank's node.
    pub fn has_room(&self, rank: Rank) -> bool {
        self.up[self.nodes.of(rank) as usize].frames() < self.ethernet.transmit_ring as usize
    }

    /// A rank waits for room in the transmit ring of its node, and is noticed before those that begin to wait later.
    pub fn wait_for_room(&mut self, rank: Rank) {
        let waiting = &mut self.waiting_for_room[self.nodes.of(rank) as usize];
        if !waiting.contains(&rank) {
            waiting.push_back(rank);
        }
    }

    /// Puts something of `size` bytes into memory for another rank of the same node, which has it at once.
    pub fn put_in_memory(&mut self, from: Rank, to: Rank, size: Bytes, payload: P) {
        let received = Received { through: Through::Memory, from, broadcast: false, size, payload };
        self.arrivals[to.0 as usize].push_back((None, received));
        self.notices.push_back(Notice::Memory(to));
    }

    /// Puts a frame of `size` bytes of payload into the transmit ring of a rank's node, if there is room.
    pub fn transmit(&mut self, from: Rank, to: Destination, size: Bytes, payload: P) -> bool {
        self.transmit_fragment(from, to, size, None, payload)
    }

    /// The same for a frame that carries one fragment of a packet with that payload.
    pub fn transmit_fragment(
        &mut self,
        from: Rank,
        to: Destination,
        size: Bytes,
        fragment: Option<Fragment>,
        payload: P,
    ) -> bool {
        if !self.has_room(from) {
            return false;
        }
        self.statistics.sent += 1;
        let id = self.keep(Frame { from, to, size, fragment, payload, sent: self.now(), places: 1 });
        let node = self.nodes.of(from);
        self.up[node as usize].put(id, self.wire.queued_size(size));
        self.start_up(node);
        true
    }

    /// What the sender of a frame of `size` bytes would do for its receivers if it sent it now: for those that the
    /// frame reaches without waiting for a wire.
    pub fn delivery(&self, from: Rank, to: Destination, size: Bytes) -> Delivery {
        let Ethernet { switch_copy, interrupt, .. } = self.ethernet;
        let (now, source) = (self.now(), self.nodes.of(from));
        // Most machines have no costs that depend on it.
        let has_costs = !switch_copy.is_zero() || !interrupt.is_zero();
        if !has_costs || !self.up[source as usize].passes_at_once(size, now, self.wire) {
            return Delivery::default();
        }
        let own = self.switch_of(source);
        let crosses = self
            .ethernet
            .trunk
            .is_some_and(|trunk| self.across[own].passes_at_once(size, now, Wire::of_trunk(&trunk, &self.ethernet)));
        let far = if crosses { self.receivers(1 - own, to) } else { 0..0 };
        let nodes = self.receivers(own, to).chain(far).filter(|&node| node != source);
        let reached = nodes.filter(|&node| self.down[node as usize].passes_at_once(size, now, self.wire));
        let blocked_on = |node| self.takers(node, to).filter(|&rank| self.processors.is_blocked(Rank(rank))).count();
        let (count, blocked) =
            reached.fold((0, 0), |(count, blocked), node| (count + 1, blocked + blocked_on(node) as u64));
        Delivery { copies: u64::saturating_sub(count, 1), interrupts: blocked.min(u64::from(self.processors.idle())) }
    }

    /// Whether a processor is idle.
    pub fn has_idle_processor(&self) -> bool {
        self.processors.idle() > 0
    }

    /// How many others have run on a rank's processor since it last had one, where nodes share processors. Of all that
    /// have run, as many as there are further processors count as having run on those.
    pub fn others_on_processor(&self, rank: Rank) -> u64 {
        let Some(shared) = self.ethernet.processors else { return 0 };
        self.processors.others_since(rank).saturating_sub(u64::from(shared.saturating_sub(1)))
    }

    /// Takes the next of what has come for a rank.
    pub fn take(&mut self, rank: Rank) -> Option<Received<P>> {
        let (slot, received) = self.arrivals[rank.0 as usize].pop_front()?;
        if let Some(slot) = slot {
            self.rings[self.nodes.of(rank) as usize].take(slot);
        }
        Some(received)
    }

    /// How much has come for a rank that it has not taken.
    pub fn waiting(&self, rank: Rank) -> usize {
        self.arrivals[rank.0 as usize].len()
    }

    /// Asks for `rank` to be woken at `time`.
    pub fn wake_at(&mut self, rank: Rank, time: Time) {
        self.events.put(time.max(self.now()), EthernetEvent::Wake(rank));
    }

    /// Whether a rank has a processor, which it gets at once if one is free. Otherwise [`Notice::Time`] tells it when
    /// its turn comes.
    pub fn take_processor(&mut self, rank: Rank) -> bool {
        self.processors.take(rank)
    }

    /// What interrupts have taken of a rank's processor since it last asked.
    pub fn take_stolen(&mut self, rank: Rank) -> Duration {
        self.processors.take_stolen(rank)
    }

    /// Whether a rank has a processor.
    pub fn has_processor(&self, rank: Rank) -> bool {
        self.processors.has_one(rank)
    }

    /// Releases the processor of a rank that has nothing to do, if it has one.
    pub fn release_processor(&mut self, rank: Rank) {
        if let Some(next) = self.processors.release(rank) {
            self.wake_at(next, self.now());
        }
    }

    /// The next thing that has happened for which a rank may have waited, in order. Time advances only when nothing is
    /// left.
    ///
    /// # Errors
    /// If something would happen later than can be counted.
    pub fn next_notice(&mut self) -> Result<Option<Notice>> {
        loop {
            if let Some(notice) = self.notices.pop_front() {
                return Ok(Some(notice));
            }
            if let Some(event) = self.events.beyond() {
                return Err(beyond(event.describe()));
            }
            let Some(event) = self.next_event() else { return Ok(None) };
            self.handle(event);
        }
    }

    /// Frames that have come into receive rings so far.
    pub fn arrived(&self) -> u64 {
        self.statistics.received
    }

    /// What the network has done so far.
    pub fn statistics(&self) -> EthernetStatistics {
        let busy = self.up.iter().zip(&self.down).map(|(up, down)| [up.busy, down.busy]).collect();
        let most_queued = self.down.iter().chain(&self.across).map(|link| link.most_queued).max();
        let most_queued = Bytes(most_queued.unwrap_or(0));
        let trunk_busy = self.ethernet.trunk.map(|_| self.across.each_ref().map(|link| link.busy));
        EthernetStatistics { busy, trunk_busy, most_queued, ..self.statistics.clone() }
    }

    fn next_event(&mut self) -> Option<EthernetEvent> {
        if self.instant.is_empty() {
            self.events.take_instant(&mut self.instant)?;
            self.instant.reverse();
        }
        self.instant.pop()
    }

    fn handle(&mut self, event: EthernetEvent) {
        match event {
            EthernetEvent::Sent(node) => {
                self.up[node as usize].free();
                self.start_up(node);
                self.notice_room(node);
            }
            EthernetEvent::AtSwitch(switch, id) => {
                self.events.put(self.now() + self.ethernet.switch_latency, EthernetEvent::Forward(switch, id));
            }
            EthernetEvent::Forward(switch, id) => self.forward(switch, id),
            EthernetEvent::Copied(node, id) => {
                self.put_down(node, id);
                self.leave(id);
            }
            EthernetEvent::CopiedAcross(switch, id) => {
                self.cross(switch, id);
                self.leave(id);
            }
            EthernetEvent::Crossed(switch) => {
                self.across[switch].free();
                self.start_across(switch);
            }
            EthernetEvent::Forwarded(node) => {
                self.down[node as usize].free();
                self.start_down(node);
            }
            EthernetEvent::AtNode(node, id) => self.arrive(node, id),
            EthernetEvent::Comes(node, id) => self.deliver(node, id),
            EthernetEvent::Interrupt => {
                let length = self.ethernet.bucket_carry;
                if self.processors.interrupt(length) {
                    self.events.put(self.now() + length, EthernetEvent::InterruptEnds);
                }
            }
            EthernetEvent::InterruptEnds => {
                let next = self.processors.end_interrupt();
                next.into_iter().for_each(|next| self.wake_at(next, self.now()));
            }
            EthernetEvent::Wake(rank) => self.notices.push_back(Notice::Time(rank)),
        }
    }

    /// There is room in a node's transmit ring. Those of its ranks that wait for it have it in turn.
    fn notice_room(&mut self, node: u32) {
        let waiting = std::mem::take(&mut self.waiting_for_room[node as usize]);
        let others = self.nodes.ranks(node).map(Rank).filter(|rank| !waiting.contains(rank));
        self.notices.extend(waiting.iter().copied().chain(others).map(Notice::Room));
    }

    fn start_up(&mut self, node: u32) {
        let (frames, now) = (&self.frames, self.events.now());
        let started = self.up[node as usize].start(now, self.wire, |id| size(frames, id));
        if let Some((id, passage)) = started {
            self.passes(passage, EthernetEvent::AtSwitch(self.switch_of(node), id), EthernetEvent::Sent(node));
        }
    }

    fn start_down(&mut self, node: u32) {
        let (frames, now) = (&self.frames, self.events.now());
        let started = self.down[node as usize].start(now, self.wire, |id| size(frames, id));
        if let Some((id, passage)) = started {
            self.passes(passage, EthernetEvent::AtNode(node, id), EthernetEvent::Forwarded(node));
        }
    }

    fn start_across(&mut self, switch: usize) {
        let Some(trunk) = &self.ethernet.trunk else { return };
        let (frames, now) = (&self.frames, self.events.now());
        let started = self.across[switch].start(now, Wire::of_trunk(trunk, &self.ethernet), |id| size(frames, id));
        if let Some((id, passage)) = started {
            self.passes(passage, EthernetEvent::AtSwitch(1 - switch, id), EthernetEvent::Crossed(switch));
        }
    }

    /// A frame passes a wire: what happens when it is at the far end, and when the wire is free.
    fn passes(&mut self, passage: Passage, arrival: EthernetEvent, is_free: EthernetEvent) {
        let Passage { arrives, free, interrupts } = passage;
        if interrupts {
            self.events.put(free, EthernetEvent::Interrupt);
        }
        self.events.put(arrives, arrival);
        self.events.put(free, is_free);
    }

    /// The switch of a node.
    fn switch_of(&self, node: u32) -> usize {
        usize::from(self.ethernet.trunk.is_some_and(|trunk| node >= trunk.first_switch))
    }

    /// The nodes of a switch that a frame is for.
    fn receivers(&self, switch: usize, to: Destination) -> Range<u32> {
        let nodes = self.down.len() as u32;
        let split = self.ethernet.trunk.map_or(nodes, |trunk| trunk.first_switch.min(nodes));
        let (first, end) = if switch == 0 { (0, split) } else { (split, nodes) };
        match to {
            Destination::One(rank) => {
                let node = self.nodes.of(rank);
                node.clamp(first, end)..(node + 1).clamp(first, end)
            }
            Destination::All => first..end,
        }
    }

    /// The ranks of a node that take a frame.
    fn takers(&self, node: u32, to: Destination) -> Range<u32> {
        match to {
            Destination::One(Rank(rank)) => rank..rank + 1,
            Destination::All => self.nodes.ranks(node),
        }
    }

    /// A switch puts a frame into the output queues of its receivers, if it fits, and into that of the trunk if some
    /// are at the other switch. Copies of a broadcast frame follow one another.
    fn forward(&mut self, switch: usize, id: FrameId) {
        let Some(frame) = of(&self.frames, id) else { return };
        let from = self.nodes.of(frame.from);
        let (to_all, to) = (frame.to == Destination::All, frame.to);
        let on_switch = self.receivers(switch, to);
        let crosses = switch == self.switch_of(from) && !self.receivers(1 - switch, to).is_empty();
        let copy = if to_all { self.ethernet.switch_copy } else { Duration::ZERO };
        // The first receiver has the frame itself.
        let mut copied = self.now();
        for node in on_switch.filter(|&node| !(to_all && node == from)) {
            self.after_copy(copied, id, EthernetEvent::Copied(node, id));
            copied += copy;
        }
        if crosses {
            self.after_copy(copied, id, EthernetEvent::CopiedAcross(switch, id));
        }
        self.leave(id);
    }

    /// Has an event of a frame happen at `time`, at once if that is now.
    fn after_copy(&mut self, time: Time, id: FrameId, event: EthernetEvent) {
        self.share(id);
        if time == self.now() {
            self.handle(event);
        } else {
            self.events.put(time, event);
        }
    }

    /// A frame enters the output queue of a switch to a node, if it fits.
    fn put_down(&mut self, node: u32, id: FrameId) {
        let size = self.wire.queued_size(size(&self.frames, id));
        if self.down[node as usize].queued() + size > self.ethernet.queue.0 {
            self.end_way(id, node, FrameFate::AtSwitch);
            return;
        }
        self.share(id);
        self.down[node as usize].put(id, size);
        self.start_down(node);
    }

    /// A switch puts a frame for receivers of the other switch into the queue of the trunk, if it fits.
    fn cross(&mut self, switch: usize, id: FrameId) {
        let (Some(trunk), Some(frame)) = (self.ethernet.trunk, of(&self.frames, id)) else { return };
        let size = Wire::of_trunk(&trunk, &self.ethernet).queued_size(frame.size);
        if self.across[switch].queued() + size > trunk.queue.0 {
            self.receivers(1 - switch, frame.to).for_each(|node| self.end_way(id, node, FrameFate::AtSwitch));
            return;
        }
        self.share(id);
        self.across[switch].put(id, size);
        self.start_across(switch);
    }

    fn arrive(&mut self, node: u32, id: FrameId) {
        match self.lines[node as usize].next() {
            Fate::Lost => {
                self.end_way(id, node, FrameFate::Lost);
                self.leave(id);
            }
            Fate::Comes(late) => self.events.put(self.now() + late, EthernetEvent::Comes(node, id)),
            Fate::ComesTwice(late) => {
                self.share(id);
                self.events.put(self.now(), EthernetEvent::Comes(node, id));
                self.events.put(self.now() + late, EthernetEvent::Comes(node, id));
            }
        }
    }

    fn deliver(&mut self, node: u32, id: FrameId) {
        let full = self.rings[node as usize].frames() >= self.ethernet.receive_ring;
        self.end_way(id, node, if full { FrameFate::AtRing } else { FrameFate::Received });
        if let Some(frame) = of(&self.frames, id).filter(|_| !full) {
            let whole = match frame.fragment {
                Some(fragment) => self.reassembly[node as usize].take(frame.from, fragment, frame.size),
                None => Some(frame.size),
            };
            if let Some(size) = whole {
                let broadcast = frame.to == Destination::All;
                let payload = frame.payload.clone();
                let received = Received { through: Through::Wire, from: frame.from, broadcast, size, payload };
                let takers = self.takers(node, frame.to);
                let slot = self.rings[node as usize].put(takers.len() as u32);
                for rank in takers {
                    self.arrivals[rank as usize].push_back((Some(slot), received.clone()));
                    self.notices.push_back(Notice::Frame(Rank(rank)));
                }
            }
        }
        self.leave(id);
    }

    /// The way of a frame to `node` ends.
    fn end_way(&mut self, id: FrameId, node: u32, fate: FrameFate) {
        let (statistics, ended) = (&mut self.statistics, self.events.now());
        match fate {
            FrameFate::Received => statistics.received += 1,
            FrameFate::AtSwitch => statistics.dropped.at_switch += 1,
            FrameFate::Lost => statistics.dropped.lost += 1,
            FrameFate::AtRing => statistics.dropped.at_ring += 1,
        }
        if fate != FrameFate::Received
            && let Some(dropped) = statistics.dropped_for.get_mut(node as usize)
        {
            *dropped += 1;
        }
        let Some(&Frame { from: source, to, size: bytes, sent, .. }) = of(&self.frames, id) else { return };
        let broadcast = to == Destination::All;
        let record = |rank| FrameRecord { source, destination: Rank(rank), broadcast, bytes, sent, ended, fate };
        let takers = self.takers(node, to);
        if let Some(log) = &mut self.log {
            log.extend(takers.map(record));
        }
    }

    fn keep(&mut self, frame: Frame<P>) -> FrameId {
        if let Some(id) = self.free.pop() {
            self.frames[id.0 as usize] = Some(frame);
            return id;
        }
        self.frames.push(Some(frame));
        FrameId(self.frames.len() as u32 - 1)
    }

    /// A frame is in one more place.
    fn share(&mut self, id: FrameId) {
        if let Some(frame) = &mut self.frames[id.0 as usize] {
            frame.places += 1;
        }
    }

    /// A frame is in one place less; after the last it is removed.
    fn leave(&mut self, id: FrameId) {
        let slot = &mut self.frames[id.0 as usize];
        if let Some(frame) = slot {
            frame.places -= 1;
            if frame.places == 0 {
                *slot = None;
                self.free.push(id);
            }
        }
    }
}

/// The size of a frame's payload.
fn size<P>(frames: &[Option<Frame<P>>], id: FrameId) -> Bytes {
    of(frames, id).map_or(Bytes(0), |frame| frame.size)
}

fn of<P>(frames: &[Option<Frame<P>>], id: FrameId) -> Option<&Frame<P>> {
    frames.get(id.0 as usize).and_then(Option::as_ref)
}
