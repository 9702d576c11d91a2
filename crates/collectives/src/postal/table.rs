//! A look-up table of alphas.

use super::alpha_range::narrowest;
use super::{Alpha, AlphaRange, Growth, Lambda, Partitions};

/// An alpha for every number of nodes from 2 to a limit, each of which splits them optimally; with the fewest possible
/// different alphas, in order of the number of nodes.
///
/// Only the tops of the triangles constrain alpha. One alpha serves all tops from the first until a top has none in
/// common with those before it; there the next entry begins.
///
/// ```text
///   lambda = 1.95        up to n    alpha
///                              4    0.547
///                             ..    ..
/// ```
///
/// Source: the postal paper, section 2.4 and figure 9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlphaTable {
    lambda: Lambda,
    entries: Vec<Entry>,
}

/// One alpha, and the numbers of nodes that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The largest number of nodes; the smallest is one more than that of the entry before.
    pub up_to: u64,
    /// The smallest alpha that is optimal for all of them.
    pub least: Alpha,
    /// The largest.
    pub most: Alpha,
}

impl Entry {
    fn of(range: &AlphaRange) -> Entry {
        Entry { up_to: range.partitions.nodes(), least: range.least, most: range.most }
    }

    /// This entry extended to `range`, if they have an alpha in common.
    fn shared_with(&self, range: &AlphaRange) -> Option<Entry> {
        let new = Entry::of(range);
        let (least, most) = (self.least.max(new.least), self.most.min(new.most));
        (least <= most).then_some(Entry { up_to: new.up_to, least, most })
    }

    /// The alpha to use: the one in the middle.
    pub const fn alpha(&self) -> Alpha {
        Alpha::between(self.least, self.most)
    }
}

impl AlphaTable {
    /// The table for up to `most` nodes.
    pub fn new(lambda: Lambda, most: u64) -> AlphaTable {
        let mut entries: Vec<Entry> = Vec::new();
        for range in narrowest(&Growth::to_nodes(lambda, most), most) {
            let shared = entries.last().and_then(|last| last.shared_with(&range));
            match (shared, entries.last_mut()) {
                (Some(shared), Some(last)) => *last = shared,
                _ => entries.push(Entry::of(&range)),
            }
        }
        AlphaTable { lambda, entries }
    }

    /// The latency that it is for.
    pub const fn lambda(&self) -> Lambda {
        self.lambda
    }

    /// Its entries, in order of the number of nodes.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The most nodes that it has an alpha for.
    pub fn most(&self) -> u64 {
        self.entries.last().map_or(1, |last| last.up_to)
    }

    /// The alpha for `n` nodes; that for the most nodes if n is beyond the table.
    pub fn alpha_for(&self, n: u64) -> Alpha {
        let at = self.entries.partition_point(|entry| entry.up_to < n);
        self.entries.get(at).or(self.entries.last()).map_or(Alpha::HALF, Entry::alpha)
    }
}

/// A size of the look-up table, and the number of nodes from which it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// The fewest nodes.
    pub nodes: u64,
    /// How many triangles begin at that number or below it.
    pub triangles: usize,
    /// How many entries the table for that many nodes has.
    pub entries: usize,
}

/// The size of the look-up table at each number of nodes up to `most` at which it or the number of triangles grows: the
/// data of figure 9.
pub fn table_sizes(lambda: Lambda, most: u64) -> Vec<TableSize> {
    let growth = Growth::to_nodes(lambda, most);
    let mut sizes: Vec<TableSize> = Vec::new();
    let (mut before, mut entries, mut last) = (1, 0, None::<Entry>);
    for (triangles, level) in (1..).zip(growth.levels()) {
        sizes.push(TableSize { nodes: before + 1, triangles, entries: entries.max(1) });
        let range = |nodes| Some(AlphaRange::of(Partitions::of(&growth, nodes)?));
        let shared = |nodes| last.and_then(|last| last.shared_with(&range(nodes)?));
        let top = level.nodes.min(most);
        let reached = shared(top);
        if reached.is_none() {
            entries += 1;
            let first = first_that(before + 1, top, |nodes| shared(nodes).is_none());
            match sizes.last_mut() {
                Some(size) if size.nodes == first => size.entries = entries,
                _ => sizes.push(TableSize { nodes: first, triangles, entries }),
            }
        }
        last = reached.or_else(|| range(top).as_ref().map(Entry::of));
        before = level.nodes;
    }
    sizes
}

/// The first number from `low` to `high` for which `holds` is true; it must be true from there to `high`.
fn first_that(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = u64::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high
}
