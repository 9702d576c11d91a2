//! A rectangular grid, each of whose points is next to those left, right, above and below.

/// A grid of `width` times `height` points, numbered row by row.
///
/// ```text
///   0 - 1 - 2
///   |   |   |        width 3, height 2
///   3 - 4 - 5
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Points in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Grid {
    /// How many points it has.
    pub fn points(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Column and row of each point, in the order of their numbers.
    pub fn places(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let Grid { width, height } = *self;
        (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
    }

    /// The pairs of points next to each other, each once, its lower number first, in ascending order.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let Grid { width, height } = *self;
        let of_one = |(x, y): (u32, u32)| {
            let here = y * width + x;
            let right = (x + 1 < width).then_some([here, here + 1]);
            let below = (y + 1 < height).then_some([here, here + width]);
            right.into_iter().chain(below)
        };
        self.places().flat_map(of_one).collect()
    }
}
