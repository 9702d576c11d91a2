//! Up*/down*: never up again after down. Free of deadlock on every topology.
//!
//! Routers are ranked by their distance from router 0, those of one distance by number. A channel to a router of lower
//! rank leads up, the others down. No packet goes up after it has gone down, so no cycle of channels can wait for each
//! other: such a cycle would have to turn from down to up somewhere.
//!
//! A header that can reach its destination by going down only goes down, along one of the shortest such paths.
//! Otherwise it goes up, along one of the shortest paths that end like that. So what it does depends on where it is and
//! not on how it came there. Where several channels are as good, they are a choice, and the source's own is the one of
//! its number modulo theirs.
//!
//! Source: Schroeder and others, Autonet: a high-speed, self-configuring local area network, IEEE JSAC 9(8), 1991.

use super::deadlock::VirtualChannel;
use super::neighbours::Neighbours;
use super::next_hops::{self, BATCH, NextHops, TableBuilder};
use super::{Ground, NetworkView, RouteState, RouterView, Row, Step};
use crate::model::{FlitNetwork, RouterId};
use crate::topology::Plan;

/// Never up after down.
#[derive(Clone, Debug)]
pub struct UpDown(NextHops);

impl Row for UpDown {
    const ABOUT: &'static str = "Never up again after down, by distance from router 0: for every topology.";
    const SERVES_ALL: bool = true;

    fn prepare(ground: &mut Ground<'_>) -> Result<UpDown, String> {
        next_hops::table(ground, next_hops).map(UpDown)
    }

    /// A cycle would have to turn from down to up somewhere.
    fn cycle(&self, _: &FlitNetwork) -> Option<Vec<VirtualChannel>> {
        None
    }

    #[inline]
    fn step<N: NetworkView>(&self, view: &RouterView<'_, N>, _: &mut RouteState) -> Step<'_> {
        self.0.step(view)
    }
}

/// A distance that no path has.
const UNREACHABLE: u32 = 1 << 30;

/// Works out the channels for every pair of routers; nothing where their table would be too large.
fn next_hops(plan: &Plan, neighbours: &Neighbours) -> Option<NextHops> {
    let levels = Levels::of(neighbours);
    let mut distances = Distances {
        only_down: vec![[UNREACHABLE; BATCH]; neighbours.routers()],
        any: vec![[UNREACHABLE; BATCH]; neighbours.routers()],
    };
    next_hops::fill(plan, neighbours, |destinations, filling| {
        distances.work_out(&levels, destinations);
        distances.enter(&levels, destinations.len(), filling);
    })
}

/// For every router, its distance from router 0 and its number: the lower is above.
fn ranks(neighbours: &Neighbours) -> Vec<(u32, u32)> {
    let mut ranks = vec![(UNREACHABLE, 0); neighbours.routers()];
    for (router, rank) in ranks.iter_mut().enumerate() {
        rank.1 = router as u32;
    }
    ranks[0].0 = 0;
    let mut reached = vec![0usize];
    let mut next = 0;
    while let Some(&router) = reached.get(next) {
        next += 1;
        for &(_, to) in neighbours.out(router) {
            if ranks[to].0 == UNREACHABLE {
                ranks[to].0 = ranks[router].0 + 1;
                reached.push(to);
            }
        }
    }
    ranks
}

/// The routers from the highest to the lowest.
fn in_order(ranks: &[(u32, u32)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|&router| ranks[router]);
    order
}

/// The routers in order of rank, the highest first. A place is an index into them.
struct Levels {
    order: Vec<usize>,
    /// For every router, its place.
    places: Vec<usize>,
    /// For every place, where the channels from its router lead.
    out: Vec<Vec<usize>>,
}

impl Levels {
    fn of(neighbours: &Neighbours) -> Levels {
        let ranks = ranks(neighbours);
        let order = in_order(&ranks);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &router)| places[router] = place);
        let leads = |&router: &usize| neighbours.out(router).iter().map(|(_, to)| places[*to]).collect();
        let out = order.iter().map(leads).collect();
        Levels { order, places, out }
    }
}

/// For every place and destination of a batch, how many channels are left.
struct Distances {
    /// On ways that only go down.
    only_down: Vec<[u32; BATCH]>,
    /// On ways that go down where they can, and up before.
    any: Vec<[u32; BATCH]>,
}

impl Distances {
    fn work_out(&mut self, levels: &Levels, destinations: &[RouterId]) {
        self.only_down.fill([UNREACHABLE; BATCH]);
        for (index, destination) in destinations.iter().enumerate() {
            self.only_down[levels.places[destination.0 as usize]][index] = 0;
        }
        // Ways down end at the lowest router first: everything below a router is known before it.
        for (place, leads) in levels.out.iter().enumerate().rev() {
            let mut best = self.only_down[place];
            for &below in leads.iter().filter(|&&to| to > place) {
                one_more(&mut best, &self.only_down[below]);
            }
            self.only_down[place] = best;
        }
        for (place, leads) in levels.out.iter().enumerate() {
            let mut best = [UNREACHABLE; BATCH];
            for &above in leads.iter().filter(|&&to| to < place) {
                one_more(&mut best, &self.any[above]);
            }
            for ((any, down), best) in self.any[place].iter_mut().zip(&self.only_down[place]).zip(best) {
                *any = if *down < UNREACHABLE { *down } else { best };
            }
        }
    }

    /// Enters the channels that are good on the way.
    fn enter(&self, levels: &Levels, destinations: usize, filling: &mut TableBuilder<'_>) {
        for (place, &router) in levels.order.iter().enumerate() {
            let (down, any) = (&self.only_down[place], &self.any[place]);
            let leads = &levels.out[place];
            filling.row(router, destinations, |channel, good| {
                let to = leads[channel];
                let goes_down = to > place;
                let left = if goes_down { &self.only_down[to] } else { &self.any[to] };
                for (index, good) in good.iter_mut().enumerate() {
                    *good = (down[index] < UNREACHABLE) == goes_down && left[index] + 1 == any[index];
                }
            });
        }
    }
}

/// Lowers each distance to one more than the other, where that is less.
#[inline]
fn one_more(best: &mut [u32; BATCH], other: &[u32; BATCH]) {
    for (best, other) in best.iter_mut().zip(other) {
        *best = (*best).min(other + 1);
    }
}
