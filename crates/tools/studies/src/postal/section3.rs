//! Section 3.1: the global combine with an integral lambda.

use collectives::postal::{Lambda, broadcast_time};
use serde_json::json;

use super::job::{DelayedOperation, PostalRun};
use super::{Results, StudyOfPostal};
use crate::{Findings, MissingAnswer};

/// The numbers of nodes.
const NODES: std::ops::RangeInclusive<u32> = 2..=40;
/// The lambdas.
const LAMBDAS: std::ops::RangeInclusive<u32> = 1..=4;

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "section 3",
    title: "the global combine",
    claims: &["postal.sec3.combine"],
    jobs: || LAMBDAS.flat_map(jobs_of).collect(),
    judge: |_, runs| judge(runs),
    draw: |_, _| Ok(None),
};

fn jobs_of(lambda: u32) -> Vec<PostalRun> {
    NODES.map(|nodes| PostalRun::Combine { tenths: 10 * lambda, nodes, delayed: DelayedOperation::Receives }).collect()
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let mut late = Vec::new();
    for whole in LAMBDAS {
        let lambda = Lambda::new(u64::from(whole), 1).unwrap_or(Lambda::ONE);
        for job in jobs_of(whole) {
            let PostalRun::Combine { nodes, .. } = job else { continue };
            let measured = runs.get(&job)?;
            let (took, least) = (measured.time.microseconds(), broadcast_time(lambda, u64::from(nodes)).as_f64());
            let rounds = if measured.right { took - least } else { f64::INFINITY };
            late.push((format!("lambda {whole}, {nodes} nodes"), rounds));
        }
    }
    Ok(Findings::counted(|holding, of| json!({ "right_in_time": holding, "of": of })).with("rounds_late", late))
}
