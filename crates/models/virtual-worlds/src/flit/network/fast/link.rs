//! A channel as a packet uses it: a wire, and the buffer behind it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use machines::model::{Channel, ChannelEnd, FlitNetwork};
use quantities::{Bytes, Time};

use super::super::arbitration::Requests;
use super::NO_PACKET;
use super::runs::{Loop, Runs};
use crate::sparse::{Make, OnDemand};

/// A virtual channel: a wire (that of virtual channel 0 is the one used) and the buffer at its far end. Times in
/// picoseconds.
///
/// A packet that crosses a channel reads and writes nearly all of this, for the channel and for the one before. So
/// links are kept small, and begin with a cache line: those of a network of hundreds of nodes then fit into a
/// processor's second-level cache.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct FastChannel {
    pub flit_time: u64,
    /// Flit time and wire latency.
    pub advance: u64,
    /// The credit latency.
    pub credit: u64,
    /// The latency of the buffer's credit loop, if it binds more than the flit time; else zero.
    binding_latency: u64,
    /// Whether a lack of slots can delay starts: not where a sink's buffer covers its loop.
    pub counts_slots: bool,
    pub from: ChannelEnd,
    pub to: ChannelEnd,
    pub input_port: u32,
    /// Whether other virtual channels share the wire.
    pub shared: bool,
    pub owner: u32,
    pub granted: u64,
    /// When it is free, if it has no owner.
    pub free_at: u64,
    /// The flits and the message bytes of the packet that had it last, until they are counted; no flits after that.
    crossed: (u32, Bytes),
    pub requests: Requests,
    /// Slots of the far buffer.
    pub slots: u32,
    /// When the slots that no packet has taken become free.
    pub credits: Runs,
    /// When the flits in the far buffer whose departure is not yet known arrive there.
    pub held: Runs,
    /// The packets that own the channel or have flits in the far buffer.
    pub line: PacketQueue,
    /// When the last flit of the packet before the first of the line leaves the far buffer.
    pub front_free: u64,
}

/// The links of a network. Those that no packet has come near take no memory.
pub(super) type Links = OnDemand<Wires>;

/// What links are made from.
#[derive(Debug)]
pub(super) struct Wires {
    network: Arc<FlitNetwork>,
    /// The most virtual channels that any channel has.
    pub virtual_channels: u32,
}

impl Wires {
    pub fn of(network: &Arc<FlitNetwork>) -> Wires {
        Wires { network: Arc::clone(network), virtual_channels: network.virtual_channels() }
    }
}

impl Make for Wires {
    type Value = FastChannel;

    fn count(&self) -> usize {
        self.network.channels.len() * self.virtual_channels as usize
    }

    fn make(&self, index: usize) -> FastChannel {
        let channels = self.network.channels.len();
        FastChannel::new(&self.network.channels[index % channels], (index / channels) as u32, self.virtual_channels)
    }
}

/// Packets one behind the other, from the one at the front of the buffer. Usually there is only one, which is stored
/// inline.
#[derive(Debug)]
pub(super) struct PacketQueue {
    /// [`NO_PACKET`] if there is none.
    pub first: u32,
    pub others: VecDeque<u32>,
}

impl PacketQueue {
    pub fn empty() -> PacketQueue {
        PacketQueue { first: NO_PACKET, others: VecDeque::new() }
    }

    pub fn push(&mut self, packet: u32) {
        match self.first {
            NO_PACKET => self.first = packet,
            _ => self.others.push_back(packet),
        }
    }

    pub fn pop(&mut self) {
        self.first = self.others.pop_front().unwrap_or(NO_PACKET);
    }
}

impl FastChannel {
    /// The link of `virtual_channel` of a channel; no channel has more than `virtual_channels`.
    pub fn new(channel: &Channel, virtual_channel: u32, virtual_channels: u32) -> FastChannel {
        let flit_time = channel.flit_time.picoseconds();
        let advance = flit_time + channel.wire_latency.picoseconds();
        let sink = matches!(channel.to, ChannelEnd::Node(_));
        // A sink gives a slot back at the flit's arrival, a buffer when the flit has left and the credit is back.
        let credit = if sink { 0 } else { channel.credit_latency.picoseconds() };
        let bound = Loop { slots: channel.buffer, latency: advance + credit };
        let binds = bound.latency > flit_time * u64::from(bound.slots);
        FastChannel {
            flit_time,
            advance,
            credit,
            binding_latency: if binds { bound.latency } else { 0 },
            counts_slots: !sink || binds,
            from: channel.from,
            to: channel.to,
            input_port: channel.input_port * virtual_channels + virtual_channel,
            shared: channel.virtual_channels > 1,
            owner: NO_PACKET,
            granted: 0,
            free_at: 0,
            crossed: (0, Bytes(0)),
            requests: Requests::default(),
            slots: channel.buffer,
            credits: Runs::zeros(channel.buffer),
            held: Runs::default(),
            line: PacketQueue::empty(),
            front_free: 0,
        }
    }

    pub fn is_sink(&self) -> bool {
        matches!(self.to, ChannelEnd::Node(_))
    }

    /// Its owner, a packet of so many flits and message bytes, releases it at `time`. [ps]
    #[inline]
    pub fn release(&mut self, time: u64, flits: u32, bytes: Bytes) {
        (self.owner, self.free_at, self.crossed) = (NO_PACKET, time, (flits, bytes));
    }

    /// The flits and the message bytes of the packet that had it last, if they are not yet counted.
    #[inline]
    pub fn take_crossed(&mut self) -> Option<(u32, Bytes)> {
        let (flits, bytes) = self.crossed;
        self.crossed.0 = 0;
        (flits > 0).then_some((flits, bytes))
    }

    /// Whether the buffer's credit loop binds more than the flit time.
    #[inline]
    pub fn has_binding_loop(&self) -> bool {
        self.binding_latency > 0
    }

    /// The buffer's credit loop, if it binds more than the flit time.
    pub fn binding_loop(&self) -> Option<Loop> {
        self.has_binding_loop().then_some(Loop { slots: self.slots, latency: self.binding_latency })
    }

    /// Whether no packet owns it at `now`.
    pub fn is_free(&self, now: Time) -> bool {
        self.owner == NO_PACKET && self.free_at <= now.picoseconds()
    }

    /// Whether at `now` no packet owns it or has requested it.
    pub fn is_idle(&self, now: Time) -> bool {
        self.is_free(now) && self.requests.is_empty()
    }

    /// Whether all slots of the far buffer have been free since before `now`, or always: none of their known times is
    /// later. A destination buffers nothing.
    pub fn is_empty(&self, now: Time) -> bool {
        let last = self.slots.checked_sub(1).and_then(|last| self.credits.at(last));
        self.is_sink() || last.is_some_and(|freed| freed == 0 || freed < now.picoseconds())
    }

    /// How many packets own the virtual channel or have flits in the far buffer, where a packet has them until its tail
    /// has left before `now`. The last packet that left the line may have done so ahead of time; the one before left it
    /// earlier than the header of that one asked, so before `now`.
    pub fn packets(&self, now: Time) -> u32 {
        if self.is_sink() {
            return u32::from(self.owner != NO_PACKET);
        }
        let in_line = u32::from(self.line.first != NO_PACKET) + self.line.others.len() as u32;
        in_line + u32::from(self.front_free >= now.picoseconds())
    }

    /// Whether its release has no consequence except that it is free, so that it needs no event where no packet waits:
    /// it belongs neither to a source nor to a sink.
    pub fn is_inner(&self) -> bool {
        matches!((self.from, self.to), (ChannelEnd::Router(_), ChannelEnd::Router(_))) && !self.shared
    }
}

/// The least time between two flits of a packet, where it is the same on all channels and no credit loop binds more. A
/// buffer of one slot sets a pace of its own, for its channel and for the next.
pub(super) fn uniform_pace(network: &FlitNetwork) -> Option<u64> {
    // Channels of the same times and buffers, which are most, count once.
    let kind = |channel: &Channel| {
        let sink = matches!(channel.to, ChannelEnd::Node(_));
        (channel.flit_time, channel.wire_latency, channel.credit_latency, channel.buffer, sink)
    };
    let (mut kinds, mut last) = (BTreeSet::new(), None);
    let mut is_new =
        |channel: &&Channel| last.replace(kind(channel)) != Some(kind(channel)) && kinds.insert(kind(channel));
    let links: Vec<FastChannel> =
        network.channels.iter().filter(|channel| is_new(channel)).map(|it| FastChannel::new(it, 0, 1)).collect();
    let own = |link: &FastChannel| match link.binding_loop() {
        Some(bound) if bound.slots == 1 => bound.latency,
        _ => link.flit_time,
    };
    let pace = links.iter().map(own).max()?;
    let covered =
        |link: &FastChannel| link.binding_loop().is_none_or(|bound| bound.latency <= pace * u64::from(bound.slots));
    let paced = |link: &FastChannel| own(link) == pace || (link.is_sink() && link.flit_time <= pace);
    let single = |link: &FastChannel| link.is_sink() || link.binding_loop().is_some_and(|bound| bound.slots == 1);
    let passed_on = links.iter().all(|link| own(link) == pace) || links.iter().all(single);
    (links.iter().all(|link| covered(link) && paced(link)) && passed_on).then_some(pace)
}
