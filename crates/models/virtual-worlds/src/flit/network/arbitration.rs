//! Arbitration: which header gets a free channel.

use machines::model::Arbitration;
use quantities::Time;

/// A header that has requested a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelRequest {
    /// When it requested the channel.
    pub at: Time,
    /// The input port where it waits: no two waiting headers of a router have the same.
    pub port: u32,
    /// Its packet.
    pub packet: u32,
    /// The buffer where it waits, as the engine numbers them.
    pub input: u32,
    /// Which of the channel's virtual channels it requests.
    pub virtual_channel: u32,
    /// Whether it has requested other channels, too, and takes the first that becomes free.
    pub any: bool,
}

/// The headers that wait for one channel.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    waiting: Vec<ChannelRequest>,
    /// The input port with the highest priority, for round-robin: the one after the port served last, initially port 0.
    next: u32,
}

/// The precedence of a header: the lowest goes first.
type Precedence = (u64, u32);

impl Requests {
    /// Whether no header waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The headers that wait, in no particular order.
    pub fn waiting(&self) -> &[ChannelRequest] {
        &self.waiting
    }

    /// A header requests the channel.
    pub fn post(&mut self, request: ChannelRequest) {
        self.waiting.push(request);
    }

    /// A header has been granted another channel, and no longer requests this one.
    pub fn withdraw(&mut self, packet: u32) {
        self.waiting.retain(|request| request.packet != packet);
    }

    /// A header at `port` gets the channel without waiting, since no other has precedence.
    #[inline]
    pub fn pass(&mut self, port: u32) {
        self.next = port + 1;
    }

    /// Removes and returns the header that gets the channel.
    pub fn grant(&mut self, arbitration: Arbitration) -> Option<ChannelRequest> {
        let chosen = match self.waiting.len() {
            1 => 0,
            all => (0..all).min_by_key(|&index| self.precedence(arbitration, index))?,
        };
        Some(self.take(chosen))
    }

    /// Removes and returns the header that gets a channel shared by several virtual channels: of the headers that are
    /// first in turn for their virtual channel, the first that `has_room`. No header passes another on the same virtual
    /// channel, or long packets might wait for ever while short ones take each slot that becomes free.
    pub fn grant_shared(
        &mut self,
        arbitration: Arbitration,
        virtual_channels: u32,
        mut has_room: impl FnMut(&ChannelRequest) -> bool,
    ) -> Option<ChannelRequest> {
        let first_in_turn =
            (0..virtual_channels).filter_map(|virtual_channel| self.leader(arbitration, virtual_channel));
        let ready = first_in_turn.filter(|&(_, index)| has_room(&self.waiting[index]));
        let (_, chosen) = ready.min()?;
        Some(self.take(chosen))
    }

    /// The header that is first in turn for a virtual channel, and its index among those that wait.
    fn leader(&self, arbitration: Arbitration, virtual_channel: u32) -> Option<(Precedence, usize)> {
        let same_virtual_channel =
            (0..self.waiting.len()).filter(|&index| self.waiting[index].virtual_channel == virtual_channel);
        same_virtual_channel.map(|index| (self.precedence(arbitration, index), index)).min()
    }

    fn precedence(&self, arbitration: Arbitration, index: usize) -> Precedence {
        let request = &self.waiting[index];
        match arbitration {
            Arbitration::FirstCome => (request.at.picoseconds(), request.port),
            Arbitration::RoundRobin => (u64::from(request.port < self.next), request.port),
        }
    }

    fn take(&mut self, index: usize) -> ChannelRequest {
        let request = self.waiting.swap_remove(index);
        self.pass(request.port);
        request
    }
}

/// Adds a channel to a list in descending order, from whose end channels are taken: they are granted in order of their
/// numbers, which decides where a header waits for any of several.
pub fn add_in_turn<C: Copy + Ord>(to_grant: &mut Vec<C>, channel: C) {
    let place = to_grant.partition_point(|other| *other > channel);
    to_grant.insert(place, channel);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(port: u32, virtual_channel: u32) -> ChannelRequest {
        ChannelRequest { at: Time::ZERO, port, packet: port, input: port, virtual_channel, any: false }
    }

    /// The order in which the ports are served, after all have requested the channel.
    fn served(ports: &[u32], arbitration: Arbitration) -> Vec<u32> {
        let mut requests = Requests::default();
        ports.iter().for_each(|&port| requests.post(request(port, 0)));
        std::iter::from_fn(|| requests.grant(arbitration)).map(|request| request.port).collect()
    }

    #[test]
    fn round_robin_begins_at_port_0() {
        assert_eq!(served(&[2, 0, 1], Arbitration::RoundRobin), [0, 1, 2]);
        assert_eq!(served(&[3, 1], Arbitration::RoundRobin), [1, 3]);
    }

    #[test]
    fn round_robin_goes_on_behind_the_port_that_was_served() {
        let mut requests = Requests::default();
        for (asking, expected) in [([0, 1], 0), ([0, 2], 1), ([0, 3], 2), ([0, 1], 3)] {
            asking.iter().for_each(|&port| requests.post(request(port, 0)));
            assert_eq!(requests.grant(Arbitration::RoundRobin).map(|request| request.port), Some(expected));
        }
    }

    #[test]
    fn round_robin_begins_at_port_0_where_virtual_channels_share_the_wire() {
        let mut requests = Requests::default();
        [(1, 0), (0, 1), (2, 1)]
            .iter()
            .for_each(|&(port, virtual_channel)| requests.post(request(port, virtual_channel)));
        let order: Vec<u32> = std::iter::from_fn(|| requests.grant_shared(Arbitration::RoundRobin, 2, |_| true))
            .map(|request| request.port)
            .collect();
        assert_eq!(order, [0, 1, 2]);
    }
}
