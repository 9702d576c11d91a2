//! Which rank has which vertices.

mod bisection;
mod blocks;

pub use bisection::recursive_coordinate_bisection;
pub use blocks::blocks;

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
