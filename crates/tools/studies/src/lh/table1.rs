//! Table 1: messages.

use serde_json::{Value, json};

use linear_hash::KeyHash;

use super::job::{CLIENTS, LhRun};
use super::{Results, StudyOfLh};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Cell, Table, fixed};

/// A row of the table as it is printed.
struct Printed {
    adjustments: Vec<f64>,
    messages: Vec<f64>,
    overhead: Vec<f64>,
}

fn printed(claim: &Claim) -> Result<Printed, MissingAnswer> {
    let row = |name| {
        let row = claim.printed_row(name)?;
        if row.len() == CLIENTS.len() {
            Ok(row)
        } else {
            Err(MissingAnswer::Failed(claim.id.clone(), format!("{name} is short")))
        }
    };
    Ok(Printed { adjustments: row("iams")?, messages: row("messages_per_insert")?, overhead: row("overhead_percent")? })
}

/// Messages that an insert needs: the request and its acknowledgement.
const NEEDED: f64 = 2.0;

/// The study.
pub const STUDY: StudyOfLh = StudyOfLh {
    place: "table 1",
    title: "messages of a build",
    claims: &["lh.table1"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn jobs() -> Vec<LhRun> {
    KeyHash::all().into_iter().flat_map(|hash| CLIENTS.map(|clients| LhRun::new(clients).with_hash(hash))).collect()
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut adjustments, mut messages) = (Vec::new(), Vec::new());
    for clients in CLIENTS {
        let measured = runs.get(&LhRun::new(clients))?;
        adjustments.push((format!("{clients} clients"), measured.adjustments as f64));
        messages.push((format!("{clients} clients"), measured.messages_per_insert));
    }
    let rounded = messages.iter().map(|(_, messages)| (messages * 1e4).round() / 1e4).collect::<Vec<f64>>();
    let counts = adjustments.iter().map(|(_, count)| *count as u64).collect::<Vec<u64>>();
    let ours = json!({"iams": counts, "messages_per_insert": rounded});
    Ok(Findings::numbers(ours, Value::Null).with("iams", adjustments).with("messages_per_insert", messages))
}

fn draw(claims: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let Printed { adjustments, messages, overhead } = printed(claims.get(STUDY.claims[0])?)?;
    let mut head = vec!["clients".to_string()];
    for what in ["adjustments", "messages", "overhead [%]"] {
        head.push(format!("{what}, printed"));
        head.extend(["uniform".to_string(), "letters".to_string()]);
    }
    let mut table = Table { head, ..Table::default() };
    for (index, clients) in CLIENTS.into_iter().enumerate() {
        let of = |hash| runs.get(&LhRun::new(clients).with_hash(hash));
        let [uniform, letters] = KeyHash::all().map(of);
        let (uniform, letters) = (uniform?, letters?);
        let above = |messages: f64| fixed((messages / NEEDED - 1.0) * 100.0, 2);
        let cells = [
            clients.to_string(),
            fixed(adjustments[index], 0),
            uniform.adjustments.to_string(),
            letters.adjustments.to_string(),
            fixed(messages[index], 4),
            fixed(uniform.messages_per_insert, 4),
            fixed(letters.messages_per_insert, 4),
            fixed(overhead[index], 2),
            above(uniform.messages_per_insert),
            above(letters.messages_per_insert),
        ];
        table.rows.push(cells.map(Cell::Number).to_vec());
    }
    let caption = "Counts of the build of the table, beside the printed ones: with the uniform hash, and with that of the last \
                   letters. Messages are the mean per insert; those by which servers split are counted, those that end a run \
                   are not. The overhead is what goes beyond two messages an insert.";
    Ok(Some(Drawing { legend: None, panels: vec![table.draw()], caption: caption.to_string() }))
}
