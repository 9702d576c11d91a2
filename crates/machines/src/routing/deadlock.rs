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
pub type Lane = (ChannelId, u32);

/// A cycle of virtual channels, each of which can be held by a packet that waits for the next, and the last of which for
/// the first; none if the routing is free of deadlock.
pub fn dependency_cycle(network: &FlitNetwork) -> Option<Vec<Lane>> {
    let lanes = network.routing.virtual_channels() as usize;
    let mut graph = Dependencies {
        network,
        lanes,
        waits: vec![Vec::new(); network.channels.len() * lanes],
        seen: vec![u32::MAX; network.channels.len() * lanes],
    };
    for destination in representatives(network) {
        graph.follow(destination);
    }
    let cycle = cycle(&graph.waits)?;
    Some(cycle.into_iter().map(|index| (ChannelId((index / lanes) as u32), (index % lanes) as u32)).collect())
}

/// One node of every router: packets for the others take the same channels but for the last, which none waits behind.
fn representatives(network: &FlitNetwork) -> Vec<NodeId> {
    let mut taken = vec![false; network.routers.len()];
    let mut nodes = Vec::new();
    for (node, &channel) in network.injection.iter().enumerate() {
        if let Place::Router(home) = network.channels[channel.0 as usize].to
            && !std::mem::replace(&mut taken[home.0 as usize], true)
        {
            nodes.push(NodeId(node as u32));
        }
    }
    nodes
}

/// What waits for what. A virtual channel is an index: channel times lanes plus lane.
struct Dependencies<'a> {
    network: &'a FlitNetwork,
    /// Virtual channels of each channel that are told apart.
    lanes: usize,
    waits: Vec<Vec<u32>>,
    /// For which destination each virtual channel was looked at last.
    seen: Vec<u32>,
}

impl Dependencies<'_> {
    /// Notes what waits for what among all that packets for `destination` can take.
    fn follow(&mut self, destination: NodeId) {
        let network = self.network;
        let mut ahead: Vec<(usize, NodeId)> = (0..)
            .zip(&network.injection)
            .map(|(node, channel)| (channel.0 as usize * self.lanes, NodeId(node)))
            .collect();
        while let Some((held, source)) = ahead.pop() {
            let Place::Router(at) = network.channels[held / self.lanes].to else {
                continue;
            };
            if std::mem::replace(&mut self.seen[held], destination.0) == destination.0 {
                continue;
            }
            let step = network.routing.step(at, source, destination);
            let (options, lane) = match &step {
                Step::Only(only) => (std::slice::from_ref(only), 0),
                Step::Virtual { channel, lane } => (std::slice::from_ref(channel), *lane),
                Step::Choose { options, .. } => (*options, 0),
            };
            for next in options {
                let next = next.0 as usize * self.lanes + lane as usize;
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
