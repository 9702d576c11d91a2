//! Points and vectors in space, and exact tests of which side a point lies on.
//!
//! The signs of the tests are correct for all numbers, however close to a tie: they are computed with as many digits as
//! needed (Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates", Discrete and
//! Computational Geometry 18, 1997), as long as no product leaves the range of numbers.

use robust::{Coord, Coord3D};

/// The largest coordinate: its fifth power, which occurs in a predicate, does not overflow.
pub(super) const LARGEST: f64 = 1e50;

/// A place in space.
pub type Point = [f64; 3];
/// A direction with a length.
pub type Vector = [f64; 3];

/// The vector from `b` to `a`.
pub fn difference(a: Point, b: Point) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The sum of two vectors.
pub fn sum(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// A vector `by` times as long.
pub fn scaled(a: Vector, by: f64) -> Vector {
    [a[0] * by, a[1] * by, a[2] * by]
}

/// The inner product.
pub fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The cross product: at right angles to both, as long as the area of their parallelogram.
pub fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The centre of some points.
pub fn mean<const N: usize>(points: [Point; N]) -> Point {
    scaled(points.into_iter().fold([0.0; 3], sum), 1.0 / N as f64)
}

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
