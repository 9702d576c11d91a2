//! Figures 1 and 2: eight nodes along the two trees.

use collectives::postal::{Lambda, Steps, nodes_within};
use serde_json::{Map, Value, json};

use super::job::PostalRun;
use super::{Results, StudyOfPostal};
use crate::{Findings, MissingAnswer};

/// The number of steps to compare, from the first on.
const STEPS: usize = 7;
/// The nodes of the figures.
const NODES: u32 = 8;
/// The trees: whether each is the optimal one, and its name.
const TREES: [(bool, &str); 2] = [(true, "lambda_tree"), (false, "binomial_tree")];

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 2",
    title: "the lambda tree and the binomial tree",
    claims: &["postal.fig2.tree"],
    jobs: || TREES.map(|(optimal, _)| PostalRun::Tree { nodes: NODES, optimal }).to_vec(),
    judge: |_, runs| judge(runs),
    draw: |_, _| Ok(None),
};

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let lambda = Lambda::new(2, 1).unwrap_or(Lambda::ONE);
    let reached = |step: u64| (format!("{step} steps"), nodes_within(lambda, Steps::new(step, 1)) as f64);
    let (mut ours, mut took, mut right) = (Map::new(), Vec::new(), Vec::new());
    for (optimal, name) in TREES {
        let measured = runs.get(&PostalRun::Tree { nodes: NODES, optimal })?;
        took.push((name, measured.time.microseconds()));
        right.push((name.replace('_', " "), f64::from(measured.right)));
        ours.insert(name.to_string(), json!(measured.time.microseconds()));
    }
    let findings = Findings::numbers(Value::Object(ours), Value::Null)
        .with("reached", (0..).take(STEPS).map(reached))
        .with("delivered", right);
    Ok(took.into_iter().fold(findings, |findings, (name, steps)| findings.with_number(name, steps)))
}
