//! Table 1: messages.

use serde_json::{Value, json};

use programs::linear_hash::KeyHash;

use super::job::{CLIENTS, Job, label};
use super::{Results, StudyOfLh};
use crate::{Drawing, Gap, Judgement, check};
use report::{Cell, Table, fixed};

/// What is printed for each number of clients: adjustments, messages for each insert, overhead. [%]
pub const PRINTED: [(u64, f64, f64); 5] =
    [(14, 2.0008, 0.04), (24, 2.0011, 0.06), (43, 2.0012, 0.06), (48, 2.0014, 0.07), (55, 2.0014, 0.07)];
/// How far messages for each insert may be off.
const MESSAGES_WITHIN: f64 = 0.001;
/// How many times as many adjustments there may be, or as few.
const ADJUSTMENTS_WITHIN: u64 = 2;
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

fn jobs() -> Vec<Job> {
    KeyHash::all().into_iter().flat_map(|hash| CLIENTS.map(|clients| Job::new(hash, clients))).collect()
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let mut checks = Vec::new();
    let mut ours = serde_json::Map::new();
    for hash in KeyHash::all() {
        let (mut all_adjustments, mut all_messages) = (Vec::new(), Vec::new());
        for (clients, (printed_adjustments, printed_messages, _)) in CLIENTS.into_iter().zip(PRINTED) {
            let measured = runs.get(&Job::new(hash, clients))?;
            let (adjustments, messages) = (measured.adjustments, measured.messages_per_insert);
            let within = adjustments * ADJUSTMENTS_WITHIN >= printed_adjustments
                && adjustments <= printed_adjustments * ADJUSTMENTS_WITHIN;
            let who = format!("{}, {clients} clients", label(hash));
            let says = format!(
                "{who}: {adjustments} adjustments, printed {printed_adjustments}, within a factor of {ADJUSTMENTS_WITHIN}"
            );
            checks.push(check(within, says));
            let says = format!(
                "{who}: {} messages an insert, printed {}, within {MESSAGES_WITHIN}",
                fixed(messages, 4),
                fixed(printed_messages, 4)
            );
            checks.push(check((messages - printed_messages).abs() <= MESSAGES_WITHIN, says));
            all_adjustments.push(adjustments);
            all_messages.push((messages * 1e4).round() / 1e4);
        }
        let key = if hash == KeyHash::Uniform { "uniform" } else { "last_letters" };
        ours.insert(key.to_string(), json!({"iams": all_adjustments, "messages_per_insert": all_messages}));
    }
    Ok(Judgement { ours: ours.into(), error_percent: Value::Null, checks })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let mut head = vec!["clients".to_string()];
    for what in ["adjustments", "messages", "overhead [%]"] {
        head.push(format!("{what}, printed"));
        head.extend(["uniform".to_string(), "letters".to_string()]);
    }
    let mut table = Table { head, ..Table::default() };
    for (clients, (adjustments, messages, overhead)) in CLIENTS.into_iter().zip(PRINTED) {
        let of = |hash| runs.get(&Job::new(hash, clients));
        let [uniform, letters] = KeyHash::all().map(of);
        let (uniform, letters) = (uniform?, letters?);
        let above = |messages: f64| fixed((messages / NEEDED - 1.0) * 100.0, 2);
        let cells = [
            clients.to_string(),
            adjustments.to_string(),
            uniform.adjustments.to_string(),
            letters.adjustments.to_string(),
            fixed(messages, 4),
            fixed(uniform.messages_per_insert, 4),
            fixed(letters.messages_per_insert, 4),
            fixed(overhead, 2),
            above(uniform.messages_per_insert),
            above(letters.messages_per_insert),
        ];
        table.rows.push(cells.map(Cell::Number).to_vec());
    }
    let caption = "What was counted while the table was built, beside what is printed: with the uniform hash, and with that of the last \
                   letters. Messages are those of an insert, on the mean; those by which servers split are counted, those that end a run \
                   are not. The overhead is what goes beyond two messages an insert.";
    Ok(Some(Drawing { legend: None, panels: vec![table.draw()], caption: caption.to_string() }))
}
