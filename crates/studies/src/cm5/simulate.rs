//! From a run of the study to the world that simulates it.

use endpoint::{Message, Program};
use machines::model::Machine;
use programs::Group;
use programs::all_to_all::{Complete, CompleteExchange};
use programs::applications::cost::{Packing, Speed};
use programs::applications::fft::{Array, Fft2d};
use programs::broadcast::{self, Broadcast, HardwareBroadcast};
use programs::schedule::{Pacing, Pattern, Schedule, Scheduled, SendReceiveOrder, Transfer};
use quantities::{Bytes, Duration, Rank, Time};
use serde::{Deserialize, Serialize};
use virtual_worlds::flit::world::Options;

use super::job::{FLOW_BYTES, How, Job, MANY_NODES, NODES};
use experiment::simulate::simulate;

/// Who sends and who broadcasts.
const SOURCE: Rank = Rank(0);
/// Nothing that a node does takes time: what the network alone can carry.
const NO_COSTS: [(&str, &str); 7] = [
    ("node.protocol", "eager"),
    ("node.send", "non-blocking"),
    ("node.processor_send", "0 us"),
    ("node.processor_receive", "0 us"),
    ("node.message_send", "0 us"),
    ("node.system_message", "0 us"),
    ("node.copy_rate", "1000 GB/s"),
];

/// What the transform costs a node besides its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransformCosts {
    /// How long a floating-point operation takes.
    pub operation: Duration,
    /// What it takes to pack a block where it is sent, or to unpack it where it is received.
    pub block: Duration,
}

/// The costs of the study, fitted to half of Table 5: `search` finds them.
pub const TRANSFORM_COSTS: TransformCosts =
    TransformCosts { operation: Duration::from_nanoseconds(594), block: Duration::from_nanoseconds(12_500) };
/// What it takes for each byte, where a complete exchange forwards messages: what the node needs to copy one.
pub const RESHUFFLE: Duration = Duration::from_picoseconds(61_000);

/// What a run gave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// How long it took, until the last node was done.
    pub time: Duration,
}

/// Simulates `job`.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run(job: &Job) -> Result<Measured, String> {
    match *job {
        Job::Empty { to } => {
            scheduled(&machine(NODES, &[])?, &[Transfer { from: SOURCE, to: Rank(to), bytes: Bytes(0) }])
        }
        Job::Flow { nodes, distance } => flow(nodes, distance),
        Job::Exchange { algorithm, nodes, bytes } => exchange(algorithm, nodes, bytes),
        Job::Transform { algorithm, nodes, size } => transform(algorithm, nodes, size, TRANSFORM_COSTS),
        Job::Broadcast { how, nodes, bytes } => broadcast(how, nodes, bytes),
        Job::Random { algorithm, percent, bytes, pattern } => {
            let millionths = u64::from(percent) * 10_000;
            let pattern_of = Pattern::random(NODES, millionths, Bytes(u64::from(bytes)), u64::from(pattern));
            irregular(&algorithm.schedule(&pattern_of.map_err(|error| error.to_string())?), pattern)
        }
        Job::Application { application, algorithm, mesh } => {
            let pattern = application.synthetic(u64::from(mesh)).map_err(|error| error.to_string())?;
            irregular(&algorithm.schedule(&pattern), mesh)
        }
    }
}

/// The preset that has room for `nodes`; fewer are the first of a larger machine, a partition of it.
fn preset(nodes: u32) -> &'static str {
    if nodes <= NODES { "cm5-32" } else { "cm5-256" }
}

fn machine(nodes: u32, settings: &[(&str, &str)]) -> Result<Machine, String> {
    debug_assert!(nodes <= MANY_NODES);
    let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
    machines::load_with(preset(nodes), &settings).map_err(|error| error.to_string())
}

fn on<P: Program>(machine: &Machine, nodes: u32, seed: u32, program: &P) -> Result<Measured, String> {
    let options = Options { seed: u64::from(seed), ..Options::default() };
    let (results, answer) = simulate(machine, options, nodes, program).map_err(|error| error.to_string())?;
    for result in results {
        result.map_err(|error| error.to_string())?;
    }
    Ok(Measured { time: answer.makespan().since(Time::ZERO) })
}

fn scheduled(machine: &Machine, step: &[Transfer]) -> Result<Measured, String> {
    let schedule = Schedule::new(machine.nodes, vec![step.to_vec()]);
    on(machine, machine.nodes, 0, &Scheduled::in_order(&schedule, Pacing::FreeRunning, SendReceiveOrder::Sendrecv))
}

fn flow(nodes: u32, distance: u32) -> Result<Measured, String> {
    let bytes = Bytes(u64::from(FLOW_BYTES));
    let step: Vec<_> = (0..nodes).map(|rank| Transfer { from: Rank(rank), to: Rank(rank ^ distance), bytes }).collect();
    scheduled(&machine(nodes, &NO_COSTS)?, &step)
}

fn exchange(algorithm: Complete, nodes: u32, bytes: u32) -> Result<Measured, String> {
    let (bytes, order) = (Bytes(u64::from(bytes)), SendReceiveOrder::Alternating);
    on(&machine(nodes, &[])?, nodes, 0, &CompleteExchange { algorithm, bytes, order, reshuffle: RESHUFFLE })
}

/// The transform with other costs than those of the study.
pub(super) fn transform(algorithm: Complete, nodes: u32, size: u32, costs: TransformCosts) -> Result<Measured, String> {
    let mut program = Fft2d::new(size, Array::OnlySizes, algorithm).map_err(|error| error.to_string())?;
    program.order = SendReceiveOrder::Alternating;
    program.speed = Speed { operation: costs.operation };
    program.packing = Packing { block: costs.block, byte: Duration::ZERO };
    on(&machine(nodes, &[])?, nodes, 0, &program)
}

/// Patterns of one number have the same draws in the network, whatever the algorithm.
fn irregular(schedule: &Schedule, seed: u32) -> Result<Measured, String> {
    on(&machine(NODES, &[])?, NODES, seed, &Scheduled::new(schedule, Pacing::FreeRunning))
}

fn broadcast(how: How, nodes: u32, bytes: u32) -> Result<Measured, String> {
    let machine = machine(nodes, &[])?;
    let message = Message::of_size(Bytes(u64::from(bytes)));
    let algorithm = match how {
        How::Linear => broadcast::Algorithm::from(broadcast::Linear),
        How::Recursive => broadcast::Algorithm::from(broadcast::Recursive),
        How::Hardware => {
            return delivered(&machine, nodes, &message, &HardwareBroadcast { root: SOURCE, message: message.clone() });
        }
    };
    let group = Group::from_source(SOURCE, nodes).map_err(|error| error.to_string())?;
    let program = Broadcast { algorithm, group, message: message.clone() };
    delivered(&machine, nodes, &message, &program)
}

/// Runs a broadcast, after which every node must have `message`.
fn delivered<P: Program<Output = Message>>(
    machine: &Machine,
    nodes: u32,
    message: &Message,
    program: &P,
) -> Result<Measured, String> {
    let ran = simulate(machine, Options::default(), nodes, program);
    let (results, answer) = ran.map_err(|error| error.to_string())?;
    for (node, result) in results.into_iter().enumerate() {
        if result.map_err(|error| error.to_string())? != *message {
            return Err(format!("node {node} has another message than was broadcast"));
        }
    }
    Ok(Measured { time: answer.makespan().since(Time::ZERO) })
}
