//! Up*/down*: never up again after down. Free of deadlock on every topology.
//!
//! Routers are ranked by their distance from router 0, those of one distance by number. A channel to a router of lower
//! rank leads up, the others down. No packet goes up after it has gone down, so no circle of channels can wait for each
//! other: such a circle would have to turn from down to up somewhere.
//!
//! A header from whose router there is a way down goes down, by one of the shortest such ways. Otherwise it goes up, by
//! one of the shortest ways that end like that. So what it does depends on where it is and not on how it came there.
//! Where several channels are as good, they are a choice, and the source's own is the one of its number modulo theirs.

use super::neighbours::Neighbours;
use crate::model::{ChannelId, NodeId, RouterId};
use crate::routing::Step;
use crate::topology::{Plan, ejection};

/// A distance that no way has.
const UNREACHABLE: u32 = u32::MAX;

/// Never up after down.
#[derive(Clone, Debug)]
pub struct UpDown {
    routers: usize,
    /// For every router of destination and router, where its channels begin in `options`; one more at the end.
    first: Vec<u32>,
    options: Vec<ChannelId>,
    homes: Vec<RouterId>,
    /// For every node, the channel to it; an option list of one.
    ejection: Vec<ChannelId>,
}

impl UpDown {
    /// Works out the channels for every pair of routers.
    pub(crate) fn new(plan: &Plan) -> UpDown {
        let neighbours = Neighbours::of(plan);
        let ranks = ranks(&neighbours);
        let by_rank = in_order(&ranks);
        let routers = plan.routers.len();
        let mut entries = Entries { first: Vec::with_capacity(routers * routers + 1), options: Vec::new() };
        for destination in 0..routers {
            towards(&neighbours, &ranks, &by_rank, destination, &mut entries);
        }
        entries.first.push(entries.options.len() as u32);
        let Entries { first, options } = entries;
        let ejection = (0..plan.homes.len() as u32).map(ejection).collect();
        UpDown { routers, first, options, homes: plan.homes.clone(), ejection }
    }

    #[inline]
    pub(super) fn step(&self, at: RouterId, source: NodeId, destination: NodeId) -> Step<'_> {
        let home = self.homes[destination.0 as usize];
        if home == at {
            return Step::Only(self.ejection[destination.0 as usize]);
        }
        let entry = home.0 as usize * self.routers + at.0 as usize;
        let options = &self.options[self.first[entry] as usize..self.first[entry + 1] as usize];
        match options {
            [only] => Step::Only(*only),
            _ => Step::Choose { options, fixed: source.0 as usize % options.len() },
        }
    }
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

/// The lists of channels, one after the other.
struct Entries {
    first: Vec<u32>,
    options: Vec<ChannelId>,
}

/// Adds for every router the channels that are good on the way to router `destination`.
fn towards(
    neighbours: &Neighbours,
    ranks: &[(u32, u32)],
    by_rank: &[usize],
    destination: usize,
    entries: &mut Entries,
) {
    let mut only_down = vec![UNREACHABLE; ranks.len()];
    only_down[destination] = 0;
    // Ways down end at the lowest router first: everything below a router is known before it.
    for &router in by_rank.iter().rev() {
        let below = neighbours.out(router).iter().filter(|(_, to)| ranks[*to] > ranks[router]);
        let best = below.map(|(_, to)| only_down[*to].saturating_add(1)).min().unwrap_or(UNREACHABLE);
        only_down[router] = only_down[router].min(best);
    }
    let mut distance = only_down.clone();
    for &router in by_rank {
        if only_down[router] == UNREACHABLE {
            let above = neighbours.out(router).iter().filter(|(_, to)| ranks[*to] < ranks[router]);
            let best = above.map(|(_, to)| distance[*to].saturating_add(1)).min();
            distance[router] = best.unwrap_or(UNREACHABLE);
        }
    }
    for (router, &rank) in ranks.iter().enumerate() {
        entries.first.push(entries.options.len() as u32);
        let goes_down = only_down[router] != UNREACHABLE;
        let left = if goes_down { &only_down } else { &distance };
        if router == destination || left[router] == UNREACHABLE {
            continue;
        }
        let good = |to: usize| (ranks[to] > rank) == goes_down && left[to] == left[router] - 1;
        let channels = neighbours.out(router).iter().filter(|(_, to)| good(*to));
        entries.options.extend(channels.map(|(channel, _)| *channel));
    }
}
