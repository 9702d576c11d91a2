//! Can packets wait for each other for ever?
//!
//! The channel dependency graph has an edge from a virtual channel to another if some packet can hold the one, or have
//! flits in its buffer, while it waits for the other. Packets can deadlock only round a cycle of it (Dally and Seitz,
//! 1987), so a routing without one is safe, whatever the switching and however many buffers.
//!
//! Virtual channels that share a wire do not wait for each other: where there are several, a packet gets the wire only
//! when the buffer behind it has room for all of it, and so gives it back however long others are held up. Where they
//! fall into sets, one set is looked at: no packet leaves its own, and in each there are only some of the packets.

use crate::model::{ChannelId, FlitNetwork, NodeId, Place};
use crate::routing::Step;

/// A virtual channel: a channel, and which of those on its wire.
pub type VirtualChannel = (ChannelId, u32);

/// A cycle of virtual channels, each of which can be held by a packet that waits for the next, and the last of which for
/// the first; none if the routing is free of deadlock.
pub fn dependency_cycle(network: &FlitNetwork) -> Option<Vec<VirtualChannel>> {
    let all: Vec<NodeId> = (0..network.injection.len() as u32).map(NodeId).collect();
    cycle_among(network, &all)
}

/// How many ways of packets are followed for all of it.
pub(crate) fn work(network: &FlitNetwork) -> u64 {
    let routers = network.routers.len() as u64;
    (routers * routers).saturating_mul(network.routing.choices())
}

/// A cycle among what packets between these nodes can hold and wait for.
pub(crate) fn cycle_among(network: &FlitNetwork, nodes: &[NodeId]) -> Option<Vec<VirtualChannel>> {
    // With fewer virtual channels than the rule needs, it would have to do with those that there are.
    let virtual_channels = network.routing.virtual_channels().min(network.virtual_channels()) as usize;
    let nodes = representatives(network, nodes);
    let mut graph = Dependencies {
        network,
        virtual_channels,
        waits: vec![Vec::new(); network.channels.len() * virtual_channels],
        seen: vec![UNSEEN; network.channels.len() * virtual_channels],
    };
    for &destination in &nodes {
        for chance in 0..network.routing.choices() {
            graph.follow(&nodes, destination, chance);
        }
    }
    let cycle = cycle(&graph.waits)?;
    Some(
        cycle
            .into_iter()
            .map(|index| (ChannelId((index / virtual_channels) as u32), (index % virtual_channels) as u32))
            .collect(),
    )
}

/// One node of every router: packets from and to the others take the same channels, but for the first, which none waits
/// for, and the last, which none waits behind.
fn representatives(network: &FlitNetwork, nodes: &[NodeId]) -> Vec<NodeId> {
    let mut taken = vec![false; network.routers.len()];
    let is_new = |node: &NodeId| match network.channels[network.injection[node.0 as usize].0 as usize].to {
        Place::Router(home) => !std::mem::replace(&mut taken[home.0 as usize], true),
        Place::Node(_) => false,
    };
    nodes.iter().copied().filter(is_new).collect()
}

/// What waits for what. A virtual channel is an index: channel times virtual channels plus its number.
struct Dependencies<'a> {
    network: &'a FlitNetwork,
    /// Virtual channels of each channel that are told apart.
    virtual_channels: usize,
    waits: Vec<Vec<u32>>,
    /// For which destination, and drawn number, each virtual channel was looked at last.
    seen: Vec<(u32, u64)>,
}

/// For no destination.
const UNSEEN: (u32, u64) = (u32::MAX, 0);

impl Dependencies<'_> {
    /// Notes what waits for what among all that packets from `sources` to `destination` can take if `chance` was drawn for
    /// them. Beyond the first virtual channel of a rule that draws, nothing depends on it any more.
    fn follow(&mut self, sources: &[NodeId], destination: NodeId, chance: u64) {
        let network = self.network;
        let first = |source: &NodeId| network.injection[source.0 as usize].0 as usize * self.virtual_channels;
        let mut ahead: Vec<(usize, NodeId)> = sources.iter().map(|source| (first(source), *source)).collect();
        while let Some((held, source)) = ahead.pop() {
            let Place::Router(at) = network.channels[held / self.virtual_channels].to else {
                continue;
            };
            let state = (destination.0, if held % self.virtual_channels == 0 { chance } else { 0 });
            if std::mem::replace(&mut self.seen[held], state) == state {
                continue;
            }
            let step = network.routing.step(at, source, destination, chance);
            let (options, virtual_channel) = match &step {
                Step::Only(only) => (std::slice::from_ref(only), 0),
                Step::Virtual { channel, virtual_channel } => (std::slice::from_ref(channel), *virtual_channel),
                Step::Choose { options, .. } => (*options, 0),
            };
            for next in options {
                let next =
                    next.0 as usize * self.virtual_channels + (virtual_channel as usize).min(self.virtual_channels - 1);
                let known = &mut self.waits[held];
                if !known.contains(&(next as u32)) {
                    known.push(next as u32);
                }
                ahead.push((next, source));
            }
        }
    }
}

/// A cycle of the graph whose edges are `waits`, found by going ever deeper until one comes up again.
fn cycle(waits: &[Vec<u32>]) -> Option<Vec<usize>> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; waits.len()];
    for start in 0..waits.len() {
        if state[start] != NEW {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        state[start] = OPEN;
        while let Some((held, edge)) = path.last_mut() {
            let Some(next) = waits[*held].get(*edge).map(|&next| next as usize) else {
                state[*held] = DONE;
                path.pop();
                continue;
            };
            *edge += 1;
            if state[next] == OPEN {
                let from = path.iter().position(|step| step.0 == next).unwrap_or(0);
                return Some(path[from..].iter().map(|step| step.0).collect());
            }
            if state[next] == NEW {
                state[next] = OPEN;
                path.push((next, 0));
            }
        }
    }
    None
}
