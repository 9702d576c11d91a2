//! How far apart nodes are, and over which kinds of channels.
//!
//! A routing rule makes all paths from a router to a destination equally long. So the paths to one destination form a tree, and each
//! router's path is its channel followed by the next router's path: paths of the same kinds of channels are counted together without
//! ever being written out. If a rule draws a path at random for each packet, one path is examined for each pair of routers.

use std::collections::BTreeMap;

use super::zero_load::Hop;
use crate::model::{ChannelId, FlitNetwork, NodeId, Place, RouterId};
use crate::routing::{Step, default_chance};

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
    let mut residents: BTreeMap<RouterId, Vec<NodeId>> = BTreeMap::new();
    for (node, &channel) in network.injection.iter().enumerate() {
        if let Place::Router(home) = network.channels[channel.0 as usize].to {
            residents.entry(home).or_default().push(NodeId(node as u32));
        }
    }
    let homes: Vec<(RouterId, Vec<NodeId>)> = residents.into_iter().collect();
    let most = (MOST_ENTRIES / network.routers.len()).clamp(2, homes.len().max(2));
    let mut trails = Trails::new(network);
    let mut pairs: BTreeMap<Trail, u64> = BTreeMap::new();
    for sample in 0..most.min(homes.len()) {
        // Spread evenly from the first to the last.
        let (home, there) = &homes[sample * (homes.len() - 1) / (most - 1)];
        trails.switch_destination();
        for (router, current) in &homes {
            let others = if router == home { current.len() - 1 } else { current.len() };
            let count = others as u64 * there.len() as u64;
            if count > 0 {
                if trails.network.routing.choices() > 1 {
                    trails.switch_destination();
                }
                let rest = trails.from(*router, current[0], there[0]);
                let injection = network.injection[current[0].0 as usize];
                *pairs.entry(trails.longer(injection, rest)).or_default() += count;
            }
        }
    }
    let kind = |(trail, pairs)| PathKind { length: trails.lengths[trail as usize], pairs, trail };
    let mut kinds: Vec<PathKind> = pairs.into_iter().map(kind).collect();
    kinds.sort_by_key(|kind| (kind.length, kind.trail));
    Survey { kinds, all_pairs: most >= homes.len(), trails }
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
    trails: Vec<(u32, Trail)>,
    /// For every trail, how many channels it has.
    lengths: Vec<u32>,
    /// For every router, the trail from it to the current destination, if known yet.
    from: Vec<Option<Trail>>,
}

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
            trails: Vec::new(),
            lengths: Vec::new(),
            from: vec![None; network.routers.len()],
        }
    }

    /// Switches to another destination.
    fn switch_destination(&mut self) {
        self.from.fill(None);
    }

    /// The trail of `channel` and then `rest`.
    fn longer(&mut self, channel: ChannelId, rest: Trail) -> Trail {
        let key = (self.kind_of_channel[channel.0 as usize], rest);
        *self.known.entry(key).or_insert_with(|| {
            self.trails.push(key);
            self.lengths.push(1 + self.lengths.get(rest as usize).copied().unwrap_or(0));
            self.trails.len() as Trail - 1
        })
    }

    /// The trail from a router to the current destination.
    fn from(&mut self, router: RouterId, source: NodeId, destination: NodeId) -> Trail {
        let chance = default_chance(source, destination);
        let mut path: Vec<(RouterId, ChannelId)> = Vec::new();
        let mut at = router;
        let mut trail = loop {
            if let Some(known) = self.from[at.0 as usize] {
                break known;
            }
            let channel = match self.network.routing.step(at, source, destination, chance) {
                Step::Only(channel) | Step::Virtual { channel, .. } => channel,
                Step::Choose { options, .. } => options[0],
            };
            path.push((at, channel));
            match self.network.channels[channel.0 as usize].to {
                Place::Router(next) => at = next,
                Place::Node(_) => break END,
            }
        };
        for (router, channel) in path.into_iter().rev() {
            trail = self.longer(channel, trail);
            self.from[router.0 as usize] = Some(trail);
        }
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
