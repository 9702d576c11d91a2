//! Which output channel a header asks for.

use crate::model::{ChannelId, NodeId, RouterId};

/// What a header may ask for at a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The one output channel.
    Only(ChannelId),
    /// Any of these output channels; `fixed` is the index of the one that the source always takes.
    Choose {
        /// The allowed output channels, in port order.
        options: &'a [ChannelId],
        /// Which of them the deterministic rule takes.
        fixed: usize,
    },
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

/// The rule by which headers find their way.
#[derive(Clone, Debug)]
pub enum Routing {
    /// Looked up by router and destination: for any graph.
    Table(Table),
}

impl Routing {
    /// What a header at router `at`, on its way from `source` to `destination`, may ask for.
    #[inline]
    pub fn step(&self, at: RouterId, source: NodeId, destination: NodeId) -> Step<'_> {
        match self {
            Routing::Table(table) => table.step(at, source, destination),
        }
    }
}

/// One output channel for each router and destination.
#[derive(Clone, Debug)]
pub struct Table {
    nodes: u32,
    next: Vec<ChannelId>,
}

impl Table {
    /// A table from `next[router * nodes + destination]`.
    pub fn new(nodes: u32, next: Vec<ChannelId>) -> Table {
        Table { nodes, next }
    }

    #[inline]
    fn step(&self, at: RouterId, _source: NodeId, destination: NodeId) -> Step<'_> {
        Step::Only(self.next[at.0 as usize * self.nodes as usize + destination.0 as usize])
    }
}
