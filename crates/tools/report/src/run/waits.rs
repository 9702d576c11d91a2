//! Who waited for whom: a square with a cell for each pair of ranks, or of blocks of ranks where there are many.

use quantities::{Duration, Rank};
use virtual_worlds::critical_path::Trace;

use crate::markup::{Element, element};
use crate::plane::{Cells, Plane, ticks_of_count};

/// The most rows and columns.
const MOST: usize = 64;
/// How many steps of heat the style sheet has colours for.
const HEATS: usize = 8;

/// How long each rank, or block of ranks, waited for each other one.
#[derive(Debug)]
pub(super) struct WaitMatrix {
    ranks: usize,
    /// How many ranks a block has.
    block: usize,
    /// For each pair of a waiting block and the block that it waited for, how long it waited. [ps]
    cells: Vec<u64>,
}

impl WaitMatrix {
    pub(super) fn of(trace: &Trace<'_>, ranks: usize) -> WaitMatrix {
        let block = ranks.div_ceil(MOST).max(1);
        let side = ranks.div_ceil(block);
        let mut cells = vec![0_u64; side * side];
        for (waits, sender, length) in trace.waits() {
            let place = waits.0 as usize / block * side + sender.0 as usize / block;
            cells[place] = cells[place].saturating_add(length.picoseconds());
        }
        WaitMatrix { ranks, block, cells }
    }

    fn side(&self) -> usize {
        self.ranks.div_ceil(self.block)
    }

    /// The longest wait of one block for another.
    pub(super) fn longest(&self) -> Duration {
        Duration::from_picoseconds(self.cells.iter().copied().max().unwrap_or(0))
    }

    /// The at most `count` longest waits of one block for another: who waited, for whom, and how long.
    pub(super) fn most(&self, count: usize, name: impl Fn(Rank) -> String) -> Vec<(String, String, Duration)> {
        let mut order: Vec<usize> = (0..self.cells.len()).filter(|place| self.cells[*place] > 0).collect();
        order.sort_by_key(|place| std::cmp::Reverse(self.cells[*place]));
        let row = |place: &usize| {
            let (waits, sender) = (place / self.side(), place % self.side());
            (self.name(waits, &name), self.name(sender, &name), Duration::from_picoseconds(self.cells[*place]))
        };
        order.iter().take(count).map(row).collect()
    }

    /// The name of a block, whose ranks are named by `name`.
    fn name(&self, block: usize, name: impl Fn(Rank) -> String) -> String {
        let (first, last) = (block * self.block, ((block + 1) * self.block).min(self.ranks) - 1);
        if first == last { name(Rank(first as u32)) } else { format!("{first} to {last}") }
    }

    /// Draws it.
    pub(super) fn draw(&self, of: &str) -> Element {
        let side = self.side() as u32;
        let longest = self.longest().picoseconds().max(1);
        let mut drawn: Vec<Cells> = (0..HEATS).map(|_| Cells::default()).collect();
        for (&waited, place) in self.cells.iter().zip(0..).filter(|(waited, _)| **waited > 0) {
            let share = waited as f64 / longest as f64;
            let heat = ((share * (HEATS - 1) as f64).ceil() as usize).clamp(1, HEATS - 1);
            drawn[heat].add(place % side, place / side, 1);
        }
        let ground = element("rect").class("ground").attribute("width", side).attribute("height", side);
        let cells = drawn.into_iter().zip(0..).filter_map(|(cells, heat)| cells.drawn(&format!("hot heat{heat}")));
        let ranks = if self.block == 1 { String::new() } else { format!(", {} in a cell", self.block) };
        Plane {
            summary: "Who waited for whom: a row for each rank that waited, a column for each that it waited for. \
                      The table below has the longest waits."
                .to_owned(),
            level: (format!("{of} that it waited for{ranks}"), ticks_of_count(self.ranks, 8)),
            upright: (format!("{of} that waited{ranks}"), ticks_of_count(self.ranks, 16)),
            size: [side.max(1), side.max(1)],
            height: None,
            content: std::iter::once(ground).chain(cells).collect(),
        }
        .draw()
    }
}
