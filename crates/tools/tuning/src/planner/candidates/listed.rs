//! The algorithms of a collective, with all parameters worth trying, and rings in orders of their own.

use std::sync::Arc;

use collectives::all_reduce::WeightedRing;
use collectives::catalogue::{Cost, Parameter, Parameters, part};
use collectives::postal::Alpha;
use collectives::{Collective, Division, Holders, Performs as _, Reduction, Shape, Summary};
use endpoint::{Error, Result};
use plan_format::AlgorithmSpec;
use quantities::Bytes;

use super::{Candidate, Candidates, irregular};
use crate::benchmark::{Benchmark, Site};
use crate::planner::model::Model;
use crate::planner::ring_orders::better_rings;

/// The shares of its ranks that a source keeps for itself, besides the optimal ones, where one rank differs from the
/// others.
const ALPHAS_OF_ROOTS: [f64; 5] = [0.54, 0.58, 0.62, 0.66, 0.7];
/// Where all are alike: a half gives the binomial tree.
const ALPHAS: [f64; 1] = [0.5];
/// The numbers of segments into which a long message is cut.
const SEGMENTS: [u64; 5] = [4, 8, 16, 32, 64];
/// Shorter segments are not worth their messages. [B]
const SHORTEST_SEGMENT: u64 = 64;
/// An order of more ranks is not part of a name.
const MOST_NAMED: u32 = 16;

/// All algorithms of a collective with blocks of `bytes` among `ranks` ranks, each with its name and cost. Their
/// parameters are those of the machine according to `model`; algorithms that split by shares are also tried with some
/// other shares.
///
/// # Errors
/// If an algorithm needs other parameters.
pub(super) fn candidates(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    site: &Site<'_>,
    model: &Model,
) -> Result<Candidates> {
    let shape = collective.shape();
    let alphas: &[f64] = if shape.has_root() { &ALPHAS_OF_ROOTS } else { &ALPHAS };
    let alphas: Vec<Alpha> = alphas.iter().filter_map(|&alpha| Alpha::new(alpha).ok()).collect();
    let has_hardware = site.machine.control_network.is_some();
    let mut found = Candidates::default();
    // Among adjacent algorithms made for a latency, those by a single share come last, also if times are equal.
    let is_for_latency = |entry: &Summary| entry.parameters.contains(&Parameter::Lambda);
    let is_possible = |entry: &Summary| has_hardware || !entry.needs.multicast();
    let possible: Vec<Summary> = collective.summaries().into_iter().filter(is_possible).collect();
    for neighbours in possible.chunk_by(|one, other| is_for_latency(one) && is_for_latency(other)) {
        for by_share in [false, true] {
            for entry in neighbours {
                let tried = parameter_sets(entry.parameters, ranks, bytes, model, &alphas)?.into_iter();
                for parameters in tried.filter(|parameters| parameters.alpha.is_some() == by_share) {
                    add(&mut found, collective, entry, parameters, bytes, model)?;
                }
            }
        }
    }
    if is_all_reduce(&shape) {
        found.all.extend(along_rings(collective, bytes, site, model)?);
    }
    Ok(found)
}

/// Adds an algorithm with its parameters, unless its name stands for a choice among others, or it is for other numbers
/// of ranks.
fn add(
    found: &mut Candidates,
    collective: Collective,
    entry: &Summary,
    mut parameters: Parameters,
    bytes: Bytes,
    model: &Model,
) -> Result<()> {
    let ranks = parameters.ranks;
    let Some(made) = collective.algorithm(entry.name, &mut parameters) else { return Ok(()) };
    let algorithm = made.map_err(|missing| Error::Unfit(format!("{} lacks a parameter: {missing}", entry.name)))?;
    if algorithm.name() != entry.name {
        return Ok(());
    }
    if let Err(error) = algorithm.check(ranks) {
        found.left_out.push((entry.name.to_owned(), error.to_string()));
        return Ok(());
    }
    let cost = algorithm.cost(model.lambda(bytes)?, ranks, bytes);
    if algorithm.needs().overlap() {
        match irregular::at_once(&algorithm, ranks, bytes, cost) {
            Ok(candidate) => found.all.push(candidate),
            Err(why) => found.left_out.push((entry.name.to_owned(), why)),
        }
        return Ok(());
    }
    let name = display_name(entry.name, entry.parameters, &parameters);
    let spec = AlgorithmSpec::used(entry.name, &parameters);
    let paced = irregular::of_steps(&algorithm, ranks, bytes);
    found.all.push(Candidate { name, benchmark: Benchmark::Listed(algorithm, bytes), cost, spec });
    found.all.extend(paced);
    Ok(())
}

/// Whether every rank ends with one combination of the data of all: then it can go round any ring of ranks, or several.
fn is_all_reduce(shape: &Shape) -> bool {
    *shape
        == Shape {
            blocks: Division::Whole,
            before: Holders::Everyone,
            after: Holders::Everyone,
            reduction: Some(Reduction::All),
        }
}

/// Rings in orders that suit the machine's links.
fn along_rings(collective: Collective, bytes: Bytes, site: &Site<'_>, model: &Model) -> Result<Vec<Candidate>> {
    const RING: &str = "ring";
    let Some(Ok(ring)) = collective.algorithm(RING, &mut Parameters::of(site.ranks)) else { return Ok(Vec::new()) };
    let lambda = model.lambda(bytes)?;
    let candidate = |rings: Vec<WeightedRing>| {
        let Cost { messages, bytes: sent, to_next_rank, chain } = ring.cost(lambda, site.ranks, bytes);
        Candidate {
            name: ring_name(&rings),
            cost: Cost { messages: messages * rings.len() as f64, bytes: sent, to_next_rank, chain },
            benchmark: Benchmark::Rings(Arc::new(rings), bytes),
            spec: AlgorithmSpec::name(RING),
        }
    };
    Ok(better_rings(site).into_iter().map(candidate).collect())
}

/// The parameter sets to try for an algorithm that accepts the parameters `accepted`.
fn parameter_sets(
    accepted: &[Parameter],
    ranks: u32,
    bytes: Bytes,
    model: &Model,
    alphas: &[Alpha],
) -> Result<Vec<Parameters>> {
    let for_messages_of = |bytes: Bytes| {
        Ok(Parameters { lambda: Some(model.lambda(bytes)?), t0: Some(model.send_time(bytes)), ..Parameters::of(ranks) })
    };
    if accepted.contains(&Parameter::Segment) {
        let segments = SEGMENTS.into_iter().map(|parts| part(bytes, parts));
        let segments = segments.take_while(|segment| segment.0 >= SHORTEST_SEGMENT);
        return segments
            .map(|segment| Ok(Parameters { segment: Some(segment), ..for_messages_of(segment)? }))
            .collect();
    }
    let usual = for_messages_of(bytes)?;
    let alphas = if accepted.contains(&Parameter::Alpha) { alphas } else { &[] };
    let by_share = alphas.iter().map(|&alpha| Parameters { alpha: Some(alpha), ..usual.clone() });
    Ok([usual.clone()].into_iter().chain(by_share).collect())
}

/// The name of an algorithm that has used `parameters`.
fn display_name(name: &str, accepted: &[Parameter], parameters: &Parameters) -> String {
    let used = |parameter| parameters.has_used(parameter);
    match (parameters.segment, parameters.alpha, parameters.lambda) {
        (Some(segment), ..) if used(Parameter::Segment) => format!("{name}, segments of {segment}"),
        (_, Some(Alpha::HALF), _) if used(Parameter::Alpha) => format!("{name}, binomial"),
        (_, Some(alpha), _) if used(Parameter::Alpha) => format!("{name}, alpha {:.2}", alpha.as_f64()),
        (.., Some(lambda)) if used(Parameter::Lambda) && accepted.contains(&Parameter::Alpha) => {
            format!("{name}, table for {lambda}")
        }
        (.., Some(lambda)) if used(Parameter::Lambda) => format!("{name}, lambda {lambda}"),
        _ => name.to_string(),
    }
}

/// The name of rings: `2 rings, order 0,3,1,2 and back`.
fn ring_name(rings: &[WeightedRing]) -> String {
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
