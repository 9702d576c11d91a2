//! `maquette compare`: what changed between two runs.

mod difference;

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use clap::Args;
use experiment::Provenance;
use formats::input;
use quantities::{Bytes, Duration};
use report::terminal::{Side, columns, counted, rounded, signed_percent};
use serde_json::{Value, json};

use super::CommandOutput;
use super::failure::Failure;
use difference::{Difference, between, between_all};

/// The largest answer that is read.
const LONGEST: Bytes = Bytes(1 << 30);
/// The most differences of each kind that the text shows: those of the greatest weight.
const SHOWN: usize = 5;
/// The longest text that is shown whole. [characters]
const LONGEST_TEXT: usize = 60;

/// Show what changed between two runs: makespan, jobs, ranks, channels, routers, message times, the critical path.
///
/// Compares what `maquette run ... --json` has printed: every number of one with that of the other. The exit status is
/// 0 if they are the same, 1 if they differ. Differences in what was run are listed, but do not affect the exit status.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette compare before.json after.json --tolerance 1")]
pub(super) struct Arguments {
    /// What one run has printed.
    before: PathBuf,
    /// The output of the other run with `--json`.
    after: PathBuf,
    /// Numbers that differ by at most so many percent of the larger one are the same.
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = percent)]
    tolerance: f64,
}

fn percent(text: &str) -> Result<f64, String> {
    let allowed = || format!("found {text}; allowed is a number of percent from 0 to 100");
    let value: f64 = text.trim_end_matches('%').parse().map_err(|_| allowed())?;
    if (0.0..=100.0).contains(&value) { Ok(value) } else { Err(allowed()) }
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let (before, after) = (read(&self.before)?, read(&self.after)?);
        let differences = between(&before, &after, self.tolerance / 100.0);
        let run = |answer: &Value| answer.get(Provenance::KEY).cloned().unwrap_or_default();
        let ran = between_all(&run(&before), &run(&after), 0.0);
        let status = i32::from(!differences.is_empty());
        let text = if as_json {
            let objects = |all: &[Difference]| all.iter().map(as_object).collect::<Vec<Value>>();
            crate::json(&json!({
                "same": differences.is_empty(),
                "differences": objects(&differences),
                "ran": objects(&ran),
            }))
        } else {
            text(&differences, &ran)
        };
        Ok(CommandOutput { text, status })
    }
}

/// The answer in the file `path`.
fn read(path: &Path) -> Result<Value, Failure> {
    let text = input::read_text(path, LONGEST).map_err(|cause| Failure::Unreadable { path: path.into(), cause })?;
    let wrong =
        |found: String| Failure::argument(path.display().to_string(), found, "what `maquette run ... --json` prints");
    let answer: Value = serde_json::from_str(&text).map_err(|error| wrong(not_json(&error)))?;
    match answer.get("makespan_ps") {
        Some(Value::Number(_)) => Ok(answer),
        _ => Err(wrong("JSON without a `makespan_ps`".to_owned())),
    }
}

fn as_object(difference: &Difference) -> Value {
    let Difference { place, before, after } = difference;
    json!({"place": place, "before": before, "after": after, "change": difference.change()})
}

/// What was found in place of JSON.
fn not_json(error: &serde_json::Error) -> String {
    let line = error.line();
    if error.is_eof() {
        format!("JSON that is cut off in line {line}")
    } else {
        format!("no JSON, from line {line} on")
    }
}

fn text(differences: &[Difference], ran: &[Difference]) -> String {
    let mut text = section("what was run", ran, usize::MAX);
    if differences.is_empty() {
        return text + "the same\n";
    }
    let (in_lists, alone): (Vec<Difference>, Vec<Difference>) =
        differences.iter().cloned().partition(|difference| difference.place.contains('['));
    let (one_sided, alone): (Vec<Difference>, Vec<Difference>) =
        alone.into_iter().partition(|difference| difference.one_sided().is_some());
    text += &section("", &alone, usize::MAX);
    let sides = one_sided.iter().filter_map(|difference| Some((&difference.place, difference.one_sided()?)));
    let lines: Vec<String> = sides
        .map(|(place, (side, elements))| format!("{place}: only in the {side} ({})\n", counted(elements, "element")))
        .collect();
    if !lines.is_empty() {
        text += &format!("{}\n", lines.concat());
    }
    let mut groups: Vec<&str> = Vec::new();
    for group in in_lists.iter().map(Difference::group) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    for group in groups {
        let mut of_group: Vec<Difference> =
            in_lists.iter().filter(|difference| difference.group() == group).cloned().collect();
        of_group.sort_by_key(|difference| Reverse((difference.weight().min(1e9) * 1e9) as u64));
        let head = match of_group.len() {
            1 => format!("{group}: 1 number differs"),
            count if count > SHOWN => format!("{group}: {count} numbers differ, most of all"),
            count => format!("{group}: {count} numbers differ"),
        };
        text += &section(&head, &of_group, SHOWN);
    }
    // The last section has no other below it.
    text.trim_end().to_owned() + "\n"
}

/// Differences below a heading, if there are any.
fn section(head: &str, differences: &[Difference], most: usize) -> String {
    if differences.is_empty() {
        return String::new();
    }
    let row = |difference: &Difference| {
        let shown = |value: &Option<Value>| {
            value.as_ref().map_or_else(|| "-".to_owned(), |value| value_text(&difference.place, value))
        };
        let change = difference.change().map(signed_percent).unwrap_or_default();
        [difference.place.clone(), shown(&difference.before), "->".to_owned(), shown(&difference.after), change]
    };
    let rows: Vec<[String; 5]> = differences.iter().take(most).map(row).collect();
    let head = if head.is_empty() { String::new() } else { format!("{head}\n") };
    format!("{head}{}\n", columns([Side::Left, Side::Right, Side::Left, Side::Right, Side::Right], &rows))
}

/// A text that fits into a cell.
fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST_TEXT {
        return text.to_owned();
    }
    text.chars().take(LONGEST_TEXT).chain("...".chars()).collect()
}

/// A value for people to read: times with their unit.
fn value_text(place: &str, value: &Value) -> String {
    let is_time = place.ends_with("_ps") || place.starts_with("finish_ps[");
    match value {
        Value::Number(number) if is_time => {
            number.as_u64().map_or_else(|| number.to_string(), |time| rounded(Duration::from_picoseconds(time)))
        }
        Value::String(text) => shortened(text),
        Value::Array(list) => counted(list.len(), "element"),
        Value::Object(fields) => counted(fields.len(), "field"),
        other => other.to_string(),
    }
}
