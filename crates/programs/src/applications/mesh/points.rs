//! Seeded sets of points.

use super::Point;
use quantities::shuffle::share;

/// `count` points in the unit cube, each place equally likely.
pub fn uniform(count: u32, seed: u64) -> Vec<Point> {
    let mut state = seed;
    (0..count).map(|_| anywhere(&mut state)).collect()
}

/// A body in the flow, around which points are denser: a box with sides along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Its middle.
    pub middle: Point,
    /// Half the length of each side.
    pub half: [f64; 3],
}

impl Body {
    /// A thin half wing that stands on one wall of the unit cube: chord along x, span along y.
    pub const WING: Body = Body { middle: [0.45, 0.2, 0.5], half: [0.1, 0.2, 0.01] };

    /// How far a point is from it; zero within.
    pub fn distance(&self, point: Point) -> f64 {
        let outside = |axis: usize| ((point[axis] - self.middle[axis]).abs() - self.half[axis]).max(0.0);
        let [x, y, z] = [0, 1, 2].map(outside);
        (x * x + y * y + z * z).sqrt()
    }
}

/// `count` points in the unit cube with a density of (1 + d / `near`)^-3 at the distance d from `body`: so beyond
/// `near`, the spacing of the points grows in proportion to the distance, as in meshes for the flow around
/// a wing.
pub fn graded(count: u32, seed: u64, body: &Body, near: f64) -> Vec<Point> {
    let mut state = seed;
    let mut points = Vec::with_capacity(count as usize);
    while points.len() < count as usize {
        let point = anywhere(&mut state);
        let spacing = 1.0 + body.distance(point) / near;
        if share(&mut state) * spacing * spacing * spacing < 1.0 {
            points.push(point);
        }
    }
    points
}

fn anywhere(state: &mut u64) -> Point {
    [share(state), share(state), share(state)]
}
