//! Table 2: where delayed sends and delayed receives break even.

use collectives::postal::break_even;

use super::{Results, StudyOfPostal, printed};
use crate::{Claims, Drawing, MissingAnswer};
use report::{Cell, Table, fixed};

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "table 2",
    title: "where the two ways of a global combine break even",
    claims: &["postal.table2.break_even"],
    jobs: Vec::new,
    judge: |_, _| Ok(printed::judge("lambda", &ours(), |index| format!("from {} on", index + 1))),
    draw,
};

fn ours() -> Vec<f64> {
    (1..=9).map(break_even).collect()
}

fn draw(claims: &Claims, _: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let published = claims.get(STUDY.claims[0])?.printed_row("lambda")?;
    let mut table = Table::with_head(&["whole part of lambda", "printed", "ours"]);
    for (floor, (published, ours)) in (1..).zip(published.iter().zip(ours())) {
        let cells = [floor.to_string(), fixed(*published, 3), fixed(ours, 5)];
        table.rows.push(cells.map(Cell::Number).to_vec());
    }
    let caption = "Below this lambda a global combine is faster when sends wait, above it when receives do.";
    Ok(Some(Drawing { legend: None, panels: vec![table.draw()], caption: caption.to_string() }))
}
