//! The layout of routers, nodes and channels: one file per topology, with its row, and one list of all topologies.
//!
//! A topology makes a [`Plan`]: routers with names and positions, and channels in pairs, one each way. Channel 2n leads
//! from node n to its router and channel 2n + 1 back; the pairs of the links between routers follow. So the reverse of
//! channel c is c with its lowest bit flipped. The input ports of a router are numbered in the order of its channels:
//! first its nodes, then its links in the order given by its topology.

mod clos;
mod dragonfly;
mod fat_tree;
mod graph;
mod grid;
mod layout;
mod mesh;
mod mesh_of_clos;
mod regions;
mod stages;
mod star;
mod torus;

pub(crate) use dragonfly::Groups;
pub(crate) use grid::GridPlan;
pub(crate) use stages::{LayeredMesh, Levels};

use std::any::Any;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::description::{Table, fields};
use crate::error::Fault;
use crate::model::{ChannelEnd, ChannelId, NodeId, Regions, RouterId};
use crate::resolve::listed;

/// The most nodes of a machine.
pub(crate) const MOST_NODES: u64 = 1 << 20;
/// The most routers of a machine.
pub(crate) const MOST_ROUTERS: u64 = 1 << 20;
/// The most channels of a machine.
pub(crate) const MOST_CHANNELS: u64 = 1 << 24;

/// The part of a description that describes a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelClass {
    /// From a node.
    Injection,
    /// To a node.
    Ejection,
    /// Between routers.
    Network,
    /// Between groups of a dragonfly.
    Global,
    /// Of this index among the topology's own.
    Own(u32),
}

/// A part of a topology's own fields that describes some of its channels.
pub(crate) struct OwnLine {
    /// Its path.
    pub field: String,
    /// The path of its rate.
    pub rate_field: String,
    /// In what the channels differ from the others.
    pub line: fields::Line,
}

/// Such parts one after another: a graph has millions of links, and no list of their paths is made.
type OwnLines<'a> = Box<dyn Iterator<Item = OwnLine> + 'a>;

/// The row of a topology: its fields in a description, and what is said of it.
trait Row {
    /// What it is, in a line.
    const ABOUT: &'static str;
    /// Its table, whose path is empty, and those within it.
    const TABLES: &'static [Table];
    /// Its fields that can be set by their name alone.
    const SHORT: &'static [&'static str] = &[];
    /// Whether some of its channels are [`ChannelClass::Global`].
    const HAS_GLOBAL: bool = false;
    /// What it is called where its nodes form groups.
    const WITH_GROUPS: Option<&'static str> = None;

    /// The form of the field at this path within its table, if it cannot be guessed.
    fn form(_: &str) -> Option<&'static str> {
        None
    }

    /// The parts of its fields that describe channels of [`ChannelClass::Own`].
    fn lines(&self) -> OwnLines<'_> {
        Box::new(std::iter::empty())
    }

    /// Lays it out.
    fn lay_out(&self) -> Result<PlannedTopology, Fault>;
}

/// What is said of a topology.
pub(crate) struct Kind {
    pub name: &'static str,
    pub tables: &'static [Table],
    pub short: &'static [&'static str],
    pub has_global: bool,
    with_groups: Option<&'static str>,
    pub form: fn(&str) -> Option<&'static str>,
}

impl Kind {
    const fn of<R: Row>(name: &'static str) -> Kind {
        let (tables, short, has_global, with_groups) = (R::TABLES, R::SHORT, R::HAS_GLOBAL, R::WITH_GROUPS);
        Kind { name, tables, short, has_global, with_groups, form: R::form }
    }
}

/// Makes the list of all topologies, each by its file, which is its name in descriptions, and its row.
macro_rules! topologies {
    ($($file:ident::$row:ident,)+) => {
        /// How routers and nodes are connected: exactly one of these.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Topology {
            $(
                #[doc = concat!("[`", stringify!($file), "::", stringify!($row), "`].")]
                #[schemars(description = $file::$row::ABOUT)]
                $file: Option<$file::$row>,
            )+
        }

        impl Topology {
            /// All kinds of topologies, in the order in which they are listed.
            pub(crate) const KINDS: &'static [Kind] = &[$(Kind::of::<$file::$row>(stringify!($file)),)+];

            /// The kinds of those that are given.
            pub(crate) fn given(&self) -> impl Iterator<Item = &'static Kind> {
                let are_given = [$(self.$file.is_some(),)+];
                Topology::KINDS.iter().zip(are_given).filter_map(|(kind, is_given)| is_given.then_some(kind))
            }

            /// The parts of the given ones' fields that describe channels.
            pub(crate) fn lines(&self) -> impl Iterator<Item = OwnLine> {
                [$(self.$file.as_ref().map(Row::lines),)+].into_iter().flatten().flatten()
            }

            /// Lays out the one that is given.
            pub(crate) fn lay_out(&self) -> Result<PlannedTopology, Fault> {
                $(if let Some(row) = &self.$file {
                    return row.lay_out();
                })+
                Err(Fault::value("topology", "none", "one of them"))
            }
        }
    };
}

topologies! {
    clos::Clos,
    mesh_of_clos::MeshOfClos,
    mesh::Mesh,
    torus::Torus,
    fat_tree::FatTree,
    dragonfly::Dragonfly,
    star::Star,
    graph::Graph,
}

/// The topologies whose nodes form groups, in words.
pub fn topologies_with_groups() -> String {
    listed(Topology::KINDS.iter().filter_map(|kind| kind.with_groups).map(str::to_string).collect(), "or")
}

/// A planned channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChannelPlan {
    pub from: ChannelEnd,
    pub to: ChannelEnd,
    pub line: ChannelClass,
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
    /// What a drawing shows in place of the routers, where they are too many.
    pub regions: Regions,
}

/// In place of a channel that does not exist.
pub(crate) const NOWHERE: ChannelId = ChannelId(u32::MAX);

/// A plan, and the form of the topology, if it has a regular one, by which rules of routing can find the way. A
/// topology with a regular form joins all its nodes.
pub(crate) struct PlannedTopology {
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
        let node = ChannelEnd::Node(NodeId(self.homes.len() as u32));
        let router = ChannelEnd::Router(home);
        self.homes.push(home);
        self.channels.push(ChannelPlan { from: node, to: router, line: ChannelClass::Injection });
        self.channels.push(ChannelPlan { from: router, to: node, line: ChannelClass::Ejection });
    }

    /// For each router those at the other ends of its links.
    pub fn neighbours(&self) -> Vec<Vec<u32>> {
        let mut neighbours = vec![Vec::new(); self.routers.len()];
        for channel in &self.channels {
            if let (ChannelEnd::Router(from), ChannelEnd::Router(to)) = (channel.from, channel.to) {
                neighbours[from.0 as usize].push(to.0);
            }
        }
        neighbours
    }

    /// Adds a link between routers; returns the channel there and the channel back.
    pub fn link(&mut self, near: RouterId, far: RouterId, line: ChannelClass) -> (ChannelId, ChannelId) {
        let (from, to) = (ChannelEnd::Router(near), ChannelEnd::Router(far));
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
