//! Vectors in space.

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
