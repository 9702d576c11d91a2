//! `maquette run goal`: a schedule in GOAL text.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use endpoint::Error;
use machines::model::{Interconnect, Machine};
use programs::goal::{GoalAnswer, OperationKind, Play, ReadError, Schedule, Unreceived};
use quantities::Bytes;
use serde_json::{Value, json};
use virtual_worlds::answer::Answer;
use virtual_worlds::flit::world::Options;

use super::simulation::RunOptions;
use super::summary::{Finding, NOT_RECEIVED, Summary};
use crate::command_line::failure::{Failure, warn};
use crate::command_line::sizes::MOST_BYTES;
use crate::command_line::{CommandOutput, working};
use crate::experiment::{Digesting, InputFile};
use crate::input;
use crate::launch::stage;
use crate::simulate::simulated;

/// As many messages that nobody received are named one by one.
const NAMED: usize = 8;
/// The longest schedule that is read.
const LONGEST: Bytes = Bytes(1 << 30);

/// Run a schedule in GOAL text, the format of LogGOPSim.
///
/// Times of `calc` are in nanoseconds. On a LogGP machine (`--set L=1us --set o=500ns`) the result is that of LogGOPSim, but
/// where that one sorts operations of one time unstably, or ignores what processors of one rank require of each other; and S
/// is the smallest message that waits for its receiver, where LogGOPSim's is the largest that does not (its 65535 is
/// `--set S=65536`). docs/GOAL.md has the details.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette run goal trace.goal --machine fat-tree-1024 --timeline trace.json")]
pub(super) struct Arguments {
    /// The schedule.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE", default_value = "loggp")]
    machine: OsString,
    #[command(flatten)]
    options: RunOptions,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { file, machine, options } = self;
        let (path, unreadable) = (file.clone(), |cause| Failure::Unreadable { path: file.clone(), cause });
        let text = Digesting::new(input::open(&file, LONGEST).map_err(unreadable)?);
        let (schedule, read) = working("reads the schedule", move || read(&path, text))?;
        let mut prepared = options.prepare_for(&machine, schedule.size())?;
        prepared.runs("goal", json!({"file": file.display().to_string()}));
        prepared.experiment.read(read);
        prepared.expected_messages = Some(schedule.sends());
        let schedule = Arc::new(schedule);
        if stage::is_set() {
            let ran = prepared.run(Play { schedule })?;
            return Ok(Summary { findings: Vec::new() }.said(&ran, as_json));
        }
        let ran = prepared.run_by(move |machine, options| simulate(machine, options, &schedule))?;
        for message in ran.output.iter().take(NAMED) {
            warn(&format!("{}:{}: {}", file.display(), message.line, words(message)));
        }
        Ok(Summary { findings: vec![not_received(&ran.output)] }.said(&ran, as_json))
    }
}

/// Reads the schedule, and what it was read from.
fn read(path: &Path, mut text: Digesting<impl Read>) -> Result<(Schedule, InputFile), Failure> {
    match Schedule::read(&path.display().to_string(), &mut text) {
        Ok(schedule) => Ok((schedule, InputFile::digested(path, &text))),
        Err(ReadError::Unreadable(cause)) => Err(Failure::Unreadable { path: path.to_path_buf(), cause }),
        Err(ReadError::Wrong(error)) => Err(error.into()),
        Err(ReadError::Damaged(error)) => Err(error.into()),
    }
}

/// Runs it: which messages no receive took, and what the machine did.
fn simulate(
    machine: &Machine,
    options: Options,
    schedule: &Arc<Schedule>,
) -> Result<(Vec<Unreceived>, Answer), Failure> {
    if !matches!(machine.interconnect, Interconnect::LogGp(_)) {
        check_sizes(schedule)?;
    }
    let GoalAnswer { answer, unreceived } = simulated(machine, options).run_goal(schedule)?;
    Ok((unreceived, answer))
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
        key: NOT_RECEIVED,
        value: messages.iter().map(unreceived).collect(),
    }
}

fn words(message: &Unreceived) -> String {
    format!("no receive of rank {} took the message of rank {} with tag {}", message.to, message.from, message.tag)
}

fn unreceived(message: &Unreceived) -> Value {
    json!({"from": message.from.0, "to": message.to.0, "tag": message.tag, "line": message.line})
}
