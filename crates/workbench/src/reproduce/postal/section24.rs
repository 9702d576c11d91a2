//! Section 2.4: the optimal splits of thirteen and fourteen nodes.

use programs::postal::{Lambda, Partitions};
use serde_json::{Value, json};

use super::StudyOfPostal;
use crate::reproduce::{Judgement, check};

/// Nodes, and how many of them the source keeps in the optimal splits as printed: from the fewest to the most.
const PUBLISHED: [(u64, u64, u64); 2] = [(13, 8, 8), (14, 6, 13)];

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "section 2.4",
    title: "optimal splits",
    claims: &["postal.sec24.partitions"],
    jobs: Vec::new,
    judge: |_, _| Ok(judge()),
    draw: |_| Ok(None),
};

fn judge() -> Judgement {
    let (mut ours, mut checks) = (serde_json::Map::new(), Vec::new());
    for (nodes, fewest, most) in PUBLISHED {
        let splits: Vec<(u64, u64)> = Lambda::new(2, 1)
            .ok()
            .and_then(|lambda| Partitions::new(lambda, nodes))
            .map_or_else(Vec::new, |found| found.pairs().collect());
        let expected: Vec<(u64, u64)> = (fewest..=most).map(|kept| (kept, nodes - kept)).collect();
        let says = format!("{nodes} nodes: {} splits, {:?} to {:?}", splits.len(), splits.first(), splits.last());
        checks.push(check(splits == expected, says.replace("Some", "")));
        ours.insert(format!("splits_of_{nodes}"), json!(splits.len()));
    }
    Judgement { ours: Value::Object(ours), error_percent: Value::Null, checks }
}
