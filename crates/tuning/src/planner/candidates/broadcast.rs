//! Broadcasts from rank 0.

use endpoint::Result;
use machines::model::Machine;
use programs::Group;
use programs::broadcast::{Algorithm, Pipe, Tree};
use programs::postal::{Alpha, Splitting, Steps, broadcast_time, predicted_time};
use quantities::{Bytes, Rank};

use super::{Candidate, Candidates, Load, Stretch, halvings, part};
use crate::benchmark::Benchmark;
use crate::planner::model::Model;

/// Into how many segments a long message is cut.
const SEGMENTS: [u64; 5] = [4, 8, 16, 32, 64];
/// Shorter segments are not worth their messages. [B]
const SHORTEST_SEGMENT: u64 = 64;
/// The shares of its ranks that a source keeps for itself, besides a half and the optimal ones.
const ALPHAS: [f64; 5] = [0.54, 0.58, 0.62, 0.66, 0.7];

pub(super) fn candidates(ranks: u32, bytes: Bytes, machine: &Machine, model: &Model) -> Result<Candidates> {
    let group = Group::from_source(Rank(0), ranks)?;
    let n = f64::from(ranks);
    let mut all = Vec::new();
    let mut add = |name: String, algorithm: Algorithm, load: Load, stretches: Vec<Stretch>| {
        all.push(Candidate { name, benchmark: Benchmark::Broadcast(algorithm, group.clone(), bytes), load, stretches });
    };
    let once = Load { messages: n, bytes: n * bytes.0 as f64 };
    let rounds = f64::from(halvings(ranks));
    add("linear".to_string(), Algorithm::Linear, once, vec![Stretch::of((n - 2.0).max(0.0), 1.0, bytes)]);
    for algorithm in [Algorithm::Binomial, Algorithm::Recursive] {
        add(algorithm.name().to_string(), algorithm, once, vec![Stretch::of(0.0, rounds, bytes)]);
    }
    let lambda = model.lambda(bytes)?;
    let size = u64::from(ranks);
    let of_steps = |steps: Steps| vec![Stretch::of(steps.as_f64(), 0.0, bytes)];
    let optimal = of_steps(broadcast_time(lambda, size));
    let table = Algorithm::LambdaTree(Splitting::optimal(lambda, size));
    add(format!("lambda-tree, table for {lambda}"), table, once, optimal.clone());
    let two_queue = Algorithm::TwoQueue(Tree::two_queue(lambda, ranks));
    add(format!("two-queue, lambda {lambda}"), two_queue, once, optimal);
    for alpha in ALPHAS.into_iter().filter_map(|alpha| Alpha::new(alpha).ok()) {
        let splitting = Splitting::Fixed(alpha);
        let stretches = of_steps(predicted_time(lambda, size, &splitting));
        let name = format!("lambda-tree, alpha {:.2}", alpha.as_f64());
        add(name, Algorithm::LambdaTree(splitting), once, stretches);
    }
    for parts in SEGMENTS {
        let segment = part(bytes, parts);
        if segment.0 < SHORTEST_SEGMENT {
            break;
        }
        let load = Load { messages: n * parts as f64, bytes: once.bytes };
        let later = parts as f64 - 1.0;
        let chain = vec![Stretch::of(later, n - 1.0, segment)];
        add(format!("pipeline, segments of {segment}"), Algorithm::Segmented(Pipe::Chain, segment), load, chain);
        let lambda = model.lambda(segment)?;
        // Each segment more takes the source as many sends as it has children.
        let stretch = Stretch::of(broadcast_time(lambda, size).as_f64() + later * rounds, 0.0, segment);
        let tree = Algorithm::Segmented(Pipe::Tree(Splitting::optimal(lambda, size)), segment);
        add(format!("segmented-tree, segments of {segment}"), tree, load, vec![stretch]);
    }
    let halves = (1..=halvings(ranks)).map(|step| Stretch::of(0.0, 1.0, part(bytes, 1 << step)));
    let ring = Stretch::of(0.0, n - 1.0, part(bytes, size));
    let load = Load { messages: n * n, bytes: 2.0 * once.bytes };
    add("scatter-gather".to_string(), Algorithm::ScatterGather, load, halves.chain([ring]).collect());
    if machine.control_network.is_some() {
        let (benchmark, load) = (Benchmark::Hardware(bytes), Load { messages: n, bytes: 0.0 });
        all.push(Candidate { name: "hardware".to_string(), benchmark, load, stretches: Vec::new() });
    }
    Ok(Candidates { all, left_out: Vec::new() })
}
