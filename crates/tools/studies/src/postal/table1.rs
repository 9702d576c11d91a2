//! Table 1: the asymptotic growth.

use collectives::postal::{Lambda, gamma};

use super::{Results, StudyOfPostal, printed};
use crate::{Claims, Drawing, MissingAnswer};
use report::{Cell, Table, fixed};

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "table 1",
    title: "the asymptotic growth",
    claims: &["postal.table1.gamma"],
    jobs: Vec::new,
    judge: |_, _| Ok(printed::judge("gamma", &ours(), |index| format!("gamma({})", index + 1))),
    draw,
};

fn ours() -> Vec<f64> {
    (1..=10).filter_map(|lambda| Lambda::new(lambda, 1).ok()).map(gamma).collect()
}

fn draw(claims: &Claims, _: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let published = claims.get(STUDY.claims[0])?.printed_row("gamma")?;
    let mut table = Table::with_head(&["lambda", "printed", "ours"]);
    for (lambda, (published, ours)) in (1..).zip(published.iter().zip(ours())) {
        let cells = [lambda.to_string(), fixed(*published, 3), fixed(ours, 5)];
        table.rows.push(cells.map(Cell::Number).to_vec());
    }
    let caption = "The factor by which the number of nodes that can be reached grows in a step, the root of \
                   x^lambda = x^(lambda - 1) + 1.";
    Ok(Some(Drawing { legend: None, panels: vec![table.draw()], caption: caption.to_string() }))
}
