//! Partitions by repeatedly cutting space in two.

use std::num::NonZeroU32;

use super::Partition;
use crate::applications::mesh::Point;

/// Divides points in space into `parts` parts: the points are cut in two across the longest side of their bounding box,
/// in proportion to the numbers of parts on either side, and then each side in the same way.
///
/// ```text
///   +----+-------+
///   |    |   2   |      3 parts: first a third of the points is cut off,
///   |  0 +-------+      then the rest is halved
///   |    |   1   |
///   +----+-------+
/// ```
///
/// The size of each part differs from its share by less than two points. O(n log P) comparisons.
///
/// Source: Berger and Bokhari, "A partitioning strategy for nonuniform problems on multiprocessors", IEEE Transactions
/// on Computers C-36(5), 1987.
pub fn recursive_coordinate_bisection(points: &[Point], parts: NonZeroU32) -> Partition {
    let parts = parts.get();
    let mut part_of = vec![0; points.len()];
    let mut numbers: Vec<u32> = (0..points.len() as u32).collect();
    cut(points, &mut numbers, 0, parts, &mut part_of);
    Partition { parts, part_of }
}

/// Gives the points `numbers` to the parts from `first` to `first` + `parts` - 1.
fn cut(points: &[Point], numbers: &mut [u32], first: u32, parts: u32, part_of: &mut [u32]) {
    if parts <= 1 || numbers.is_empty() {
        for &number in numbers.iter() {
            part_of[number as usize] = first;
        }
        return;
    }
    let axis = longest_side(points, numbers);
    let low_parts = parts / 2;
    let low = (numbers.len() as u64 * u64::from(low_parts) / u64::from(parts)) as usize;
    // Ties are broken by the points' numbers: the cut does not depend on their current order.
    let along = |a: &u32, b: &u32| {
        let at = |number: u32| points[number as usize][axis];
        at(*a).total_cmp(&at(*b)).then(a.cmp(b))
    };
    numbers.select_nth_unstable_by(low, along);
    let (below, above) = numbers.split_at_mut(low);
    cut(points, below, first, low_parts, part_of);
    cut(points, above, first + low_parts, parts - low_parts, part_of);
}

/// The axis along which the points extend farthest; the first of equals.
fn longest_side(points: &[Point], numbers: &[u32]) -> usize {
    let reach = |axis: usize| {
        let along = || numbers.iter().map(|&number| points[number as usize][axis]);
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    let sides = [0, 1, 2].map(reach);
    (1..3).fold(0, |longest, axis| if sides[axis] > sides[longest] { axis } else { longest })
}
