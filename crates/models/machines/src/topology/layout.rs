//! Where the routers of a graph are drawn that says nothing about it: routers that are few links apart are drawn near
//! each other.
//!
//! ```text
//!   D(i, j) := the links between routers i and j         breadth-first search
//!   choose pivots, each as far as possible from those before it
//!   C := the squared distances to the pivots, with rows and columns centred
//!   x, y := the two principal components of C            the first positions
//!   repeat, each time with shorter steps:
//!     for each router i and pivot j:                     of a small graph, all routers are pivots
//!       move i towards or away from j, so that they are D(i, j) apart
//!   push apart routers whose boxes would overlap
//! ```
//!
//! Sources: Brandes and Pich, "Eigensolver Methods for Progressive Multidimensional Scaling of Large Data" (Graph
//! Drawing, 2006), for the pivots; Zheng, Pawar and Goodman, "Graph Drawing by Stochastic Gradient Descent" (IEEE
//! Transactions on Visualization and Computer Graphics, 2018), for the moves. Nothing is drawn at random, and there is
//! nothing but sums, products, quotients and square roots: so the same graph has the same positions on every machine.

use std::collections::VecDeque;

/// More routers than this are drawn row by row: nobody could see more.
const MOST: usize = 1 << 14;
/// Up to this many routers, each is a pivot.
const FEW: usize = 256;
/// Pivots of larger graphs.
const PIVOTS: usize = 24;
/// Rounds of moves.
const ROUNDS: i32 = 40;
/// How often routers are pushed apart.
const PUSHES: usize = 60;
/// The length of a link in the drawing. [boxes]
const LINK: f64 = 2.0;
/// Routers are pushed apart to this distance. [boxes]
const APART: f64 = 1.2;

/// A position in the drawing.
type Place = [f64; 2];

/// Positions for routers with these neighbours, in units of a router's box.
pub(super) fn positions(neighbours: &[Vec<u32>]) -> Vec<(f32, f32)> {
    let count = neighbours.len();
    if count > MOST {
        let side = count.isqrt();
        return (0..count).map(|router| ((router % side) as f32, (router / side) as f32)).collect();
    }
    let pivots = pivots(neighbours, if count <= FEW { count } else { PIVOTS });
    let mut places = principal(count, &pivots);
    apart_a_little(&mut places);
    move_to_distances(&mut places, &pivots);
    places.iter_mut().for_each(|place| *place = place.map(|coordinate| coordinate * LINK));
    if count <= FEW {
        push_apart(&mut places);
    }
    places.iter().map(|place| (place[0] as f32, place[1] as f32)).collect()
}

/// A router, and how far the others are from it.
struct Pivot {
    router: usize,
    /// For each router, in links.
    distance: Vec<f64>,
}

/// Pivots, each the router farthest from all those before it.
fn pivots(neighbours: &[Vec<u32>], count: usize) -> Vec<Pivot> {
    let mut nearest = vec![f64::INFINITY; neighbours.len()];
    let mut pivots = Vec::with_capacity(count);
    let mut next = 0;
    while pivots.len() < count {
        let distance = distances(neighbours, next);
        nearest.iter_mut().zip(&distance).for_each(|(nearest, distance)| *nearest = nearest.min(*distance));
        pivots.push(Pivot { router: next, distance });
        let farthest = |best: usize, router: usize| if nearest[router] > nearest[best] { router } else { best };
        next = (0..neighbours.len()).fold(0, farthest);
    }
    pivots
}

/// How many links each router is from `start`. What cannot be reached counts as two links farther than anything else.
fn distances(neighbours: &[Vec<u32>], start: usize) -> Vec<f64> {
    let mut links = vec![u32::MAX; neighbours.len()];
    let mut queue = VecDeque::from([start]);
    links[start] = 0;
    let mut farthest = 0;
    while let Some(router) = queue.pop_front() {
        farthest = links[router];
        for &neighbour in &neighbours[router] {
            if links[neighbour as usize] == u32::MAX {
                links[neighbour as usize] = farthest + 1;
                queue.push_back(neighbour as usize);
            }
        }
    }
    links.into_iter().map(|links| f64::from(if links == u32::MAX { farthest + 2 } else { links })).collect()
}

/// The two principal components of the centred squared distances.
fn principal(count: usize, pivots: &[Pivot]) -> Vec<Place> {
    let squared = |router: usize, pivot: &Pivot| pivot.distance[router] * pivot.distance[router];
    let of_pivots: Vec<f64> = pivots
        .iter()
        .map(|pivot| (0..count).map(|router| squared(router, pivot)).sum::<f64>() / count as f64)
        .collect();
    let all = of_pivots.iter().sum::<f64>() / pivots.len() as f64;
    let row = |router: usize| -> Vec<f64> {
        let own = pivots.iter().map(|pivot| squared(router, pivot)).sum::<f64>() / pivots.len() as f64;
        pivots
            .iter()
            .zip(&of_pivots)
            .map(|(pivot, of_pivot)| (of_pivot + own - all - squared(router, pivot)) / 2.0)
            .collect()
    };
    let centred: Vec<Vec<f64>> = (0..count).map(row).collect();
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for _ in 0..2 {
        let axis = axis(&centred, &axes);
        axes.push(axis);
    }
    let mut places: Vec<Place> = centred.iter().map(|row| [dot(row, &axes[0]), dot(row, &axes[1])]).collect();
    // So that the drawing is as wide as the longest way has links.
    let widest = places.iter().flatten().fold(1e-9_f64, |most, coordinate| most.max(coordinate.abs()));
    let longest = pivots.iter().flat_map(|pivot| &pivot.distance).fold(1.0_f64, |most, distance| most.max(*distance));
    places.iter_mut().flatten().for_each(|coordinate| *coordinate *= longest / (2.0 * widest));
    places
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// The direction in which the rows spread most, at right angles to `others`: by power iteration.
fn axis(rows: &[Vec<f64>], others: &[Vec<f64>]) -> Vec<f64> {
    const ITERATIONS: usize = 60;
    let width = rows.first().map_or(0, Vec::len);
    // Any direction would do that is not at right angles to the one sought.
    let mut axis: Vec<f64> = (0..width).map(|place| 1.0 / (place as f64 + 1.0 + others.len() as f64)).collect();
    for _ in 0..ITERATIONS {
        let mut next = vec![0.0; width];
        for row in rows {
            let along = dot(row, &axis);
            next.iter_mut().zip(row).for_each(|(next, value)| *next += along * value);
        }
        for other in others {
            let along = dot(&next, other);
            next.iter_mut().zip(other).for_each(|(next, value)| *next -= along * value);
        }
        let length = dot(&next, &next).sqrt();
        if length < 1e-12 {
            break;
        }
        axis = next.into_iter().map(|value| value / length).collect();
    }
    axis
}

/// Moves routers that lie on one another a little apart, each in another direction: between two of them no other move
/// has a direction.
fn apart_a_little(places: &mut [Place]) {
    // Steps by the golden section, which fill the interval from 0 to 1 evenly.
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    for (number, place) in places.iter_mut().enumerate() {
        let (across, down) = ((number as f64 * GOLDEN).fract() - 0.5, (number as f64 * GOLDEN * GOLDEN).fract() - 0.5);
        *place = [place[0] + across * 0.1, place[1] + down * 0.1];
    }
}

/// Moves routers until they are as far from pivots as there are links between them, near ones first and foremost.
fn move_to_distances(places: &mut [Place], pivots: &[Pivot]) {
    let mut step = 1.0;
    for _ in 0..ROUNDS {
        for pivot in pivots {
            for router in 0..places.len() {
                let distance = pivot.distance[router];
                if router == pivot.router {
                    continue;
                }
                let there = places[pivot.router];
                let apart = [places[router][0] - there[0], places[router][1] - there[1]];
                let length = (apart[0] * apart[0] + apart[1] * apart[1]).sqrt().max(1e-9);
                // The weight of a pair falls with the square of its distance.
                let share = (step * (distance - length) / length / (distance * distance)).clamp(-0.5, 0.5) / 2.0;
                for side in [0, 1] {
                    places[router][side] += apart[side] * share;
                    places[pivot.router][side] -= apart[side] * share;
                }
            }
        }
        step *= 0.92;
    }
}

/// Pushes routers apart that are nearer than [`APART`].
fn push_apart(places: &mut [Place]) {
    for _ in 0..PUSHES {
        let mut has_moved = false;
        for one in 0..places.len() {
            for other in one + 1..places.len() {
                let apart = [places[other][0] - places[one][0], places[other][1] - places[one][1]];
                let length = (apart[0] * apart[0] + apart[1] * apart[1]).sqrt();
                if length < APART {
                    has_moved = true;
                    let share = (APART - length) / length.max(1e-3) / 2.0;
                    for side in [0, 1] {
                        places[other][side] += apart[side] * share;
                        places[one][side] -= apart[side] * share;
                    }
                }
            }
        }
        if !has_moved {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(count: u32) -> Vec<Vec<u32>> {
        (0..count).map(|router| vec![(router + 1) % count, (router + count - 1) % count]).collect()
    }

    fn apart(one: (f32, f32), other: (f32, f32)) -> f32 {
        (one.0 - other.0).hypot(one.1 - other.1)
    }

    #[test]
    fn a_ring_is_drawn_as_a_circle() {
        for count in [12, 100] {
            let places = positions(&ring(count));
            let centre = places.iter().fold((0.0, 0.0), |sum, place| (sum.0 + place.0, sum.1 + place.1));
            let centre = (centre.0 / count as f32, centre.1 / count as f32);
            let radii: Vec<f32> = places.iter().map(|place| apart(*place, centre)).collect();
            let (least, most) =
                radii.iter().fold((f32::MAX, 0.0_f32), |(least, most), r| (least.min(*r), most.max(*r)));
            assert!(most < 1.4 * least, "{count} routers: radii from {least} to {most}");
        }
    }

    #[test]
    fn no_two_routers_lie_on_one_another() {
        let star: Vec<Vec<u32>> = (0..40).map(|router| if router == 0 { (1..40).collect() } else { vec![0] }).collect();
        let islands: Vec<Vec<u32>> = (0..30).map(|router| vec![router ^ 1]).collect();
        for graph in [star, islands, vec![Vec::new(); 20], vec![Vec::new()]] {
            let places = positions(&graph);
            for (number, one) in places.iter().enumerate() {
                assert!(one.0.is_finite() && one.1.is_finite());
                for other in &places[number + 1..] {
                    assert!(apart(*one, *other) > 0.5 * APART as f32, "{places:?}");
                }
            }
        }
    }
}
