//! Partitions: which rank has which vertices.

mod bisection;

use std::num::NonZeroU16;

pub use bisection::recursive_coordinate_bisection;

use super::grid::Grid;

/// Vertices, each with the part that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    parts: u32,
    part_of: Vec<u32>,
}

impl Partition {
    /// How many parts there are.
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// The part of each vertex.
    pub fn part_of(&self) -> &[u32] {
        &self.part_of
    }

    /// The vertices of each part, in ascending order.
    pub fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.parts as usize];
        for (vertex, &part) in (0..).zip(&self.part_of) {
            members[part as usize].push(vertex);
        }
        members
    }
}

/// A grid in `across` times `down` blocks, numbered as its points are. Blocks differ by at most one point in width and
/// in height.
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
    // The products of two numbers below 2^16 do not overflow.
    let share = |place: u16, of: u32, length: u16| u32::from(place) * of / u32::from(length);
    let part = |(x, y)| share(y, down, grid.height) * across + share(x, across, grid.width);
    let part_of = grid.places().map(part).collect();
    Partition { parts: across * down, part_of }
}
