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

mod place;

use std::fmt::Write;

use quantities::{Bytes, FileFormat, Rank, reading};
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
    /// The name that was probably meant, if one is close to what was found.
    pub meant: Option<String>,
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
    /// All of them.
    const fn all() -> [Rule; 3] {
        [Rule::OneEach, Rule::ManyToOne, Rule::ManyToMany]
    }

    /// Its name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::OneEach => "one-each",
            Rule::ManyToOne => "many-to-one",
            Rule::ManyToMany => "many-to-many",
        }
    }
}

impl Schedule {
    /// The schedule as JSON text, one line per step.
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

    /// Reads the output of [`Schedule::to_json`]; `file` is its name in errors. The steps are checked as by
    /// [`Schedule::check_steps`].
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn from_json(file: &str, text: &[u8]) -> Result<Schedule, ReadError> {
        let read: ScheduleText = serde_json::from_slice(text)
            .map_err(|error| other_format(file, text).unwrap_or_else(|| misread(file, text, &error)))?;
        let wrong = |key: &str, path: &[usize], problem: String| {
            let problem = if path.is_empty() { format!("{key}: {problem}") } else { problem };
            ReadError { file: file.to_owned(), place: place::of(text, key, path), problem, meant: None }
        };
        if read.format != FORMAT {
            let problem = format!("found \"{}\"; allowed is \"{FORMAT}\"", read.format);
            return Err(wrong("format", &[], problem));
        }
        if read.ranks == 0 || read.ranks > MOST_RANKS {
            return Err(wrong("ranks", &[], format!("found {}; allowed is 1 to {MOST_RANKS}", read.ranks)));
        }
        let Some(rule) = Rule::all().into_iter().find(|rule| rule.name() == read.rule) else {
            let problem =
                format!("found \"{}\"; allowed is \"one-each\", \"many-to-one\" or \"many-to-many\"", read.rule);
            return Err(ReadError {
                meant: quantities::nearest(&read.rule, Rule::all().map(Rule::name)).map(str::to_owned),
                ..wrong("rule", &[], problem)
            });
        };
        let count: usize = read.steps.iter().map(Vec::len).sum();
        if count.max(read.steps.len()) > MOST_MESSAGES {
            return Err(wrong(
                "steps",
                &[],
                format!("found more than {MOST_MESSAGES} steps or transfers; allowed is that many"),
            ));
        }
        let schedule = Schedule::with_rule(read.ranks, rule, read.steps.into_iter().map(transfers).collect());
        schedule.check_steps().map_err(|error| {
            let step = error.step().map(|number| number - 1);
            wrong("steps", step.as_slice(), error.to_string())
        })?;
        let bytes = schedule.transfers().try_fold(0_u64, |sum, transfer| sum.checked_add(transfer.bytes.0));
        let too_many =
            || format!("found more than {0} bytes in all transfers together; allowed is that many", u64::MAX);
        bytes.ok_or_else(|| wrong("steps", &[], too_many()))?;
        Ok(schedule)
    }
}

fn transfers(step: Vec<TransferText>) -> Vec<Transfer> {
    let transfer = |TransferText { from, to, bytes }| Transfer { from: Rank(from), to: Rank(to), bytes: Bytes(bytes) };
    step.into_iter().map(transfer).collect()
}

/// The error for a file that holds something else than a schedule, if it is known what.
fn other_format(file: &str, text: &[u8]) -> Option<ReadError> {
    let format = FileFormat::of(text).filter(|format| !format.is_read_by("maquette run schedule"))?;
    let problem = format.instead_of("a schedule that `maquette schedule --write` wrote, as JSON or as MSCCL XML");
    Some(ReadError { file: file.to_owned(), place: None, problem, meant: None })
}

/// What is wrong with a file that is no schedule.
fn misread(file: &str, text: &[u8], error: &serde_json::Error) -> ReadError {
    let place = (error.line() > 0).then_some((error.line(), error.column().max(1)));
    // Reading it again finds what is wrong as data; most files have no mistakes, and need not pay for it.
    let again = reading::read::<ScheduleText, _>(&mut serde_json::Deserializer::from_slice(text)).err();
    let mistake = again.and_then(|misread| misread.mistake);
    let problem = match &mistake {
        Some(mistake) => mistake.to_string(),
        None if error.is_eof() => "found the end of the file; allowed is the rest of a schedule".to_owned(),
        // The place is reported once, before the problem.
        None => reading::without_place(&error.to_string(), (error.line(), error.column())).to_owned(),
    };
    let meant = mistake.and_then(|mistake| mistake.nearest()).map(str::to_owned);
    ReadError { file: file.to_owned(), place, problem, meant }
}
