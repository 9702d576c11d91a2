//! `maquette run goal`: a schedule in GOAL text.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use endpoint::Error;
use machines::model::{Interconnect, Machine};
use programs::goal::{OperationKind, Play, Schedule};
use quantities::Bytes;
use serde_json::{Value, json};
use virtual_worlds::answer::Answer;
use virtual_worlds::clock::goal::{GoalAnswer, Unreceived};
use virtual_worlds::network_world::Options;

use super::simulation::Manner;
use super::summary::{Finding, Summary};
use crate::command_line::Said;
use crate::command_line::failure::{Failure, warn};
use crate::command_line::progress::Spinner;
use crate::command_line::sizes::MOST_BYTES;
use crate::experiment::InputFile;
use crate::launch::stage;
use crate::simulate::{clock, ethernet, network};

/// As many messages that nobody received are named one by one.
const NAMED: usize = 8;

/// Run a schedule in GOAL text, the format of LogGOPSim.
///
/// Times of `calc` are in nanoseconds. On a LogGP machine (`--set L=1us --set o=500ns`) the result can be compared with
/// LogGOPSim's.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette run goal trace.goal --machine fat-tree-1024 --timeline trace.json")]
pub(super) struct Arguments {
    /// The schedule.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE", default_value = "loggp")]
    machine: String,
    #[command(flatten)]
    manner: Manner,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<Said, Failure> {
        let Arguments { file, machine, manner } = self;
        let spinner = Spinner::saying("reads the schedule");
        let text = fs::read(&file).map_err(|cause| Failure::Unreadable { path: file.clone(), cause })?;
        let schedule = Schedule::parse(&file.display().to_string(), &text)?;
        drop(spinner);
        let mut prepared = manner.prepare_for(&machine, schedule.size())?;
        prepared.runs("goal", json!({"file": file.display().to_string()}));
        prepared.experiment.read(InputFile::new(&file, &text));
        prepared.expected_messages = Some(sends(&schedule));
        let schedule = Arc::new(schedule);
        if stage::is_set() {
            let ran = prepared.run_any(Play { schedule })?;
            return Ok(Summary { findings: Vec::new() }.said(&ran, as_json));
        }
        let ran = prepared.run_by(move |machine, options| simulate(machine, options, &schedule))?;
        for message in ran.output.iter().flatten().take(NAMED) {
            warn(&format!("{}:{}: {}", file.display(), message.line, words(message)));
        }
        let findings = ran.output.iter().map(|messages| not_received(messages)).collect();
        Ok(Summary { findings }.said(&ran, as_json))
    }
}

/// Runs it. Under LogGP it is also known which messages no receive took.
fn simulate(
    machine: &Machine,
    options: Options,
    schedule: &Arc<Schedule>,
) -> Result<(Option<Vec<Unreceived>>, Answer), Failure> {
    let ended = match &machine.interconnect {
        Interconnect::LogGp(model) => {
            let clock = clock(*model, options);
            clock.run_goal(schedule).map(|GoalAnswer { answer, unreceived }| (Some(unreceived), answer))
        }
        Interconnect::Ethernet(_) => {
            check_sizes(schedule)?;
            ethernet(machine, options).run_goal(schedule).map(|answer| (None, answer))
        }
        Interconnect::Flits(_) => {
            check_sizes(schedule)?;
            network(machine, options).run_goal(schedule).map(|answer| (None, answer))
        }
    };
    ended.map_err(|error| match error {
        // Which machine it runs on does not matter: a receive waits for what is never sent.
        Error::Deadlock(_) => Failure::Schedule(error),
        other => Failure::Program(other),
    })
}

/// How many messages it sends.
fn sends(schedule: &Schedule) -> u64 {
    let operations = schedule.busy_ranks().flat_map(|(_, block)| block.operations());
    operations.filter(|operation| matches!(operation.kind, OperationKind::Send { .. })).count() as u64
}

/// Whether the packets of every message can be counted.
fn check_sizes(schedule: &Schedule) -> Result<(), Failure> {
    for operation in schedule.busy_ranks().flat_map(|(_, block)| block.operations()) {
        if let OperationKind::Send { size, .. } = operation.kind
            && size.0 > MOST_BYTES
        {
            let (file, line, most) = (schedule.file(), operation.line, Bytes(MOST_BYTES));
            let problem = format!("{file}:{line}: found a message of {size}; allowed is at most {most} on a network");
            return Err(Failure::Schedule(Error::Unfit(problem)));
        }
    }
    Ok(())
}

fn not_received(messages: &[Unreceived]) -> Finding {
    Finding {
        name: "not received",
        text: messages.len().to_string(),
        key: "not_received",
        value: messages.iter().map(unreceived).collect(),
    }
}

fn words(message: &Unreceived) -> String {
    format!("no receive of rank {} took the message of rank {} with tag {}", message.to, message.from, message.tag)
}

fn unreceived(message: &Unreceived) -> Value {
    json!({"from": message.from.0, "to": message.to.0, "tag": message.tag, "line": message.line})
}
