//! Can packets wait for each other for ever?
//!
//! The channel dependency graph has an edge from a channel to another if some packet can hold the one while it waits
//! for the other. Packets can deadlock only round a cycle of it (Dally and Seitz, 1987), so a routing without one is
//! safe, whatever the switching and however many buffers.

use crate::model::{ChannelId, FlitNetwork, NodeId, Place};
use crate::routing::Step;

/// A cycle of channels, each of which can be held by a packet that waits for the next, and the last of which for the
/// first; none if the routing is free of deadlock.
pub fn dependency_cycle(network: &FlitNetwork) -> Option<Vec<ChannelId>> {
    let mut waits = vec![Vec::new(); network.channels.len()];
    let mut seen = vec![u32::MAX; network.channels.len()];
    for destination in representatives(network) {
        follow(network, destination, &mut seen, &mut waits);
    }
    cycle(&waits)
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

/// Notes what waits for what among all the channels that packets for `destination` can take.
fn follow(network: &FlitNetwork, destination: NodeId, seen: &mut [u32], waits: &mut [Vec<ChannelId>]) {
    let mut ahead: Vec<(ChannelId, NodeId)> =
        network.injection.iter().enumerate().map(|(node, &channel)| (channel, NodeId(node as u32))).collect();
    while let Some((channel, source)) = ahead.pop() {
        let Place::Router(at) = network.channels[channel.0 as usize].to else {
            continue;
        };
        if std::mem::replace(&mut seen[channel.0 as usize], destination.0) == destination.0 {
            continue;
        }
        let step = network.routing.step(at, source, destination);
        let options = match &step {
            Step::Only(only) => std::slice::from_ref(only),
            Step::Choose { options, .. } => options,
        };
        for &next in options {
            let known = &mut waits[channel.0 as usize];
            if !known.contains(&next) {
                known.push(next);
            }
            ahead.push((next, source));
        }
    }
}

/// A cycle of the graph whose edges are `waits`, found by going ever deeper until a channel comes up again.
fn cycle(waits: &[Vec<ChannelId>]) -> Option<Vec<ChannelId>> {
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
        while let Some((channel, edge)) = path.last_mut() {
            let Some(next) = waits[*channel].get(*edge).map(|next| next.0 as usize) else {
                state[*channel] = DONE;
                path.pop();
                continue;
            };
            *edge += 1;
            if state[next] == OPEN {
                let from = path.iter().position(|step| step.0 == next).unwrap_or(0);
                return Some(path[from..].iter().map(|step| ChannelId(step.0 as u32)).collect());
            }
            if state[next] == NEW {
                state[next] = OPEN;
                path.push((next, 0));
            }
        }
    }
    None
}
