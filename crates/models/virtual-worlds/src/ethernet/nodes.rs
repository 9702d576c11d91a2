//! Which ranks are processes of which node.

use std::ops::Range;

use machines::model::Ethernet;
use quantities::Rank;

/// The nodes of a run. Ranks are numbered node by node, so the last node may have fewer of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nodes {
    ranks: u32,
    /// Of each node.
    processes: u32,
}

impl Nodes {
    pub(super) fn new(ethernet: &Ethernet, ranks: u32) -> Nodes {
        Nodes { ranks, processes: ethernet.processes() }
    }

    /// How many there are.
    pub(super) fn count(self) -> u32 {
        self.ranks.div_ceil(self.processes)
    }

    /// The node of a rank.
    pub(super) fn of(self, rank: Rank) -> u32 {
        rank.0 / self.processes
    }

    /// The ranks of a node.
    pub(super) fn ranks(self, node: u32) -> Range<u32> {
        let first = node * self.processes;
        first..(first + self.processes).min(self.ranks)
    }
}
