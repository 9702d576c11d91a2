//! The Delaunay tetrahedralisation of points in space.

mod cells;

use quantities::splitmix64;

use super::geometry::{LARGEST, on_a_line, orientation, within_sphere};
use super::{Mesh, MeshError, Point};
use cells::{BEYOND, Cells};
use quantities::shuffle::permutation;

/// The most points that can be numbered, with all the cells between them.
const MOST_POINTS: usize = 1 << 28;

/// The seed of the order of insertions and of the turns of the walks; it also affects the result if more than four
/// points lie on an empty sphere.
const SEED: u64 = 0x4445_4C41_554E_4159;

/// The tetrahedra whose circumscribed spheres contain none of `points`, made by inserting one point after another in
/// random order:
///
/// ```text
///   1  walk to a cell whose sphere contains the point p          +-----+       +-----+
///   2  it and its neighbours for which that holds are a cavity   |\   /|       |\   /|
///   3  empty it, and join p with every triangle of its rim       | \ / |  -->  | \p/ |       (drawn in the plane)
///                                                                | p*  |       | /|\ |
///                                                                +-----+       +-----+
/// ```
///
/// Outside the hull, each of its triangles has a cell whose fourth corner is infinitely far: its sphere is the half
/// space beyond the triangle. So a point outside needs no special case. The predicates are exact, and only points
/// strictly within a sphere count: so the cavity is always star-shaped, and no tetrahedron is flat, whatever the
/// points.
///
/// n points in random order: O(n) cells are made if the tetrahedralisation itself has O(n), and a walk crosses
/// O(n^(1/3)) of them.
///
/// Source: Bowyer, "Computing Dirichlet tessellations", and Watson, "Computing the n-dimensional Delaunay
/// tessellation", both The Computer Journal 24(2), 1981; the walk is the stochastic one of Devillers, Pion and
/// Teillaud, "Walking in a triangulation", International Journal of Foundations of Computer Science 13(2), 2002.
///
/// # Errors
/// A coordinate that is too large or not a number, two points in one place, and points that all lie in one plane.
pub fn tetrahedralise(points: Vec<Point>) -> Result<Mesh, MeshError> {
    check(&points)?;
    let mut order = permutation(points.len() as u32, SEED);
    begin_with_a_tetrahedron(&points, &mut order)?;
    let (first, others) = order.split_at(4);
    let mut growing = Growing::new(&points, [first[0], first[1], first[2], first[3]]);
    for &p in others {
        growing.insert(p)?;
    }
    let (tetrahedra, hull) = growing.cells.into_parts();
    Ok(Mesh { points, tetrahedra, hull })
}

fn check(points: &[Point]) -> Result<(), MeshError> {
    if points.len() > MOST_POINTS {
        return Err(MeshError::TooMany { points: points.len(), most: MOST_POINTS });
    }
    for (number, point) in (0..).zip(points) {
        if let Some(found) = point.iter().find(|coordinate| coordinate.is_nan() || coordinate.abs() > LARGEST) {
            return Err(MeshError::Coordinate { point: number, found: found.to_string() });
        }
    }
    Ok(())
}

/// Moves four points that do not lie in one plane to the front of `order`, with a positive orientation.
fn begin_with_a_tetrahedron(points: &[Point], order: &mut [u32]) -> Result<(), MeshError> {
    let at = |number: u32| points[number as usize];
    let flat = MeshError::Flat { points: points.len() };
    let mut bring = |place: usize, fits: &dyn Fn(&[u32], Point) -> bool| {
        let (before, rest) = order.split_at_mut(place);
        let found = rest.iter().position(|&number| fits(before, at(number))).ok_or(flat.clone())?;
        rest.swap(0, found);
        Ok(())
    };
    bring(0, &|_, _| true)?;
    bring(1, &|before, point| at(before[0]) != point)?;
    bring(2, &|before, point| !on_a_line(at(before[0]), at(before[1]), point))?;
    bring(3, &|before, point| orientation([at(before[0]), at(before[1]), at(before[2]), point]) != 0.0)?;
    if orientation([at(order[0]), at(order[1]), at(order[2]), at(order[3])]) < 0.0 {
        order.swap(0, 1);
    }
    Ok(())
}

/// A tetrahedralisation under construction.
struct Growing<'a> {
    points: &'a [Point],
    cells: Cells,
    /// Where the next walk begins: a cell that is not beyond the hull.
    latest: u32,
    /// The random state for the turns of the walk.
    chance: u64,
    /// For each cell, the latest insertion that tested it, and whether the point was within its sphere.
    asked: Vec<(u32, bool)>,
    /// For each cell, the latest insertion that found it to be part of the cavity.
    found: Vec<u32>,
    insertion: u32,
    /// Kept between insertions only to reuse their memory.
    cavity: Vec<u32>,
    rim: Vec<Face>,
}

/// A face of a cell: the one opposite to a corner.
#[derive(Clone, Copy)]
struct Face {
    cell: u32,
    opposite: usize,
}

impl<'a> Growing<'a> {
    fn new(points: &'a [Point], first: [u32; 4]) -> Growing<'a> {
        Growing {
            points,
            cells: Cells::around(first),
            latest: 0,
            chance: SEED,
            asked: Vec::new(),
            found: Vec::new(),
            insertion: 0,
            cavity: Vec::new(),
            rim: Vec::new(),
        }
    }

    fn insert(&mut self, p: u32) -> Result<(), MeshError> {
        self.insertion += 1;
        self.asked.resize(self.cells.len(), (0, false));
        self.found.resize(self.cells.len(), 0);
        let start = self.walk(p);
        if !self.within(start, p) {
            return Err(self.same_place(start, p));
        }
        self.dig(start, p);
        for &Face { cell, opposite } in &self.rim {
            let new = self.cells.replace_corner(cell, opposite, p);
            if !self.cells[new].is_beyond() {
                self.latest = new;
            }
        }
        self.cells.join_new();
        self.cells.remove(&self.cavity);
        Ok(())
    }

    /// Walks from cell to cell towards `p`, to the cell that contains it, or to a cell beyond the hull from which it is
    /// visible.
    fn walk(&mut self, p: u32) -> u32 {
        let (mut endpoint, mut before) = (self.latest, BEYOND);
        'steps: while !self.cells[endpoint].is_beyond() {
            let cell = self.cells[endpoint];
            // A walk that always tested the faces in one order could loop for ever among points on one sphere.
            let turn = (splitmix64::draw(&mut self.chance) >> 62) as usize;
            for opposite in (turn..turn + 4).map(|slot| slot % 4) {
                let across = cell.neighbours[opposite];
                if across != before && orientation(self.corners(cell.with_corner(opposite, p))) < 0.0 {
                    (endpoint, before) = (across, endpoint);
                    continue 'steps;
                }
            }
            break;
        }
        endpoint
    }

    /// Finds the cells around `start` whose spheres contain `p`, and the faces between them and the others.
    fn dig(&mut self, start: u32, p: u32) {
        self.cavity.clear();
        self.rim.clear();
        self.cavity.push(start);
        self.found[start as usize] = self.insertion;
        let mut dug = 0;
        while let Some(&cell) = self.cavity.get(dug) {
            dug += 1;
            for (opposite, across) in self.cells[cell].neighbours.into_iter().enumerate() {
                if !self.within(across, p) {
                    self.rim.push(Face { cell, opposite });
                } else if self.found[across as usize] < self.insertion {
                    self.found[across as usize] = self.insertion;
                    self.cavity.push(across);
                }
            }
        }
    }

    /// Whether `p` is within the sphere of a cell. Remembered, so that every cell is tested once.
    fn within(&mut self, number: u32, p: u32) -> bool {
        if self.asked[number as usize].0 == self.insertion {
            return self.asked[number as usize].1;
        }
        let cell = self.cells[number];
        let within = match cell.corners.iter().position(|&corner| corner == BEYOND) {
            None => within_sphere(self.corners(cell.corners), self.points[p as usize]),
            Some(beyond) => match orientation(self.corners(cell.with_corner(beyond, p))) {
                // In the plane of the triangle, the sphere of the cell on its other side decides.
                0.0 => self.within(cell.neighbours[beyond], p),
                side => side > 0.0,
            },
        };
        self.asked[number as usize] = (self.insertion, within);
        within
    }

    fn corners(&self, numbers: [u32; 4]) -> [Point; 4] {
        numbers.map(|number| self.points[number as usize])
    }

    /// The error that `p` lies where a corner of `cell` does: a cell's sphere contains all points of the cell except
    /// its corners.
    fn same_place(&self, cell: u32, p: u32) -> MeshError {
        let at = self.points[p as usize];
        let there = |&&corner: &&u32| corner != BEYOND && self.points[corner as usize] == at;
        let corner = self.cells[cell].corners.iter().find(there).copied().unwrap_or(p);
        MeshError::SamePlace { first: corner.min(p), second: corner.max(p) }
    }
}

#[cfg(test)]
mod tests {
    use super::cells::Cell;
    use super::*;

    /// Checks what must hold after every insertion.
    fn check_cells(growing: &Growing<'_>) {
        for (number, cell) in growing.cells.iter() {
            for (opposite, across) in cell.neighbours.into_iter().enumerate() {
                let other: Cell = growing.cells[across];
                let back = other.neighbours.iter().position(|&neighbour| neighbour == number).unwrap();
                let face = |cell: Cell, opposite: usize| {
                    let mut corners: Vec<u32> = (0..4).filter(|&i| i != opposite).map(|i| cell.corners[i]).collect();
                    corners.sort_unstable();
                    corners
                };
                assert_eq!(face(cell, opposite), face(other, back));
            }
            assert!(cell.is_beyond() || orientation(growing.corners(cell.corners)) > 0.0);
        }
    }

    #[test]
    fn neighbours_share_faces_after_every_insertion_even_on_a_grid() {
        let points: Vec<Point> =
            (0..64u32).map(|i| [f64::from(i % 4), f64::from(i / 4 % 4), f64::from(i / 16)]).collect();
        let mut order = permutation(64, 5);
        begin_with_a_tetrahedron(&points, &mut order).unwrap();
        let mut growing = Growing::new(&points, [order[0], order[1], order[2], order[3]]);
        check_cells(&growing);
        for &p in &order[4..] {
            growing.insert(p).unwrap();
            check_cells(&growing);
        }
    }
}
