//! The algorithms of a collective of the list.

use endpoint::{Error, Result};
use plan_format::AlgorithmSpec;
use programs::catalogue::Parameters;
use programs::collectives::Collective;
use quantities::Bytes;

use super::{Candidate, Candidates};
use crate::benchmark::Benchmark;
use crate::planner::model::Model;

pub(super) fn candidates(collective: Collective, ranks: u32, bytes: Bytes, model: &Model) -> Result<Candidates> {
    let lambda = model.lambda(bytes)?;
    let mut all = Vec::new();
    for name in collective.algorithms() {
        let mut parameters = Parameters::of(ranks);
        let Some(made) = collective.algorithm(name, &mut parameters) else { continue };
        let algorithm = made.map_err(|missing| Error::Unfit(format!("{name} lacks a parameter: {missing}")))?;
        let cost = algorithm.cost(lambda, ranks, bytes);
        let spec = AlgorithmSpec::used(name, &parameters);
        all.push(Candidate { name: name.to_owned(), benchmark: Benchmark::Listed(algorithm, bytes), cost, spec });
    }
    Ok(Candidates { all, left_out: Vec::new() })
}
