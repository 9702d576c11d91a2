//! Broadcasts from rank 0.

use endpoint::Result;
use machines::model::Machine;
use programs::Group;
use programs::broadcast::Algorithm;
use programs::catalogue::Catalogue;
use programs::postal::Alpha;
use quantities::{Bytes, Rank};

use super::catalogued::{self, CatalogueCandidate};
use super::{Candidate, Candidates};
use crate::benchmark::Benchmark;
use crate::planner::model::Model;

/// The shares of its ranks that a source keeps for itself, besides the optimal ones.
const ALPHAS: [f64; 5] = [0.54, 0.58, 0.62, 0.66, 0.7];

pub(super) fn candidates(ranks: u32, bytes: Bytes, machine: &Machine, model: &Model) -> Result<Candidates> {
    let group = Group::from_source(Rank(0), ranks)?;
    let alphas: Vec<Alpha> = ALPHAS.into_iter().filter_map(|alpha| Alpha::new(alpha).ok()).collect();
    let all = catalogued::all(ranks, bytes, model, &alphas)?.into_iter();
    let has_hardware = machine.control_network.is_some();
    let possible =
        all.filter(|tried: &CatalogueCandidate<Algorithm>| has_hardware || !tried.algorithm.entry().needs.multicast());
    let candidate = |CatalogueCandidate { name, algorithm, cost, spec }| Candidate {
        name,
        benchmark: Benchmark::Broadcast(algorithm, group.clone(), bytes),
        cost,
        spec,
    };
    Ok(Candidates { all: possible.map(candidate).collect(), left_out: Vec::new() })
}
