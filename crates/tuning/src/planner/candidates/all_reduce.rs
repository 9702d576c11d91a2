//! Global combines of all ranks.

use endpoint::Result;
use programs::all_reduce::{Algorithm, Census};
use programs::postal::{Splitting, broadcast_time};
use quantities::Bytes;

use super::{Candidate, Candidates, Load, Stretch, halvings, part};
use crate::benchmark::Benchmark;
use crate::planner::model::Model;

pub(super) fn candidates(ranks: u32, bytes: Bytes, model: &Model) -> Result<Candidates> {
    let (n, size) = (f64::from(ranks), u64::from(ranks));
    let rounds = f64::from(halvings(ranks));
    let (lambda, t0) = (model.lambda(bytes)?, model.send_time(bytes));
    let tree = broadcast_time(lambda, size).as_f64();
    let mut all = Vec::new();
    let mut add = |name: String, algorithm: Algorithm, per_rank: f64, share: f64, stretches: Vec<Stretch>| {
        let load = Load { messages: n * per_rank, bytes: n * per_rank * share * bytes.0 as f64 };
        all.push(Candidate { name, benchmark: Benchmark::Combine(algorithm, bytes), load, stretches });
    };
    for census in [Census::delay_receive(lambda, ranks), Census::delay_send(lambda, t0, ranks)] {
        let steps = f64::from(census.rounds());
        let algorithm = Algorithm::Census(census);
        let name = format!("{}, lambda {lambda}", algorithm.name());
        add(name, algorithm, steps, 1.0, vec![Stretch::of(steps, 0.0, bytes)]);
    }
    let optimal = Algorithm::ReduceBroadcast(Splitting::optimal(lambda, size));
    add(format!("reduce-broadcast, table for {lambda}"), optimal, 2.0, 1.0, vec![Stretch::of(2.0 * tree, 0.0, bytes)]);
    let binomial = Algorithm::ReduceBroadcast(Splitting::BINOMIAL);
    let name = "reduce-broadcast, binomial".to_string();
    add(name, binomial, 2.0, 1.0, vec![Stretch::of(0.0, 2.0 * rounds, bytes)]);
    let doubling = vec![Stretch::of(0.0, rounds, bytes)];
    add("recursive-doubling".to_string(), Algorithm::RecursiveDoubling, rounds, 1.0, doubling);
    let ring = vec![Stretch::of(0.0, 2.0 * (n - 1.0), part(bytes, size))];
    add("ring".to_string(), Algorithm::Ring, 2.0 * n, 1.0 / n, ring);
    let halves = (1..=halvings(ranks)).map(|step| Stretch::of(0.0, 2.0, part(bytes, 1 << step)));
    let share = 1.0 / rounds.max(1.0);
    add("rabenseifner".to_string(), Algorithm::Rabenseifner, 2.0 * rounds, share, halves.collect());
    Ok(Candidates { all, left_out: Vec::new() })
}
