//! Figure 9: how large the table of alphas is.

use programs::postal::{AlphaTable, Lambda, table_sizes};
use serde_json::{Value, json};

use super::{Results, StudyOfPostal};
use crate::{Drawing, Gap, Judgement, check};
use report::{Axis, LineChart, Mark, Measure, Series};

/// The paper's arbitrary lambda, in thousandths.
const LAMBDA: u64 = 1293;
/// Numbers of nodes, with the most entries that count as very few beside them: a tenth, and a thousandth.
const LIMITS: [(u64, usize); 2] = [(100, 10), (1_000_000, 1000)];

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 9",
    title: "the size of the look-up table",
    claims: &["postal.fig9.lookup"],
    jobs: Vec::new,
    judge: |_, _| Ok(judge(|nodes| AlphaTable::new(lambda(), nodes).entries().len())),
    draw,
};

fn lambda() -> Lambda {
    Lambda::new(LAMBDA, 1000).unwrap_or(Lambda::ONE)
}

fn judge(entries_at: fn(u64) -> usize) -> Judgement {
    let (mut ours, mut checks) = (serde_json::Map::new(), Vec::new());
    for (nodes, most) in LIMITS {
        let entries = entries_at(nodes);
        checks
            .push(check((1..=most).contains(&entries), format!("{entries} entries at {nodes} nodes, at most {most}")));
        ours.insert(format!("entries_at_{nodes}"), json!(entries));
    }
    Judgement { ours: Value::Object(ours), error_percent: Value::Null, checks }
}

fn draw(_: &Results) -> Result<Option<Drawing>, Gap> {
    let most = LIMITS[LIMITS.len() - 1].0;
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

    #[test]
    fn a_large_table_and_an_empty_one_are_missed() {
        let hold = |entries_at| judge(entries_at).checks.iter().map(|check| check.holds).collect::<Vec<_>>();
        assert_eq!(hold(|nodes| nodes.isqrt() as usize), [true, true]);
        assert_eq!(hold(|nodes| if nodes == 100 { 11 } else { 1_001 }), [false, false]);
        assert_eq!(hold(|_| 0), [false, false]);
    }
}
