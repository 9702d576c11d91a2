//! From a run of the study to the world that simulates it.

use std::time::Duration as WallTime;

use machines::model::{FlitNetwork, Interconnect, Machine, NodeId};
use quantities::Rank;
use virtual_worlds::answer::Answer;

use super::job::{Job, Layer, Load, Platform};

/// What a run gave.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// What the world tells.
    pub answer: Answer,
    /// For each router of the answer, its number within the mesh.
    pub mesh_index: Vec<Option<u32>>,
    /// How long it took to simulate.
    pub elapsed: WallTime,
}

/// The fields of a description that say what messages cost a node: on the raw network they are nothing.
const COSTS: [&str; 7] = [
    "node.processor_send",
    "node.processor_receive",
    "node.message_send",
    "node.message_receive",
    "node.packet_send",
    "node.packet_receive",
    "node.system_message",
];

/// The resolved model of a preset.
///
/// # Errors
/// Why it cannot be had.
pub fn model(preset: &str) -> Result<Machine, String> {
    machines::load(preset).map_err(|error| error.to_string())
}

/// The machine of `job`, with its settings.
///
/// # Errors
/// Why it cannot be had.
pub fn machine(job: &Job) -> Result<Machine, String> {
    let mut settings = Vec::new();
    let mut set = |name: &str, value: &str| settings.push((name.to_string(), value.to_string()));
    // The study varies the Mesh of Clos only; the GCel stores whole packets.
    if job.platform != Platform::Gcel {
        set("channels.buffers", &job.buffers.to_string());
    }
    if job.layer != Layer::Fixed {
        set("routing.selection", job.layer.setting());
    }
    if job.raw {
        COSTS.into_iter().for_each(|name| set(name, "0 s"));
    }
    machines::load_with(job.platform.preset(job.nodes), &settings).map_err(|error| error.to_string())
}

/// The network of `machine`.
///
/// # Errors
/// That it has none.
pub fn network(machine: &Machine) -> Result<&FlitNetwork, String> {
    match &machine.interconnect {
        Interconnect::Flits(network) => Ok(network),
        Interconnect::LogGp(_) => Err(format!("{} has no network of routers", machine.name)),
    }
}

/// A node that is `hops` away from node 0: channels on the Mesh of Clos, links between nodes on the GCel.
///
/// # Errors
/// That there is none.
fn partner(job: &Job, network: &FlitNetwork, hops: u32) -> Result<Rank, String> {
    // A route also has the channels between the two nodes and their routers, which on the GCel are no links.
    let channels = if job.platform == Platform::Gcel { hops + 2 } else { hops } as usize;
    let away = |node: &u32| network.route(NodeId(0), NodeId(*node)).len() == channels;
    (1..job.nodes).find(away).map(Rank).ok_or_else(|| format!("no node is {hops} hops from node 0"))
}

/// Simulates `job`.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run(job: &Job) -> Result<Measured, String> {
    let machine = machine(job)?;
    if let Load::PingPong { hops } = job.load {
        partner(job, network(&machine)?, hops)?;
    }
    Err("no world runs programs on this network yet".to_string())
}

/// What a machine is and what its nodes cost, in a line.
pub fn costs(machine: &Machine) -> String {
    let node = &machine.node;
    let costs = [
        ("processor to send", node.processor_send),
        ("to receive", node.processor_receive),
        ("communication processor for a message sent", node.message_send),
        ("received", node.message_receive),
        ("for a packet sent", node.packet_send),
        ("received", node.packet_receive),
        ("for a system message", node.system_message),
    ];
    let each: Vec<String> = costs.iter().map(|(name, cost)| format!("{name} {cost}")).collect();
    format!("{}. {}.", machine.about, each.join(", "))
}
