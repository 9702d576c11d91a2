//! Figures 1 and 2: eight nodes along the two trees.

use programs::postal::{Lambda, Steps, nodes_within};
use serde_json::{Value, json};

use super::job::Job;
use super::{Results, StudyOfPostal};
use crate::{Gap, Judgement, check};

/// How many nodes are reached in 0, 1, 2, ... steps, as printed.
const PUBLISHED: [u64; 7] = [1, 1, 2, 3, 5, 8, 13];
/// The nodes of the figures.
const NODES: u32 = 8;
/// Their steps: along the lambda tree, and along the binomial one.
const STEPS: [(bool, f64); 2] = [(true, 5.0), (false, 6.0)];

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 2",
    title: "the lambda tree and the binomial tree",
    claims: &["postal.fig2.tree"],
    jobs: || STEPS.map(|(optimal, _)| Job::Tree { nodes: NODES, optimal }).to_vec(),
    judge: |_, runs| judge(runs),
    draw: |_| Ok(None),
};

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let lambda = Lambda::new(2, 1).unwrap_or(Lambda::ONE);
    let reached: Vec<u64> = (0..).take(PUBLISHED.len()).map(|t| nodes_within(lambda, Steps::new(t, 1))).collect();
    let mut checks = vec![check(reached == PUBLISHED, format!("reached in 0, 1, 2, ... steps: {reached:?}"))];
    let mut ours = serde_json::Map::new();
    for (optimal, steps) in STEPS {
        let measured = runs.get(&Job::Tree { nodes: NODES, optimal })?;
        let took = measured.time.microseconds();
        let name = if optimal { "lambda_tree" } else { "binomial_tree" };
        let says = format!("{} of {NODES} nodes: {took} steps, printed {steps}", name.replace('_', " "));
        checks.push(check((took - steps).abs() < 1e-9 && measured.right, says));
        ours.insert(name.to_string(), json!(took));
    }
    Ok(Judgement { ours: Value::Object(ours), error_percent: Value::Null, checks })
}
