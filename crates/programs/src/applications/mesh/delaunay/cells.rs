//! Cells and their neighbours.

use std::ops::Index;

/// The corner that all cells beyond the hull share: it is infinitely far in every direction.
pub(super) const BEYOND: u32 = u32::MAX;

/// A tetrahedron, or the region beyond a triangle of the hull.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Four points with a positive orientation. One may be [`BEYOND`]: then the orientation is positive with any point
    /// beyond the triangle of the other three in its place.
    pub(super) corners: [u32; 4],
    /// For each corner, the cell on the other side of the face opposite to it.
    pub(super) neighbours: [u32; 4],
}

impl Cell {
    /// Whether it lies beyond the hull.
    pub(super) fn is_beyond(&self) -> bool {
        self.corners.contains(&BEYOND)
    }

    /// Its corners, with one of them replaced.
    pub(super) fn with_corner(&self, place: usize, corner: u32) -> [u32; 4] {
        let mut corners = self.corners;
        corners[place] = corner;
        corners
    }
}

/// All cells. The numbers of removed ones are reused.
pub(super) struct Cells {
    cells: Vec<Cell>,
    removed: Vec<u32>,
    /// Faces of new cells whose neighbour is not known yet: two corners, the third being the new one; the cell and the
    /// opposite corner.
    open: Vec<([u32; 2], u32, usize)>,
}

impl Index<u32> for Cells {
    type Output = Cell;
    fn index(&self, number: u32) -> &Cell {
        &self.cells[number as usize]
    }
}

impl Cells {
    /// A tetrahedron and the four cells beyond its faces.
    pub(super) fn around(corners: [u32; 4]) -> Cells {
        let inner = Cell { corners, neighbours: [1, 2, 3, 4] };
        let mut cells = vec![inner];
        for opposite in 0..4 {
            let outside = inner.with_corner(opposite, BEYOND);
            // Seen from the other side, the orientation of the face is reversed: two of its corners change places. The
            // number of a corner gives the neighbour beyond the face opposite to it.
            let (a, b) = ((opposite + 1) % 4, (opposite + 2) % 4);
            let (mut corners, mut neighbours) = (outside, inner.neighbours);
            neighbours[opposite] = 0;
            corners.swap(a, b);
            neighbours.swap(a, b);
            cells.push(Cell { corners, neighbours });
        }
        Cells { cells, removed: Vec::new(), open: Vec::new() }
    }

    /// How many numbers have been used, including those of removed cells.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Makes a cell of the corner `p` and the face of cell `inside` that is opposite to its corner `opposite`, and puts
    /// it between `inside` and its neighbour there. Its other faces stay open until [`Cells::join_new`].
    pub(super) fn replace_corner(&mut self, inside: u32, opposite: usize, p: u32) -> u32 {
        let old = self[inside];
        let corners = old.with_corner(opposite, p);
        let outside = old.neighbours[opposite];
        let new = self.add(Cell { corners, neighbours: [outside; 4] });
        for back in self.cells[outside as usize].neighbours.iter_mut().filter(|back| **back == inside) {
            *back = new;
        }
        for place in (0..4).filter(|&place| place != opposite) {
            let mut pair = (0..4).filter(|&corner| corner != place && corner != opposite).map(|corner| corners[corner]);
            let (Some(a), Some(b)) = (pair.next(), pair.next()) else { continue };
            self.open.push(([a.min(b), a.max(b)], new, place));
        }
        new
    }

    /// Makes neighbours of the new cells that share a face.
    pub(super) fn join_new(&mut self) {
        self.open.sort_unstable();
        for pair in self.open.chunks_exact(2) {
            let [(_, a, of_a), (_, b, of_b)] = [pair[0], pair[1]];
            self.cells[a as usize].neighbours[of_a] = b;
            self.cells[b as usize].neighbours[of_b] = a;
        }
        self.open.clear();
    }

    /// Removes cells that are no longer anybody's neighbours.
    pub(super) fn remove(&mut self, numbers: &[u32]) {
        self.removed.extend_from_slice(numbers);
    }

    fn add(&mut self, cell: Cell) -> u32 {
        match self.removed.pop() {
            Some(number) => {
                self.cells[number as usize] = cell;
                number
            }
            None => {
                self.cells.push(cell);
                self.cells.len() as u32 - 1
            }
        }
    }

    /// The cells that were not removed, with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Cell)> {
        let mut there = vec![true; self.cells.len()];
        for &number in &self.removed {
            there[number as usize] = false;
        }
        (0..).zip(self.cells.iter().copied()).zip(there).filter_map(|(cell, there)| there.then_some(cell))
    }

    /// The tetrahedra, and the triangles of the hull, anticlockwise as seen from outside.
    pub(super) fn into_parts(self) -> (Vec<[u32; 4]>, Vec<[u32; 3]>) {
        let (mut tetrahedra, mut hull) = (Vec::new(), Vec::new());
        for (_, Cell { mut corners, .. }) in self.iter() {
            match corners.iter().position(|&corner| corner == BEYOND) {
                None => tetrahedra.push(corners),
                Some(place) => {
                    // Seen from a fourth corner, the first three are clockwise. A swap reverses that.
                    if place == 3 {
                        corners.swap(0, 1);
                    } else {
                        corners.swap(place, 3);
                    }
                    hull.push([corners[0], corners[1], corners[2]]);
                }
            }
        }
        (tetrahedra, hull)
    }
}
