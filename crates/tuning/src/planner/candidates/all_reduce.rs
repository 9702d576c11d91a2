//! All-reduces over all ranks.

use endpoint::Result;
use programs::postal::Alpha;
use quantities::Bytes;

use super::catalogued::{self, CatalogueCandidate};
use super::{Candidate, Candidates};
use crate::benchmark::Benchmark;
use crate::planner::model::Model;

/// The shares of its ranks that a source keeps for itself, besides the optimal ones: a half gives the binomial tree.
const ALPHAS: [Alpha; 1] = [Alpha::HALF];

pub(super) fn candidates(ranks: u32, bytes: Bytes, model: &Model) -> Result<Candidates> {
    let all = catalogued::all(ranks, bytes, model, &ALPHAS)?.into_iter();
    let candidate = |CatalogueCandidate { name, algorithm, cost, spec }| {
        let benchmark = Benchmark::AllReduce(algorithm, bytes);
        Candidate { name, benchmark, cost, spec }
    };
    Ok(Candidates { all: all.map(candidate).collect(), left_out: Vec::new() })
}
