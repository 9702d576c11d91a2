//! A schedule in GOAL text.

use std::sync::Arc;

use endpoint::{Error as ProgramError, Result as ProgramResult};
use formats::input::{self, DigestingReader, InputFile};
use launch::rank::Running;
use launch::wire::Record;
use machines::model::{Machine, NodeId};
use quantities::{Bytes, Duration, FileFormat};
use replay::goal::{self, GoalAnswer, OperationKind, Player, ReadError, RunGoal, Unreceived};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use virtual_worlds::flit::world::Options;
use virtual_worlds::jobs::Placed;

use super::Entry;
use crate::prepared::{AnyJob, Notes, Outcome};
use crate::simulate::simulated;
use crate::site::LARGEST_MESSAGE;
use crate::{Error, FilePath, Finding, NOT_RECEIVED, Prepared, Ready, Simulates, Site};

/// As many messages that nobody received are named one by one.
const NAMED: usize = 8;
/// The longest schedule that is read.
const LONGEST: Bytes = Bytes(1 << 30);

/// The command that reads it.
const READER: &str = "maquette run goal";

/// Run a schedule in GOAL text, the format of LogGOPSim.
///
/// Times of `calc` are in nanoseconds. On a LogGP machine (`--set L=1us --set o=500ns`) the result is that of
/// LogGOPSim, but where that one sorts operations of one time unstably, or ignores what processors of one rank require
/// of each other; and S is the smallest message that waits for its receiver, where LogGOPSim's is the largest that does
/// not (its 65535 is `--set S=65536`). docs/GOAL.md has the details.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The schedule.
    #[schemars(extend("x-value" = "FILE", "x-file" = true))]
    file: FilePath,
}

/// A schedule that can begin.
struct GoalReady {
    schedule: Arc<goal::Schedule>,
    notes: Notes,
}

impl Entry for Goal {
    const NAME: &'static str = "goal";
    const EXAMPLES: &'static str =
        "Example:\n  maquette run goal trace.goal --machine fat-tree-1024 --timeline trace.json";
    const DEFAULT_MACHINE: Option<&'static str> = Some("loggp");
    const ANY_RANKS: bool = false;

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let unreadable = |cause| Error::Unreadable { path: self.file.to_path_buf(), cause };
        let mut text = DigestingReader::new(input::open(&self.file, LONGEST).map_err(unreadable)?);
        let name = self.file.display().to_string();
        let schedule = goal::Schedule::read(&name, &mut text).map_err(|error| match error {
            ReadError::Unreadable(cause) => unreadable(cause),
            ReadError::Wrong(error) => {
                match FileFormat::of_file(&self.file).filter(|format| !format.is_read_by(READER)) {
                    Some(format) => {
                        Error::of_other_format(&self.file, format, "a GOAL schedule, which begins with `num_ranks`")
                    }
                    None => Error::Goal(error),
                }
            }
            ReadError::Damaged(error) => Error::BinaryGoal(error),
        })?;
        if schedule.busy_ranks().all(|(_, block)| block.operations().len() == 0) {
            let problem = "empty: found no operation of any rank; allowed is a schedule with one or more".to_owned();
            return Err(Error::Text { file: name, place: None, problem });
        }
        let (schedule, read) = (Arc::new(schedule), InputFile::digested(&self.file, &text));
        let ranks = site.exactly(schedule.size(), "as many as the schedule has")?;
        let parameters = json!({"file": name});
        let messages = Some(schedule.sends());
        let Some(machine) = site.machine() else {
            let mut prepared = Prepared::new(Player::new(schedule), ranks, parameters).expecting(messages);
            prepared.notes.files.push(read);
            return Ok(Box::new(prepared));
        };
        if machine.model().payload().is_some() {
            check_sizes(&schedule)?;
        }
        let notes = Notes { parameters, expected_messages: messages, files: vec![read], ..Notes::default() };
        Ok(Box::new(GoalReady { schedule, notes }))
    }
}

impl Simulates for GoalReady {
    type Results = ();

    fn ranks(&self) -> u32 {
        self.schedule.size()
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }

    fn simulate(
        self: Box<Self>,
        machine: &Machine,
        nodes: &[NodeId],
        options: Options,
    ) -> ProgramResult<((), Outcome)> {
        let world = Placed::new(simulated(machine, options).on_arrival(), nodes);
        let GoalAnswer { answer, unreceived } = world.run_goal(&self.schedule)?;
        let warnings = warnings(self.schedule.file(), &unreceived);
        Ok(((), Outcome { findings: vec![not_received(&unreceived)], warnings, answer }))
    }
}

impl Ready for GoalReady {
    fn times_as_launched(&self, machine: &Machine, options: Options, runs: u32) -> ProgramResult<Vec<Duration>> {
        self.player().times_as_launched(machine, options, runs)
    }

    fn launch(&self, rank: &mut Running) -> ProgramResult<Record> {
        self.player().launch(rank)
    }

    fn into_job(self: Box<Self>) -> AnyJob {
        Box::new(self.player()).into_job()
    }
}

impl GoalReady {
    /// The schedule as a program like any other.
    fn player(&self) -> Prepared<Player<Arc<goal::Schedule>>> {
        let program = Player::new(Arc::clone(&self.schedule));
        Prepared::new(program, self.schedule.size(), self.notes.parameters.clone())
    }
}

/// Whether the packets of every message can be counted.
fn check_sizes(schedule: &goal::Schedule) -> Result<(), Error> {
    for operation in schedule.busy_ranks().flat_map(|(_, block)| block.operations()) {
        if let OperationKind::Send { size, .. } = operation.kind
            && size > LARGEST_MESSAGE
        {
            let (file, line) = (schedule.file(), operation.line);
            let problem =
                format!("{file}:{line}: found a message of {size}; allowed is at most {LARGEST_MESSAGE} on a network");
            return Err(Error::Schedule(ProgramError::Unfit(problem)));
        }
    }
    Ok(())
}

fn not_received(messages: &[Unreceived]) -> Finding {
    Finding {
        name: "not received",
        text: messages.len().to_string(),
        key: NOT_RECEIVED,
        value: messages.iter().map(as_object).collect(),
    }
}

fn as_object(message: &Unreceived) -> Value {
    json!({"from": message.from.0, "to": message.to.0, "tag": message.tag, "line": message.line})
}

/// What is reported about the first of them.
fn warnings(file: &str, messages: &[Unreceived]) -> Vec<String> {
    let warning = |Unreceived { from, to, tag, line }: &Unreceived| {
        format!("{file}:{line}: no receive of rank {to} took the message of rank {from} with tag {tag}")
    };
    messages.iter().take(NAMED).map(warning).collect()
}
