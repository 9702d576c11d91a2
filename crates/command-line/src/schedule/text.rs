//! What is said of schedules.

use ::machines::model::Machine;
use programs::schedule::{Measures, Rule, Schedule};
use serde_json::{Value, json};

use super::{Made, Traffic};
use experiment::Provenance;
use report::terminal::{Side, columns, rounded};
use tuning::planner::{Bound, busiest};

/// How wide a printed schedule is. [letters]
pub(super) const WIDTH: usize = 100;

/// What a schedule is called.
#[derive(Clone, Debug)]
pub(super) enum Name {
    /// After the algorithm that made it.
    Algorithm(&'static str),
    /// After the file that it was in.
    File(String),
}

impl Name {
    pub(super) fn text(&self) -> &str {
        match self {
            Name::Algorithm(name) => name,
            Name::File(name) => name,
        }
    }
}

/// A schedule's measures.
pub(super) struct Told {
    name: Name,
    ranks: u32,
    rule: Rule,
    measures: Measures,
    /// How many ranks each branch below the root has.
    branch: u32,
    /// For each step how many messages go through the root.
    crossings: Vec<usize>,
    /// What no schedule of these messages can be quicker than, on the machine that was named.
    bound: Option<Bound>,
}

impl Told {
    pub(super) fn new(name: Name, schedule: &Schedule, branch: u32) -> Told {
        let (ranks, rule) = (schedule.ranks, schedule.rule);
        let (measures, crossings) = (schedule.measures(), schedule.root_crossings(branch));
        Told { name, ranks, rule, measures, branch, crossings, bound: None }
    }

    /// The same, with what it takes at least on `machine`.
    pub(super) fn on(self, machine: Option<&Machine>) -> Told {
        let Measures { least_steps, most_bytes_of_a_rank, .. } = self.measures;
        let bound = |machine| busiest(machine, u64::from(least_steps), most_bytes_of_a_rank);
        Told { bound: machine.map(bound), ..self }
    }

    /// How many times as long as the busiest rank's bytes the steps take, if the ranks stay in step and only bytes count.
    fn stretch(&self) -> f64 {
        let least = self.measures.most_bytes_of_a_rank.0;
        if least == 0 { 1.0 } else { self.measures.bytes_in_step.0 as f64 / least as f64 }
    }

    fn most_crossings(&self) -> usize {
        self.crossings.iter().copied().max().unwrap_or(0)
    }

    fn object(&self) -> Value {
        let key = match self.name {
            Name::Algorithm(_) => "algorithm",
            Name::File(_) => "file",
        };
        json!({
            key: self.name.text(),
            "ranks": self.ranks,
            "rule": self.rule.name(),
            "steps": self.measures.steps,
            "carrying_steps": self.measures.carrying_steps,
            "least_steps": self.measures.least_steps,
            "messages": self.measures.messages,
            "transfers": self.measures.transfers,
            "total_bytes": self.measures.bytes.0,
            "bytes_in_step": self.measures.bytes_in_step.0,
            "most_bytes_of_a_rank": self.measures.most_bytes_of_a_rank.0,
            "branch": self.branch,
            "root_crossings": self.crossings,
            "lower_bound_ps": self.bound.as_ref().map(|bound| bound.time.picoseconds()),
        })
    }

    fn rows(&self) -> [[String; 2]; 4] {
        let Measures { steps, carrying_steps, least_steps, messages, transfers, .. } = self.measures;
        let Measures { bytes, bytes_in_step, most_bytes_of_a_rank: least, .. } = self.measures;
        let idle = steps - carrying_steps;
        let idle = if idle > 0 { format!(", and {idle} that carry nothing") } else { String::new() };
        let parts = if transfers > messages { format!(" in {transfers} parts") } else { String::new() };
        let (through, most) = (self.crossings.iter().sum::<usize>(), self.most_crossings());
        let branches = format!("branches of {} {}", self.branch, if self.branch == 1 { "rank" } else { "ranks" });
        [
            ("steps", format!("{carrying_steps}{idle}; at least {least_steps} for these messages")),
            ("messages", format!("{messages}{parts}, {bytes} together")),
            (
                "in step",
                format!("{bytes_in_step}, the sum of the steps' largest; at least {least}, the busiest rank's"),
            ),
            ("through root", format!("{through}, at most {most} in a step; {branches}")),
        ]
        .map(|(name, text)| [name.to_string(), text])
    }
}

fn heading(traffic: &Traffic) -> String {
    let Traffic { title, pattern, complete, .. } = traffic;
    let share = match complete {
        Some(_) => String::new(),
        None => format!(", {:.1}% of those of a complete exchange", 100.0 * pattern.density()),
    };
    format!("{title}: {} messages among {} ranks{share}", pattern.messages().len(), pattern.ranks())
}

/// One schedule, with itself as a table and with its check, where these were asked for.
pub(super) fn one(made: &Made, experiment: &Provenance, as_json: bool) -> String {
    let Made { traffic, told, table, checked, .. } = made;
    if as_json {
        let mut object = told.object();
        object["traffic"] = json!(traffic.title);
        if let Some(checked) = checked {
            object["check"] = json!({"right": checked.wrong.is_none(), "wrong": checked.wrong});
        }
        return crate::json(&experiment.beside(object));
    }
    let mut rows = told.rows().to_vec();
    if let Some(Bound { time, reason }) = &told.bound {
        rows.push(["lower bound".to_owned(), format!("{}: {reason}", rounded(*time))]);
    }
    if let Some(checked) = checked {
        let text = checked.wrong.as_ref().map_or(checked.right.to_owned(), |wrong| format!("wrong: {wrong}"));
        rows.push(["check".to_owned(), text]);
    }
    let rows = columns([Side::Left, Side::Left], &rows);
    let table = table.as_ref().map_or(String::new(), |table| format!("\n{table}"));
    let title = match &told.name {
        Name::Algorithm(name) => format!("{name} schedule of {}", heading(traffic)),
        Name::File(name) if *name == traffic.title => format!("schedule {}", heading(traffic)),
        Name::File(name) => format!("schedule {name} for {}", heading(traffic)),
    };
    format!("{title}\n{}\n{rows}{table}", experiment.line())
}

/// Several schedules.
pub(super) fn comparison(traffic: &Traffic, told: &[Told], experiment: &Provenance, as_json: bool) -> String {
    if as_json {
        let schedules: Vec<Value> = told.iter().map(Told::object).collect();
        let object = json!({"traffic": traffic.title, "schedules": schedules});
        return crate::json(&experiment.beside(object));
    }
    let names = ["algorithm", "steps", "in step", "of the least", "through root, at most"];
    let mut rows = vec![names.map(str::to_string)];
    rows.extend(told.iter().map(|told| {
        [
            told.name.text().to_owned(),
            told.measures.carrying_steps.to_string(),
            told.measures.bytes_in_step.to_string(),
            format!("{:.2}", told.stretch()),
            told.most_crossings().to_string(),
        ]
    }));
    let sides = [Side::Left, Side::Right, Side::Right, Side::Right, Side::Right];
    let (steps, bytes) = (traffic.pattern.most_messages_of_a_rank(), traffic.pattern.most_bytes_of_a_rank());
    let branch = told.first().map_or(0, |told| told.branch);
    format!(
        "{}\n{}\n{}\nAt least {steps} steps are needed, and {bytes} go after each other at the busiest rank. In step: the sum \
         of the\nsteps' largest messages. Through root: the most in one step, for a tree whose branches below the root \
         have\n{branch} ranks each.\n",
        heading(traffic),
        experiment.line(),
        columns(sides, &rows),
    )
}
