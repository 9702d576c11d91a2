//! From a run of the study to the world that simulates it.

use std::time::{Duration as WallTime, Instant};

use endpoint::Program;
use machines::model::{FlitNetwork, Machine, NodeId};
use programs::benchmarks::{AllPairs, BothBegin, EqualDist, PartnerOrder, PingPong, UnequalDist};
use quantities::{Bytes, Rank, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use virtual_worlds::answer::{Answer, ChannelStatistics, RankStatistics, RouterStatistics};
use virtual_worlds::flit::world::{EngineKind, Options};

use super::job::{Engine, Layer, Load, MocRun, Platform};
use crate::costs::{Costs, OF_MESSAGES};
use experiment::simulate::simulate;

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MocResult {
    /// The world's answer. Its counters are kept; the study asks for no logs.
    #[serde(serialize_with = "counters", deserialize_with = "answer_of_counters")]
    pub answer: Answer,
    /// For each router of the answer, its number within the mesh.
    pub mesh_index: Vec<Option<u32>>,
    /// How long it took to simulate.
    pub elapsed: WallTime,
}

/// The counters of an answer: ends of ranks, messages, packets, flits times channels, channels, routers, ranks.
type Counters<T, C, R, N> = (T, u64, u64, u64, C, R, N);

fn counters<S: Serializer>(answer: &Answer, to: S) -> Result<S::Ok, S::Error> {
    let Answer { finish, messages, packets, flit_hops, channels, routers, ranks, .. } = answer;
    let counters: Counters<_, _, _, _> = (finish, *messages, *packets, *flit_hops, channels, routers, ranks);
    counters.serialize(to)
}

fn answer_of_counters<'de, D: Deserializer<'de>>(from: D) -> Result<Answer, D::Error> {
    type CachedAnswer = Counters<Vec<Time>, Vec<ChannelStatistics>, Vec<RouterStatistics>, Vec<RankStatistics>>;
    let (finish, messages, packets, flit_hops, channels, routers, ranks) = CachedAnswer::deserialize(from)?;
    let (channels, routers) = (channels.into_iter().collect(), routers.into_iter().collect());
    Ok(Answer { finish, messages, packets, flit_hops, channels, routers, ranks, ..Answer::default() })
}

/// What counts as an idle channel, which only matters where a layer is chosen because it is idle.
const IDLE_WHEN: &str = "routing.idle_when";
/// The prefix of the settings of the GCel.
const GCEL: &str = "gcel.";

/// The fields whose values were chosen beside the costs of messages, of the Mesh of Clos or of the GCel.
const CHOSEN: [&str; 6] = [
    "channels.flit_time",
    "channels.credit_latency",
    "channels.rate",
    "routers.routing_delay",
    "switching.per_packet",
    "node.reconstruction",
];

/// With which settings a run is made besides those of its preset. The default is what `maquette reproduce moc` uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// Fields of the description of every Mesh of Clos that are set to other values; if the name begins with `gcel.`,
    /// of the GCel.
    pub settings: Vec<(String, String)>,
    /// The costs of nodes and networks, beside these settings.
    pub costs: Costs,
    /// The total number of messages of equal-dist and unequal-dist, in place of that of the study.
    pub messages: Option<u32>,
}

/// The resolved model of a preset.
///
/// # Errors
/// Why it cannot be loaded.
pub fn model(preset: &str) -> Result<Machine, String> {
    machines::load(preset).map_err(|error| error.to_string())
}

/// The machine of `job`, with its settings and those of `setup`.
///
/// # Errors
/// Why it cannot be loaded.
pub fn machine(job: &MocRun, setup: &Setup) -> Result<Machine, String> {
    let of_gcel = |(name, value): &(String, String)| Some((name.strip_prefix(GCEL)?.to_string(), value.clone()));
    let mut settings: Vec<(String, String)> = Vec::new();
    // The layer comes first, as what is set may mean something with some of them only.
    if job.layer != Layer::Fixed {
        settings.push(("routing.selection".to_string(), job.layer.setting().to_string()));
    }
    // The study varies the Mesh of Clos only; the GCel stores whole packets.
    if job.platform == Platform::Gcel {
        settings.extend(setup.settings.iter().filter_map(of_gcel));
    } else {
        let looks_for_idle = !matches!(job.layer, Layer::Fixed | Layer::Random);
        let applies = |name: &str| !name.starts_with(GCEL) && (looks_for_idle || name != IDLE_WHEN);
        settings.extend(setup.settings.iter().filter(|(name, _)| applies(name)).cloned());
        settings.push(("channels.buffers".to_string(), job.buffers.to_string()));
    }
    if job.raw {
        settings.extend(OF_MESSAGES.map(|name| (name.to_string(), "0 s".to_string())));
    }
    let family = if job.platform == Platform::Gcel { "gcel" } else { "moc" };
    setup.costs.machine((family, job.platform.preset(job.nodes)), &settings, &[&OF_MESSAGES, &CHOSEN])
}

/// The network of `machine`.
///
/// # Errors
/// If it has none.
pub fn network(machine: &Machine) -> Result<&FlitNetwork, String> {
    let network = machine.network().map(|network| &**network);
    network.ok_or_else(|| format!("{} has no network of routers", machine.name))
}

/// A node that is `hops` away from node 0: channels on the Mesh of Clos, links between nodes on the GCel.
///
/// # Errors
/// If there is none.
fn partner(job: &MocRun, network: &FlitNetwork, hops: u32) -> Result<Rank, String> {
    // A route also has the channels between the two nodes and their routers, which are not links on the GCel.
    let channels = if job.platform == Platform::Gcel { hops + 2 } else { hops } as usize;
    let away = |node: &u32| network.route(NodeId(0), NodeId(*node)).len() == channels;
    (1..job.nodes).find(away).map(Rank).ok_or_else(|| format!("no node is {hops} hops from node 0"))
}

/// Simulates `job` with the parameters of `setup`.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run_with(setup: &Setup, job: &MocRun) -> Result<MocResult, String> {
    let machine = machine(job, setup)?;
    let network = network(&machine)?;
    let mesh_index = network.routers.iter().map(|router| router.mesh_index).collect();
    let bytes = Bytes(u64::from(job.bytes));
    match job.load {
        Load::PingPong { hops } => {
            let second = partner(job, network, hops)?;
            measure(&machine, job, &PingPong { first: Rank(0), second, bytes, rounds: 1 }, mesh_index)
        }
        Load::AllToAll { rounds } => {
            // The paper leaves the order of partners open: in no other one is a packet held up as little as it prints.
            measure(&machine, job, &AllPairs { bytes, rounds, order: PartnerOrder::InTurn }, mesh_index)
        }
        Load::EqualDist | Load::UnequalDist => measure_pairs(&machine, setup, job, mesh_index),
    }
}

fn measure_pairs(
    machine: &Machine,
    setup: &Setup,
    job: &MocRun,
    mesh_index: Vec<Option<u32>>,
) -> Result<MocResult, String> {
    let bytes = Bytes(u64::from(job.bytes));
    let mirrored = job.load == Load::UnequalDist;
    let messages = setup.messages.unwrap_or(job.messages() as u32);
    // Section 4 has every processor send to its partner and receive from it in turns: both begin.
    match mirrored {
        true => measure(machine, job, &BothBegin(UnequalDist { bytes, messages }), mesh_index),
        false => measure(machine, job, &BothBegin(EqualDist { bytes, messages }), mesh_index),
    }
}

/// Simulates `job` with the parameters of the study.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run(job: &MocRun) -> Result<MocResult, String> {
    run_with(&Setup::default(), job)
}

/// The same with other costs.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run_drawn(job: &MocRun, costs: Costs) -> Result<MocResult, String> {
    run_with(&Setup { costs, ..Setup::default() }, job)
}

/// The seed of random choices of the mesh layer.
const SEED: u64 = 1;
/// How often a run is repeated whose wall time is measured: the shortest time counts.
const TIMED_REPEATS: u32 = 3;

fn measure<P: Program>(
    machine: &Machine,
    job: &MocRun,
    program: &P,
    mesh_index: Vec<Option<u32>>,
) -> Result<MocResult, String> {
    let engine = if job.engine == Engine::ReferenceTimed { EngineKind::Reference } else { EngineKind::Fast };
    let options = Options { engine, seed: SEED, ..Options::default() };
    let repeats = if job.engine == Engine::Fast { 1 } else { TIMED_REPEATS };
    let mut measured = MocResult { mesh_index, elapsed: WallTime::MAX, ..MocResult::default() };
    for _ in 0..repeats {
        let begun = wall_clock();
        let ended = simulate(machine, options, job.nodes, program);
        measured.elapsed = measured.elapsed.min(begun.elapsed());
        let (results, answer) = ended.map_err(|error| error.to_string())?;
        if let Some(error) = results.into_iter().find_map(Result::err) {
            return Err(error.to_string());
        }
        measured.answer = answer;
    }
    Ok(measured)
}

#[expect(
    clippy::disallowed_methods,
    reason = "one claim is about the wall time of the engines; no result follows from it"
)]
fn wall_clock() -> Instant {
    Instant::now()
}

/// A line with a machine's description and the costs of its nodes.
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
