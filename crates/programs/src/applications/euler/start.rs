//! Flows to start from.

use super::gas::{GasState, pressure, state};
use crate::applications::mesh::{Point, difference, dot};

/// A smooth disturbance of a uniform flow: a ball in which density and pressure are higher.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bump {
    /// The middle of the ball.
    pub middle: Point,
    /// Its radius.
    pub radius: f64,
    /// The share by which density and pressure are higher in its middle.
    pub height: f64,
}

impl Bump {
    /// In the middle of the unit cube, half as wide as the cube, with a height of a tenth.
    pub const MIDDLE: Bump = Bump { middle: [0.5; 3], radius: 0.25, height: 0.1 };

    /// The flow `uniform` with this disturbance at each of `points`: higher by height (1 - (d / radius)^2)^2 at the
    /// distance d, with the same velocity everywhere.
    pub fn on(&self, uniform: GasState, points: &[Point]) -> Vec<GasState> {
        let [density, x, y, z, _] = uniform;
        let velocity = [x / density, y / density, z / density];
        let at = |point: &Point| {
            let from_middle = difference(*point, self.middle);
            let inside = (1.0 - dot(from_middle, from_middle) / (self.radius * self.radius)).max(0.0);
            let raised = (1.0 + self.height * inside * inside) as f32;
            if raised == 1.0 { uniform } else { state(density * raised, velocity, pressure(uniform) * raised) }
        };
        points.iter().map(at).collect()
    }
}
