//! A rectangular grid, in which each point is next to those to its left and right, above and below.

/// A grid of `width` times `height` points, numbered row by row.
///
/// ```text
///   0 - 1 - 2
///   |   |   |        width 3, height 2
///   3 - 4 - 5
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The number of points in a row.
    pub width: u16,
    /// The number of rows.
    pub height: u16,
}

impl Grid {
    /// How many points it has.
    pub fn points(&self) -> usize {
        usize::from(self.width) * usize::from(self.height)
    }

    /// Column and row of each point, in the order of their numbers.
    pub fn places(&self) -> impl Iterator<Item = (u16, u16)> + use<> {
        let Grid { width, height } = *self;
        (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
    }

    /// The pairs of points next to each other, each once, its lower number first, in ascending order.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let Grid { width, height } = *self;
        let of_one = |(x, y): (u16, u16)| {
            let point = u32::from(y) * u32::from(width) + u32::from(x);
            let right = (x < width - 1).then_some([point, point + 1]);
            let below = (y < height - 1).then_some([point, point + u32::from(width)]);
            right.into_iter().chain(below)
        };
        self.places().flat_map(of_one).collect()
    }
}
