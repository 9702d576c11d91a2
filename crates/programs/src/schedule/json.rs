//! A schedule as JSON, written and read back.
//!
//! ```text
//! {
//!   "format": "maquette-schedule-1",
//!   "ranks": 3,
//!   "rule": "one-each",
//!   "steps": [
//!     [{"from": 0, "to": 1, "bytes": 8}, {"from": 1, "to": 0, "bytes": 8}],
//!     [{"from": 1, "to": 2, "bytes": 4}]
//!   ]
//! }
//! ```

use std::fmt::Write;

use quantities::{Bytes, Rank};
use serde::Deserialize;

use super::{MOST_MESSAGES, MOST_RANKS, Rule, Schedule, Transfer};

const FORMAT: &str = "maquette-schedule-1";

/// What is wrong with a text that should be a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {problem}", place.map_or(String::new(), |(line, column)| format!(":{line}:{column}")))]
pub struct ReadError {
    /// The file's name as it was given.
    pub file: String,
    /// Line and column, from 1, where they are known.
    pub place: Option<(usize, usize)>,
    /// What was found, and what is allowed.
    pub problem: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `format`, `ranks`, `rule` and `steps`")]
struct ScheduleText {
    format: String,
    ranks: u32,
    rule: String,
    steps: Vec<Vec<TransferText>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `from`, `to` and `bytes`")]
struct TransferText {
    from: u32,
    to: u32,
    bytes: u64,
}

impl Rule {
    /// Its name in a file.
    const fn name(self) -> &'static str {
        match self {
            Rule::OneEach => "one-each",
            Rule::ManyToOne => "many-to-one",
        }
    }
}

impl Schedule {
    /// The schedule as JSON text, one line a step.
    pub fn to_json(&self) -> String {
        let mut text = format!(
            "{{\n  \"format\": \"{FORMAT}\",\n  \"ranks\": {},\n  \"rule\": \"{}\",\n  \"steps\": [",
            self.ranks,
            self.rule.name()
        );
        for (number, step) in self.steps.iter().enumerate() {
            text.push_str(if number == 0 { "\n    [" } else { ",\n    [" });
            for (number, Transfer { from, to, bytes }) in step.iter().enumerate() {
                let separator = if number == 0 { "" } else { ", " };
                // Writing to a string can't fail.
                let _ = write!(text, "{separator}{{\"from\": {from}, \"to\": {to}, \"bytes\": {}}}", bytes.0);
            }
            text.push(']');
        }
        text.push_str(if self.steps.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        text
    }

    /// Reads what [`Schedule::to_json`] writes; `file` is what errors call it. The steps are checked, as by
    /// [`Schedule::check_steps`].
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn from_json(file: &str, text: &[u8]) -> Result<Schedule, ReadError> {
        let read: ScheduleText = serde_json::from_slice(text).map_err(|error| syntax(file, &error))?;
        let wrong = |problem: String| ReadError { file: file.to_owned(), place: None, problem };
        if read.format != FORMAT {
            return Err(wrong(format!("`format` is \"{}\"; \"{FORMAT}\" is allowed", read.format)));
        }
        if read.ranks == 0 || read.ranks > MOST_RANKS {
            return Err(wrong(format!("`ranks` is {}; 1 to {MOST_RANKS} is allowed", read.ranks)));
        }
        let rule = [Rule::OneEach, Rule::ManyToOne].into_iter().find(|rule| rule.name() == read.rule);
        let rule = rule
            .ok_or_else(|| wrong(format!("`rule` is \"{}\"; \"one-each\" or \"many-to-one\" is allowed", read.rule)))?;
        let count: usize = read.steps.iter().map(Vec::len).sum();
        if count.max(read.steps.len()) > MOST_MESSAGES {
            return Err(wrong(format!("there are more than {MOST_MESSAGES} steps or transfers")));
        }
        let schedule = Schedule::with_rule(read.ranks, rule, read.steps.into_iter().map(transfers).collect());
        schedule.check_steps().map_err(|error| wrong(error.to_string()))?;
        let bytes = schedule.transfers().try_fold(0_u64, |sum, transfer| sum.checked_add(transfer.bytes.0));
        bytes.ok_or_else(|| wrong(format!("the transfers carry more than {} bytes together", u64::MAX)))?;
        Ok(schedule)
    }
}

fn transfers(step: Vec<TransferText>) -> Vec<Transfer> {
    let transfer = |TransferText { from, to, bytes }| Transfer { from: Rank(from), to: Rank(to), bytes: Bytes(bytes) };
    step.into_iter().map(transfer).collect()
}

fn syntax(file: &str, error: &serde_json::Error) -> ReadError {
    let text = error.to_string();
    let place = (error.line() > 0).then_some((error.line(), error.column().max(1)));
    // The place is told once, before it.
    let problem = text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem).to_owned();
    ReadError { file: file.to_owned(), place, problem }
}
