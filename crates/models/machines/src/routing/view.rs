//! What a rule of routing decides by: what a router sees when a header asks, and what the packet carries.

use std::ops::{Add, Mul};

use crate::model::{ChannelId, NodeId, RouterId};

/// What a network tells a router at one instant. Every engine gives the same answers at the same instant
/// (docs/NETWORK.md, "What a router sees").
pub trait NetworkView {
    /// Whether a channel belongs to no packet and no header has asked for it.
    fn is_idle(&self, channel: ChannelId) -> bool;

    /// Whether all slots behind a virtual channel of it have been free since before this instant.
    fn is_empty(&self, channel: ChannelId, virtual_channel: u32) -> bool;

    /// How many packets have asked for a virtual channel of it, have it, or are in the buffer behind it.
    fn packets(&self, channel: ChannelId, virtual_channel: u32) -> u32;

    /// One of so many numbers from 0, drawn at random for the packet: the same one for the same `router`, or for none.
    fn draw(&self, packet: &PacketHeader, router: Option<RouterId>, choices: u64) -> u64;

    /// Whether one load is at most another. Those who ask what a rule may do at all answer both ways.
    fn at_most(&self, load: Load, other: Load) -> bool {
        load.0 <= other.0
    }
}

/// What of a packet never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeader {
    /// Where it comes from.
    pub source: NodeId,
    /// Where it goes.
    pub destination: NodeId,
    /// Its number among all packets of the run.
    pub number: u64,
}

/// What a packet carries of its way, for its rule: nothing but zeros at its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouteState {
    /// The router or the group through which it detours.
    pub through: u32,
    /// Which part of its way it is on.
    pub phase: u16,
    /// Which of the rule's virtual channels it asks for.
    pub virtual_channel: u16,
}

/// How much waits somewhere: a sum that can only be compared with another, by [`RouterView::at_most`], so that a proof
/// about a rule can follow both outcomes.
#[derive(Clone, Copy, Debug)]
pub struct Load(u64);

impl Load {
    /// So many packets.
    pub fn of(packets: u32) -> Load {
        Load(u64::from(packets))
    }
}

impl Add for Load {
    type Output = Load;

    fn add(self, other: Load) -> Load {
        Load(self.0.saturating_add(other.0))
    }
}

impl Mul<u32> for Load {
    type Output = Load;

    fn mul(self, times: u32) -> Load {
        Load(self.0.saturating_mul(u64::from(times)))
    }
}

/// What a router sees when a header asks there. What a rule decides by the source it has to keep in the [`RouteState`];
/// it may look at the source again only to say which of several channels is the source's own.
#[derive(Clone, Copy, Debug)]
pub struct RouterView<'a, N: ?Sized> {
    /// The router.
    pub at: RouterId,
    /// The header.
    pub header: PacketHeader,
    /// The first of the virtual channels that the rule's are for this packet.
    pub first_virtual_channel: u32,
    /// All channels.
    pub network: &'a N,
}

impl<'a, N: NetworkView> RouterView<'a, N> {
    /// The same of whatever network.
    pub fn of_any_network(&self) -> RouterView<'a, dyn NetworkView + 'a> {
        let RouterView { at, header, first_virtual_channel, network } = *self;
        RouterView { at, header, first_virtual_channel, network }
    }
}

impl<N: NetworkView + ?Sized> RouterView<'_, N> {
    /// As [`NetworkView::is_idle`]: a channel of this router, or of any other.
    #[inline]
    pub fn is_idle(&self, channel: ChannelId) -> bool {
        self.network.is_idle(channel)
    }

    /// As [`NetworkView::is_empty`], of one of the rule's virtual channels.
    #[inline]
    pub fn is_empty(&self, channel: ChannelId, virtual_channel: u16) -> bool {
        self.network.is_empty(channel, self.first_virtual_channel + u32::from(virtual_channel))
    }

    /// As [`NetworkView::packets`], of one of the rule's virtual channels.
    #[inline]
    pub fn packets(&self, channel: ChannelId, virtual_channel: u16) -> Load {
        Load::of(self.network.packets(channel, self.first_virtual_channel + u32::from(virtual_channel)))
    }

    /// Whether one load is at most another.
    #[inline]
    pub fn at_most(&self, load: Load, other: Load) -> bool {
        self.network.at_most(load, other)
    }

    /// One of so many numbers from 0, drawn once for the packet: the same at every router.
    #[inline]
    pub fn draw_for_packet(&self, choices: u64) -> u64 {
        self.network.draw(&self.header, None, choices)
    }

    /// One of so many numbers from 0, drawn for the packet at this router.
    #[inline]
    pub fn draw_at_router(&self, choices: u64) -> u64 {
        self.network.draw(&self.header, Some(self.at), choices)
    }
}

/// A network where nothing moves, in which one way is to be shown for each packet.
#[derive(Clone, Copy, Debug)]
pub struct AtRest {
    /// What is drawn, modulo the choices.
    pub chance: u64,
}

impl AtRest {
    /// With a number that stands for what would be drawn for a packet between two nodes.
    pub fn between(source: NodeId, destination: NodeId) -> AtRest {
        // Two odd multipliers spread neighbours over all choices.
        AtRest { chance: (u64::from(source.0) * 0x9e37_79b9 + u64::from(destination.0) * 0x85eb_ca6b) >> 7 }
    }

    /// What router `at` sees when the first packet between two nodes asks there.
    pub fn view(&self, at: RouterId, source: NodeId, destination: NodeId) -> RouterView<'_, AtRest> {
        let header = PacketHeader { source, destination, number: 0 };
        RouterView { at, header, first_virtual_channel: 0, network: self }
    }
}

impl NetworkView for AtRest {
    fn is_idle(&self, _: ChannelId) -> bool {
        true
    }

    fn is_empty(&self, _: ChannelId, _: u32) -> bool {
        true
    }

    fn packets(&self, _: ChannelId, _: u32) -> u32 {
        0
    }

    fn draw(&self, _: &PacketHeader, _: Option<RouterId>, choices: u64) -> u64 {
        self.chance % choices
    }
}
