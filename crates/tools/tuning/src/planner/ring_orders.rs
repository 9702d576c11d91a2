//! Orders of ranks for rings, where links are unequal or shared.
//!
//! A ring is as fast as its slowest link, and a link that several hops of it cross is slower by so much. So each order
//! of ranks has a cost: how long the busiest channel is busy while every rank sends one byte to the next. An order is
//! improved by turning parts of it round as long as that lowers its cost (2-opt: Croes, "A Method for Solving
//! Traveling-Salesman Problems", Operations Research 6(6), 1958), or, at equal cost, the sum of all hops. Then a ring
//! goes back along the same order, on the other direction of its links, and another one along an order for what these
//! leave idle, as long as each addition makes all together faster.

use collectives::Group;
use collectives::all_reduce::WeightedRing;
use machines::model::{ChannelId, FlitNetwork, Interconnect};
use quantities::Rank;

use crate::benchmark::Site;

/// Orders of more ranks are not searched.
const MOST_RANKS: u32 = 64;
/// An order, or another ring, must lower the cost at least to this share of what it was.
const WORTHWHILE: f64 = 0.95;
/// How many pairs of rings there are at most: one along an order, one back.
const MOST_PAIRS: usize = 3;
/// The weight of a ring whose busiest channel takes the least time; others have less.
const FULL_WEIGHT: f64 = 12.0;

/// Rings that may be faster than the one in order of rank, from the first step of the search on: a better order, both
/// directions of it, and then with further orders. None if the ring in order of rank is as good.
pub(super) fn better_rings(site: &Site<'_>) -> Vec<Vec<WeightedRing>> {
    let Interconnect::Flits(network) = &site.machine.interconnect else { return Vec::new() };
    if !(3..=MOST_RANKS).contains(&site.ranks) {
        return Vec::new();
    }
    let search = Search::new(site, network);
    let usual: Vec<u32> = (0..site.ranks).collect();
    let mut best = search.cost(&[(&usual, 1.0)]);
    if search.least_cost() > WORTHWHILE * best {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut rings = vec![search.improved(&[])];
    let cost = search.cost(&[(&rings[0], 1.0)]);
    if cost <= WORTHWHILE * best {
        best = cost;
        found.push(as_groups(&search.weighted(&rings)));
    } else {
        rings = vec![usual];
    }
    for pair in 0..MOST_PAIRS {
        let order = if pair == 0 { rings[0].clone() } else { search.improved(&rings) };
        let back: Vec<u32> = std::iter::once(order[0]).chain(order[1..].iter().rev().copied()).collect();
        for ring in std::iter::once(order).skip(usize::from(pair == 0)).chain([back]) {
            rings.push(ring);
            let weighted = search.weighted(&rings);
            let cost = search.cost(&weighted);
            if cost > WORTHWHILE * best {
                rings.pop();
                continue;
            }
            best = cost;
            found.push(as_groups(&weighted));
        }
    }
    found
}

/// Rings with their weights, as the program takes them.
fn as_groups(weighted: &[(&[u32], f64)]) -> Vec<WeightedRing> {
    let ring = |(order, weight): &(&[u32], f64)| {
        let order = Group::listed(order.iter().copied().map(Rank).collect()).ok()?;
        Some(WeightedRing { order, weight: (FULL_WEIGHT * weight).round().max(1.0) as u32 })
    };
    weighted.iter().filter_map(ring).collect()
}

/// The ways between all ranks.
struct Search {
    ranks: usize,
    /// The channels from each rank to each other.
    ways: Vec<Vec<ChannelId>>,
    /// How long a byte takes on each channel. [ps]
    byte_times: Vec<f64>,
}

impl Search {
    fn new(site: &Site<'_>, network: &FlitNetwork) -> Search {
        let ranks = site.ranks;
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (Rank(from), Rank(to))));
        let ways = pairs.map(|(from, to)| network.route(site.node_of(from), site.node_of(to))).collect();
        let flit = network.packet.flit.0 as f64;
        let byte_times = network.channels.iter().map(|channel| channel.flit_time.picoseconds() as f64 / flit).collect();
        Search { ranks: ranks as usize, ways, byte_times }
    }

    /// The cost of a ring whose busiest channel is the one from a rank, or the one to it. [ps]
    fn least_cost(&self) -> f64 {
        let ends = (0..self.ranks as u32).flat_map(|rank| {
            let next = (rank + 1) % self.ranks as u32;
            [self.way(rank, next).first(), self.way(rank, next).last()]
        });
        ends.flatten().map(|channel| self.byte_times[channel.0 as usize]).fold(0.0, f64::max)
    }

    fn way(&self, from: u32, to: u32) -> &[ChannelId] {
        &self.ways[from as usize * self.ranks + to as usize]
    }

    /// The ways of a ring, hop by hop.
    fn hops<'a>(&'a self, order: &'a [u32]) -> impl Iterator<Item = &'a [ChannelId]> {
        (0..order.len()).map(|place| self.way(order[place], order[(place + 1) % order.len()]))
    }

    /// How long the busiest channel is busy while a byte is on its way from each rank to the next, divided among rings
    /// by their weights. [ps]
    fn cost(&self, rings: &[(&[u32], f64)]) -> f64 {
        let all: f64 = rings.iter().map(|(_, weight)| weight).sum();
        let mut busy = vec![0.0; self.byte_times.len()];
        for (order, weight) in rings {
            self.add(&mut busy, order, weight / all);
        }
        busy.into_iter().fold(0.0, f64::max)
    }

    fn add(&self, busy: &mut [f64], order: &[u32], share: f64) {
        for channel in self.hops(order).flatten() {
            busy[channel.0 as usize] += share * self.byte_times[channel.0 as usize];
        }
    }

    /// The rings, each with a weight by its own cost: 1 for the fastest.
    fn weighted<'a>(&self, rings: &'a [Vec<u32>]) -> Vec<(&'a [u32], f64)> {
        let costs: Vec<f64> = rings.iter().map(|ring| self.cost(&[(ring, 1.0)])).collect();
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        rings.iter().zip(costs).map(|(ring, cost)| (ring.as_slice(), least / cost.max(f64::MIN_POSITIVE))).collect()
    }

    /// A good order for another ring beside `others`: the better of two beginnings, the order of ranks and, from rank 0
    /// on, always the nearest rank that is left, each improved.
    fn improved(&self, others: &[Vec<u32>]) -> Vec<u32> {
        let mut busy = vec![0.0; self.byte_times.len()];
        others.iter().for_each(|ring| self.add(&mut busy, ring, 1.0));
        let usual: Vec<u32> = (0..self.ranks as u32).collect();
        let [one, other] = [usual, self.nearest(&busy)].map(|order| self.two_opt(order, others));
        if self.quality(&other, others) < self.quality(&one, others) { other } else { one }
    }

    /// From rank 0 on, always the rank that is nearest: whose slowest channel, `busy` as it is, takes the least time,
    /// and among these the one whose channels are least busy.
    fn nearest(&self, busy: &[f64]) -> Vec<u32> {
        let mut order = vec![0];
        let mut left: Vec<u32> = (1..self.ranks as u32).collect();
        while let Some(&last) = order.last() {
            let far = |to: u32| {
                let channels = self.way(last, to).iter().map(|channel| channel.0 as usize);
                let (mut slowest, mut taken, mut sum) = (0.0, 0.0, 0.0);
                for channel in channels {
                    slowest = f64::max(slowest, self.byte_times[channel] + busy[channel]);
                    taken += busy[channel];
                    sum += self.byte_times[channel];
                }
                [slowest, taken, sum]
            };
            let nearer = |&one: &usize, &other: &usize| {
                far(left[one]).partial_cmp(&far(left[other])).unwrap_or(std::cmp::Ordering::Equal)
            };
            let Some(next) = (0..left.len()).min_by(nearer) else { break };
            order.push(left.remove(next));
        }
        order
    }

    /// What is to be as small as possible: the cost of a ring beside `others`, and how long all channels together are
    /// busy with it alone.
    fn quality(&self, order: &[u32], others: &[Vec<u32>]) -> (f64, f64) {
        let rings: Vec<Vec<u32>> = others.iter().cloned().chain([order.to_vec()]).collect();
        let alone = self.hops(order).flatten().map(|channel| self.byte_times[channel.0 as usize]);
        (self.cost(&self.weighted(&rings)), alone.sum())
    }

    /// Turns parts of an order round as long as that improves it.
    fn two_opt(&self, mut order: Vec<u32>, others: &[Vec<u32>]) -> Vec<u32> {
        let mut best = self.quality(&order, others);
        loop {
            let before = best;
            for from in 1..order.len() {
                for to in from + 1..order.len() {
                    order[from..=to].reverse();
                    let quality = self.quality(&order, others);
                    if quality < best {
                        best = quality;
                    } else {
                        order[from..=to].reverse();
                    }
                }
            }
            if best == before {
                return order;
            }
        }
    }
}
