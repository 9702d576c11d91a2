//! From a run of the study to the world that simulates it.

use std::sync::LazyLock;

use linear_hash::{Growth, Key, LinearHash, RankEnd};
use machines::model::Machine;
use quantities::{Bytes, Duration};
use serde::{Deserialize, Serialize};
use virtual_worlds::flit::world::Options;

use super::job::{LhRun, SENSITIVITY};
use crate::costs::Costs;
use experiment::simulate::simulate;
use experiment::words;
use linear_hash::build::{Built, Split, entries_of_chunk};

/// The size of the chunks in which a splitting server ships its records. [B]
const CHUNK: Bytes = Bytes(32 << 10);
/// Inserts between two points of the course of a build.
pub const STEP: usize = 500;

/// The fields whose values were chosen.
const CHOSEN: [&str; 6] = [
    "routers.routing_delay",
    "node.message_send",
    "node.message_receive",
    "node.packet_send",
    "node.packet_receive",
    "node.system_message",
];

/// The keys of all runs.
static WORDS: LazyLock<Vec<Key>> = LazyLock::new(words::dutch);

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LhResult {
    /// The number of inserts.
    pub inserts: usize,
    /// When the last of them was acknowledged, from the beginning.
    pub time: Duration,
    /// When the first 500 had been acknowledged, the first 1,000, and so on.
    pub course: Vec<Duration>,
    /// The splits of servers, in the order of time.
    pub splits: Vec<Split>,
    /// The number of messages per insert.
    pub messages_per_insert: f64,
    /// Image adjustments.
    pub adjustments: u64,
    /// The most times that a request was forwarded.
    pub most_forwards: u32,
    /// The mean time that a packet was blocked in the network.
    pub blocking: Duration,
}

/// Simulates `job`.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run(job: &LhRun) -> Result<LhResult, String> {
    run_drawn(job, Costs::Chosen)
}

/// The same with other costs of the machine, and another V.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run_drawn(job: &LhRun, costs: Costs) -> Result<LhResult, String> {
    let capacity = (job.capacity() as f64 * costs.factor("V")).round() as u64;
    build(job, WORDS.clone(), capacity, costs)
}

/// The same with `keys` in place of the words.
pub(super) fn build(job: &LhRun, keys: Vec<Key>, capacity: u64, costs: Costs) -> Result<LhResult, String> {
    let machine = machine(job, costs)?;
    let (servers, body) = (job.platform.servers(), Bytes(u64::from(job.body)));
    let growth = Growth {
        capacity,
        sensitivity: SENSITIVITY,
        shrink: None,
        apart: false,
        most_servers: servers,
        chunk: entries_of_chunk(CHUNK, &keys, body),
    };
    let server_time = Duration::from_microseconds(u64::from(job.server_time));
    let hash = job.hash;
    let (clients, then) = (job.clients, Vec::new());
    // The measurement ends with the last insert.
    let program = LinearHash { servers, clients, keys, body, hash, growth, server_time, then, finish_splits: false };
    let ran = simulate(&machine, Options::default(), program.ranks(), &program);
    let (ends, answer) = ran.map_err(|error| error.to_string())?;
    let ends = ends.into_iter().collect::<endpoint::Result<Vec<RankEnd>>>().map_err(|error| error.to_string())?;
    Ok(LhResult { blocking: answer.mean_blocking(), ..LhResult::of(&Built::new(&ends)) })
}

/// The machine of `job`.
fn machine(job: &LhRun, costs: Costs) -> Result<Machine, String> {
    let mut machine = costs.machine(("parsytec-cc", job.platform.preset()), &[], &[&CHOSEN])?;
    let cost = machine.node.processor_send.picoseconds() / u64::from(job.cheaper.max(1));
    machine.node.processor_send = Duration::from_picoseconds(cost);
    machine.send_without_waiting();
    Ok(machine)
}

impl LhResult {
    fn of(built: &Built<'_>) -> LhResult {
        let inserts = built.inserts();
        LhResult {
            inserts,
            time: built.until(inserts),
            course: (STEP..=inserts).step_by(STEP).map(|inserts| built.until(inserts)).collect(),
            splits: built.splits().to_vec(),
            messages_per_insert: built.messages_per_insert(),
            adjustments: built.adjustments(),
            most_forwards: built.most_forwards(),
            blocking: Duration::ZERO,
        }
    }
}
