//! How far apart nodes are, and over which kinds of channels.
//!
//! A routing rule makes all paths from a router to a destination equally long. So the paths to one destination form a
//! tree, and each router's path is its channel followed by the next router's path: paths of the same kinds of channels
//! are counted together without ever being written out. If a rule draws a path at random for each packet, one path is
//! examined for each pair of routers.

use std::collections::BTreeMap;

use super::zero_load::Hop;
use crate::model::{ChannelEnd, ChannelId, FlitNetwork, NodeId, RouterId};
use crate::routing::{AtRest, RouteState};

/// Most routers times destination routers that are examined.
const MOST_ENTRIES: usize = 1 << 24;

/// Paths over the same kinds of channels in the same order.
pub(super) struct PathKind {
    /// How many channels.
    pub length: u32,
    /// How many ordered pairs of nodes they are between.
    pub pairs: u64,
    trail: Trail,
}

/// The kinds of paths, the shortest first.
pub(super) struct Survey<'a> {
    pub kinds: Vec<PathKind>,
    pub all_pairs: bool,
    trails: Trails<'a>,
}

impl Survey<'_> {
    /// The channels of a kind of path.
    pub(super) fn path(&self, kind: &PathKind) -> Vec<Hop> {
        self.trails.path(kind.trail)
    }
}

/// Examines the path of every pair of nodes, or of many pairs.
pub(super) fn survey(network: &FlitNetwork) -> Survey<'_> {
    let homes = homes(network);
    let most = (MOST_ENTRIES / network.routers.len()).clamp(2, homes.len().max(2));
    let mut trails = Trails::new(network);
    let mut pairs: Vec<u64> = Vec::new();
    for sample in 0..most.min(homes.len()) {
        // Spread evenly from the first to the last.
        let there = homes[sample * (homes.len() - 1) / (most - 1)];
        trails.switch_destination();
        for current in &homes {
            let others = current.nodes - u32::from(current.router == there.router);
            let count = u64::from(others) * u64::from(there.nodes);
            if count > 0 {
                if trails.network.routing.choices() > 1 {
                    trails.switch_destination();
                }
                let rest = trails.from(current.router, current.first, there.first);
                let injection = network.injection[current.first.0 as usize];
                let trail = trails.longer(injection, rest) as usize;
                pairs.resize(pairs.len().max(trail + 1), 0);
                pairs[trail] += count;
            }
        }
    }
    let kind = |(trail, pairs)| PathKind { length: trails.lengths[trail as usize], pairs, trail };
    let mut kinds: Vec<PathKind> = (0..).zip(pairs).filter(|(_, pairs)| *pairs > 0).map(kind).collect();
    kinds.sort_by_key(|kind| (kind.length, kind.trail));
    Survey { kinds, all_pairs: most >= homes.len(), trails }
}

/// A router that has nodes: the first of them, and how many.
#[derive(Clone, Copy)]
struct Home {
    router: RouterId,
    first: NodeId,
    nodes: u32,
}

/// The routers that have nodes, in order.
fn homes(network: &FlitNetwork) -> Vec<Home> {
    let mut of_nodes: Vec<(RouterId, NodeId)> = Vec::with_capacity(network.injection.len());
    for (node, &channel) in (0..).map(NodeId).zip(&network.injection) {
        if let ChannelEnd::Router(home) = network.channels[channel.0 as usize].to {
            of_nodes.push((home, node));
        }
    }
    of_nodes.sort_unstable();
    let home = |nodes: &[(RouterId, NodeId)]| Home { router: nodes[0].0, first: nodes[0].1, nodes: nodes.len() as u32 };
    of_nodes.chunk_by(|one, other| one.0 == other.0).map(home).collect()
}

/// Index of a trail: a kind of channel and the trail after it.
type Trail = u32;
/// The trail of no channels.
const END: Trail = u32::MAX;

/// Kinds of paths, each a kind of channel followed by another kind of path.
struct Trails<'a> {
    network: &'a FlitNetwork,
    hops: Vec<Hop>,
    kind_of_channel: Vec<u32>,
    known: BTreeMap<(u32, Trail), Trail>,
    /// For every trail, and before them for none, the last two trails that were found to be longer by a channel: each
    /// by the kind of that channel. Most are asked for again at once.
    recent: Vec<[(u32, Trail); 2]>,
    trails: Vec<(u32, Trail)>,
    /// For every trail, how many channels it has.
    lengths: Vec<u32>,
    /// For every router, the trail from it to the current destination, if known yet.
    from: Vec<Option<Trail>>,
    /// What is on the way from a router to the next whose trail is known.
    path: Vec<(RouterId, ChannelId)>,
}

/// No kind of channel has this number.
const NONE_RECENT: [(u32, Trail); 2] = [(u32::MAX, END); 2];

impl<'a> Trails<'a> {
    fn new(network: &'a FlitNetwork) -> Trails<'a> {
        let mut numbers: BTreeMap<Hop, u32> = BTreeMap::new();
        let mut hops = Vec::new();
        let mut kind_of_channel = Vec::with_capacity(network.channels.len());
        for channel in 0..network.channels.len() {
            let hop = Hop::of(network, ChannelId(channel as u32));
            kind_of_channel.push(*numbers.entry(hop).or_insert_with(|| {
                hops.push(hop);
                hops.len() as u32 - 1
            }));
        }
        Trails {
            network,
            hops,
            kind_of_channel,
            known: BTreeMap::new(),
            recent: vec![NONE_RECENT],
            trails: Vec::new(),
            lengths: Vec::new(),
            from: vec![None; network.routers.len()],
            path: Vec::new(),
        }
    }

    /// Switches to another destination.
    fn switch_destination(&mut self) {
        self.from.fill(None);
    }

    /// The trail of `channel` and then `rest`.
    fn longer(&mut self, channel: ChannelId, rest: Trail) -> Trail {
        let kind = self.kind_of_channel[channel.0 as usize];
        let behind = rest.wrapping_add(1) as usize;
        let recent = &mut self.recent[behind];
        if let Some(&(_, trail)) = recent.iter().find(|(recent, _)| *recent == kind) {
            return trail;
        }
        let trail = *self.known.entry((kind, rest)).or_insert_with(|| {
            self.trails.push((kind, rest));
            self.lengths.push(1 + self.lengths.get(rest as usize).copied().unwrap_or(0));
            self.trails.len() as Trail - 1
        });
        *recent = [(kind, trail), recent[0]];
        self.recent.resize(self.trails.len() + 1, NONE_RECENT);
        trail
    }

    /// The trail from a router to the current destination.
    fn from(&mut self, router: RouterId, source: NodeId, destination: NodeId) -> Trail {
        let (rest, mut state) = (AtRest::between(source, destination), RouteState::default());
        let mut path = std::mem::take(&mut self.path);
        let mut at = router;
        let mut trail = loop {
            if let Some(known) = self.from[at.0 as usize] {
                break known;
            }
            let channel = self.network.routing.step(&rest.view(at, source, destination), &mut state).options()[0];
            path.push((at, channel));
            match self.network.channels[channel.0 as usize].to {
                ChannelEnd::Router(next) => at = next,
                ChannelEnd::Node(_) => break END,
            }
        };
        for (router, channel) in path.drain(..).rev() {
            trail = self.longer(channel, trail);
            self.from[router.0 as usize] = Some(trail);
        }
        self.path = path;
        trail
    }

    fn path(&self, mut trail: Trail) -> Vec<Hop> {
        let mut path = Vec::new();
        while trail != END {
            let (kind, rest) = self.trails[trail as usize];
            path.push(self.hops[kind as usize]);
            trail = rest;
        }
        path
    }
}
