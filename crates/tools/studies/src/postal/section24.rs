//! Section 2.4: the optimal splits of thirteen and fourteen nodes.

use collectives::postal::{Lambda, Partitions};
use serde_json::{Value, json};

use super::StudyOfPostal;
use crate::Findings;

/// The numbers of nodes, and the names of their splits.
const NODES: [(u64, &str); 2] = [(13, "splits_of_13"), (14, "splits_of_14")];

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "section 2.4",
    title: "optimal splits",
    claims: &["postal.sec24.partitions"],
    jobs: Vec::new,
    judge: |_, _| Ok(judge(optimal)),
    draw: |_, _| Ok(None),
};

/// The optimal splits of `nodes` nodes with lambda 2.
pub(super) fn optimal(nodes: u64) -> Vec<(u64, u64)> {
    let found = Lambda::new(2, 1).ok().and_then(|lambda| Partitions::new(lambda, nodes));
    found.map_or_else(Vec::new, |found| found.pairs().collect())
}

fn judge(splits_of: fn(u64) -> Vec<(u64, u64)>) -> Findings {
    let (mut ours, mut found) = (serde_json::Map::new(), Vec::new());
    for (nodes, name) in NODES {
        let splits = splits_of(nodes);
        ours.insert(name.to_string(), json!(splits.len()));
        let kept = splits.into_iter().map(|(kept, other)| (format!("({kept}, {other})"), kept as f64));
        found.push((name, kept.collect::<Vec<_>>()));
    }
    let findings = Findings::numbers(Value::Object(ours), Value::Null);
    found.into_iter().fold(findings, |findings, (name, kept)| findings.with(name, kept))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::failing;

    #[test]
    fn a_split_too_few_or_another_one_is_missed() {
        let failing = |splits_of| failing(&super::super::paper(), STUDY.claims[0], judge(splits_of));
        assert_eq!(failing(optimal), [""; 0]);
        assert_eq!(failing(|nodes| optimal(nodes).split_off(1)), ["splits_of_13", "splits_of_14"]);
        assert_eq!(failing(|nodes| if nodes == 14 { Vec::new() } else { optimal(nodes) }), ["splits_of_14"]);
        assert_eq!(failing(|nodes| if nodes == 13 { vec![(7, 6)] } else { optimal(nodes) }), ["splits_of_13"]);
    }
}
