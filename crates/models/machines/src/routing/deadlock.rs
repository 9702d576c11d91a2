//! Can packets wait for each other for ever?
//!
//! The channel dependency graph has an edge from a virtual channel to another if some packet can hold the one, or have
//! flits in its buffer, while it waits for the other. Packets can deadlock only round a cycle of it (Dally and Seitz,
//! 1987), so a routing without one is safe, whatever the switching and however many buffers.
//!
//! What a header asks for can depend on what its packet carries and on what the router sees. So packets are followed
//! with all states that the rule can give them, and wherever the rule asks what the router sees, or has a number drawn,
//! with every answer.
//!
//! Virtual channels that share a wire do not wait for each other: where there are several, a packet gets the wire only
//! when the buffer behind it has room for all of it, and so gives it back however long others are held up. Where they
//! fall into sets, one set is looked at: no packet leaves its own, and in each there are only some of the packets.

use std::cell::{Cell, RefCell};

use crate::model::{ChannelEnd, ChannelId, FlitNetwork, NodeId, RouterId};
use crate::routing::{Load, NetworkView, PacketHeader, RouteState, RouterView};

/// A virtual channel: a channel, and which of those on its wire.
pub type VirtualChannel = (ChannelId, u32);

/// A cycle of virtual channels, each of which can be held by a packet that waits for the next, and the last of which
/// for the first; none if the routing is free of deadlock.
pub fn dependency_cycle(network: &FlitNetwork) -> Option<Vec<VirtualChannel>> {
    let all: Vec<NodeId> = (0..network.injection.len() as u32).map(NodeId).collect();
    cycle_among(network, &all)
}

/// The most paths of packets that are followed: about a second.
const MOST_WORK: u64 = 1 << 25;

/// The same for a network of a kind that has no cycles where it is small: a very large one is trusted to behave like
/// those.
pub(super) fn cycle_if_small(network: &FlitNetwork) -> Option<Vec<VirtualChannel>> {
    let routers = network.routers.len() as u64;
    let work = (routers * routers).saturating_mul(network.routing.choices());
    if work <= MOST_WORK { dependency_cycle(network) } else { None }
}

/// A cycle among what packets between these nodes can hold and wait for.
pub(super) fn cycle_among(network: &FlitNetwork, nodes: &[NodeId]) -> Option<Vec<VirtualChannel>> {
    // With fewer virtual channels than the rule needs, it would have to do with those that there are.
    let virtual_channels = network.routing.virtual_channels().min(network.virtual_channels()) as usize;
    let nodes = representatives(network, nodes);
    let mut graph = Dependencies {
        network,
        virtual_channels,
        waits: vec![Vec::new(); network.channels.len() * virtual_channels],
        seen: vec![(NodeId(u32::MAX), Vec::new()); network.channels.len() * virtual_channels],
    };
    for &destination in &nodes {
        graph.follow(&nodes, destination);
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
        ChannelEnd::Router(home) => !std::mem::replace(&mut taken[home.0 as usize], true),
        ChannelEnd::Node(_) => false,
    };
    nodes.iter().copied().filter(is_new).collect()
}

/// What waits for what. A virtual channel is an index: channel times virtual channels plus its number.
struct Dependencies<'a> {
    network: &'a FlitNetwork,
    /// Virtual channels of each channel that are told apart.
    virtual_channels: usize,
    waits: Vec<Vec<u32>>,
    /// For every virtual channel, to which destination and with which states packets were last followed beyond it.
    seen: Vec<(NodeId, Vec<RouteState>)>,
}

impl Dependencies<'_> {
    /// Notes what waits for what among all that packets from `sources` to `destination` can take. What they can take
    /// beyond a virtual channel depends on their state there, and not on where they come from.
    fn follow(&mut self, sources: &[NodeId], destination: NodeId) {
        let network = self.network;
        let first = |source: &NodeId| network.injection[source.0 as usize].0 as usize * self.virtual_channels;
        let begin = |source: &NodeId| (first(source), *source, RouteState::default());
        let mut ahead: Vec<(usize, NodeId, RouteState)> = sources.iter().map(begin).collect();
        while let Some((held, source, state)) = ahead.pop() {
            let ChannelEnd::Router(at) = network.channels[held / self.virtual_channels].to else {
                continue;
            };
            if self.was_seen(held, destination, state) {
                continue;
            }
            let answers = EveryAnswer::default();
            let header = PacketHeader { source, destination, number: 0 };
            let view = RouterView { at, header, first_virtual_channel: 0, network: &answers };
            loop {
                let mut state = state;
                let step = network.routing.step(&view, &mut state);
                let virtual_channel = usize::from(state.virtual_channel).min(self.virtual_channels - 1);
                for next in step.options() {
                    let next = next.0 as usize * self.virtual_channels + virtual_channel;
                    let known = &mut self.waits[held];
                    if !known.contains(&(next as u32)) {
                        known.push(next as u32);
                    }
                    ahead.push((next, source, state));
                }
                if !answers.has_others() {
                    break;
                }
            }
        }
    }

    /// Whether packets to this destination with this state were followed beyond a virtual channel; from now on they
    /// were.
    fn was_seen(&mut self, held: usize, destination: NodeId, state: RouteState) -> bool {
        let (of, states) = &mut self.seen[held];
        if *of != destination {
            *of = destination;
            states.clear();
        }
        let known = states.contains(&state);
        if !known {
            states.push(state);
        }
        known
    }
}

/// A network that gives every answer: a rule that asks it is asked again until it has heard every combination.
#[derive(Debug, Default)]
struct EveryAnswer {
    /// The answers given so far, each with the number of those that there are.
    given: RefCell<Vec<(u64, u64)>>,
    /// How many of them the rule has heard this time.
    heard: Cell<usize>,
}

impl EveryAnswer {
    /// One of so many answers.
    fn answer(&self, choices: u64) -> u64 {
        let mut given = self.given.borrow_mut();
        let index = self.heard.replace(self.heard.get() + 1);
        if index == given.len() {
            given.push((0, choices));
        }
        given[index].0
    }

    /// Begins the next combination of answers, if there is one.
    fn has_others(&self) -> bool {
        let mut given = self.given.borrow_mut();
        self.heard.set(0);
        while given.pop_if(|(answer, choices)| *answer + 1 == *choices).is_some() {}
        given.last_mut().is_some_and(|(answer, _)| {
            *answer += 1;
            true
        })
    }
}

impl NetworkView for EveryAnswer {
    fn is_idle(&self, _: ChannelId) -> bool {
        self.answer(2) == 1
    }

    fn is_empty(&self, _: ChannelId, _: u32) -> bool {
        self.answer(2) == 1
    }

    fn packets(&self, _: ChannelId, _: u32) -> u32 {
        // Only comparisons of what is counted make a difference.
        0
    }

    fn draw(&self, _: &PacketHeader, _: Option<RouterId>, choices: u64) -> u64 {
        self.answer(choices)
    }

    fn at_most(&self, _: Load, _: Load) -> bool {
        self.answer(2) == 1
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
