//! The printed report of schedules.

use collectives::schedule::{Measures, Rule};
use quantities::Bytes;
use serde_json::{Value, json};

use super::Made;
use experiment::Provenance;
use report::terminal::{Side, columns, counted, rounded};
use tuning::exchange::{Messages, Name, ScheduleSummary};
use tuning::planner::Bound;

/// The width of a printed schedule. [characters]
pub(super) const WIDTH: usize = 100;

/// The figures of a schedule, as text.
fn rows(summary: &ScheduleSummary) -> [[String; 2]; 4] {
    let Measures { steps, carrying_steps, least_steps, messages, transfers, .. } = summary.measures;
    let Measures { bytes, bytes_in_step, most_bytes_of_a_rank: least, .. } = summary.measures;
    let idle = steps - carrying_steps;
    let idle = if idle > 0 { format!(", and {idle} that carry nothing") } else { String::new() };
    let parts = if transfers > messages { format!(" in {transfers} parts") } else { String::new() };
    let (through, most) = (summary.crossings.iter().sum::<usize>(), summary.most_crossings());
    let branches = format!("branches of {}", counted(summary.branch, "rank"));
    [
        ("steps", format!("{carrying_steps}{idle}; at least {least_steps} {}", for_whom(summary.rule))),
        ("messages", format!("{messages}{parts}, {bytes} in total")),
        ("in step", format!("{bytes_in_step}, {}; at least {least}, the busiest rank's", in_step(summary.rule))),
        ("through root", format!("{through}, at most {most} in a step; {branches}")),
    ]
    .map(|(name, text)| [name.to_string(), text])
}

/// What the least number of steps is for.
const fn for_whom(rule: Rule) -> &'static str {
    match rule {
        Rule::OneEach => "for these messages",
        Rule::ManyToOne => "with one receiver in each",
        Rule::ManyToMany => "with everything at once",
    }
}

/// What the bytes in step are the sum of.
const fn in_step(rule: Rule) -> &'static str {
    match rule {
        Rule::OneEach => "the sum of the steps' largest",
        Rule::ManyToOne => "the sum of what the steps' receivers get",
        Rule::ManyToMany => "the sum of the most that a rank sends or receives in a step",
    }
}

fn heading(traffic: &Messages) -> String {
    let Messages { title, pattern, complete, .. } = traffic;
    let share = match complete {
        Some(_) => String::new(),
        None => format!(", {:.1}% of those of an all-to-all", 100.0 * pattern.density()),
    };
    let own = pattern.own_in_all();
    let own = if own.0 > 0 { format!("; {own} stay at their rank") } else { String::new() };
    format!(
        "{title}: {} among {}{share}{own}",
        counted(pattern.messages().len(), "message"),
        counted(pattern.ranks(), "rank")
    )
}

/// Adds what stays at the ranks, if anything does.
fn add_own(object: &mut Value, traffic: &Messages) {
    let Bytes(own) = traffic.pattern.own_in_all();
    if own > 0 {
        object["own_bytes"] = json!(own);
    }
}

/// One schedule, with its table and its check, if these were asked for.
pub(super) fn one(made: &Made, experiment: &Provenance, as_json: bool) -> String {
    let Made { traffic, summary, table, checked, .. } = made;
    if as_json {
        let mut object = summary.json();
        object["traffic"] = json!(traffic.title);
        add_own(&mut object, traffic);
        if let Some(checked) = checked {
            object["check"] = json!({"right": checked.wrong.is_none(), "wrong": checked.wrong});
        }
        return crate::json(&experiment.added_to(object));
    }
    let mut rows = rows(summary).to_vec();
    if let Some(Bound { time, reason }) = &summary.bound {
        rows.push(["lower bound".to_owned(), format!("{}: {reason}", rounded(*time))]);
    }
    if let Some(checked) = checked {
        let text = checked.wrong.as_ref().map_or(checked.right.to_owned(), |wrong| format!("wrong: {wrong}"));
        rows.push(["check".to_owned(), text]);
    }
    let rows = columns([Side::Left, Side::Left], &rows);
    let table = table.as_ref().map_or(String::new(), |table| format!("\n{table}"));
    let title = match &summary.name {
        Name::Algorithm(name) => format!("{name} schedule of {}", heading(traffic)),
        Name::File(name) if *name == traffic.title => format!("schedule {}", heading(traffic)),
        Name::File(name) => format!("schedule {name} for {}", heading(traffic)),
    };
    format!("{title}\n{}\n{rows}{table}", experiment.line())
}

/// Several schedules.
pub(super) fn comparison(
    traffic: &Messages,
    summaries: &[ScheduleSummary],
    experiment: &Provenance,
    as_json: bool,
) -> String {
    if as_json {
        let schedules: Vec<Value> = summaries.iter().map(ScheduleSummary::json).collect();
        let mut object = json!({"traffic": traffic.title, "schedules": schedules});
        add_own(&mut object, traffic);
        return crate::json(&experiment.added_to(object));
    }
    let names = ["algorithm", "steps", "in step", "ratio to min", "through root, at most"];
    let mut rows = vec![names.map(str::to_string)];
    rows.extend(summaries.iter().map(|summary| {
        [
            summary.name.text().to_owned(),
            summary.measures.carrying_steps.to_string(),
            summary.measures.bytes_in_step.to_string(),
            format!("{:.2}", summary.stretch()),
            summary.most_crossings().to_string(),
        ]
    }));
    let sides = [Side::Left, Side::Right, Side::Right, Side::Right, Side::Right];
    let (steps, bytes) = (traffic.pattern.most_messages_of_a_rank(), traffic.pattern.most_bytes_of_a_rank());
    let branch = summaries.first().map_or(0, |summary| summary.branch);
    format!(
        "{}\n{}\n{}\nAt least {steps} steps are needed if a rank sends and receives one message a step, as in all but linear, \
         where\none rank receives from many, and all-at-once, which has no order. In step: the sum of the most that a rank\n\
         sends or receives in each step, at least the {bytes} of the busiest. Through root: the most in one step, for\na \
         tree whose branches below the root have {} each.\n",
        heading(traffic),
        experiment.line(),
        columns(sides, &rows),
        counted(branch, "rank"),
    )
}
