//! Section 2.4: the optimal splits of thirteen and fourteen nodes.

use programs::postal::{Lambda, Partitions};
use serde_json::{Value, json};

use super::StudyOfPostal;
use crate::{Judgement, check};

/// Nodes, and how many of them the source keeps in the optimal splits as printed: from the fewest to the most.
const PUBLISHED: [(u64, u64, u64); 2] = [(13, 8, 8), (14, 6, 13)];

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "section 2.4",
    title: "optimal splits",
    claims: &["postal.sec24.partitions"],
    jobs: Vec::new,
    judge: |_, _| Ok(judge(optimal)),
    draw: |_| Ok(None),
};

/// The optimal splits of so many nodes with lambda 2.
fn optimal(nodes: u64) -> Vec<(u64, u64)> {
    let found = Lambda::new(2, 1).ok().and_then(|lambda| Partitions::new(lambda, nodes));
    found.map_or_else(Vec::new, |found| found.pairs().collect())
}

fn judge(splits_of: fn(u64) -> Vec<(u64, u64)>) -> Judgement {
    let (mut ours, mut checks) = (serde_json::Map::new(), Vec::new());
    for (nodes, fewest, most) in PUBLISHED {
        let splits = splits_of(nodes);
        let expected: Vec<(u64, u64)> = (fewest..=most).map(|kept| (kept, nodes - kept)).collect();
        let says = format!("{nodes} nodes: {} splits, {:?} to {:?}", splits.len(), splits.first(), splits.last());
        checks.push(check(splits == expected, says.replace("Some", "")));
        ours.insert(format!("splits_of_{nodes}"), json!(splits.len()));
    }
    Judgement { ours: Value::Object(ours), error_percent: Value::Null, checks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_too_few_or_another_one_is_missed() {
        let hold = |splits_of| judge(splits_of).checks.iter().map(|check| check.holds).collect::<Vec<_>>();
        assert_eq!(hold(optimal), [true, true]);
        assert_eq!(hold(|nodes| optimal(nodes).split_off(1)), [false, false]);
        assert_eq!(hold(|nodes| if nodes == 14 { Vec::new() } else { optimal(nodes) }), [true, false]);
        assert_eq!(hold(|nodes| if nodes == 13 { vec![(7, 6)] } else { optimal(nodes) }), [false, true]);
    }
}
