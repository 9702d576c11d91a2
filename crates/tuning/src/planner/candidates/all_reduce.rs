//! All-reduces over all ranks.

use std::sync::Arc;

use endpoint::Result;
use plan_format::AlgorithmSpec;
use programs::all_reduce::{Algorithm, Ring, WeightedRing};
use programs::catalogue::{Catalogue, Cost};
use programs::postal::Alpha;
use quantities::Bytes;

use super::catalogued::{self, CatalogueCandidate};
use super::{Candidate, Candidates};
use crate::benchmark::{Benchmark, Site};
use crate::planner::model::Model;
use crate::planner::ring_orders::better_rings;

/// The shares of its ranks that a source keeps for itself, besides the optimal ones: a half gives the binomial tree.
const ALPHAS: [Alpha; 1] = [Alpha::HALF];
/// An order of more ranks is not part of a name.
const MOST_NAMED: u32 = 16;

pub(super) fn candidates(bytes: Bytes, site: &Site<'_>, model: &Model) -> Result<Candidates> {
    let all = catalogued::all(site.ranks, bytes, model, &ALPHAS)?.into_iter();
    let candidate = |CatalogueCandidate { name, algorithm, cost, spec }| {
        let benchmark = Benchmark::AllReduce(algorithm, bytes);
        Candidate { name, benchmark, cost, spec }
    };
    let mut all: Vec<Candidate> = all.map(candidate).collect();
    let lambda = model.lambda(bytes)?;
    all.extend(better_rings(site).into_iter().map(|rings| {
        let Cost { messages, bytes: sent, to_next_rank, chain } = Algorithm::from(Ring).cost(lambda, site.ranks, bytes);
        Candidate {
            name: name(&rings),
            cost: Cost { messages: messages * rings.len() as f64, bytes: sent, to_next_rank, chain },
            benchmark: Benchmark::Rings(Arc::new(rings), bytes),
            spec: AlgorithmSpec::name("ring"),
        }
    }));
    Ok(Candidates { all, left_out: Vec::new() })
}

/// The name of rings: `2 rings, order 0,3,1,2 and back`.
fn name(rings: &[WeightedRing]) -> String {
    let ranks =
        |ring: &WeightedRing| -> Vec<u32> { (0..ring.order.len()).map(|place| ring.order.rank_at(place).0).collect() };
    let mut orders: Vec<(Vec<u32>, bool)> = Vec::new();
    for order in rings.iter().map(ranks) {
        let back: Vec<u32> = order[..1].iter().chain(order[1..].iter().rev()).copied().collect();
        match orders.last_mut() {
            Some((last, and_back)) if *last == back => *and_back = true,
            _ => orders.push((order, false)),
        }
    }
    let written = |(order, and_back): &(Vec<u32>, bool)| {
        let order: Vec<String> = order.iter().map(u32::to_string).collect();
        format!("{}{}", order.join(","), if *and_back { " and back" } else { "" })
    };
    let count = if rings.len() == 1 { "ring".to_owned() } else { format!("{} rings", rings.len()) };
    if rings.first().is_some_and(|ring| ring.order.len() > MOST_NAMED) {
        return format!("{count}, order by links");
    }
    let named: Vec<String> = orders.iter().map(written).collect();
    format!("{count}, order {}", named.join("; "))
}
