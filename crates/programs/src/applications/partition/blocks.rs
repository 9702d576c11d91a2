//! Parts of a structured grid: blocks of it.

use std::num::NonZeroU16;

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
pub fn blocks(grid: Grid, across: NonZeroU16, down: NonZeroU16) -> Partition {
    let (across, down) = (u32::from(across.get()), u32::from(down.get()));
    // Products of two numbers below 2^16.
    let share = |place: u16, of: u32, length: u16| u32::from(place) * of / u32::from(length);
    let part = |(x, y)| share(y, down, grid.height) * across + share(x, across, grid.width);
    let part_of = grid.places().map(part).collect();
    Partition { parts: across * down, part_of }
}
