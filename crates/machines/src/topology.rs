//! The layout of routers, nodes and channels: one file per topology.
//!
//! A topology makes a [`Plan`]: routers with names and positions, and channels in pairs, one each way. Channel 2n leads from node n
//! to its router and channel 2n + 1 back; the pairs of the links between routers follow. So the reverse of channel c is c with its
//! lowest bit flipped. The input ports of a router are numbered in the order of its channels: first its nodes, then its links in the
//! order given by its topology.

pub(crate) mod dragonfly;
pub(crate) mod graph;
pub(crate) mod grid;
pub(crate) mod stages;
pub(crate) mod star;

pub(crate) use dragonfly::Groups;
pub(crate) use grid::GridPlan;
pub(crate) use stages::{LayeredMesh, Levels};

use std::any::Any;

use crate::error::Fault;
use crate::model::{ChannelId, NodeId, Place, RouterId};

/// The most nodes of a machine.
pub(crate) const MOST_NODES: u64 = 1 << 20;
/// The most routers of a machine.
pub(crate) const MOST_ROUTERS: u64 = 1 << 20;
/// The most channels of a machine.
pub(crate) const MOST_CHANNELS: u64 = 1 << 24;

/// The part of a description that describes a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// From a node.
    Injection,
    /// To a node.
    Ejection,
    /// Between routers.
    Network,
    /// Between groups of a dragonfly.
    Global,
    /// Between level `n` and level `n + 1` of a fat tree, from 1.
    Level(u32),
    /// The link of this index in the description of a graph.
    Link(u32),
}

/// A planned channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChannelPlan {
    pub from: Place,
    pub to: Place,
    pub line: Line,
}

/// A planned router.
#[derive(Clone, Debug)]
pub(crate) struct RouterPlan {
    pub name: String,
    pub position: (f32, f32),
    pub mesh_index: Option<u32>,
}

/// The layout of a topology.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub routers: Vec<RouterPlan>,
    pub channels: Vec<ChannelPlan>,
    /// For each node, its router.
    pub homes: Vec<RouterId>,
    /// The sides of a mesh or torus.
    pub sides: Vec<u32>,
    /// How many nodes each group has, in order of their numbers, if the topology has groups.
    pub group: Option<u32>,
}

/// In place of a channel that does not exist.
pub(crate) const NOWHERE: ChannelId = ChannelId(u32::MAX);

/// A plan, and the form of the topology, if it has a regular one, by which rules of routing can find the way. A topology with a regular
/// form joins all its nodes.
pub(crate) struct Layout {
    pub plan: Plan,
    pub geometry: Option<Box<dyn Any>>,
}

impl Plan {
    /// Adds a router.
    pub fn router(&mut self, name: String, position: (f32, f32), mesh_index: Option<u32>) -> RouterId {
        self.routers.push(RouterPlan { name, position, mesh_index });
        RouterId(self.routers.len() as u32 - 1)
    }

    /// Adds the next node, at router `home`. All nodes are added before the first link.
    pub fn node(&mut self, home: RouterId) {
        let node = Place::Node(NodeId(self.homes.len() as u32));
        let router = Place::Router(home);
        self.homes.push(home);
        self.channels.push(ChannelPlan { from: node, to: router, line: Line::Injection });
        self.channels.push(ChannelPlan { from: router, to: node, line: Line::Ejection });
    }

    /// Adds a link between routers; returns the channel there and the channel back.
    pub fn link(&mut self, near: RouterId, far: RouterId, line: Line) -> (ChannelId, ChannelId) {
        let (from, to) = (Place::Router(near), Place::Router(far));
        let first = self.channels.len() as u32;
        self.channels.push(ChannelPlan { from, to, line });
        self.channels.push(ChannelPlan { from: to, to: from, line });
        (ChannelId(first), ChannelId(first + 1))
    }
}

/// The channel from the network to a node.
pub(crate) fn ejection(node: u32) -> ChannelId {
    ChannelId(2 * node + 1)
}

/// Checks that a number of nodes, routers or channels is within bounds.
pub(crate) fn within(field: &str, what: &str, count: u64, most: u64) -> Result<(), Fault> {
    if (1..=most).contains(&count) {
        return Ok(());
    }
    Err(Fault::value(field, format!("{count} {what}"), format!("1 to {most}")))
}

/// `base` to the power of `exponent`, or more than any bound if that is too large.
pub(crate) fn power(base: u32, exponent: u32) -> u64 {
    u64::from(base).checked_pow(exponent).unwrap_or(u64::MAX)
}
