//! The time of a packet through the empty network, worked out flit by flit along its path.

use quantities::Duration;

use crate::model::{Channel, ChannelId, FlitNetwork, Place, Switching};

/// The properties of a channel that matter on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hop {
    flit_time: Duration,
    wire_latency: Duration,
    credit_latency: Duration,
    buffer: u32,
    /// How long a header waits at the router where the channel ends; zero if it ends at a node.
    delay: Duration,
}

impl Hop {
    pub(super) fn of(network: &FlitNetwork, channel: ChannelId) -> Hop {
        let Channel { to, flit_time, wire_latency, credit_latency, buffer, .. } = network.channels[channel.0 as usize];
        let (delay, credit_latency) = match (to, network.switching) {
            // A sink takes a flit on arrival and returns its credit at once.
            (Place::Node(_), _) => (Duration::ZERO, Duration::ZERO),
            (Place::Router(_), Switching::Software { per_packet }) => (per_packet, credit_latency),
            (Place::Router(router), _) => (network.routers[router.0 as usize].routing_delay, credit_latency),
        };
        Hop { flit_time, wire_latency, credit_latency, buffer, delay }
    }
}

/// From injection to the arrival of the tail, for a packet of `flits` alone in the network on its way over `route`.
pub fn zero_load(network: &FlitNetwork, route: &[ChannelId], flits: u32) -> Duration {
    let path: Vec<Hop> = route.iter().map(|&channel| Hop::of(network, channel)).collect();
    over(&path, flits, network.switching)
}

/// The same over a path of channels like these.
pub(super) fn over(path: &[Hop], flits: u32, switching: Switching) -> Duration {
    match switching {
        Switching::Wormhole | Switching::VirtualCutThrough => flit_by_flit(path, flits),
        Switching::StoreAndForward | Switching::Software { .. } => packet_by_packet(path, flits),
    }
}

/// The whole packet over one channel after another.
fn packet_by_packet(path: &[Hop], flits: u32) -> Duration {
    let crossing = |hop: &Hop| hop.flit_time * u64::from(flits) + hop.wire_latency + hop.delay;
    path.iter().map(crossing).sum()
}

/// A flit starts on a channel when three things hold: it has arrived over the previous channel (and has been routed, if it is the
/// first), the flit before it is off the channel, and the flit a buffer's length before it has left the far buffer and its slot is
/// free again.
fn flit_by_flit(path: &[Hop], flits: u32) -> Duration {
    let slots = |hop: &Hop| hop.buffer.min(flits) as usize;
    // When the flits that last occupied each slot of a buffer left it, in the order of flits modulo slots.
    let mut left: Vec<Vec<Duration>> = path.iter().map(|hop| vec![Duration::ZERO; slots(hop)]).collect();
    let mut idle = vec![Duration::ZERO; path.len()];
    let mut arrived = Duration::ZERO;
    for flit in 0..flits as usize {
        arrived = Duration::ZERO;
        for (index, hop) in path.iter().enumerate() {
            let mut start = arrived.max(idle[index]);
            if flit >= left[index].len() {
                start = start.max(left[index][flit % left[index].len()] + hop.credit_latency);
            }
            if let Some(before) = index.checked_sub(1) {
                let slots = left[before].len();
                left[before][flit % slots] = start;
            }
            idle[index] = start + hop.flit_time;
            arrived = idle[index] + hop.wire_latency;
            if flit == 0 {
                arrived += hop.delay;
            }
        }
        if let Some(sink) = left.last_mut() {
            let slots = sink.len();
            sink[flit % slots] = arrived;
        }
    }
    arrived
}
