//! Which output channel a header asks for: one file a rule.

pub mod deadlock;
pub(crate) mod dragonfly;
pub(crate) mod grid;
pub(crate) mod neighbours;
pub(crate) mod next_hops;
mod packed;
pub(crate) mod shortest_path;
pub(crate) mod stages;
pub(crate) mod up_down;

pub use dragonfly::Dragonfly;
pub use grid::Grid;
pub use next_hops::NextHops;
pub use stages::Stages;

use std::sync::Arc;

use crate::model::{ChannelId, NodeId, RouterId};

/// What a header may ask for at a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The one output channel, by the first of the rule's virtual channels.
    Only(ChannelId),
    /// The one output channel, by this one of the rule's virtual channels.
    Virtual {
        /// The output channel.
        channel: ChannelId,
        /// Which of its virtual channels, from 0.
        virtual_channel: u32,
    },
    /// Any of these output channels, by the first of the rule's virtual channels; `fixed` is the index of the one that the source always takes.
    Choose {
        /// The allowed output channels, in port order.
        options: &'a [ChannelId],
        /// Which of them the deterministic rule takes.
        fixed: usize,
    },
}

impl Step<'_> {
    /// The only channel, or the one that belongs to the source.
    #[inline]
    pub fn fixed(&self) -> ChannelId {
        match self {
            Step::Only(channel) | Step::Virtual { channel, .. } => *channel,
            Step::Choose { options, fixed } => options[*fixed],
        }
    }
}

/// How one of several allowed output channels is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The one that belongs to the source node.
    Fixed,
    /// Any, at random.
    Random,
    /// An idle one, in turn; when none is idle, the next in turn.
    RoundRobin,
    /// An idle one; when none is idle, the source's own.
    IdleFixed,
    /// An idle one; when none is idle, any at random.
    IdleRandom,
}

/// What a header waits for that may take several output channels and finds none of them idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// The one that it chose when it asked.
    Chosen,
    /// Any: it asks for all of them and has the first that falls free.
    Any,
}

/// Which of several allowed output channels count as idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleWhen {
    /// Those that belong to nobody and that nobody has asked for.
    Free,
    /// Of those, only the ones with an empty buffer at their far end.
    Empty,
}

/// The rule by which headers find their way.
#[derive(Clone, Debug)]
pub enum Routing {
    /// A table of the caller's own, by router and node of destination.
    Table(Table),
    /// A shortest path, on any graph.
    ShortestPath(NextHops),
    /// Dimension order on a mesh or a torus.
    Grid(Grid),
    /// Up, across and down in levels of routers and layers of mesh.
    Stages(Stages),
    /// From group to group of a dragonfly.
    Dragonfly(Dragonfly),
    /// Never up after down, on any graph.
    UpDown(NextHops),
}

impl Routing {
    /// What the rule is called.
    pub fn name(&self) -> &'static str {
        match self {
            Routing::Table(_) => "table",
            Routing::ShortestPath(_) => "shortest-path",
            Routing::Grid(_) => "dimension-order",
            Routing::Stages(_) => "clos",
            Routing::Dragonfly(dragonfly) if dragonfly.detours() => "valiant",
            Routing::Dragonfly(_) => "minimal",
            Routing::UpDown(_) => "up-down",
        }
    }

    /// How many virtual channels the rule needs.
    pub fn virtual_channels(&self) -> u32 {
        match self {
            Routing::Grid(grid) => grid.virtual_channels(),
            Routing::Dragonfly(dragonfly) => dragonfly.virtual_channels(),
            Routing::Table(_) | Routing::ShortestPath(_) | Routing::Stages(_) | Routing::UpDown(_) => 1,
        }
    }

    /// How many ways packets have that depend on a number drawn for each; 1 if the rule draws none.
    pub fn choices(&self) -> u64 {
        match self {
            Routing::Dragonfly(dragonfly) => dragonfly.choices(),
            _ => 1,
        }
    }

    /// What a header at router `at`, on its way from `source` to `destination`, may ask for. `chance` is the number drawn
    /// for its packet, the same at every router; only rules that have [`Routing::choices`] look at it.
    #[inline]
    pub fn step(&self, at: RouterId, source: NodeId, destination: NodeId, chance: u64) -> Step<'_> {
        match self {
            Routing::Table(table) => table.step(at, source, destination),
            Routing::Grid(grid) => grid.step(at, source, destination),
            Routing::Stages(stages) => stages.step(at, source, destination),
            Routing::Dragonfly(dragonfly) => dragonfly.step(at, source, destination, chance),
            Routing::ShortestPath(next_hops) | Routing::UpDown(next_hops) => next_hops.step(at, source, destination),
        }
    }
}

/// A number that stands for what would be drawn for a packet, where one way is to be shown for each pair of nodes.
pub fn default_chance(source: NodeId, destination: NodeId) -> u64 {
    // Two odd multipliers spread neighbours over all choices.
    (u64::from(source.0) * 0x9e37_79b9 + u64::from(destination.0) * 0x85eb_ca6b) >> 7
}

/// One output channel for each router and node of destination.
#[derive(Clone, Debug)]
pub struct Table {
    nodes: u32,
    next: Arc<[ChannelId]>,
}

impl Table {
    /// A table from `next[router * nodes + destination]`.
    pub fn new(nodes: u32, next: Vec<ChannelId>) -> Table {
        Table { nodes, next: next.into() }
    }

    #[inline]
    fn step(&self, at: RouterId, _source: NodeId, destination: NodeId) -> Step<'_> {
        Step::Only(self.next[at.0 as usize * self.nodes as usize + destination.0 as usize])
    }
}
