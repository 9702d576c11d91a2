//! The fast engine: the same times as [`super::reference`], from two events per packet and channel.
//!
//! Only headers and tails make events. A header's arrival follows from its first start; a tail's from the starts of the
//! whole packet, which `solve` computes for all channels at once, as soon as they are determined: when the header has
//! its last channel, or when the buffers behind the header hold all that is left. Until then they make no difference to
//! other packets, except to a packet that follows into a buffer whose slots this one must free; then starts are
//! computed at every step.
//!
//! Legend: a *row* is a channel on a packet's way; `sent` counts the flits whose start on it is known. Each virtual
//! channel is a link; those of one channel share the wire of its virtual channel 0. Virtual channel v of a channel is
//! link `v * channels + channel`, so that where there is one virtual channel each, links are channels.

mod link;
mod packet;
mod runs;
mod snapshot;
mod solve;
mod unhindered;
mod whole;

use std::collections::VecDeque;
use std::sync::Arc;

use machines::model::{Arbitration, ChannelEnd, ChannelId, FlitNetwork, NodeId, RouterId, Switching};
use machines::routing::{RouteState, WaitsFor};
use quantities::{Duration, Time};

use self::link::{FastChannel, Links, Wires, uniform_pace};
use self::packet::{Packet, Row};
use self::runs::Run;
use self::snapshot::Snapshot;
use self::solve::{Path, Solution};
use super::arbitration::{ChannelRequest, add_in_turn};
use super::injection::{InjectionQueue, QueuedPacket};
use super::selection::{Chance, RequestedOutputs, Selector};
use super::stuck::{StuckPacket, Tally};
use super::{Engine, Injection, NetworkEvent, Notice, Recorder, Schedule, Statistics, Uncut};
use crate::answer::HopRecord;
use crate::sparse::{OnDemand, Sparse};

/// The tail has crossed a channel, which is free again.
const RELEASE: u32 = 0;
/// A tail comes out of the last wire (only where that wire has a latency).
const DELIVER: u32 = 1;
/// A header at the front of its buffer requests its output.
const REQUEST: u32 = 2;
/// A packet at the front of its buffer is ready for its node's processor.
const READY: u32 = 3;
/// A channel that headers wait for may be granted: it is free, or, where virtual channels share its wire, there is room
/// behind it for a whole packet.
const GRANT: u32 = 4;

/// No packet, in place of a packet's index.
const NO_PACKET: u32 = u32::MAX;
/// Not yet known.
const UNKNOWN: u64 = u64::MAX;

#[derive(Clone, Debug, Default)]
struct Source {
    queue: InjectionQueue,
    /// When the last tail started: from then on the next packet is at the front.
    front_since: u64,
}

/// The engine whose events grow with hops.
#[derive(Debug)]
pub struct Fast {
    network: Arc<FlitNetwork>,
    links: Links,
    /// The most virtual channels that any channel has.
    virtual_channels: u32,
    sources: Sparse<Source>,
    packets: Vec<Packet>,
    unused: Vec<u32>,
    selector: Selector,
    chance: Chance,
    recorder: Recorder,
    /// The pace of every channel, if it is the same for all.
    pace: Option<u64>,
    injected: u64,
    in_flight: u64,
    solution: Solution,
    /// Scratch space for the starts of one packet on one channel.
    starts: Vec<Run>,
    counts: Vec<u32>,
    to_grant: Vec<u32>,
    /// The headers that make requests at this instant: input port, the link behind which each waits, and packet.
    requesting: Vec<(u32, u32, u32)>,
    /// Packets about which something new is known.
    to_consider: Vec<u32>,
    /// Whether a flit would start at [`Time::NEVER`] or later: then nothing more is computed, and the run ends.
    beyond: bool,
}

impl Engine for Fast {
    fn new(network: &Arc<FlitNetwork>, seed: u64, log: bool) -> Fast {
        let wires = Wires::of(network);
        let (virtual_channels, pace) = (wires.virtual_channels, uniform_pace(network));
        Fast {
            links: OnDemand::new(wires),
            virtual_channels,
            sources: Sparse::filled(Source::default(), network.injection.len()),
            packets: Vec::new(),
            unused: Vec::new(),
            selector: Selector::new(network),
            chance: Chance::new(seed),
            recorder: Recorder::new(network, log),
            pace,
            injected: 0,
            in_flight: 0,
            solution: Solution::default(),
            starts: Vec::new(),
            counts: Vec::new(),
            to_grant: Vec::new(),
            requesting: Vec::new(),
            to_consider: Vec::new(),
            beyond: false,
            network: Arc::clone(network),
        }
    }

    fn inject<S: Schedule>(&mut self, now: Time, order: Injection, schedule: &mut S) {
        let queued = QueuedPacket { order, number: self.injected, injected: now };
        self.sources[order.source.0 as usize].queue.put(queued);
        self.injected += 1;
        self.in_flight += 1;
        self.start_from_source(now, order.source, schedule);
    }

    fn inject_uncut<S: Schedule>(&mut self, now: Time, source: NodeId, messages: VecDeque<Uncut>, schedule: &mut S) {
        let packets: u64 = messages.iter().map(|message| message.packets(self.network.packet)).sum();
        self.sources[source.0 as usize].queue.put_uncut(source, messages, self.injected, now);
        self.injected += packets;
        self.in_flight += packets;
        self.start_from_source(now, source, schedule);
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
                RELEASE => self.release(now, event.index(), schedule, notices),
                DELIVER => self.deliver(now, event.index(), notices),
                REQUEST => self.requesting.push(self.requesting_header(event.index())),
                GRANT => self.to_grant.push(event.index()),
                _ => notices.push(self.ready(event.index())),
            }
        }
        let mut requesting = std::mem::take(&mut self.requesting);
        if requesting.len() > 1 {
            requesting.sort_unstable();
        }
        let alone = requesting.len() == 1;
        for (_, _, packet) in requesting.drain(..) {
            self.request(now, packet, alone, schedule);
        }
        self.requesting = requesting;
        if self.network.waits_for == WaitsFor::Any {
            self.to_grant.sort_unstable_by(|one, other| other.cmp(one));
        }
        while let Some(channel) = self.to_grant.pop() {
            self.grant(now, channel, schedule);
        }
        if notices.len() > before + 1 {
            notices[before..].sort_unstable();
        }
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
        // Those of virtual channel 0 come first.
        for (index, link) in self.links.made().take_while(|(index, _)| *index < self.network.channels.len()) {
            let (index, channel) = (index as u32, ChannelId(index as u32));
            let owner = (link.owner != NO_PACKET).then_some(link.owner);
            if let Some(owner) = owner {
                tally.holds(owner, channel, Time::from_picoseconds(link.granted));
            }
            for request in link.requests.waiting() {
                // Where the wire is free, there is no room behind it.
                let first = self.links[self.link(index, request.virtual_channel) as usize].line.first;
                let in_the_way = (first != NO_PACKET).then_some(first);
                tally.wants(request.packet, channel, request.at, owner.or(in_the_way));
            }
        }
        tally.report(|packet| self.packets[packet as usize].order)
    }

    fn statistics(&mut self, now: Time) -> &Statistics {
        let free = |&(index, link): &(usize, &FastChannel)| index < self.network.channels.len() && link.is_free(now);
        let free: Vec<u32> = self.links.made().filter(free).map(|(index, _)| index as u32).collect();
        free.into_iter().for_each(|channel| self.count_crossing(channel));
        &self.recorder.statistics
    }

    fn finish(mut self) -> Recorder {
        self.statistics(Time::NEVER);
        self.recorder
    }
}

impl Fast {
    fn link(&self, channel: u32, virtual_channel: u32) -> u32 {
        virtual_channel * self.network.channels.len() as u32 + channel
    }

    /// The virtual channel in whose far buffer a packet's header waits.
    fn input_of(&self, packet: u32) -> u32 {
        let rows = &self.packets[packet as usize].rows;
        rows[rows.len() - 1].link
    }

    /// A header as it stands in the order of requests.
    fn requesting_header(&self, packet: u32) -> (u32, u32, u32) {
        let input = self.input_of(packet);
        (self.links[input as usize].input_port, input, packet)
    }

    fn ready(&self, packet: u32) -> Notice {
        let input = &self.links[self.input_of(packet) as usize];
        match input.to {
            ChannelEnd::Router(router) => Notice::Forward { router, port: input.input_port, waiting: packet },
            ChannelEnd::Node(node) => unreachable!("node {} routes nothing", node.0),
        }
    }

    fn release<S: Schedule>(&mut self, now: Time, channel: u32, schedule: &mut S, notices: &mut Vec<Notice>) {
        let packet = self.links[channel as usize].owner;
        let order = self.packets[packet as usize].order;
        self.links[channel as usize].release(now.picoseconds(), order.flits, order.bytes);
        self.count_crossing(channel);
        let link = &self.links[channel as usize];
        let delivers = link.is_sink() && link.advance == link.flit_time;
        if let ChannelEnd::Node(node) = link.from {
            notices.push(Notice::Departed { node, token: order.token });
            self.grant_source(now, channel, node, schedule);
        } else {
            self.to_grant.push(channel);
        }
        if delivers {
            self.deliver(now, packet, notices);
        }
    }

    /// Counts the packet that last had a channel, if it is not yet counted.
    #[inline]
    fn count_crossing(&mut self, channel: u32) {
        let link = &mut self.links[channel as usize];
        let Some((flits, bytes)) = link.take_crossed() else { return };
        let held = Duration::from_picoseconds(link.free_at - link.granted);
        self.recorder.crossed(ChannelId(channel), (flits, bytes), held, Duration::from_picoseconds(link.flit_time));
    }

    fn deliver(&mut self, now: Time, packet: u32, notices: &mut Vec<Notice>) {
        let done = &mut self.packets[packet as usize];
        notices.push(Notice::Delivered { node: done.order.destination, token: done.order.token });
        let links = &self.links;
        let channels = self.network.channels.len() as u32;
        let rows = &done.rows;
        let record = |row: &Row| HopRecord {
            channel: ChannelId(row.channel),
            virtual_channel: (row.link - row.channel) / channels,
            requested: Time::from_picoseconds(row.requested),
            granted: Time::from_picoseconds(row.granted),
            released: Time::from_picoseconds(row.last + links[row.channel as usize].flit_time),
        };
        let hops = || rows.iter().map(record).collect();
        self.recorder.delivered(&done.order, Time::from_picoseconds(done.injected), hops, now);
        done.rows.clear();
        self.in_flight -= 1;
        self.unused.push(packet);
    }

    /// Rule 3: the header at the front of its buffer requests its output channel. If its request at `now` is the only
    /// one (`alone`), or ties go to the earliest request, no other header can have precedence.
    fn request<S: Schedule>(&mut self, now: Time, packet: u32, alone: bool, schedule: &mut S) {
        let Packet { order, number, rows, route, .. } = &mut self.packets[packet as usize];
        let input = rows[rows.len() - 1].link;
        let ChannelEnd::Router(router) = self.links[input as usize].to else { return };
        let channels = self.network.channels.len();
        let snapshot = Snapshot { now, links: &self.links, channels, chance: self.chance };
        let view = self.selector.view(&snapshot, router, order, *number);
        let step = self.network.routing.step(&view, route);
        let RequestedOutputs { channels, virtual_channel } = self.selector.choose(&step, &view, *route, packet);
        let port = self.links[input as usize].input_port;
        if let &[ChannelId(output)] = channels {
            let link = &mut self.links[output as usize];
            let decided = alone || self.network.arbitration == Arbitration::FirstCome;
            if decided && link.is_idle(now) && !link.shared {
                link.requests.pass(port);
                self.recorder.granted(router, Duration::ZERO);
                return self.enter(packet, Row::new(output, output, now.picoseconds(), now), schedule);
            }
        }
        for &ChannelId(output) in channels {
            let link = &mut self.links[output as usize];
            let virtual_channel = if link.shared { virtual_channel } else { 0 };
            let (first, any) = (link.requests.is_empty(), channels.len() > 1);
            link.requests.post(ChannelRequest { at: now, port, packet, input, virtual_channel, any });
            if link.is_free(now) {
                self.to_grant.push(output);
            } else if link.owner == NO_PACKET && first {
                schedule.at(Time::from_picoseconds(link.free_at), NetworkEvent::new(GRANT, output));
            }
        }
    }

    /// A node's injection queue has become non-empty: the packet at its front begins to leave if the channel is free.
    #[inline]
    fn start_from_source<S: Schedule>(&mut self, now: Time, source: NodeId, schedule: &mut S) {
        let channel = self.network.injection[source.0 as usize].0;
        if self.links[channel as usize].owner == NO_PACKET {
            self.grant_source(now, channel, source, schedule);
        }
    }

    /// Grants a free injection channel to the first packet of its node's queue, if there is one.
    fn grant_source<S: Schedule>(&mut self, now: Time, channel: u32, node: NodeId, schedule: &mut S) {
        let source = &mut self.sources[node.0 as usize];
        let Some(QueuedPacket { order, number, injected }) = source.queue.take(self.network.packet) else { return };
        let injected = injected.picoseconds();
        let requested = source.front_since.max(injected);
        let packet = self.unused.pop().unwrap_or(self.packets.len() as u32);
        let route = RouteState::default();
        if packet as usize == self.packets.len() {
            self.packets.push(Packet {
                order,
                number,
                injected,
                route,
                rows: Vec::new(),
                first: 0,
                header_at: UNKNOWN,
            });
        } else {
            let slot = &mut self.packets[packet as usize];
            let rows = std::mem::take(&mut slot.rows);
            *slot = Packet { order, number, injected, route, rows, first: 0, header_at: UNKNOWN };
        }
        let row = Row::new(channel, channel, requested, now);
        self.enter(packet, row, schedule);
    }

    fn grant<S: Schedule>(&mut self, now: Time, channel: u32, schedule: &mut S) {
        let link = &mut self.links[channel as usize];
        if !link.is_free(now) {
            return;
        }
        let from = link.from;
        let chosen = if link.shared {
            self.chosen_with_room(now, channel, schedule)
        } else {
            link.requests.grant(self.network.arbitration)
        };
        let Some(request) = chosen else { return };
        if let ChannelEnd::Router(router) = from {
            self.recorder.granted(router, now.since(request.at));
            if request.any {
                self.withdraw(router, request.packet, channel);
            }
        }
        let row = Row::new(channel, self.link(channel, request.virtual_channel), request.at.picoseconds(), now);
        self.enter(request.packet, row, schedule);
    }

    /// Rule 3: a packet that requested several channels of a router has been granted one, and withdraws its other
    /// requests.
    fn withdraw(&mut self, router: RouterId, packet: u32, granted: u32) {
        let (links, to_grant, waits_for) = (&mut self.links, &mut self.to_grant, self.network.waits_for);
        self.selector.granted(router, packet, ChannelId(granted), |ChannelId(other)| {
            let link = &mut links[other as usize];
            link.requests.withdraw(packet);
            if link.shared {
                // It may have kept others from a wire behind which it had no room.
                may_grant(to_grant, waits_for, other);
            }
        });
    }

    /// Rule 3: the packet that a free wire shared by virtual channels goes to: only one that has room behind the wire.
    /// If no packet has room, the wire is checked again when one will have.
    fn chosen_with_room<S: Schedule>(&mut self, now: Time, channel: u32, schedule: &mut S) -> Option<ChannelRequest> {
        let mut requests = std::mem::take(&mut self.links[channel as usize].requests);
        let mut next_room = UNKNOWN;
        let chosen = requests.grant_shared(self.network.arbitration, self.virtual_channels, |request| {
            let flits = self.packets[request.packet as usize].order.flits;
            let slots = &self.links[self.link(channel, request.virtual_channel) as usize].credits;
            let room = slots.at(flits - 1).unwrap_or(UNKNOWN);
            next_room = next_room.min(room);
            room <= now.picoseconds()
        });
        self.links[channel as usize].requests = requests;
        if chosen.is_none() && next_room != UNKNOWN {
            schedule.at(Time::from_picoseconds(next_room), NetworkEvent::new(GRANT, channel));
        }
        chosen
    }

    /// A packet is granted a channel.
    fn enter<S: Schedule>(&mut self, packet: u32, row: Row, schedule: &mut S) {
        self.count_crossing(row.channel);
        if self.cross_unhindered(packet, &row, schedule) {
            return;
        }
        let wire = &mut self.links[row.channel as usize];
        wire.owner = packet;
        wire.granted = row.granted;
        let link = &mut self.links[row.link as usize];
        let entering = &mut self.packets[packet as usize];
        entering.rows.push(row);
        entering.header_at = UNKNOWN;
        let mut considered = packet;
        if !link.is_sink() {
            link.line.push(packet);
            let first = link.line.first;
            if first != packet && link.credits.count() < entering.order.flits {
                self.to_consider.push(packet);
                considered = first;
            }
        }
        self.consider(considered, schedule);
        while let Some(packet) = self.to_consider.pop() {
            self.consider(packet, schedule);
        }
    }

    /// Computes what is newly determined about a packet, as far as it makes a difference to others.
    fn consider<S: Schedule>(&mut self, packet: u32, schedule: &mut S) {
        if self.beyond {
            return;
        }
        self.start_header(packet, schedule);
        if self.cross_whole(packet, schedule) {
            return;
        }
        let Packet { order, rows, first, .. } = &self.packets[packet as usize];
        if *first == rows.len() || !rows[rows.len() - 1].started && rows.len() == *first + 1 {
            return;
        }
        count_determined(&self.links, rows, *first, order.flits, &mut self.counts);
        let leaves = self.counts[0];
        let finishes = rows[*first].sent + leaves == order.flits;
        let follower = first.checked_sub(1).and_then(|input| self.waits_for_slots(rows[input].channel, packet));
        if leaves == 0 || !(finishes || follower.is_some()) {
            return;
        }
        self.extend(packet, schedule);
        self.to_consider.extend(follower);
    }

    /// The owner of a channel, other than `packet`, whose flits will need slots that `packet` has yet to free.
    #[inline]
    fn waits_for_slots(&self, channel: u32, packet: u32) -> Option<u32> {
        let link = &self.links[channel as usize];
        // The owner of a shared wire has all the slots that it needs.
        if link.owner == NO_PACKET || link.owner == packet || link.shared {
            return None;
        }
        let owner = &self.packets[link.owner as usize];
        let sent = owner.rows[owner.rows.len() - 1].sent;
        (link.credits.count() < owner.order.flits - sent).then_some(link.owner)
    }

    /// Rule 4 for the header on the last channel that its packet was granted: it starts when a slot is free or, if the
    /// packet must fit as a whole, when as many slots are free as it has flits.
    #[inline]
    fn start_header<S: Schedule>(&mut self, packet: u32, schedule: &mut S) {
        let Packet { order, rows, header_at, .. } = &mut self.packets[packet as usize];
        let Some(row) = rows.last_mut() else { return };
        let link = &mut self.links[row.link as usize];
        if row.started {
            return;
        }
        let mut start = row.earliest;
        if self.network.switching != Switching::Wormhole && !link.is_sink() {
            if link.credits.count() < order.flits {
                return;
            }
            start = start.max(link.credits.take(order.flits).unwrap_or(0));
            (row.earliest, row.reserved) = (start, true);
        } else if link.counts_slots {
            let Some(slot) = link.credits.first() else { return };
            start = start.max(slot);
        }
        row.started = true;
        if !link.is_sink() && !stores_packets(self.network.switching) {
            *header_at = start + link.advance;
            if link.line.first == packet {
                let link = row.link;
                self.reach_front(link, schedule);
            }
        }
    }

    /// Rule 3: the header at the front of a buffer requests its output after the routing delay.
    #[inline]
    fn reach_front<S: Schedule>(&self, link: u32, schedule: &mut S) {
        let link = &self.links[link as usize];
        let ChannelEnd::Router(RouterId(router)) = link.to else { return };
        let packet = link.line.first;
        if packet == NO_PACKET {
            return;
        }
        let header_at = self.packets[packet as usize].header_at;
        if header_at == UNKNOWN {
            return;
        }
        let front = Time::from_picoseconds(header_at.max(link.front_free));
        let (kind, delay) = match self.network.switching {
            Switching::Software { .. } => (READY, Duration::ZERO),
            _ => (REQUEST, self.network.routers[router as usize].routing_delay),
        };
        schedule.at(front + delay, NetworkEvent::new(kind, packet));
    }

    /// Computes the starts that [`count_determined`] counted, and what follows from them.
    fn extend<S: Schedule>(&mut self, packet: u32, schedule: &mut S) {
        let Packet { rows, first, .. } = &self.packets[packet as usize];
        let first = *first;
        let path = Path { links: &self.links, rows, first, counts: &self.counts, uniform: self.pace };
        self.solution.solve(&path);
        self.move_flits(packet, first);
        if self.beyond {
            return schedule.at(Time::NEVER, NetworkEvent::new(RELEASE, 0));
        }
        self.take_slots(packet, first);
        for row in first..first + self.counts.len() {
            let Packet { order, rows, .. } = &self.packets[packet as usize];
            if self.counts[row - first] > 0 && rows[row].sent == order.flits {
                self.finish_row(packet, row, schedule);
            }
        }
    }

    /// Takes the flits that start out of the buffers where they were, and puts them into those that they reach.
    fn move_flits(&mut self, packet: u32, first: usize) {
        let rows = &mut self.packets[packet as usize].rows;
        for index in 0..self.counts.len() {
            let count = self.counts[index];
            if count == 0 {
                continue;
            }
            let starts = self.solution.starts(first + index, first);
            let total: u128 = starts.iter().map(Run::sum).sum();
            if let Some(before) = (first + index).checked_sub(1) {
                let input = rows[before];
                self.links[input.link as usize].held.take(count);
                self.recorder.occupied(ChannelId(input.channel), 0, total);
            }
            let row = &mut rows[first + index];
            row.sent += count;
            row.last = starts.last().map_or(row.last, Run::last);
            self.beyond |= row.last >= Time::NEVER.picoseconds();
            let link = &mut self.links[row.link as usize];
            let channel = ChannelId(row.channel);
            if link.is_sink() {
                let given = total + u128::from(link.advance) * u128::from(count);
                self.recorder.occupied(channel, total, given);
            } else {
                link.held.extend(starts, link.advance);
                self.recorder.occupied(channel, total, 0);
            }
        }
    }

    /// Takes slots for the flits that start, and gives back those that they leave.
    fn take_slots(&mut self, packet: u32, first: usize) {
        let rows = &self.packets[packet as usize].rows;
        for index in (0..self.counts.len()).rev() {
            let count = self.counts[index];
            let row = &rows[first + index];
            let link = &mut self.links[row.link as usize];
            let starts = self.solution.starts(first + index, first);
            if link.is_sink() && link.counts_slots {
                link.credits.extend(starts, link.advance);
            }
            if !row.reserved && link.counts_slots {
                link.credits.take(count);
            }
            if let Some(before) = (first + index).checked_sub(1) {
                let input = &mut self.links[rows[before].link as usize];
                input.credits.extend(starts, input.credit);
                if input.shared {
                    // Packets may be waiting for this room: when it will be there is known now.
                    may_grant(&mut self.to_grant, self.network.waits_for, rows[before].channel);
                }
            }
        }
    }

    /// All flits of a packet have known starts on a row: the tail releases the channel, and the flits behind it come
    /// forward.
    #[inline]
    fn finish_row<S: Schedule>(&mut self, packet: u32, index: usize, schedule: &mut S) {
        let Packet { order, rows, first, header_at, .. } = &mut self.packets[packet as usize];
        *first = index + 1;
        let Row { channel, link: own, last, .. } = rows[index];
        let input = index.checked_sub(1).map(|before| rows[before].link);
        let link = &mut self.links[own as usize];
        let (release, tail_at) = (last + link.flit_time, last + link.advance);
        if link.is_inner() && link.requests.is_empty() {
            link.release(release, order.flits, order.bytes);
        } else {
            schedule.at(Time::from_picoseconds(release), NetworkEvent::new(RELEASE, channel));
        }
        if let ChannelEnd::Node(node) = link.from {
            self.sources[node.0 as usize].front_since = last;
        }
        if link.is_sink() {
            if tail_at > release {
                schedule.at(Time::from_picoseconds(tail_at), NetworkEvent::new(DELIVER, packet));
            }
        } else if stores_packets(self.network.switching) {
            *header_at = tail_at;
            if link.line.first == packet {
                self.reach_front(own, schedule);
            }
        }
        if let Some(input) = input {
            let link = &mut self.links[input as usize];
            link.line.pop();
            link.front_free = last;
            self.reach_front(input, schedule);
        }
    }
}

fn stores_packets(switching: Switching) -> bool {
    matches!(switching, Switching::StoreAndForward | Switching::Software { .. })
}

/// How many more starts are determined on each row from `first` on: as many as there are free slots ahead.
fn count_determined(links: &Links, rows: &[Row], first: usize, flits: u32, counts: &mut Vec<u32>) {
    counts.clear();
    counts.resize(rows.len() - first, 0);
    let mut ahead = 0;
    for (count, row) in counts.iter_mut().zip(&rows[first..]).rev() {
        let link = &links[row.link as usize];
        let rest = flits - row.sent;
        *count = if !row.started {
            0
        } else if link.is_sink() || row.reserved {
            rest
        } else {
            rest.min(link.credits.count().saturating_add(ahead))
        };
        ahead = *count;
    }
}

/// A channel may now be granted to a header that waits. The order matters only where a header waits for any of several.
fn may_grant(to_grant: &mut Vec<u32>, waits_for: WaitsFor, channel: u32) {
    match waits_for {
        WaitsFor::Any => add_in_turn(to_grant, channel),
        WaitsFor::Chosen => to_grant.push(channel),
    }
}
