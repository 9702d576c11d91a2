//! The network: wires, switch and rings, driven by events.

use std::collections::VecDeque;
use std::ops::Range;

use endpoint::Result;
use machines::model::Ethernet;
use quantities::{Bytes, Duration, Rank, Time};

use super::faults::{Fate, Line};
use super::fragments::{Fragment, Reassembly};
use super::link::{Link, Passage, Wire};
use super::processors::Processors;
use crate::answer::{EthernetStatistics, FrameFate, FrameRecord};
use crate::events::EventQueue;
use crate::horizon::beyond;

/// The destination of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One node.
    One(Rank),
    /// All nodes except its source.
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

/// A frame that a node takes from its ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received<P> {
    /// The sender.
    pub from: Rank,
    /// Whether it was broadcast.
    pub broadcast: bool,
    /// How long its payload is, or the packet that its last fragment has completed. [B]
    pub size: Bytes,
    /// Its payload.
    pub payload: P,
}

/// Something that a node may have waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// There is room in its transmit ring again.
    Room(Rank),
    /// A frame has come into its receive ring.
    Frame(Rank),
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
enum Event {
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
    /// A node asked to be woken.
    Wake(u32),
}

impl Event {
    /// What ends when the event happens, in words.
    fn describe(self) -> String {
        match self {
            Event::Wake(node) => format!("what rank {node} does"),
            _ => "the way of a frame".to_owned(),
        }
    }
}

/// A switched Ethernet that carries payloads of type `P`.
#[derive(Debug)]
pub struct Network<P> {
    ethernet: Ethernet,
    wire: Wire,
    events: EventQueue<Event>,
    /// The events of this instant, the last first.
    instant: Vec<Event>,
    frames: Vec<Option<Frame<P>>>,
    free: Vec<FrameId>,
    /// From each node to the switch.
    up: Vec<Link>,
    /// From its switch to each node.
    down: Vec<Link>,
    /// From each of two switches to the other, over the trunk if there is one.
    across: [Link; 2],
    lines: Vec<Line>,
    rings: Vec<VecDeque<Received<P>>>,
    reassembly: Vec<Reassembly>,
    processors: Processors,
    notices: VecDeque<Notice>,
    statistics: EthernetStatistics,
    log: Option<Vec<FrameRecord>>,
}

impl<P: Clone> Network<P> {
    /// The network that `ethernet` describes, with faults that follow from `seed`.
    pub fn new(ethernet: &Ethernet, nodes: u32, seed: u64) -> Network<P> {
        Network {
            ethernet: *ethernet,
            wire: Wire::new(ethernet),
            events: EventQueue::default(),
            instant: Vec::new(),
            frames: Vec::new(),
            free: Vec::new(),
            up: (0..nodes).map(|_| Link::default()).collect(),
            down: (0..nodes).map(|_| Link::default()).collect(),
            across: Default::default(),
            lines: (0..nodes).map(|node| Line::new(&ethernet.faults, seed, node)).collect(),
            rings: (0..nodes).map(|_| VecDeque::new()).collect(),
            reassembly: (0..nodes).map(|_| Reassembly::default()).collect(),
            processors: Processors::new(ethernet.processors, nodes),
            notices: VecDeque::new(),
            statistics: EthernetStatistics { dropped_for: vec![0; nodes as usize], ..EthernetStatistics::default() },
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

    /// Whether there is room in a node's transmit ring.
    pub fn has_room(&self, node: Rank) -> bool {
        self.up[node.0 as usize].frames() < self.ethernet.transmit_ring as usize
    }

    /// Puts a frame of `size` bytes of payload into a node's transmit ring, if there is room.
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
        self.up[from.0 as usize].put(id, self.wire.queued_size(size));
        self.start_up(from.0);
        true
    }

    /// What the sender of a frame of `size` bytes would do for its receivers if it sent it now: for those that the frame reaches without waiting
    /// for a wire.
    pub fn delivery(&self, from: Rank, to: Destination, size: Bytes) -> Delivery {
        let Ethernet { switch_copy, interrupt, .. } = self.ethernet;
        let now = self.now();
        // Most machines have no costs that depend on it.
        let has_costs = !switch_copy.is_zero() || !interrupt.is_zero();
        if !has_costs || !self.up[from.0 as usize].passes_at_once(size, now, self.wire) {
            return Delivery::default();
        }
        let own = self.switch_of(from.0);
        let crosses = self
            .ethernet
            .trunk
            .is_some_and(|trunk| self.across[own].passes_at_once(size, now, Wire::of_trunk(&trunk, &self.ethernet)));
        let far = if crosses { self.receivers(1 - own, to) } else { 0..0 };
        let nodes = self.receivers(own, to).chain(far).filter(|&node| node != from.0);
        let reached = nodes.filter(|&node| self.down[node as usize].passes_at_once(size, now, self.wire));
        let (count, blocked) = reached.fold((0, 0), |(count, blocked), node| {
            (count + 1, blocked + u64::from(self.processors.is_blocked(Rank(node))))
        });
        Delivery { copies: u64::saturating_sub(count, 1), interrupts: blocked.min(u64::from(self.processors.idle())) }
    }

    /// Whether a processor is idle.
    pub fn has_idle_processor(&self) -> bool {
        self.processors.idle() > 0
    }

    /// How many others have run on a node's processor since it last had one, where nodes share processors. Of all that have run, as many as there
    /// are further processors count as having run on those.
    pub fn others_on_processor(&self, node: Rank) -> u64 {
        let Some(shared) = self.ethernet.processors else { return 0 };
        self.processors.others_since(node).saturating_sub(u64::from(shared.saturating_sub(1)))
    }

    /// Takes the next frame from a node's receive ring.
    pub fn take(&mut self, node: Rank) -> Option<Received<P>> {
        self.rings[node.0 as usize].pop_front()
    }

    /// How many frames a node has in its receive ring.
    pub fn waiting(&self, node: Rank) -> usize {
        self.rings[node.0 as usize].len()
    }

    /// Asks for `node` to be woken at `time`.
    pub fn wake_at(&mut self, node: Rank, time: Time) {
        self.events.put(time.max(self.now()), Event::Wake(node.0));
    }

    /// Whether a node has a processor, which it gets at once if one is free. Otherwise [`Notice::Time`] tells it when its turn comes.
    pub fn take_processor(&mut self, node: Rank) -> bool {
        self.processors.take(node)
    }

    /// What interrupts have taken of a node's processor since it last asked.
    pub fn take_stolen(&mut self, node: Rank) -> Duration {
        self.processors.take_stolen(node)
    }

    /// Whether a node has a processor.
    pub fn has_processor(&self, node: Rank) -> bool {
        self.processors.has_one(node)
    }

    /// Releases the processor of a node that has nothing to do, if it has one.
    pub fn release_processor(&mut self, node: Rank) {
        if let Some(next) = self.processors.release(node) {
            self.wake_at(next, self.now());
        }
    }

    /// The next thing that has happened for which a node may have waited, in order. Time advances only when nothing is left.
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

    fn next_event(&mut self) -> Option<Event> {
        if self.instant.is_empty() {
            self.events.take_instant(&mut self.instant)?;
            self.instant.reverse();
        }
        self.instant.pop()
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Sent(node) => {
                self.up[node as usize].free();
                self.start_up(node);
                self.notices.push_back(Notice::Room(Rank(node)));
            }
            Event::AtSwitch(switch, id) => {
                self.events.put(self.now() + self.ethernet.switch_latency, Event::Forward(switch, id));
            }
            Event::Forward(switch, id) => self.forward(switch, id),
            Event::Copied(node, id) => {
                self.put_down(node, id);
                self.leave(id);
            }
            Event::CopiedAcross(switch, id) => {
                self.cross(switch, id);
                self.leave(id);
            }
            Event::Crossed(switch) => {
                self.across[switch].free();
                self.start_across(switch);
            }
            Event::Forwarded(node) => {
                self.down[node as usize].free();
                self.start_down(node);
            }
            Event::AtNode(node, id) => self.arrive(node, id),
            Event::Comes(node, id) => self.deliver(node, id),
            Event::Interrupt => {
                let length = self.ethernet.bucket_carry;
                if self.processors.interrupt(length) {
                    self.events.put(self.now() + length, Event::InterruptEnds);
                }
            }
            Event::InterruptEnds => {
                let next = self.processors.end_interrupt();
                next.into_iter().for_each(|next| self.wake_at(next, self.now()));
            }
            Event::Wake(node) => self.notices.push_back(Notice::Time(Rank(node))),
        }
    }

    fn start_up(&mut self, node: u32) {
        let (frames, now) = (&self.frames, self.events.now());
        let started = self.up[node as usize].start(now, self.wire, |id| size(frames, id));
        if let Some((id, passage)) = started {
            self.passes(passage, Event::AtSwitch(self.switch_of(node), id), Event::Sent(node));
        }
    }

    fn start_down(&mut self, node: u32) {
        let (frames, now) = (&self.frames, self.events.now());
        let started = self.down[node as usize].start(now, self.wire, |id| size(frames, id));
        if let Some((id, passage)) = started {
            self.passes(passage, Event::AtNode(node, id), Event::Forwarded(node));
        }
    }

    fn start_across(&mut self, switch: usize) {
        let Some(trunk) = &self.ethernet.trunk else { return };
        let (frames, now) = (&self.frames, self.events.now());
        let started = self.across[switch].start(now, Wire::of_trunk(trunk, &self.ethernet), |id| size(frames, id));
        if let Some((id, passage)) = started {
            self.passes(passage, Event::AtSwitch(1 - switch, id), Event::Crossed(switch));
        }
    }

    /// A frame passes a wire: what happens when it is at the far end, and when the wire is free.
    fn passes(&mut self, passage: Passage, arrival: Event, is_free: Event) {
        let Passage { arrives, free, interrupts } = passage;
        if interrupts {
            self.events.put(free, Event::Interrupt);
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
            Destination::One(Rank(node)) => node.clamp(first, end)..(node + 1).clamp(first, end),
            Destination::All => first..end,
        }
    }

    /// A switch puts a frame into the output queues of its receivers, if it fits, and into that of the trunk if some are at the other
    /// switch. Copies of a broadcast frame follow one another.
    fn forward(&mut self, switch: usize, id: FrameId) {
        let Some(frame) = of(&self.frames, id) else { return };
        let from = frame.from.0;
        let (to_all, to) = (frame.to == Destination::All, frame.to);
        let on_switch = self.receivers(switch, to);
        let crosses = switch == self.switch_of(from) && !self.receivers(1 - switch, to).is_empty();
        let copy = if to_all { self.ethernet.switch_copy } else { Duration::ZERO };
        // The first receiver has the frame itself.
        let mut copied = self.now();
        for node in on_switch.filter(|&node| !(to_all && node == from)) {
            self.after_copy(copied, id, Event::Copied(node, id));
            copied += copy;
        }
        if crosses {
            self.after_copy(copied, id, Event::CopiedAcross(switch, id));
        }
        self.leave(id);
    }

    /// Has an event of a frame happen at `time`, at once if that is now.
    fn after_copy(&mut self, time: Time, id: FrameId, event: Event) {
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
            Fate::Comes(late) => self.events.put(self.now() + late, Event::Comes(node, id)),
            Fate::ComesTwice(late) => {
                self.share(id);
                self.events.put(self.now(), Event::Comes(node, id));
                self.events.put(self.now() + late, Event::Comes(node, id));
            }
        }
    }

    fn deliver(&mut self, node: u32, id: FrameId) {
        let full = self.rings[node as usize].len() >= self.ethernet.receive_ring as usize;
        self.end_way(id, node, if full { FrameFate::AtRing } else { FrameFate::Received });
        if let Some(frame) = of(&self.frames, id).filter(|_| !full) {
            let whole = match frame.fragment {
                Some(fragment) => self.reassembly[node as usize].take(frame.from, fragment, frame.size),
                None => Some(frame.size),
            };
            if let Some(size) = whole {
                let broadcast = frame.to == Destination::All;
                let received = Received { from: frame.from, broadcast, size, payload: frame.payload.clone() };
                self.rings[node as usize].push_back(received);
                self.notices.push_back(Notice::Frame(Rank(node)));
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
        if let (Some(log), Some(frame)) = (&mut self.log, of(&self.frames, id)) {
            let (source, destination, broadcast) = (frame.from, Rank(node), frame.to == Destination::All);
            log.push(FrameRecord { source, destination, broadcast, bytes: frame.size, sent: frame.sent, ended, fate });
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
