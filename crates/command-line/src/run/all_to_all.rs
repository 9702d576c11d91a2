//! `maquette run all-to-all`: complete and irregular exchange by any algorithm.

use std::path::PathBuf;

use clap::Args;
use programs::all_to_all::{Complete, CompleteExchange, Irregular};
use programs::schedule::{Order, Pacing, Pattern, Scheduled};
use quantities::{Bytes, Duration};
use serde_json::{Value, json};

use super::schedule::{findings, lower_bound};
use super::simulation::{Prepared, RunOptions};
use super::summary::{Finding, Summary};
use super::world::World;
use crate::algorithms::{Exchange, order};
use crate::choice::choice;
use crate::failure::Failure;
use crate::quantity::duration;
use crate::sizes::{MOST_BYTES, check_size, size};
use crate::{CommandOutput, working};
use formats::traffic_matrix;

/// Let every node send a message to every other (complete exchange, all-to-all personalised), or to those that a matrix
/// says.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  maquette run all-to-all --machine parsytec-cc-16 --algorithm balanced --bytes 4KiB\n  \
                        maquette run all-to-all --machine cm5-32 --traffic halo.csv --algorithm greedy\n  \
                        maquette run all-to-all --machine loggp --nodes 4096 --bytes 8"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    world: World,
    /// How many nodes take part, from node 0; all, or as many as the matrix has rows, if left out.
    #[arg(long, value_name = "N", alias = "ranks")]
    nodes: Option<u32>,
    /// Send the messages of a matrix: row r, column c of FILE.csv, FILE.mtx or FILE.npy is what rank r sends rank c, in
    /// bytes.
    #[arg(long, value_name = "FILE")]
    traffic: Option<PathBuf>,
    /// How the messages go; if left out, pairwise, or greedy with --traffic.
    #[arg(long, value_name = "NAME", value_parser = choice::<Exchange>())]
    algorithm: Option<Exchange>,
    /// Size of the message from one node to another, or of what a matrix only says that it is there; 1 KiB, if left out.
    #[arg(long, value_name = "B", value_parser = size)]
    bytes: Option<Bytes>,
    /// What keeps the nodes in step.
    #[arg(long, value_name = "PACING", default_value = "free-running", value_parser = choice::<Pacing>())]
    pacing: Pacing,
    /// What a node does first that both sends and receives in a step; if left out, alternating where a send waits until the
    /// receiver asks for the message, else send-first.
    #[arg(long, value_name = "ORDER", value_parser = choice::<Order>())]
    order: Option<Order>,
    /// How long a node takes to copy a byte into a message that it forwards, or out of one.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    reshuffle: Option<Duration>,
    #[command(flatten)]
    options: RunOptions,
}

/// The size of a message, if none is asked for.
const USUAL_SIZE: Bytes = Bytes(1024);

/// How the messages go.
struct How {
    algorithm: Exchange,
    pacing: Pacing,
    order: Option<Order>,
    reshuffle: Option<Duration>,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { world, nodes, traffic, algorithm, bytes, pacing, order, reshuffle, options } = self;
        let usual = if traffic.is_some() { Irregular::Greedy } else { Irregular::Pairwise };
        let algorithm = algorithm.unwrap_or(Exchange::Irregular(usual));
        let how = How { algorithm, pacing, order, reshuffle };
        how.check()?;
        let Some(path) = traffic else {
            let prepared = world.prepare(options, nodes)?;
            return how.complete(prepared, bytes.unwrap_or(USUAL_SIZE), as_json);
        };
        let (matrix, file) = traffic_matrix::read(&path, bytes.unwrap_or(USUAL_SIZE))?;
        check_size(bytes, &matrix)?;
        let mut parameters = json!({"traffic": path.display().to_string()});
        if !matrix.has_sizes {
            parameters["bytes"] = json!(bytes.unwrap_or(USUAL_SIZE).0);
        }
        let pattern = matrix.pattern;
        let ranks = pattern.ranks();
        if let Some(nodes) = nodes.filter(|&nodes| nodes != ranks) {
            return Err(Failure::argument("--nodes", nodes, format!("{ranks}, as many as the matrix has rows")));
        }
        let mut prepared = world.prepare_for(options, ranks)?;
        prepared.experiment.read(file);
        how.scheduled(prepared, pattern, parameters, as_json)
    }
}

impl How {
    /// That what it was told fits together.
    fn check(&self) -> Result<(), Failure> {
        let name = self.algorithm.name();
        match self.algorithm {
            Exchange::Forwarding(_) if self.pacing != Pacing::FreeRunning => {
                let allowed = format!("free-running, as {name} forwards messages");
                Err(Failure::argument("--pacing", self.pacing.name(), allowed))
            }
            Exchange::Irregular(_) if self.reshuffle.is_some() => {
                Err(Failure::argument("--reshuffle", "a time", format!("none, as {name} does not forward messages")))
            }
            Exchange::Irregular(Irregular::Linear) => self.order.map_or(Ok(()), |order| {
                let allowed = "none, as in a step of linear nobody both sends and receives";
                Err(Failure::argument("--order", order.name(), allowed))
            }),
            _ => Ok(()),
        }
    }

    /// What a node does first in a step, with messages of at most `largest`.
    fn order(&self, prepared: &Prepared, largest: Bytes) -> Order {
        self.order.unwrap_or_else(|| order(prepared.waits_for_receivers(largest)))
    }

    /// A message of `bytes` between any two.
    fn complete(&self, prepared: Prepared, bytes: Bytes, as_json: bool) -> Result<CommandOutput, Failure> {
        match self.algorithm.complete() {
            Some(algorithm) if self.pacing == Pacing::FreeRunning => self.program(algorithm, prepared, bytes, as_json),
            _ => {
                let pattern = Pattern::complete(prepared.ranks, bytes)?;
                self.scheduled(prepared, pattern, json!({"bytes": bytes.0}), as_json)
            }
        }
    }

    /// By a program that works out for itself who is next.
    fn program(
        &self,
        algorithm: Complete,
        mut prepared: Prepared,
        bytes: Bytes,
        as_json: bool,
    ) -> Result<CommandOutput, Failure> {
        algorithm.check(prepared.ranks)?;
        let largest = algorithm.largest_message(prepared.ranks, bytes);
        if largest.0 > MOST_BYTES {
            let found = format!("{bytes}, forwarded in messages of {largest}");
            return Err(Failure::argument("--bytes", found, format!("messages of at most {}", Bytes(MOST_BYTES))));
        }
        let order = self.order(&prepared, largest);
        let others = u64::from(prepared.ranks - 1);
        // What is forwarded goes in as few messages as one likes.
        let messages = if algorithm.forwards() { others.min(1) } else { others };
        let bound = lower_bound(&prepared.machine, messages, Bytes(others.saturating_mul(bytes.0)));
        let reshuffle = self.reshuffle.unwrap_or_default();
        let mut parameters = self.parameters(order, json!({"bytes": bytes.0}));
        if algorithm.forwards() {
            parameters["reshuffle"] = json!(reshuffle.to_string());
        } else {
            prepared.expected_messages = Some(others * u64::from(prepared.ranks));
        }
        prepared.runs("all-to-all", parameters);
        let ran = prepared.run(CompleteExchange { algorithm, bytes, order, reshuffle })?;
        let received = ran.output.iter().map(|bytes| bytes.0).max().unwrap_or(0);
        let finding = Finding {
            name: "received",
            text: format!("{} by each node", Bytes(received)),
            key: "received_bytes",
            value: json!(ran.output.iter().map(|bytes| bytes.0).collect::<Vec<u64>>()),
        };
        Ok(Summary { findings: vec![bound, finding] }.said(&ran, as_json))
    }

    /// By a schedule of `pattern`, which came from what `parameters` say.
    fn scheduled(
        &self,
        mut prepared: Prepared,
        pattern: Pattern,
        parameters: Value,
        as_json: bool,
    ) -> Result<CommandOutput, Failure> {
        let Exchange::Irregular(algorithm) = self.algorithm else {
            let allowed = "an algorithm for any messages, or a complete exchange, without --traffic";
            return Err(Failure::argument("--algorithm", self.algorithm.name(), allowed));
        };
        let largest = pattern.messages().iter().map(|message| message.bytes).max().unwrap_or(Bytes(0));
        if prepared.has_network() && largest.0 > MOST_BYTES {
            let allowed = format!("messages of at most {} on a network", Bytes(MOST_BYTES));
            return Err(Failure::argument("--traffic", format!("a message of {largest}"), allowed));
        }
        let (order, pacing) = (self.order(&prepared, largest), self.pacing);
        let bound = lower_bound(
            &prepared.machine,
            u64::from(pattern.most_messages_of_a_rank()),
            pattern.most_bytes_of_a_rank(),
        );
        prepared.runs("all-to-all", self.parameters(order, parameters));
        let (measures, program) = working("makes the schedule", move || {
            let schedule = algorithm.schedule(&pattern);
            Ok((schedule.measures(), Scheduled::in_order(&schedule, pacing, order)))
        })?;
        if pacing == Pacing::FreeRunning {
            prepared.expected_messages = Some(measures.transfers);
        }
        let ran = prepared.run(program)?;
        let findings = std::iter::once(bound).chain(findings(&measures)).collect();
        Ok(Summary { findings }.said(&ran, as_json))
    }

    fn parameters(&self, order: Order, mut parameters: Value) -> Value {
        parameters["algorithm"] = json!(self.algorithm.name());
        parameters["order"] = json!(order.name());
        parameters["pacing"] = json!(self.pacing.name());
        parameters
    }
}
