//! Parts of a structured grid: blocks of it.

use super::Partition;
use crate::applications::grid::Grid;

/// A grid in `across` times `down` blocks, numbered as its points are. Blocks differ by at most one point in width and in
/// height.
///
/// ```text
///   +-------+-------+
///   |   0   |   1   |
///   +-------+-------+
///   |   2   |   3   |        two across, three down
///   +-------+-------+
///   |   4   |   5   |
///   +-------+-------+
/// ```
pub fn blocks(grid: Grid, across: u32, down: u32) -> Partition {
    let share = |place: u32, of: u32, length: u32| (u64::from(place) * u64::from(of) / u64::from(length)) as u32;
    let part = |(x, y)| share(y, down, grid.height) * across + share(x, across, grid.width);
    let part_of = grid.places().map(part).collect();
    Partition { parts: across * down, part_of }
}
