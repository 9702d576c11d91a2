//! Exact tests of which side a point lies on.
//!
//! The signs are correct for all numbers, however close to a tie: they are computed with as many digits as needed
//! (Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates", Discrete and
//! Computational Geometry 18, 1997), as long as no product leaves the range of numbers.

use robust::{Coord, Coord3D};

use super::Point;

/// The largest coordinate: its fifth power, which occurs in a predicate, does not overflow.
pub(super) const LARGEST: f64 = 1e50;

/// Which side of the plane through a, b and c point d lies on: positive where (a - d) . ((b - d) x (c - d)) is.
pub(super) fn orientation([a, b, c, d]: [Point; 4]) -> f64 {
    robust::orient3d(space(a), space(b), space(c), space(d))
}

/// Whether `point` lies within the sphere through the four corners, whose orientation is positive.
pub(super) fn within_sphere([a, b, c, d]: [Point; 4], point: Point) -> bool {
    robust::insphere(space(a), space(b), space(c), space(d), space(point)) > 0.0
}

/// Whether three points lie on a line: then so do their projections onto all three coordinate planes.
pub(super) fn on_a_line(a: Point, b: Point, c: Point) -> bool {
    [(0, 1), (1, 2), (2, 0)].into_iter().all(|(x, y)| {
        let shadow = |point: Point| Coord { x: point[x], y: point[y] };
        robust::orient2d(shadow(a), shadow(b), shadow(c)) == 0.0
    })
}

fn space([x, y, z]: Point) -> Coord3D<f64> {
    Coord3D { x, y, z }
}
