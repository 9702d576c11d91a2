//! The cells around the vertices of a tetrahedral mesh.

use crate::applications::mesh::{Mesh, Point, Vector, cross, difference, dot, scaled, sum};

/// The median dual of a mesh: around each vertex a cell, bounded by surfaces through the middles of edges, triangles
/// and tetrahedra.
///
/// ```text
///        k                          the surface between i and j in one tetrahedron goes through
///       / \                         the middles of ij, ijk, ijkl and ijl; as a vector it is
///      /   \     (l behind)         (i + j - k - l) x (l - k) / 24
///     i-----j
/// ```
///
/// Source: Barth, "Aspects of unstructured grids and finite-volume solvers for the Euler and Navier-Stokes equations",
/// VKI lecture series 1994-05.
#[derive(Clone, Debug, PartialEq)]
pub struct Dual {
    /// Each edge's ends, the lower first, in ascending order.
    pub edges: Vec<[u32; 2]>,
    /// For each edge, the area between the cells of its ends, from the first to the second.
    pub areas: Vec<Vector>,
    /// For each vertex, the area of its cell on the hull of the mesh, outward; zero inside.
    pub hull: Vec<Vector>,
    /// For each vertex, the volume of its cell.
    pub volumes: Vec<f64>,
}

/// The corners of a tetrahedron in six orders, each beginning with a different edge: even permutations, so that the
/// other two corners have the same orientation.
const ORDERS: [[usize; 4]; 6] = [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 2, 0], [2, 3, 0, 1]];

impl Dual {
    /// The dual of `mesh`.
    pub fn new(mesh: &Mesh) -> Dual {
        let at = |vertex: u32| mesh.points()[vertex as usize];
        let mut volumes = vec![0.0; mesh.points().len()];
        let mut surfaces: Vec<([u32; 2], Vector)> = Vec::with_capacity(6 * mesh.tetrahedra().len());
        for corners in mesh.tetrahedra() {
            let quarter = volume(corners.map(at)) / 4.0;
            corners.iter().for_each(|&corner| volumes[corner as usize] += quarter);
            surfaces.extend(ORDERS.map(|order| surface(order.map(|place| corners[place]), at)));
        }
        // A stable order: the sum over the tetrahedra around an edge is the same each time.
        surfaces.sort_by_key(|surface| surface.0);
        let around_one = |surfaces: &[([u32; 2], Vector)]| {
            (surfaces[0].0, surfaces.iter().fold([0.0; 3], |area, surface| sum(area, surface.1)))
        };
        let (edges, areas) = surfaces.chunk_by(|a, b| a.0 == b.0).map(around_one).unzip();
        Dual { edges, areas, hull: hull(mesh), volumes }
    }
}

/// The surface between the first two corners within a tetrahedron, from the lower to the higher.
fn surface([i, j, k, l]: [u32; 4], at: impl Fn(u32) -> Point) -> ([u32; 2], Vector) {
    let across = sum(difference(at(i), at(k)), difference(at(j), at(l)));
    let from_i_to_j = scaled(cross(across, difference(at(l), at(k))), 1.0 / 24.0);
    if i < j { ([i, j], from_i_to_j) } else { ([j, i], scaled(from_i_to_j, -1.0)) }
}

fn volume([a, b, c, d]: [Point; 4]) -> f64 {
    dot(difference(a, d), cross(difference(b, d), difference(c, d))) / 6.0
}

/// Each corner of a triangle of the hull has a third of it.
fn hull(mesh: &Mesh) -> Vec<Vector> {
    let at = |vertex: u32| mesh.points()[vertex as usize];
    let mut hull = vec![[0.0; 3]; mesh.points().len()];
    for corners in mesh.hull() {
        let [a, b, c] = corners.map(at);
        let third = scaled(cross(difference(b, a), difference(c, a)), 1.0 / 6.0);
        for &corner in corners {
            hull[corner as usize] = sum(hull[corner as usize], third);
        }
    }
    hull
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::applications::mesh::{tetrahedralise, uniform};

    #[test]
    fn areas_around_a_cell_add_up_to_zero_and_point_along_their_edges() {
        let mesh = tetrahedralise(uniform(200, 4)).unwrap();
        let dual = Dual::new(&mesh);
        assert_eq!(dual.edges, mesh.edges());
        let mut sums = dual.hull.clone();
        for (&[a, b], &area) in dual.edges.iter().zip(&dual.areas) {
            assert!(dot(area, difference(mesh.points()[b as usize], mesh.points()[a as usize])) > 0.0);
            sums[a as usize] = sum(sums[a as usize], area);
            sums[b as usize] = difference(sums[b as usize], area);
        }
        for sum in sums {
            assert!(dot(sum, sum).sqrt() < 1e-15, "{sum:?}");
        }
    }

    #[test]
    fn cells_fill_the_mesh() {
        let corners = (0..27u32).map(|i| [i % 3, i / 3 % 3, i / 9].map(f64::from)).collect();
        let dual = Dual::new(&tetrahedralise(corners).unwrap());
        let volume: f64 = dual.volumes.iter().sum();
        assert!((volume - 8.0).abs() < 1e-12, "{volume}");
        let outward: f64 = dual.hull.iter().flatten().map(|area| area.abs()).sum();
        assert!((outward - 24.0).abs() < 1e-12, "{outward}");
    }
}
