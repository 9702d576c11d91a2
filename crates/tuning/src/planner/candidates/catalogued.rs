//! The algorithms of a catalogue, with all parameters worth trying.

use endpoint::{Error, Result};
use programs::catalogue::{Catalogue, Cost, Entry, Parameter, Parameters, part};
use programs::postal::Alpha;
use quantities::Bytes;

use crate::planner::model::Model;
use plan_format::Told;

/// The numbers of segments into which a long message is cut.
const SEGMENTS: [u64; 5] = [4, 8, 16, 32, 64];
/// Shorter segments are not worth their messages. [B]
const SHORTEST_SEGMENT: u64 = 64;

/// An algorithm with parameters.
pub(super) struct Tried<A> {
    /// Its name, with the parameters.
    pub(super) name: String,
    pub(super) algorithm: A,
    pub(super) cost: Cost,
    /// Its description in a plan.
    pub(super) told: Told,
}

/// All algorithms of the catalogue `A` for messages of `bytes` among `ranks` ranks, each with its name and cost. Their parameters are
/// those of the machine according to `model`; algorithms that split by shares are also tried with each of `alphas`.
///
/// # Errors
/// If an algorithm needs other parameters.
pub(super) fn all<A: Catalogue>(ranks: u32, bytes: Bytes, model: &Model, alphas: &[Alpha]) -> Result<Vec<Tried<A>>> {
    let lambda = model.lambda(bytes)?;
    let mut all = Vec::new();
    // Among adjacent algorithms made for a latency, those by a single share come last, also if times are equal.
    let is_for_latency = |entry: &Entry<A>| entry.told.contains(&Parameter::Lambda);
    for neighbours in A::entries().chunk_by(|one, other| is_for_latency(one) && is_for_latency(other)) {
        for by_share in [false, true] {
            for entry in neighbours {
                let tried = tried(entry.told, ranks, bytes, model, alphas)?.into_iter();
                for mut parameters in tried.filter(|parameters| parameters.alpha.is_some() == by_share) {
                    let algorithm = made(entry, &mut parameters)?;
                    // A name that stands for a choice among other algorithms is not one of its own.
                    if algorithm.name() == entry.name {
                        let cost = algorithm.cost(lambda, ranks, bytes);
                        let name = called(entry.name, entry.told, &parameters);
                        all.push(Tried { name, algorithm, cost, told: Told::used(entry.name, &parameters) });
                    }
                }
            }
        }
    }
    Ok(all)
}

fn made<A>(entry: &Entry<A>, parameters: &mut Parameters) -> Result<A> {
    let unfit = |untold| Error::Unfit(format!("{} lacks a parameter: {untold}", entry.name));
    (entry.make)(parameters).map_err(unfit)
}

/// The parameter sets to try for an algorithm that accepts the parameters `told`.
fn tried(told: &[Parameter], ranks: u32, bytes: Bytes, model: &Model, alphas: &[Alpha]) -> Result<Vec<Parameters>> {
    let for_messages_of = |bytes: Bytes| {
        Ok(Parameters { lambda: Some(model.lambda(bytes)?), t0: Some(model.send_time(bytes)), ..Parameters::of(ranks) })
    };
    if told.contains(&Parameter::Segment) {
        let segments = SEGMENTS.into_iter().map(|parts| part(bytes, parts));
        let segments = segments.take_while(|segment| segment.0 >= SHORTEST_SEGMENT);
        return segments
            .map(|segment| Ok(Parameters { segment: Some(segment), ..for_messages_of(segment)? }))
            .collect();
    }
    let usual = for_messages_of(bytes)?;
    let alphas = if told.contains(&Parameter::Alpha) { alphas } else { &[] };
    let by_share = alphas.iter().map(|&alpha| Parameters { alpha: Some(alpha), ..usual.clone() });
    Ok([usual.clone()].into_iter().chain(by_share).collect())
}

/// The name of an algorithm that has used `parameters`.
fn called(name: &str, told: &[Parameter], parameters: &Parameters) -> String {
    let used = |parameter| parameters.has_used(parameter);
    match (parameters.segment, parameters.alpha, parameters.lambda) {
        (Some(segment), ..) if used(Parameter::Segment) => format!("{name}, segments of {segment}"),
        (_, Some(Alpha::HALF), _) if used(Parameter::Alpha) => format!("{name}, binomial"),
        (_, Some(alpha), _) if used(Parameter::Alpha) => format!("{name}, alpha {:.2}", alpha.as_f64()),
        (.., Some(lambda)) if used(Parameter::Lambda) && told.contains(&Parameter::Alpha) => {
            format!("{name}, table for {lambda}")
        }
        (.., Some(lambda)) if used(Parameter::Lambda) => format!("{name}, lambda {lambda}"),
        _ => name.to_string(),
    }
}
