//! From a run of the study to the world that simulates it.

use collectives::Group;
use collectives::all_to_all::{Complete, CompleteExchange};
use collectives::broadcast::{self, BroadcastMessage, HardwareBroadcast};
use collectives::schedule::Packing;
use collectives::schedule::{Pacing, Pattern, Schedule, Scheduled, SendReceiveOrder, Transfer};
use endpoint::{Message, Program};
use machines::model::Machine;
use programs::applications::cost::Speed;
use programs::applications::fft::{Array, Fft2d};
use programs::applications::patterns::{Application, Printed};
use quantities::{Bytes, Duration, Rank, Time};
use serde::{Deserialize, Serialize};
use virtual_worlds::flit::world::Options;

use super::job::{Cm5Run, FLOW_BYTES, How, MANY_NODES, NODES};
use crate::costs::{Costs, OF_MESSAGES};
use experiment::simulate::simulate;

/// Both machines have the same costs.
const FAMILY: &str = "cm5";
/// The rank that sends or broadcasts.
const SOURCE: Rank = Rank(0);
/// What nodes do at no cost beside messages, which cost nothing either, to measure what the network alone can carry.
const NO_COSTS: [(&str, &str); 4] = [
    ("node.protocol", "eager"),
    ("node.send", "non-blocking"),
    ("node.copy_rate", "1000 GB/s"),
    ("node.copy_out_rate", "1000 GB/s"),
];

/// The costs of the transform at a node, besides its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransformCosts {
    /// How long a floating-point operation takes.
    pub operation: Duration,
    /// The time to pack a block where it is sent, or to unpack it where it is received.
    pub block: Duration,
}

/// The costs of the study, fitted to half of Table 5: `search` finds them.
pub const TRANSFORM_COSTS: TransformCosts =
    TransformCosts { operation: Duration::from_nanoseconds(594), block: Duration::from_nanoseconds(12_500) };
/// The time for an application to gather a byte of a message, and again to scatter it, fitted to half of Table 12:
/// `search` finds it.
pub const GATHER: Duration = Duration::from_nanoseconds(280);
/// The time per byte where a complete exchange forwards messages: that of the node to copy one.
pub const RESHUFFLE: Duration = Duration::from_picoseconds(50_761);

/// The fields whose values were fitted or chosen beside the costs of messages.
const CHOSEN: [&str; 6] = [
    "routers.routing_delay",
    "node.copy_rate",
    "node.copy_out_rate",
    "control_network.latency",
    "control_network.rate",
    "control_network.overhead",
];

/// What the study leaves open. The default is what `maquette reproduce cm5` uses; searches try others.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Fields of the descriptions of both machines that are set to other values.
    pub settings: Vec<(String, String)>,
    /// The costs of both machines, beside these settings.
    pub costs: Costs,
    /// The costs of the transform at a node.
    pub transform: TransformCosts,
    /// The time per byte where a complete exchange forwards messages.
    pub reshuffle: Duration,
    /// The time for an application to gather a byte of a message, and again to scatter it.
    pub gather: Duration,
    /// Whether conjugate gradient has a random pattern of the printed density and size; otherwise it has that of a grid
    /// in blocks, altered to them.
    pub random_gradient: bool,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            settings: Vec::new(),
            costs: Costs::Chosen,
            transform: TRANSFORM_COSTS,
            reshuffle: RESHUFFLE,
            gather: GATHER,
            random_gradient: true,
        }
    }
}

impl Setup {
    /// The setup of the study with other costs.
    fn drawn(costs: Costs) -> Setup {
        let times = |cost: &str, time: Duration| {
            let time = time.picoseconds() as f64 * costs.factor(cost);
            Duration::from_picoseconds(time.round() as u64)
        };
        let TransformCosts { operation, block } = TRANSFORM_COSTS;
        // A node reshuffles a byte as fast as it copies one.
        let reshuffle = RESHUFFLE.picoseconds() as f64 / costs.factor(&format!("{FAMILY} node.copy_rate"));
        Setup {
            costs,
            transform: TransformCosts { operation: times("operation", operation), block: times("block", block) },
            reshuffle: Duration::from_picoseconds(reshuffle.round() as u64),
            gather: times("gather", GATHER),
            ..Setup::default()
        }
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cm5Result {
    /// How long it took, until the last node was done.
    pub time: Duration,
}

/// Simulates `job` with the parameters of the study.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run(job: &Cm5Run) -> Result<Cm5Result, String> {
    run_with(&Setup::default(), job)
}

/// The same with other costs.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run_drawn(job: &Cm5Run, costs: Costs) -> Result<Cm5Result, String> {
    run_with(&Setup::drawn(costs), job)
}

/// Simulates `job` with the parameters of `setup`.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run_with(setup: &Setup, job: &Cm5Run) -> Result<Cm5Result, String> {
    match *job {
        Cm5Run::Empty { to } => {
            let step = [Transfer { from: SOURCE, to: Rank(to), bytes: Bytes(0) }];
            scheduled(&machine(setup, NODES, &[])?, &step)
        }
        Cm5Run::Flow { nodes, distance } => flow(setup, nodes, distance),
        Cm5Run::Exchange { algorithm, nodes, bytes } => exchange(setup, algorithm, nodes, bytes),
        Cm5Run::Transform { algorithm, nodes, size } => transform(setup, algorithm, nodes, size),
        Cm5Run::Broadcast { how, nodes, bytes } => broadcast(setup, how, nodes, bytes),
        Cm5Run::Random { algorithm, percent, bytes, pattern } => {
            let schedule = algorithm.schedule(&random(percent, bytes, pattern)?);
            irregular(setup, &schedule, pattern, Duration::ZERO)
        }
        Cm5Run::Application { application, algorithm, mesh } => {
            let pattern = if application == Application::ConjugateGradient && setup.random_gradient {
                let Printed { percent, mean_bytes } = application.printed();
                random(percent, mean_bytes, mesh)?
            } else {
                application.synthetic(u64::from(mesh)).map_err(|error| error.to_string())?
            };
            irregular(setup, &algorithm.schedule(&pattern), mesh, setup.gather)
        }
    }
}

fn random(percent: u32, bytes: u32, number: u32) -> Result<Pattern, String> {
    let millionths = u64::from(percent) * 10_000;
    Pattern::random(NODES, millionths, Bytes(u64::from(bytes)), u64::from(number)).map_err(|error| error.to_string())
}

/// The preset that has room for `nodes`; fewer nodes are the first ones of a larger machine, a partition of it.
fn preset(nodes: u32) -> &'static str {
    if nodes <= NODES { "cm5-32" } else { "cm5-256" }
}

fn machine(setup: &Setup, nodes: u32, settings: &[(&str, &str)]) -> Result<Machine, String> {
    debug_assert!(nodes <= MANY_NODES);
    let own = settings.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string()));
    let settings: Vec<_> = setup.settings.iter().cloned().chain(own).collect();
    setup.costs.machine((FAMILY, preset(nodes)), &settings, &[&OF_MESSAGES, &CHOSEN])
}

fn on<P: Program>(machine: &Machine, nodes: u32, seed: u32, program: &P) -> Result<Cm5Result, String> {
    let options = Options { seed: u64::from(seed), ..Options::default() };
    let (results, answer) = simulate(machine, options, nodes, program).map_err(|error| error.to_string())?;
    for result in results {
        result.map_err(|error| error.to_string())?;
    }
    Ok(Cm5Result { time: answer.makespan().since(Time::ZERO) })
}

fn scheduled(machine: &Machine, step: &[Transfer]) -> Result<Cm5Result, String> {
    let schedule = Schedule::new(machine.nodes, vec![step.to_vec()]);
    on(machine, machine.nodes, 0, &Scheduled::in_order(&schedule, Pacing::FreeRunning, SendReceiveOrder::Sendrecv))
}

fn flow(setup: &Setup, nodes: u32, distance: u32) -> Result<Cm5Result, String> {
    let bytes = Bytes(u64::from(FLOW_BYTES));
    let step: Vec<_> = (0..nodes).map(|rank| Transfer { from: Rank(rank), to: Rank(rank ^ distance), bytes }).collect();
    let free = OF_MESSAGES.map(|field| (field, "0 us"));
    scheduled(&machine(setup, nodes, &[&NO_COSTS[..], &free].concat())?, &step)
}

fn exchange(setup: &Setup, algorithm: Complete, nodes: u32, bytes: u32) -> Result<Cm5Result, String> {
    let made = algorithm.algorithm(Some(SendReceiveOrder::Alternating), setup.reshuffle);
    on(&machine(setup, nodes, &[])?, nodes, 0, &CompleteExchange::new(made, Bytes(u64::from(bytes))))
}

fn transform(setup: &Setup, algorithm: Complete, nodes: u32, size: u32) -> Result<Cm5Result, String> {
    let costs = setup.transform;
    let mut program = Fft2d::new(size, Array::OnlySizes, algorithm).map_err(|error| error.to_string())?;
    program.order = SendReceiveOrder::Alternating;
    program.speed = Speed { operation: costs.operation };
    program.packing = Packing { block: costs.block, byte: Duration::ZERO };
    on(&machine(setup, nodes, &[])?, nodes, 0, &program)
}

/// Patterns of one number have the same draws in the network, whatever the algorithm.
fn irregular(setup: &Setup, schedule: &Schedule, seed: u32, gather: Duration) -> Result<Cm5Result, String> {
    let packing = Packing { block: Duration::ZERO, byte: gather };
    let program = Scheduled::new(schedule, Pacing::FreeRunning).packed(packing);
    on(&machine(setup, NODES, &[])?, NODES, seed, &program)
}

fn broadcast(setup: &Setup, how: How, nodes: u32, bytes: u32) -> Result<Cm5Result, String> {
    let machine = machine(setup, nodes, &[])?;
    let message = Message::of_size(Bytes(u64::from(bytes)));
    let algorithm = match how {
        How::Linear => broadcast::Algorithm::from(broadcast::Linear),
        How::Recursive => broadcast::Algorithm::from(broadcast::Recursive),
        How::Hardware => {
            return delivered(&machine, nodes, &message, &HardwareBroadcast { root: SOURCE, message: message.clone() });
        }
    };
    let group = Group::from_source(SOURCE, nodes).map_err(|error| error.to_string())?;
    let program = BroadcastMessage { algorithm, group, message: message.clone() };
    delivered(&machine, nodes, &message, &program)
}

/// Runs a broadcast, after which every node must have `message`.
fn delivered<P: Program<Output = Message>>(
    machine: &Machine,
    nodes: u32,
    message: &Message,
    program: &P,
) -> Result<Cm5Result, String> {
    let ran = simulate(machine, Options::default(), nodes, program);
    let (results, answer) = ran.map_err(|error| error.to_string())?;
    for (node, result) in results.into_iter().enumerate() {
        if result.map_err(|error| error.to_string())? != *message {
            return Err(format!("node {node} has another message than was broadcast"));
        }
    }
    Ok(Cm5Result { time: answer.makespan().since(Time::ZERO) })
}
