//! The benchmarks that can be run by name.

use clap::{Args, ValueEnum};
use programs::benchmarks::{self, Order};
use quantities::{Bytes, Duration, Rank};
use serde_json::json;

use super::simulation::{Prepared, RunResult, Simulation};
use super::summary::{Finding, Summary};
use crate::CommandOutput;
use crate::choice::value_name;
use crate::failure::Failure;
use crate::sizes::size;
use crate::terminal::rounded;

/// Send a message there and back between two nodes: how long does it take?
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette run ping-pong --machine parsytec-cc-16 --bytes 64 --to 15")]
pub(super) struct PingPong {
    #[command(flatten)]
    simulation: Simulation,
    /// Size of the message.
    #[arg(long, value_name = "B", default_value = "1024", value_parser = size)]
    bytes: Bytes,
    /// Who begins.
    #[arg(long, value_name = "RANK", default_value_t = 0)]
    from: u32,
    /// Who answers; the last rank, if left out.
    #[arg(long, value_name = "RANK")]
    to: Option<u32>,
    /// How often the message goes there and back.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

impl PingPong {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let PingPong { simulation, bytes, from, to, rounds } = self;
        let mut prepared = simulation.prepare()?;
        let to = to.unwrap_or(prepared.ranks - 1);
        prepared.runs("ping-pong", json!({"bytes": bytes.0, "from": from, "to": to, "rounds": rounds}));
        prepared.expected_messages = Some(2 * u64::from(rounds));
        let ran = prepared.run(benchmarks::PingPong { first: Rank(from), second: Rank(to), bytes, rounds })?;
        let times = &ran.output[from as usize];
        let finding = Finding {
            name: "round trip",
            text: round_trip(times),
            key: "round_trips_ps",
            value: json!(times.iter().map(|time| time.picoseconds()).collect::<Vec<u64>>()),
        };
        Ok(Summary { findings: vec![finding] }.said(&ran, as_json))
    }
}

/// The time of a round, or the least and the most.
fn round_trip(times: &[Duration]) -> String {
    match (times.iter().min(), times.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("{} to {}", rounded(*least), rounded(*most)),
        (Some(only), _) => rounded(*only),
        _ => "none".to_string(),
    }
}

/// Let all pairs of nodes exchange messages, round by round.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette run all-pairs --machine moc-2-1 --bytes 128 --order shuffled --seed 7")]
pub(super) struct AllPairs {
    #[command(flatten)]
    simulation: Simulation,
    /// Size of a message.
    #[arg(long, value_name = "B", default_value = "1024", value_parser = size)]
    bytes: Bytes,
    /// How often every node sends to every other.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// In which order a node goes through the others; if left out, shift, or in-turn where a send waits until the
    /// receiver asks for the message.
    #[arg(long, value_enum)]
    order: Option<OrderName>,
}

/// In which order a node goes through the others.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderName {
    /// In step i node p sends to (p + i) mod N.
    Shift,
    /// In step i node p exchanges with p xor i; N must be a power of two.
    ExclusiveOr,
    /// First node 0, then 1, up to N - 1, for all nodes alike.
    Linear,
    /// As shift, in a random order of nodes and steps.
    Shuffled,
    /// Node 0 sends to all others, then node 1, and so on; a node's turn comes when it has the messages of those before.
    InTurn,
}

impl AllPairs {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let AllPairs { simulation, bytes, rounds, order } = self;
        let seed = simulation.options.seed();
        let mut prepared = simulation.prepare()?;
        // Where nobody has its send over before the other end receives, only turns do not end in a deadlock.
        let usual = if prepared.waits_for_receivers(bytes) { OrderName::InTurn } else { OrderName::Shift };
        let name = order.unwrap_or(usual);
        let order = match name {
            OrderName::InTurn => Order::InTurn,
            OrderName::Shift => Order::Shift,
            OrderName::ExclusiveOr => Order::ExclusiveOr,
            OrderName::Linear => Order::Linear,
            OrderName::Shuffled => Order::Shuffled { seed },
        };
        prepared.runs("all-pairs", json!({"bytes": bytes.0, "rounds": rounds, "order": value_name(name)}));
        if matches!(name, OrderName::Shuffled) {
            prepared.experiment.draws();
        }
        let ranks = u64::from(prepared.ranks);
        prepared.expected_messages = (ranks * (ranks - 1)).checked_mul(rounds.into());
        let ran = prepared.run(benchmarks::AllPairs { bytes, rounds, order })?;
        Ok(plain(&ran, as_json))
    }
}

/// What equal-dist and unequal-dist are given.
#[derive(Args, Debug)]
struct Pairs {
    #[command(flatten)]
    simulation: Simulation,
    /// Size of a message.
    #[arg(long, value_name = "B", default_value = "1024", value_parser = size)]
    bytes: Bytes,
    /// How many messages all nodes together send.
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    messages: u32,
}

/// Let each node take turns with a fixed partner, all partners being about as far from each other.
#[derive(Args, Debug)]
#[command(after_help = "Node p of N has partner (N/2 + p) mod N.\n\n\
                        Example:\n  maquette run equal-dist --machine moc-3-2 --bytes 2KiB --set buffers=1")]
pub(super) struct EqualDist {
    #[command(flatten)]
    pairs: Pairs,
}

/// Let each node take turns with a fixed partner, some being near, some far.
#[derive(Args, Debug)]
#[command(after_help = "Node p of N has partner N - 1 - p.\n\n\
                        Example:\n  maquette run unequal-dist --machine parsytec-gcel-64 --nodes 16 --bytes 256")]
pub(super) struct UnequalDist {
    #[command(flatten)]
    pairs: Pairs,
}

impl EqualDist {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Pairs { simulation, bytes, messages } = self.pairs;
        let prepared = simulation.prepare()?.of_pairs("equal-dist", bytes, messages);
        let ran = prepared.run(benchmarks::EqualDist { bytes, messages })?;
        Ok(plain(&ran, as_json))
    }
}

impl UnequalDist {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Pairs { simulation, bytes, messages } = self.pairs;
        let prepared = simulation.prepare()?.of_pairs("unequal-dist", bytes, messages);
        let ran = prepared.run(benchmarks::UnequalDist { bytes, messages })?;
        Ok(plain(&ran, as_json))
    }
}

/// What is said of a run whose ranks end with nothing to tell.
fn plain(ran: &RunResult<Vec<()>>, as_json: bool) -> CommandOutput {
    Summary { findings: Vec::new() }.said(ran, as_json)
}

impl Prepared {
    /// The same for a program in which pairs send each other so many messages in all.
    fn of_pairs(mut self, program: &'static str, bytes: Bytes, messages: u32) -> Prepared {
        self.runs(program, json!({"bytes": bytes.0, "messages": messages}));
        self.expected_messages = Some(messages.into());
        self
    }
}
