//! The algorithms of a catalogue, with all parameters worth trying.

use endpoint::{Error, Result};
use programs::catalogue::{Catalogue, Cost, Entry, Parameter, Parameters, part};
use programs::postal::Alpha;
use quantities::Bytes;

use crate::planner::model::Model;
use plan_format::AlgorithmSpec;

/// The numbers of segments into which a long message is cut.
const SEGMENTS: [u64; 5] = [4, 8, 16, 32, 64];
/// Shorter segments are not worth their messages. [B]
const SHORTEST_SEGMENT: u64 = 64;

/// An algorithm with parameters.
pub(super) struct CatalogueCandidate<A> {
    /// Its name, with the parameters.
    pub(super) name: String,
    pub(super) algorithm: A,
    pub(super) cost: Cost,
    /// Its description in a plan.
    pub(super) spec: AlgorithmSpec,
}

/// All algorithms of the catalogue `A` for messages of `bytes` among `ranks` ranks, each with its name and cost. Their parameters are
/// those of the machine according to `model`; algorithms that split by shares are also tried with each of `alphas`.
///
/// # Errors
/// If an algorithm needs other parameters.
pub(super) fn all<A: Catalogue>(
    ranks: u32,
    bytes: Bytes,
    model: &Model,
    alphas: &[Alpha],
) -> Result<Vec<CatalogueCandidate<A>>> {
    let lambda = model.lambda(bytes)?;
    let mut all = Vec::new();
    // Among adjacent algorithms made for a latency, those by a single share come last, also if times are equal.
    let is_for_latency = |entry: &Entry<A>| entry.parameters.contains(&Parameter::Lambda);
    for neighbours in A::entries().chunk_by(|one, other| is_for_latency(one) && is_for_latency(other)) {
        for by_share in [false, true] {
            for entry in neighbours {
                let tried = parameter_sets(entry.parameters, ranks, bytes, model, alphas)?.into_iter();
                for mut parameters in tried.filter(|parameters| parameters.alpha.is_some() == by_share) {
                    let algorithm = make(entry, &mut parameters)?;
                    // A name that stands for a choice among other algorithms is not one of its own.
                    if algorithm.name() == entry.name {
                        let cost = algorithm.cost(lambda, ranks, bytes);
                        let name = display_name(entry.name, entry.parameters, &parameters);
                        all.push(CatalogueCandidate {
                            name,
                            algorithm,
                            cost,
                            spec: AlgorithmSpec::used(entry.name, &parameters),
                        });
                    }
                }
            }
        }
    }
    Ok(all)
}

fn make<A>(entry: &Entry<A>, parameters: &mut Parameters) -> Result<A> {
    let unfit = |missing_parameter| Error::Unfit(format!("{} lacks a parameter: {missing_parameter}", entry.name));
    (entry.make)(parameters).map_err(unfit)
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
