//! The reference engine: moves every flit.
//!
//! It follows the rules of `docs/NETWORK.md` one by one and keeps nothing except queues of flits, so that it can be
//! checked against them. [`super::fast`] is right when it agrees with this engine.
//!
//! Legend: a *link* is a channel with the buffers at its far end, one for each of its virtual channels, which
//! are numbered within their link; a flit is (packet, index), index 0 being the header.

use std::collections::VecDeque;
use std::sync::Arc;

use machines::model::{Channel, ChannelEnd, ChannelId, FlitNetwork, NodeId, RouterId, Switching};
use machines::routing::{NetworkView, PacketHeader, RouteState};
use quantities::{Duration, Time};

use super::arbitration::{ChannelRequest, Requests, add_in_turn};
use super::injection::{InjectionQueue, QueuedPacket};
use super::selection::{Chance, RequestedOutputs, Selector};
use super::stuck::{StuckPacket, Tally};
use super::{Engine, Injection, NetworkEvent, Notice, Recorder, Schedule, Statistics, Uncut};
use crate::answer::HopRecord;

/// A transmission over a channel ends.
const END: u32 = 0;
/// A flit comes out of the wire (only where the wire has a latency).
const ARRIVE: u32 = 1;
/// A slot of the far buffer is free again (only where credits have a latency).
const CREDIT: u32 = 2;
/// The header at the front of a link's buffer requests its output.
const REQUEST: u32 = 3;
/// A packet at the front of a link's buffer is ready for its node's processor.
const READY: u32 = 4;

#[derive(Clone, Copy, Debug)]
struct Flit {
    packet: u32,
    index: u32,
}

/// A buffer: channel * virtual channels + virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BufferId(u32);

/// Where the packet that owns a channel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Source(NodeId),
    Buffer(BufferId),
}

#[derive(Clone, Copy, Debug)]
struct Owner {
    packet: u32,
    input: Input,
    /// The virtual channel that it takes.
    virtual_channel: u32,
    granted: Time,
}

#[derive(Debug)]
struct ReferenceChannel {
    channel: Channel,
    owner: Option<Owner>,
    transmitting: bool,
    tail_on_wire: bool,
    requests: Requests,
    /// Flits on their way, each with the virtual channel of the buffer that it goes to.
    wire: VecDeque<(Flit, u32)>,
}

/// The far end of a virtual channel.
#[derive(Debug)]
struct Buffer {
    /// The channel that ends here.
    channel: ChannelId,
    /// Whether other virtual channels share its wire.
    shares: bool,
    credit_latency: Duration,
    free_slots: u32,
    /// When a slot last became free.
    freed: Time,
    flits: VecDeque<Flit>,
    /// The packets that have the virtual channel, or flits here.
    packets: u32,
    /// The channel that the packet at the front has requested.
    output: Option<ChannelId>,
}

impl Buffer {
    /// Whether all slots of the buffer at the far end of `channel` have been free since before `now`, or always. A
    /// destination buffers nothing.
    fn is_empty(&self, channel: &Channel, now: Time) -> bool {
        matches!(channel.to, ChannelEnd::Node(_))
            || self.free_slots == channel.buffer && (self.freed == Time::ZERO || self.freed < now)
    }
}

/// What routers see at `now`, when headers ask.
struct Snapshot<'a> {
    now: Time,
    links: &'a [ReferenceChannel],
    buffers: &'a [Buffer],
    /// The most virtual channels that any channel has.
    virtual_channels: u32,
    chance: Chance,
}

impl Snapshot<'_> {
    /// Which virtual channel of a channel is meant, since there may be only one, and the buffer behind it.
    fn far(&self, channel: ChannelId, virtual_channel: u32) -> (u32, &Buffer) {
        let shares = self.links[channel.0 as usize].channel.virtual_channels > 1;
        let virtual_channel = if shares { virtual_channel } else { 0 };
        (virtual_channel, &self.buffers[(channel.0 * self.virtual_channels + virtual_channel) as usize])
    }
}

impl NetworkView for Snapshot<'_> {
    fn is_idle(&self, channel: ChannelId) -> bool {
        let link = &self.links[channel.0 as usize];
        link.owner.is_none() && link.requests.is_empty()
    }

    fn is_empty(&self, channel: ChannelId, virtual_channel: u32) -> bool {
        let link = &self.links[channel.0 as usize];
        self.far(channel, virtual_channel).1.is_empty(&link.channel, self.now)
    }

    fn packets(&self, channel: ChannelId, virtual_channel: u32) -> u32 {
        let (virtual_channel, far) = self.far(channel, virtual_channel);
        let requests = self.links[channel.0 as usize].requests.waiting().iter();
        far.packets + requests.filter(|request| request.virtual_channel == virtual_channel).count() as u32
    }

    fn draw(&self, packet: &PacketHeader, router: Option<RouterId>, choices: u64) -> u64 {
        self.chance.draw(packet, router, choices)
    }
}

#[derive(Debug, Default)]
struct Source {
    queue: InjectionQueue,
    /// The packet that has left the queue and is about to be sent, or is being sent.
    first: Option<u32>,
    /// How many of its flits have started.
    sent: u32,
    /// When the last tail started: from then on the next packet is at the front.
    front_since: Time,
}

#[derive(Debug)]
struct Packet {
    order: Injection,
    number: u64,
    injected: Time,
    route: RouteState,
    hops: Vec<HopRecord>,
}

/// The engine that moves every flit.
#[derive(Debug)]
pub struct Reference {
    network: Arc<FlitNetwork>,
    links: Vec<ReferenceChannel>,
    /// The most virtual channels that any channel has.
    virtual_channels: u32,
    buffers: Vec<Buffer>,
    sources: Vec<Source>,
    packets: Vec<Packet>,
    unused: Vec<u32>,
    selector: Selector,
    chance: Chance,
    recorder: Recorder,
    injected: u64,
    in_flight: u64,
    /// Free channels that headers may be waiting for.
    to_grant: Vec<ChannelId>,
    /// Channels that may be able to start a flit.
    to_start: Vec<ChannelId>,
    requesting: Vec<BufferId>,
}

impl Engine for Reference {
    fn new(network: &Arc<FlitNetwork>, seed: u64, log: bool) -> Reference {
        let link = |&channel: &Channel| ReferenceChannel {
            channel,
            owner: None,
            transmitting: false,
            tail_on_wire: false,
            requests: Requests::default(),
            wire: VecDeque::new(),
        };
        let buffer = |id: usize, channel: &Channel| Buffer {
            channel: ChannelId(id as u32),
            shares: channel.virtual_channels > 1,
            credit_latency: channel.credit_latency,
            free_slots: channel.buffer,
            freed: Time::ZERO,
            flits: VecDeque::new(),
            packets: 0,
            output: None,
        };
        let virtual_channels = network.virtual_channels();
        let each_virtual_channel = |(id, channel)| (0..virtual_channels).map(move |_| buffer(id, channel));
        Reference {
            links: network.channels.iter().map(link).collect(),
            virtual_channels,
            buffers: network.channels.iter().enumerate().flat_map(each_virtual_channel).collect(),
            sources: network.injection.iter().map(|_| Source::default()).collect(),
            packets: Vec::new(),
            unused: Vec::new(),
            selector: Selector::new(network),
            chance: Chance::new(seed),
            recorder: Recorder::new(network, log),
            injected: 0,
            in_flight: 0,
            to_grant: Vec::new(),
            to_start: Vec::new(),
            requesting: Vec::new(),
            network: Arc::clone(network),
        }
    }

    fn inject<S: Schedule>(&mut self, now: Time, order: Injection, schedule: &mut S) {
        let queued = QueuedPacket { order, number: self.injected, injected: now };
        self.sources[order.source.0 as usize].queue.put(queued);
        self.injected += 1;
        self.in_flight += 1;
        self.to_grant.push(self.network.injection[order.source.0 as usize]);
        self.settle(now, schedule);
    }

    fn inject_uncut<S: Schedule>(&mut self, now: Time, source: NodeId, messages: VecDeque<Uncut>, schedule: &mut S) {
        let packets: u64 = messages.iter().map(|message| message.packets(self.network.packet)).sum();
        self.sources[source.0 as usize].queue.put_uncut(source, messages, self.injected, now);
        self.injected += packets;
        self.in_flight += packets;
        self.to_grant.push(self.network.injection[source.0 as usize]);
        self.settle(now, schedule);
    }

    fn instant<S: Schedule>(
        &mut self,
        now: Time,
        events: impl Iterator<Item = NetworkEvent>,
        schedule: &mut S,
        notices: &mut Vec<Notice>,
    ) {
        let before = notices.len();
        for event in events {
            match event.kind() {
                END => self.end_transmission(now, ChannelId(event.index()), schedule, notices),
                ARRIVE => self.arrive(now, ChannelId(event.index()), schedule, notices),
                CREDIT => self.return_slot(now, BufferId(event.index())),
                READY => notices.push(self.ready(BufferId(event.index()))),
                _ => self.requesting.push(BufferId(event.index())),
            }
        }
        let mut requesting = std::mem::take(&mut self.requesting);
        requesting.sort_by_key(|&buffer| (self.port(buffer), buffer.0));
        for buffer in requesting.drain(..) {
            self.request(now, buffer);
        }
        self.requesting = requesting;
        self.settle(now, schedule);
        notices[before..].sort_unstable();
    }

    fn forwarded<S: Schedule>(&mut self, waiting: u32, time: Time, schedule: &mut S) {
        schedule.at(time, NetworkEvent::new(REQUEST, waiting));
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }

    fn arrived(&self) -> u64 {
        self.recorder.statistics.packets
    }

    fn stuck(&self) -> Vec<StuckPacket> {
        let mut tally = Tally::default();
        for (index, link) in self.links.iter().enumerate() {
            let channel = ChannelId(index as u32);
            if let Some(owner) = link.owner {
                tally.holds(owner.packet, channel, owner.granted);
            }
            for request in link.requests.waiting() {
                // Where the wire is free, there is no room behind it.
                let in_the_way = self.buffers[self.buffer(channel, request.virtual_channel).0 as usize].flits.front();
                let behind = link.owner.map(|owner| owner.packet).or(in_the_way.map(|flit| flit.packet));
                tally.wants(request.packet, channel, request.at, behind);
            }
        }
        tally.report(|packet| self.packets[packet as usize].order)
    }

    fn statistics(&mut self, _now: Time) -> &Statistics {
        &self.recorder.statistics
    }

    fn finish(self) -> Recorder {
        self.recorder
    }
}

impl Reference {
    fn buffer(&self, channel: ChannelId, virtual_channel: u32) -> BufferId {
        BufferId(channel.0 * self.virtual_channels + virtual_channel)
    }

    fn link_of(&self, buffer: BufferId) -> &ReferenceChannel {
        &self.links[self.buffers[buffer.0 as usize].channel.0 as usize]
    }

    /// The number of a buffer among the inputs of its router.
    fn port(&self, buffer: BufferId) -> u32 {
        self.link_of(buffer).channel.input_port * self.virtual_channels + buffer.0 % self.virtual_channels
    }

    /// Rule 5, first part: a transmission ends, its channel is idle, and with the tail it is released.
    fn end_transmission<S: Schedule>(
        &mut self,
        now: Time,
        channel: ChannelId,
        schedule: &mut S,
        notices: &mut Vec<Notice>,
    ) {
        let link = &mut self.links[channel.0 as usize];
        link.transmitting = false;
        let tail = std::mem::take(&mut link.tail_on_wire);
        if tail {
            self.release(now, channel, notices);
        } else {
            self.to_start.push(channel);
        }
        if self.links[channel.0 as usize].channel.wire_latency.is_zero() {
            self.arrive(now, channel, schedule, notices);
        }
    }

    fn release(&mut self, now: Time, channel: ChannelId, notices: &mut Vec<Notice>) {
        let link = &mut self.links[channel.0 as usize];
        let flit_time = link.channel.flit_time;
        let Some(owner) = link.owner.take() else { return };
        if matches!(link.channel.to, ChannelEnd::Node(_)) {
            let far = self.buffer(channel, owner.virtual_channel);
            self.buffers[far.0 as usize].packets -= 1;
        }
        self.to_grant.push(channel);
        let packet = &mut self.packets[owner.packet as usize];
        let Injection { flits, bytes, .. } = packet.order;
        self.recorder.crossed(channel, (flits, bytes), now.since(owner.granted), flit_time);
        if let Some(hop) = packet.hops.iter_mut().find(|hop| hop.channel == channel) {
            hop.released = now;
        }
        if let Input::Source(node) = owner.input {
            notices.push(Notice::Departed { node, token: packet.order.token });
        }
    }

    /// Rule 2: a flit reaches the far buffer, or the sink, which takes it at once.
    fn arrive<S: Schedule>(&mut self, now: Time, channel: ChannelId, schedule: &mut S, notices: &mut Vec<Notice>) {
        let link = &mut self.links[channel.0 as usize];
        let Some((flit, virtual_channel)) = link.wire.pop_front() else { return };
        if let ChannelEnd::Node(node) = link.channel.to {
            self.return_slot(now, self.buffer(channel, virtual_channel));
            self.recorder.occupied(channel, 0, u128::from(now.picoseconds()));
            if flit.index + 1 == self.packets[flit.packet as usize].order.flits {
                self.deliver(now, node, flit.packet, notices);
            }
            return;
        }
        let buffer = self.buffer(channel, virtual_channel);
        let far = &mut self.buffers[buffer.0 as usize];
        far.flits.push_back(flit);
        let output = far.output;
        let header_comes_first = far.flits.len() == 1 && flit.index == 0;
        if self.waits_for_whole_packets() || header_comes_first {
            self.header_at_front(now, buffer, flit, schedule);
        }
        if let Some(output) = output {
            self.to_start.push(output);
        }
    }

    fn deliver(&mut self, now: Time, node: NodeId, packet: u32, notices: &mut Vec<Notice>) {
        let done = &mut self.packets[packet as usize];
        notices.push(Notice::Delivered { node, token: done.order.token });
        let hops = std::mem::take(&mut done.hops);
        self.recorder.delivered(&done.order, done.injected, || hops, now);
        self.in_flight -= 1;
        self.unused.push(packet);
    }

    fn return_slot(&mut self, now: Time, buffer: BufferId) {
        let buffer = &mut self.buffers[buffer.0 as usize];
        buffer.free_slots += 1;
        buffer.freed = now;
        self.to_start.push(buffer.channel);
        if buffer.shares {
            self.to_grant.push(buffer.channel);
        }
    }

    fn waits_for_whole_packets(&self) -> bool {
        matches!(self.network.switching, Switching::StoreAndForward | Switching::Software { .. })
    }

    /// Rule 3: a header at the front of its buffer waits for the routing delay before it requests an output. Where
    /// packets are stored, `arrived` must be the tail of the packet at the front.
    fn header_at_front<S: Schedule>(&mut self, now: Time, buffer: BufferId, arrived: Flit, schedule: &mut S) {
        let Some(front) = self.buffers[buffer.0 as usize].flits.front() else { return };
        let ChannelEnd::Router(router) = self.link_of(buffer).channel.to else { return };
        let flits = self.packets[front.packet as usize].order.flits;
        if self.waits_for_whole_packets()
            && (front.index != 0 || arrived.packet != front.packet || arrived.index + 1 != flits)
        {
            return;
        }
        let (kind, delay) = match self.network.switching {
            Switching::Software { .. } => (READY, Duration::ZERO),
            _ => (REQUEST, self.network.routers[router.0 as usize].routing_delay),
        };
        schedule.at(now + delay, NetworkEvent::new(kind, buffer.0));
    }

    fn ready(&self, buffer: BufferId) -> Notice {
        Notice::Forward { router: self.router_behind(buffer), port: self.port(buffer), waiting: buffer.0 }
    }

    fn router_behind(&self, buffer: BufferId) -> RouterId {
        match self.link_of(buffer).channel.to {
            ChannelEnd::Router(router) => router,
            ChannelEnd::Node(node) => unreachable!("node {} routes nothing", node.0),
        }
    }

    /// Rule 3: the header at the front of a buffer requests its output channel.
    fn request(&mut self, now: Time, input: BufferId) {
        let router = self.router_behind(input);
        let Some(&Flit { packet, .. }) = self.buffers[input.0 as usize].flits.front() else { return };
        let order = self.packets[packet as usize].order;
        let (number, port) = (self.packets[packet as usize].number, self.port(input));
        let Reference { network, links, buffers, selector, chance, .. } = self;
        let snapshot = Snapshot { now, links, buffers, virtual_channels: self.virtual_channels, chance: *chance };
        let view = selector.view(&snapshot, router, &order, number);
        let state = &mut self.packets[packet as usize].route;
        let step = network.routing.step(&view, state);
        let RequestedOutputs { channels, virtual_channel } = selector.choose(&step, &view, *state, packet);
        for &output in channels {
            let link = &mut self.links[output.0 as usize];
            let virtual_channel = if link.channel.virtual_channels > 1 { virtual_channel } else { 0 };
            let any = channels.len() > 1;
            link.requests.post(ChannelRequest { at: now, port, packet, input: input.0, virtual_channel, any });
            self.to_grant.push(output);
        }
    }

    /// Rule 5, second part: grants, then starts, until nothing more can start.
    fn settle<S: Schedule>(&mut self, now: Time, schedule: &mut S) {
        self.to_grant.sort_unstable_by(|one, other| other.cmp(one));
        while let Some(channel) = self.to_grant.pop() {
            self.grant(now, channel);
        }
        while let Some(channel) = self.to_start.pop() {
            self.start(now, channel, schedule);
        }
    }

    fn grant(&mut self, now: Time, channel: ChannelId) {
        if self.links[channel.0 as usize].owner.is_some() {
            return;
        }
        let (packet, input, virtual_channel, requested) = match self.links[channel.0 as usize].channel.from {
            ChannelEnd::Node(node) => {
                let Some(packet) = self.first_of(node) else { return };
                let front_since = self.sources[node.0 as usize].front_since;
                (packet, Input::Source(node), 0, front_since.max(self.packets[packet as usize].injected))
            }
            ChannelEnd::Router(router) => {
                let Some(request) = self.chosen(channel) else { return };
                self.recorder.granted(router, now.since(request.at));
                self.buffers[request.input as usize].output = Some(channel);
                if request.any {
                    self.withdraw(router, request.packet, channel);
                }
                (request.packet, Input::Buffer(BufferId(request.input)), request.virtual_channel, request.at)
            }
        };
        self.links[channel.0 as usize].owner = Some(Owner { packet, input, virtual_channel, granted: now });
        let far = self.buffer(channel, virtual_channel);
        self.buffers[far.0 as usize].packets += 1;
        if self.recorder.log.is_some() {
            let hop = HopRecord { channel, virtual_channel, requested, granted: now, released: Time::NEVER };
            self.packets[packet as usize].hops.push(hop);
        }
        self.to_start.push(channel);
    }

    /// Rule 3: a packet that requested several channels of a router has been granted one, and withdraws its other
    /// requests.
    fn withdraw(&mut self, router: RouterId, packet: u32, granted: ChannelId) {
        let (links, to_grant) = (&mut self.links, &mut self.to_grant);
        self.selector.granted(router, packet, granted, |other| {
            links[other.0 as usize].requests.withdraw(packet);
            // It may have kept others from a channel where it had no room.
            add_in_turn(to_grant, other);
        });
    }

    /// The packet at the front of a node's injection queue.
    fn first_of(&mut self, node: NodeId) -> Option<u32> {
        let source = &mut self.sources[node.0 as usize];
        if source.first.is_none() {
            let QueuedPacket { order, number, injected } = source.queue.take(self.network.packet)?;
            let packet = Packet { order, number, injected, route: RouteState::default(), hops: Vec::new() };
            let index = self.unused.pop().unwrap_or(self.packets.len() as u32);
            if index as usize == self.packets.len() {
                self.packets.push(packet);
            } else {
                self.packets[index as usize] = packet;
            }
            source.first = Some(index);
        }
        source.first
    }

    /// Rule 3: the packet that a free channel goes to. A channel shared by virtual channels goes only to a packet that
    /// has room behind it.
    fn chosen(&mut self, channel: ChannelId) -> Option<ChannelRequest> {
        let first = self.buffer(channel, 0).0;
        let arbitration = self.network.arbitration;
        let link = &mut self.links[channel.0 as usize];
        if link.channel.virtual_channels == 1 {
            return link.requests.grant(arbitration);
        }
        let (buffers, packets) = (&self.buffers, &self.packets);
        link.requests.grant_shared(arbitration, self.virtual_channels, |request| {
            buffers[(first + request.virtual_channel) as usize].free_slots
                >= packets[request.packet as usize].order.flits
        })
    }

    /// Rule 4: a flit starts when it is at the front of its buffer, its packet owns the channel, the channel is idle,
    /// and a slot is free (for the header of a packet that must fit into the buffer as a whole: as many slots as it has
    /// flits).
    fn start<S: Schedule>(&mut self, now: Time, channel: ChannelId, schedule: &mut S) {
        let link = &self.links[channel.0 as usize];
        let Some(owner) = link.owner else { return };
        if link.transmitting || link.tail_on_wire {
            return;
        }
        let Some(flit) = self.front_flit(&owner) else { return };
        let flits = self.packets[flit.packet as usize].order.flits;
        let into_buffer = matches!(link.channel.to, ChannelEnd::Router(_));
        let whole = self.network.switching != Switching::Wormhole && flit.index == 0 && into_buffer;
        let far = self.buffer(channel, owner.virtual_channel).0 as usize;
        if self.buffers[far].free_slots < if whole { flits } else { 1 } {
            return;
        }
        let tail = flit.index + 1 == flits;
        self.buffers[far].free_slots -= 1;
        let link = &mut self.links[channel.0 as usize];
        link.transmitting = true;
        link.tail_on_wire = tail;
        link.wire.push_back((flit, owner.virtual_channel));
        schedule.at(now + link.channel.flit_time, NetworkEvent::new(END, channel.0));
        if !link.channel.wire_latency.is_zero() {
            let arrival = now + link.channel.flit_time + link.channel.wire_latency;
            schedule.at(arrival, NetworkEvent::new(ARRIVE, channel.0));
        }
        self.recorder.occupied(channel, u128::from(now.picoseconds()), 0);
        match owner.input {
            Input::Source(node) => self.leave_source(now, node, tail),
            Input::Buffer(input) => self.leave_buffer(now, input, tail, schedule),
        }
    }

    /// The next flit of the packet that owns a channel, if it is at the front of its buffer.
    fn front_flit(&self, owner: &Owner) -> Option<Flit> {
        match owner.input {
            Input::Source(node) => Some(Flit { packet: owner.packet, index: self.sources[node.0 as usize].sent }),
            Input::Buffer(input) => {
                let flit = *self.buffers[input.0 as usize].flits.front()?;
                (flit.packet == owner.packet).then_some(flit)
            }
        }
    }

    fn leave_source(&mut self, now: Time, node: NodeId, tail: bool) {
        let source = &mut self.sources[node.0 as usize];
        source.sent += 1;
        if tail {
            source.first = None;
            source.sent = 0;
            source.front_since = now;
        }
    }

    /// Rule 2: the slot of a flit that leaves is free after the credit latency; the flit behind it is now at the front.
    fn leave_buffer<S: Schedule>(&mut self, now: Time, input: BufferId, tail: bool, schedule: &mut S) {
        let left = &mut self.buffers[input.0 as usize];
        left.flits.pop_front();
        if tail {
            left.output = None;
            left.packets -= 1;
        }
        let credit = left.credit_latency;
        self.recorder.occupied(left.channel, 0, u128::from(now.picoseconds()));
        if credit.is_zero() {
            self.return_slot(now, input);
        } else {
            schedule.at(now + credit, NetworkEvent::new(CREDIT, input.0));
        }
        if !tail {
            return;
        }
        let waiting_flits = &self.buffers[input.0 as usize].flits;
        let Some(&next) = waiting_flits.front() else { return };
        let flits = self.packets[next.packet as usize].order.flits;
        let whole = waiting_flits.iter().any(|flit| flit.packet == next.packet && flit.index + 1 == flits);
        let arrived = if whole { Flit { packet: next.packet, index: flits - 1 } } else { next };
        self.header_at_front(now, input, arrived, schedule);
    }
}
