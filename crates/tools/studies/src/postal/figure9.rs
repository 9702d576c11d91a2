//! Figure 9: the size of the table of alphas.

use collectives::postal::{AlphaTable, Lambda, table_sizes};
use serde_json::{Value, json};

use super::{Results, StudyOfPostal};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, LineChart, Mark, Measure, Series};

/// The paper's arbitrary lambda, in thousandths.
const LAMBDA: u64 = 1293;
/// Numbers of nodes, and the names of their numbers of entries.
const NODES: [(u64, &str); 2] = [(100, "entries_at_100"), (1_000_000, "entries_at_1000000")];

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 9",
    title: "the size of the look-up table",
    claims: &["postal.fig9.lookup"],
    jobs: Vec::new,
    judge: |_, _| Ok(judge(|nodes| AlphaTable::new(lambda(), nodes).entries().len())),
    draw,
};

pub(super) fn lambda() -> Lambda {
    Lambda::new(LAMBDA, 1000).unwrap_or(Lambda::ONE)
}

fn judge(entries_at: fn(u64) -> usize) -> Findings {
    let entries = NODES.map(|(nodes, name)| (name, entries_at(nodes)));
    let ours = entries.iter().map(|(name, entries)| ((*name).to_string(), json!(entries))).collect();
    let findings = Findings::numbers(Value::Object(ours), Value::Null);
    entries.into_iter().fold(findings, |findings, (name, entries)| findings.with_number(name, entries as f64))
}

fn draw(_: &Claims, _: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let most = NODES[NODES.len() - 1].0;
    let points = table_sizes(lambda(), most).iter().map(|size| (size.nodes as f64, size.entries as f64)).collect();
    let series = vec![Series { name: "entries".to_string(), mark: Mark::full(0), points }];
    let x = Axis::logarithmic("nodes", Measure::Plain);
    let y = Axis::linear("entries of the table", Measure::Plain);
    let chart = LineChart { title: "lambda = 1.293".to_string(), x, y, series, baseline: None }.draw();
    let caption = "Entries of the table of alphas that serves all numbers of nodes up to the one given.";
    Ok(Some(Drawing { legend: None, panels: vec![chart], caption: caption.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::failing;

    #[test]
    fn a_large_table_and_an_empty_one_are_missed() {
        let failing = |entries_at| failing(&super::super::paper(), STUDY.claims[0], judge(entries_at));
        let both = NODES.map(|(_, name)| name);
        assert_eq!(failing(|nodes| nodes.isqrt() as usize), [""; 0]);
        assert_eq!(failing(|nodes| if nodes == 100 { 11 } else { 1_001 }), both);
        assert_eq!(failing(|_| 0), both);
    }
}
