//! The time of a packet through the empty network, worked out flit by flit along its path.

use quantities::Duration;

use crate::model::{Channel, ChannelEnd, ChannelId, FlitNetwork, Switching};

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
            (ChannelEnd::Node(_), _) => (Duration::ZERO, Duration::ZERO),
            (ChannelEnd::Router(_), Switching::Software { per_packet }) => (per_packet, credit_latency),
            (ChannelEnd::Router(router), _) => (network.routers[router.0 as usize].routing_delay, credit_latency),
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

/// A flit starts on a channel when three things hold: it has arrived over the previous channel (and has been routed, if
/// it is the first), the flit before it is off the channel, and the flit a buffer's length before it has left the far
/// buffer and its slot is free again.
fn flit_by_flit(path: &[Hop], flits: u32) -> Duration {
    let mut crossings: Vec<Crossing> = path.iter().map(|hop| Crossing::new(hop, flits)).collect();
    // When the flits that last occupied each slot of a buffer left it, buffer by buffer, in the order of flits modulo
    // slots.
    let mut left = vec![Duration::ZERO; crossings.iter().map(|crossing| crossing.slots).sum()];
    let mut arrived = Duration::ZERO;
    for flit in 0..flits as usize {
        arrived = Duration::ZERO;
        // The slot of the flit in the buffer before the channel.
        let mut before = None;
        let mut first = 0;
        for crossing in &mut crossings {
            let slot = first + crossing.slot;
            let mut start = arrived.max(crossing.idle);
            if flit >= crossing.slots {
                start = start.max(left[slot] + crossing.hop.credit_latency);
            }
            if let Some(before) = before {
                left[before] = start;
            }
            crossing.idle = start + crossing.hop.flit_time;
            arrived = crossing.idle + crossing.hop.wire_latency;
            if flit == 0 {
                arrived += crossing.hop.delay;
            }
            before = Some(slot);
            first += crossing.slots;
            crossing.slot = if crossing.slot + 1 == crossing.slots { 0 } else { crossing.slot + 1 };
        }
        if let Some(sink) = before {
            left[sink] = arrived;
        }
    }
    arrived
}

/// A channel that a packet crosses.
struct Crossing {
    hop: Hop,
    /// How many slots of the far buffer the packet uses, and that of its next flit.
    slots: usize,
    slot: usize,
    /// From when on the channel is idle.
    idle: Duration,
}

impl Crossing {
    fn new(hop: &Hop, flits: u32) -> Crossing {
        Crossing { hop: *hop, slots: hop.buffer.min(flits) as usize, slot: 0, idle: Duration::ZERO }
    }
}
