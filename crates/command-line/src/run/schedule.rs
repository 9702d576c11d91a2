//! `maquette run schedule`: a schedule that `maquette schedule` has written.

use std::path::PathBuf;

use clap::Args;
use machines::model::Machine;
use programs::schedule::{Measures, Order, Pacing, ReadError, Rule, Schedule, Scheduled};
use quantities::Bytes;
use serde_json::json;

use super::simulation::{Prepared, RunOptions};
use super::summary::{Finding, Summary};
use super::world::World;
use crate::algorithms::order;
use crate::choice::choice;
use crate::failure::Failure;
use crate::sizes::MOST_BYTES;
use crate::terminal::rounded;
use crate::{CommandOutput, schedule_file};
use tuning::planner::{Bound, busiest};

/// Run the schedule of an exchange, as `maquette schedule` writes it.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  maquette schedule --random 16,50 --algorithm edge-colouring --write exchange.json\n  \
                        maquette run schedule exchange.json --machine parsytec-cc-16 --pacing receiver-confirmed"
)]
pub(super) struct Arguments {
    /// The schedule.
    #[arg(value_name = "FILE.json")]
    file: PathBuf,
    #[command(flatten)]
    world: World,
    /// What keeps the ranks in step.
    #[arg(long, value_name = "PACING", default_value = "free-running", value_parser = choice::<Pacing>())]
    pacing: Pacing,
    /// What a node does first that both sends and receives in a step; if left out, alternating where a send waits until the
    /// receiver asks for the message, else send-first.
    #[arg(long, value_name = "ORDER", value_parser = choice::<Order>())]
    order: Option<Order>,
    #[command(flatten)]
    options: RunOptions,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { file, world, options, pacing, order: wanted } = self;
        let (schedule, input) = schedule_file::read(&file)?;
        let mut prepared = world.prepare_for(options, schedule.ranks)?;
        prepared.experiment.read(input);
        if let Some(order) = wanted.filter(|_| schedule.rule == Rule::ManyToOne) {
            let allowed = "none, as in a step of such a schedule nobody both sends and receives";
            return Err(Failure::argument("--order", order.name(), allowed));
        }
        let largest = schedule.transfers().map(|transfer| transfer.bytes).max().unwrap_or(Bytes(0));
        let name = file.display().to_string();
        check_size(&name, &schedule, largest, &prepared)?;
        let order = wanted.unwrap_or_else(|| order(prepared.waits_for_receivers(largest)));
        let measures = schedule.measures();
        let bound = lower_bound(&prepared.machine, u64::from(measures.least_steps), measures.most_bytes_of_a_rank);
        let findings = std::iter::once(bound).chain(findings(&measures)).collect();
        prepared.runs("schedule", json!({"file": name, "pacing": pacing.name(), "order": order.name()}));
        if pacing == Pacing::FreeRunning {
            prepared.expected_messages = Some(measures.transfers);
        }
        let ran = prepared.run(Scheduled::in_order(&schedule, pacing, order))?;
        Ok(Summary { findings }.said(&ran, as_json))
    }
}

/// That the packets of the messages of a schedule can be counted; `name` is its file's.
fn check_size(name: &str, schedule: &Schedule, largest: Bytes, prepared: &Prepared) -> Result<(), Failure> {
    if !prepared.has_network() || largest.0 <= MOST_BYTES {
        return Ok(());
    }
    let step = schedule.steps.iter().position(|step| step.iter().any(|transfer| transfer.bytes == largest));
    let number = step.map_or(0, |index| index + 1);
    let allowed = Bytes(MOST_BYTES);
    let problem = format!("step {number}: found a message of {largest}; allowed is at most {allowed} on a network");
    Err(ReadError { file: name.to_owned(), place: None, problem, meant: None }.into())
}

/// The least time in which a rank of `machine` can send or receive so many messages with so many bytes.
pub(super) fn lower_bound(machine: &Machine, messages: u64, bytes: Bytes) -> Finding {
    let Bound { time, reason } = busiest(machine, messages, bytes);
    Finding {
        name: "lower bound",
        text: format!("{}: {reason}", rounded(time)),
        key: "lower_bound_ps",
        value: json!(time.picoseconds()),
    }
}

/// What is said of the schedule itself.
pub(super) fn findings(measures: &Measures) -> Vec<Finding> {
    let Measures { carrying_steps, least_steps, bytes, .. } = *measures;
    vec![
        Finding {
            name: "steps",
            text: format!("{carrying_steps}; at least {least_steps} are needed"),
            key: "steps",
            value: json!(carrying_steps),
        },
        Finding { name: "together", text: bytes.to_string(), key: "total_bytes", value: json!(bytes.0) },
    ]
}
