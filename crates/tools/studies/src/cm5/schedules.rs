//! Tables 1 to 4 and 7 to 10: the schedules for eight processors.

use std::str::FromStr;

use collectives::all_to_all::{Complete, Irregular};
use collectives::schedule::{Pattern, Schedule, Transfer};
use quantities::{Bytes, Rank};

use super::StudyOfCm5;
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Element, element};

/// The processors of the tables.
const PROCESSORS: u32 = 8;
/// Table 6: pattern P. A 1 is a message.
const TABLE_6: [[u64; 8]; 8] = [
    [0, 1, 0, 1, 0, 1, 1, 0],
    [1, 0, 1, 0, 1, 1, 1, 1],
    [0, 1, 0, 1, 0, 0, 0, 0],
    [1, 0, 1, 0, 1, 1, 1, 0],
    [0, 1, 1, 1, 0, 1, 0, 1],
    [0, 1, 0, 0, 1, 0, 1, 0],
    [1, 0, 1, 1, 0, 1, 0, 1],
    [1, 1, 0, 0, 1, 0, 1, 0],
];
/// Table 3, one step per line; the 3 <-> 6 printed in the first step must be 2 <-> 6.
const TABLE_3: [&str; 3] =
    ["0 <-> 4, 1 <-> 5, 2 <-> 6, 3 <-> 7", "0 <-> 2, 1 <-> 3, 4 <-> 6, 5 <-> 7", "0 <-> 1, 2 <-> 3, 4 <-> 5, 6 <-> 7"];
/// Table 10, one step per line; the 2 <-> 4 printed in step 5 must be 4 -> 2, since P has no message from 2 to 4.
const TABLE_10: [&str; 6] = [
    "0 <-> 1, 2 <-> 3, 4 <-> 5, 6 <-> 7",
    "0 <-> 3, 1 <-> 2, 4 <-> 7, 5 <-> 6",
    "0 -> 5, 1 <-> 4, 3 <-> 6",
    "0 <-> 6, 1 <-> 5, 3 <-> 4",
    "1 -> 6, 3 -> 5, 4 -> 2, 7 -> 0",
    "1 <-> 7, 6 -> 2",
];

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "tables 1 to 10",
    title: "the schedules for eight processors",
    claims: &["cm5.tables.schedules"],
    jobs: Vec::new,
    judge: |_, _| Ok(judge(entries()?, greedy_otherwise()?)),
    draw: |_: &Claims, _| draw(),
};

/// A table: its number, what it shows, our schedule, what it must be.
struct ScheduleTable {
    number: u32,
    title: &'static str,
    ours: Schedule,
    due: Vec<Vec<Transfer>>,
    /// Whether the text says how many steps carry messages.
    counted: bool,
    /// The messages that the schedule must deliver; if it forwards messages, those that go between the processors.
    pattern: Pattern,
}

fn failed(why: impl ToString) -> MissingAnswer {
    MissingAnswer::Failed("a schedule for eight processors".to_string(), why.to_string())
}

/// The step, from 0, in which a message from i to j goes.
type StepOf = fn(u32, u32) -> u32;

/// In step i, processor i receives.
fn linear(_: u32, j: u32) -> u32 {
    j
}

/// Figure 2, whose first step is 1.
fn pairwise(i: u32, j: u32) -> u32 {
    (i ^ j) - 1
}

/// Figure 4: the same by virtual numbers.
fn balanced(i: u32, j: u32) -> u32 {
    pairwise((i + 1) % PROCESSORS, (j + 1) % PROCESSORS)
}

fn by_rule(pattern: &Pattern, step_of: StepOf) -> Vec<Vec<Transfer>> {
    let last = pattern.messages().iter().map(|message| step_of(message.from.0, message.to.0)).max().unwrap_or(0);
    let in_step = |step| pattern.messages().iter().filter(move |message| step_of(message.from.0, message.to.0) == step);
    (0..=last).map(|step| in_step(step).copied().collect()).collect()
}

/// The transfers of a step as a table prints it.
fn printed(step: &str, bytes: Bytes) -> Result<Vec<Transfer>, MissingAnswer> {
    let mut transfers = Vec::new();
    for entry in step.split(", ") {
        let mut words = entry.split(' ');
        let (one, arrow, other) = (words.next(), words.next(), words.next());
        let rank = |word: Option<&str>| u32::from_str(word.unwrap_or("")).map(Rank).map_err(failed);
        let (from, to) = (rank(one)?, rank(other)?);
        transfers.push(Transfer { from, to, bytes });
        if arrow == Some("<->") {
            transfers.push(Transfer { from: to, to: from, bytes });
        }
    }
    transfers.sort_unstable();
    Ok(transfers)
}

fn entries() -> Result<Vec<ScheduleTable>, MissingAnswer> {
    let complete = Pattern::complete(PROCESSORS, Bytes(1)).map_err(failed)?;
    let p = Pattern::new(PROCESSORS, TABLE_6.concat()).map_err(failed)?;
    let recursive = Complete::Recursive.schedule(PROCESSORS, Bytes(1)).map_err(failed)?;
    let packed = Bytes(u64::from(PROCESSORS / 2));
    let steps = |lines: &[&str], bytes| lines.iter().map(|step| printed(step, bytes)).collect::<Result<_, _>>();
    let entry = |number, title, algorithm: Irregular, pattern: &Pattern, rule, counted| ScheduleTable {
        number,
        title,
        ours: algorithm.schedule(pattern),
        due: by_rule(pattern, rule),
        counted,
        pattern: pattern.clone(),
    };
    Ok(vec![
        entry(1, "linear exchange", Irregular::Linear, &complete, linear, false),
        entry(2, "pairwise exchange", Irregular::Pairwise, &complete, pairwise, false),
        ScheduleTable {
            number: 3,
            title: "recursive exchange",
            pattern: recursive.pattern().map_err(failed)?,
            due: steps(&TABLE_3, packed)?,
            ours: recursive,
            counted: false,
        },
        entry(4, "balanced exchange", Irregular::Balanced, &complete, balanced, false),
        entry(7, "pattern P, linear scheduling", Irregular::Linear, &p, linear, true),
        entry(8, "pattern P, pairwise scheduling", Irregular::Pairwise, &p, pairwise, true),
        entry(9, "pattern P, balanced scheduling", Irregular::Balanced, &p, balanced, true),
        ScheduleTable {
            number: 10,
            title: "pattern P, greedy scheduling",
            ours: Irregular::Greedy.schedule(&p),
            due: steps(&TABLE_10, Bytes(1))?,
            counted: true,
            pattern: p,
        },
    ])
}

/// How many steps of greedy scheduling of a complete exchange are not those of pairwise exchange.
fn greedy_otherwise() -> Result<usize, MissingAnswer> {
    let complete = Pattern::complete(PROCESSORS, Bytes(1)).map_err(failed)?;
    let [greedy, pairwise] = [Irregular::Greedy, Irregular::Pairwise].map(|algorithm| algorithm.schedule(&complete));
    let differing = greedy.steps.iter().zip(&pairwise.steps).filter(|(one, other)| one != other).count();
    Ok(differing + greedy.steps.len().abs_diff(pairwise.steps.len()))
}

/// Steps of balanced exchange that carry messages.
pub(super) fn steps_of_balanced() -> Result<f64, MissingAnswer> {
    let schedule = Complete::Balanced.schedule(PROCESSORS, Bytes(1)).map_err(failed)?;
    Ok(schedule.measures().carrying_steps as f64)
}

fn judge(entries: Vec<ScheduleTable>, greedy_otherwise: usize) -> Findings {
    let (mut other, mut sound, mut carrying) = (Vec::new(), Vec::new(), Vec::new());
    for ScheduleTable { number, title, ours, due, counted, pattern } in entries {
        let place = format!("table {number}, {title}");
        let differing = ours.steps.iter().zip(&due).filter(|(ours, due)| ours != due).count();
        other.push((place.clone(), (differing + ours.steps.len().abs_diff(due.len())) as f64));
        sound.push((place.clone(), f64::from(ours.check(&pattern).is_ok())));
        if counted {
            carrying.push((place, ours.measures().carrying_steps as f64));
        }
    }
    Findings::counted(|holding, of| format!("{holding} of {of} counts agree").into())
        .with("steps_otherwise", other)
        .with("every_message_once", sound)
        .with("carrying_steps", carrying)
        .with_number("greedy_complete_otherwise", greedy_otherwise as f64)
}

fn draw() -> Result<Option<Drawing>, MissingAnswer> {
    let panel = |entry: &ScheduleTable| -> Element {
        let title = element("p").child(element("b").text(format!("Table {}: {}", entry.number, entry.title)));
        let table = element("pre").text(entry.ours.table(100));
        element("div").child(title).child(element("div").class("wide").attribute("tabindex", "0").child(table))
    };
    Ok(Some(Drawing {
        legend: None,
        panels: entries()?.iter().map(panel).collect(),
        caption:
            "The schedules as our algorithms make them. Tables 1, 2, 4, 7, 8 and 9 are lost in the scan that is at \
                  hand; they are held against the rules of the paper's figures 2 and 4 and the numbers of steps in its \
                  text. Tables 3 and 10 are held against the print, each with one misprint corrected."
                .to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::failing;

    /// The conditions that fail if each table has that fault.
    fn with(fault: fn(&mut ScheduleTable)) -> Vec<String> {
        let mut entries = entries().unwrap();
        entries.iter_mut().for_each(fault);
        failing(&super::super::paper(), STUDY.claims[0], judge(entries, 0))
    }

    #[test]
    fn a_schedule_of_other_steps_is_missed() {
        assert_eq!(with(|_| {}), [""; 0]);
        assert_eq!(with(|entry| entry.ours.steps.reverse()), ["steps_otherwise"]);
        let without = ["steps_otherwise", "every_message_once", "carrying_steps"];
        assert_eq!(with(|entry| drop(entry.ours.steps.pop())), without);
        let twice = |entry: &mut ScheduleTable| {
            let again = entry.ours.steps[0].clone();
            entry.ours.steps.push(again.clone());
            entry.due.push(again);
        };
        assert_eq!(with(twice), ["every_message_once", "carrying_steps"], "a message that goes twice");
        assert_eq!(failing(&super::super::paper(), STUDY.claims[0], judge(Vec::new(), 0)), without);
        let other = failing(&super::super::paper(), STUDY.claims[0], judge(entries().unwrap(), 1));
        assert_eq!(other, ["greedy_complete_otherwise"]);
    }
}
