//! Tetrahedral meshes: seeded sets of points in space and their Delaunay tetrahedralisation.

mod delaunay;
mod geometry;
mod points;

pub use delaunay::tetrahedralise;
pub use geometry::{Point, Vector, cross, difference, dot, mean, scaled, sum};
pub use points::{Body, graded, uniform};

use geometry::LARGEST;

/// Points in space and the tetrahedra between them, which fill the convex hull of the points.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    points: Vec<Point>,
    tetrahedra: Vec<[u32; 4]>,
    hull: Vec<[u32; 3]>,
}

impl Mesh {
    /// The points, in the order in which they were given.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The corners of each tetrahedron. Seen from the fourth, the first three are clockwise: its volume
    /// (a - d) . ((b - d) x (c - d)) / 6 is positive.
    pub fn tetrahedra(&self) -> &[[u32; 4]] {
        &self.tetrahedra
    }

    /// The triangles of the hull's surface. Seen from outside, their corners are anticlockwise.
    pub fn hull(&self) -> &[[u32; 3]] {
        &self.hull
    }

    /// The edges of the tetrahedra, each once, its lower end first, in ascending order.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        const ENDS: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let of_one = |corners: &[u32; 4]| ENDS.map(|[a, b]| ascending([corners[a], corners[b]]));
        let mut edges: Vec<[u32; 2]> = self.tetrahedra.iter().flat_map(of_one).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}

fn ascending([a, b]: [u32; 2]) -> [u32; 2] {
    if a < b { [a, b] } else { [b, a] }
}

/// Why points have no tetrahedralisation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeshError {
    /// A coordinate with which the predicates would not be exact.
    #[error("point {point} has the coordinate {found}; allowed is a number from -{LARGEST:e} to {LARGEST:e}")]
    Coordinate {
        /// The point's number.
        point: u32,
        /// The coordinate.
        found: String,
    },
    /// Two points in one place.
    #[error("points {first} and {second} are in the same place")]
    SamePlace {
        /// The one that came first.
        first: u32,
        /// The other.
        second: u32,
    },
    /// The points form no tetrahedron.
    #[error("{points} points that all lie in one plane have no tetrahedron")]
    Flat {
        /// How many points there are.
        points: usize,
    },
    /// More points than can be numbered.
    #[error("{points} points; allowed are at most {most}")]
    TooMany {
        /// How many points there are.
        points: usize,
        /// How many are allowed.
        most: usize,
    },
}
