//! What routers see of the network at an instant.

use machines::model::{ChannelId, RouterId};
use machines::routing::{NetworkView, PacketHeader};
use quantities::Time;

use super::super::selection::Chance;
use super::link::{FastChannel, Links};

/// What routers see at `now`, when headers ask.
pub(super) struct Snapshot<'a> {
    pub now: Time,
    pub links: &'a Links,
    /// How many channels there are.
    pub channels: usize,
    pub chance: Chance,
}

impl Snapshot<'_> {
    /// Which virtual channel of a channel is meant: there may be only one.
    fn which(wire: &FastChannel, virtual_channel: u32) -> u32 {
        if wire.shared { virtual_channel } else { 0 }
    }
}

impl NetworkView for Snapshot<'_> {
    #[inline]
    fn is_idle(&self, channel: ChannelId) -> bool {
        self.links[channel.0 as usize].is_idle(self.now)
    }

    #[inline]
    fn is_empty(&self, channel: ChannelId, virtual_channel: u32) -> bool {
        let wire = &self.links[channel.0 as usize];
        let virtual_channel = Snapshot::which(wire, virtual_channel) as usize;
        self.links[virtual_channel * self.channels + channel.0 as usize].is_empty(self.now)
    }

    fn packets(&self, channel: ChannelId, virtual_channel: u32) -> u32 {
        let wire = &self.links[channel.0 as usize];
        let virtual_channel = Snapshot::which(wire, virtual_channel);
        let ask = wire.requests.waiting().iter().filter(|request| request.virtual_channel == virtual_channel).count();
        let link = &self.links[virtual_channel as usize * self.channels + channel.0 as usize];
        ask as u32 + link.packets(self.now)
    }

    fn draw(&self, packet: &PacketHeader, router: Option<RouterId>, choices: u64) -> u64 {
        self.chance.draw(packet, router, choices)
    }
}
