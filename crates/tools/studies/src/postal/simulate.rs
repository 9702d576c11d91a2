//! From a run of the study to the world that simulates it.

use collectives::Group;
use collectives::all_reduce::{AllReduceMessages, Census, Inputs, Number, Operation, Operator, Sends};
use collectives::broadcast::{self, BroadcastMessage};
use collectives::postal::{Alpha, Lambda, Splitting};
use endpoint::{Message, Program};
use machines::model::Machine;
use programs::measure::{AllAnswered, OneAnswer, partners};
use quantities::{Bytes, Duration, Rank, Time};
use serde::{Deserialize, Serialize};
use virtual_worlds::flit::world::Options;

use super::job::{DelayedOperation, Experiment, Nodes, PostalRun};
use crate::costs::Costs;
use experiment::postal_clock::postal_machine;
use experiment::simulate::simulate;

/// t0 in the postal model.
const SEND_TIME: Duration = Duration::from_microseconds(1);
/// The side of the part of the Delta on which broadcasts run.
const SIDE: u32 = 8;
/// The rank that measures or broadcasts.
const SOURCE: Rank = Rank(0);

/// The fields of the Delta whose values were chosen, or fitted.
const CHOSEN: [&str; 5] =
    ["channels.rate", "routers.routing_delay", "node.processor_send", "node.processor_receive", "node.packet_rate"];

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PostalResult {
    /// How long it took: until the last node was done, or, for an experiment, at the source.
    pub time: Duration,
    /// Whether every node ended with what it should have.
    pub right: bool,
}

/// Simulates `job`.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run(job: &PostalRun) -> Result<PostalResult, String> {
    run_drawn(job, Costs::Chosen)
}

/// The same with other costs of the Delta.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run_drawn(job: &PostalRun, costs: Costs) -> Result<PostalResult, String> {
    match *job {
        PostalRun::Latency { experiment, blocking, bytes, partners, draw } => {
            let send = if blocking { "blocking" } else { "non-blocking" };
            latency(&delta(costs, &[("node.send", send)])?, experiment, bytes, partners, draw)
        }
        PostalRun::Broadcast { bytes, alpha, nodes } => {
            let side = SIDE.to_string();
            let sides = [("topology.mesh.columns", side.as_str()), ("topology.mesh.rows", side.as_str())];
            on_the_delta(&delta(costs, &sides)?, bytes, alpha, nodes)
        }
        PostalRun::Tree { nodes, optimal } => tree(nodes, optimal),
        PostalRun::Combine { tenths, nodes, delayed } => global_combine(tenths, nodes, delayed),
    }
}

fn delta(costs: Costs, settings: &[(&str, &str)]) -> Result<Machine, String> {
    let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
    costs.machine(("delta", "delta"), &settings, &[&CHOSEN])
}

fn run_error(error: endpoint::Error) -> String {
    error.to_string()
}

fn latency(
    machine: &Machine,
    experiment: Experiment,
    bytes: u32,
    count: u32,
    draw: u32,
) -> Result<PostalResult, String> {
    let partners = partners(machine.nodes, SOURCE, count, u64::from(draw));
    let bytes = Bytes(u64::from(bytes));
    match experiment {
        Experiment::One => at_the_source(machine, &OneAnswer { source: SOURCE, partners, bytes }),
        Experiment::Two => at_the_source(machine, &AllAnswered { source: SOURCE, partners, bytes }),
    }
}

fn at_the_source<P: Program<Output = Option<Duration>>>(
    machine: &Machine,
    program: &P,
) -> Result<PostalResult, String> {
    let (results, _) = simulate(machine, Options::default(), machine.nodes, program).map_err(run_error)?;
    let first = results.into_iter().next().ok_or("no ranks")?.map_err(run_error)?;
    Ok(PostalResult { time: first.ok_or("the source measured nothing")?, right: true })
}

fn on_the_delta(machine: &Machine, bytes: u32, alpha: u32, nodes: Nodes) -> Result<PostalResult, String> {
    let alpha = Alpha::new(f64::from(alpha) / 100.0).map_err(|error| error.to_string())?;
    let group = match nodes {
        Nodes::Permuted(number) => Group::permuted(SOURCE, machine.nodes, u64::from(number)),
        Nodes::RowMajor => Group::from_source(SOURCE, machine.nodes),
    };
    let message = Message::of_size(Bytes(u64::from(bytes)));
    let algorithm = broadcast::Algorithm::from(broadcast::LambdaTree(Splitting::Fixed(alpha)));
    let program = BroadcastMessage { algorithm, group: group.map_err(run_error)?, message };
    let ran = simulate(machine, Options::default(), machine.nodes, &program);
    let (results, answer) = ran.map_err(run_error)?;
    let right = all_have(&results, machine.nodes, &program.message);
    Ok(PostalResult { time: answer.makespan().since(Time::ZERO), right })
}

fn tree(nodes: u32, optimal: bool) -> Result<PostalResult, String> {
    let lambda = Lambda::new(2, 1).map_err(|error| error.to_string())?;
    let splitting = if optimal { Splitting::optimal(lambda, u64::from(nodes)) } else { Splitting::BINOMIAL };
    let program = BroadcastMessage {
        algorithm: broadcast::Algorithm::from(broadcast::LambdaTree(splitting)),
        group: Group::from_source(SOURCE, nodes).map_err(run_error)?,
        message: Message::from(b"a message to all".to_vec()),
    };
    in_the_postal_model(lambda, nodes, &program, &program.message)
}

fn global_combine(tenths: u32, nodes: u32, delayed: DelayedOperation) -> Result<PostalResult, String> {
    let lambda = Lambda::new(u64::from(tenths), 10).map_err(|error| error.to_string())?;
    let census = match delayed {
        DelayedOperation::Sends => Census::delay_send(lambda, SEND_TIME, nodes),
        DelayedOperation::Receives => Census::delay_receive(lambda, nodes),
    };
    // Every node contributes a different number, so that none can be left out or counted twice unnoticed.
    let number = |node: u64| node * node + 7 * node + 1;
    let encoded = |number: u64| Message::from(number.to_le_bytes().to_vec());
    let program = AllReduceMessages {
        algorithm: census.into(),
        group: Group::from_source(SOURCE, nodes).map_err(run_error)?,
        operator: Operator::Of(Operation::Sum, Number::U64),
        inputs: Inputs::Messages((0..u64::from(nodes)).map(|node| encoded(number(node))).collect()),
        sends: Sends::Early,
    };
    in_the_postal_model(lambda, nodes, &program, &encoded((0..u64::from(nodes)).map(number).sum()))
}

fn in_the_postal_model<P: Program<Output = Message>>(
    lambda: Lambda,
    nodes: u32,
    program: &P,
    expected: &Message,
) -> Result<PostalResult, String> {
    let machine = postal_machine(lambda, SEND_TIME).map_err(|error| error.to_string())?;
    let (results, answer) = simulate(&machine, Options::default(), nodes, program).map_err(run_error)?;
    let right = all_have(&results, nodes, expected);
    Ok(PostalResult { time: answer.makespan().since(Time::ZERO), right })
}

/// Whether each of the nodes ended with that message.
fn all_have(results: &[endpoint::Result<Message>], nodes: u32, message: &Message) -> bool {
    results.len() == nodes as usize && results.iter().all(|result| result.as_ref() == Ok(message))
}
