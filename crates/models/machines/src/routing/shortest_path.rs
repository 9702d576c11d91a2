//! Shortest paths on any topology; of several channels as good, the one of the lowest number.

use super::neighbours::Neighbours;
use super::next_hops::{self, BATCH, NextHops};
use super::{Ground, NetworkView, RouteState, RouterView, Row, Step};
use crate::topology::Plan;

/// By a shortest path.
#[derive(Clone, Debug)]
pub struct ShortestPath(NextHops);

impl Row for ShortestPath {
    const ABOUT: &'static str =
        "A shortest path; ties go to the channel of the lowest number. For every topology that it cannot deadlock on.";

    fn prepare(ground: &mut Ground<'_>) -> Result<ShortestPath, String> {
        next_hops::table(ground, next_hops).map(ShortestPath)
    }

    #[inline]
    fn step<N: NetworkView>(&self, view: &RouterView<'_, N>, _: &mut RouteState) -> Step<'_> {
        self.0.step(view)
    }
}

/// A distance that no way has.
const UNREACHABLE: u32 = u32::MAX;

/// Works out the table for every router and every router of destination; nothing where it would be too large.
fn next_hops(plan: &Plan, neighbours: &Neighbours) -> Option<NextHops> {
    let mut distances: Vec<[u32; BATCH]> = vec![[UNREACHABLE; BATCH]; neighbours.routers()];
    next_hops::fill(plan, neighbours, |destinations, filling| {
        distances.fill([UNREACHABLE; BATCH]);
        for (index, destination) in destinations.iter().enumerate() {
            measure(neighbours, destination.0 as usize, index, &mut distances);
        }
        for router in 0..neighbours.routers() {
            let out = neighbours.out(router);
            let mut found = [false; BATCH];
            filling.row(router, destinations.len(), |channel, leads| {
                let (left, current) = (&distances[out[channel].1], &distances[router]);
                for index in 0..BATCH {
                    leads[index] = !found[index] && left[index] < current[index];
                    found[index] |= leads[index];
                }
            });
        }
    })
}

/// Notes at `index` how far every router is from router `home`.
fn measure(neighbours: &Neighbours, home: usize, index: usize, distances: &mut [[u32; BATCH]]) {
    distances[home][index] = 0;
    let mut reached = vec![home];
    let mut next = 0;
    while let Some(&router) = reached.get(next) {
        next += 1;
        for &(_, from) in neighbours.into(router) {
            if distances[from][index] == UNREACHABLE {
                distances[from][index] = distances[router][index] + 1;
                reached.push(from);
            }
        }
    }
}
