//! From a run of the study to the world that simulates it.

use collectives::broadcast::{Algorithm, Recursive};
use endpoint::Program;
use machines::model::Machine;
use programs::benchmarks::{BroadcastReply, By, PingPong};
use quantities::{Bytes, Duration, Rank, Time};
use serde::{Deserialize, Serialize};
use virtual_worlds::answer::Answer;
use virtual_worlds::flit::world::Options;

use super::job::{BcastRun, NODES, System, Trouble};
use super::lossy::{CheckedBroadcasts, ROOT, ToLate, broadcast_while_behind};
use crate::costs::Costs;
use experiment::simulate::simulate;

/// Messages of a run over a lossy network.
pub const MESSAGES: u32 = 10;
/// By how much late receivers are late.
const LATE: Duration = Duration::from_microseconds(2_000);
/// The rank that replies to a broadcast: the last that the root of MPICH's tree serves itself.
const REPLIER: Rank = Rank(1);
/// The share of the rounds that is left out at either end: the fastest and the slowest tenth.
const TRIMMED_SHARE: usize = 10;

/// The fields whose values were fitted, or chosen.
const CHOSEN: [&str; 8] = [
    "ethernet.send",
    "ethernet.receive",
    "ethernet.copy",
    "ethernet.broadcast_each",
    "ethernet.call_send",
    "ethernet.call_receive",
    "ethernet.wire_latency",
    "ethernet.switch_latency",
];

/// The nodes with several processes each.
const QUAD: &str = "dp-smp-quad-2";
/// The same fields of these.
const CHOSEN_WITHIN: [&str; 4] =
    ["ethernet.memory.send", "ethernet.memory.receive", "ethernet.memory.copy", "ethernet.memory.copy_uncached"];

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BcastResult {
    /// The time of a round at the root, averaged over the middle of all rounds; for a single broadcast, until the last
    /// node had it.
    pub time: Duration,
    /// For each rank, how many messages were right, out of those that it should have had.
    pub right: Vec<(u32, u32)>,
    /// For each rank, how many packets the root retransmitted to it.
    pub resent: Vec<u64>,
    /// For each rank, how many frames for it were lost.
    pub lost: Vec<u64>,
    /// How often a new packet was broadcast while a receiver was behind.
    pub broadcast_while_behind: u32,
}

/// Simulates `job`.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run(job: &BcastRun) -> Result<BcastResult, String> {
    run_with(job, &[], Costs::Chosen)
}

/// The same with other costs.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run_drawn(job: &BcastRun, costs: Costs) -> Result<BcastResult, String> {
    run_with(job, &[], costs)
}

/// The same on machines in which something is `changed`, and with these `costs`.
///
/// # Errors
/// Why it cannot be run, or how it ended.
pub fn run_with(job: &BcastRun, changed: &[(&str, &str)], costs: Costs) -> Result<BcastResult, String> {
    match *job {
        BcastRun::PingPong { bytes } => ping_pong(job, &machine(System::PushPull, changed, costs)?, bytes),
        BcastRun::Within { bytes } => {
            let changed: Vec<_> = changed.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            ping_pong(job, &costs.machine((QUAD, QUAD), &changed, &[&CHOSEN_WITHIN])?, bytes)
        }
        BcastRun::Broadcast { system, nodes, bytes } => {
            let by = match system {
                System::PushPull | System::Simple => By::Hardware,
                System::Mpich => By::Messages(Algorithm::from(Recursive)),
            };
            let bytes = Bytes(u64::from(bytes));
            let program = BroadcastReply { by, bytes, rounds: job.rounds(), replier: REPLIER };
            let (results, _) = on(&machine(system, changed, costs)?, nodes, 1, &program)?;
            Ok(BcastResult { time: middle_mean(first_of(results)?), ..BcastResult::default() })
        }
        BcastRun::Late { system, bytes } => {
            let program = ToLate { bytes: Bytes(u64::from(bytes)), late: LATE };
            let (results, answer) = on(&machine(system, &[], costs)?, NODES, 1, &program)?;
            let right = results.into_iter().map(|right| Ok((right.map_err(run_error)?, 1)));
            let right = right.collect::<Result<_, String>>()?;
            Ok(BcastResult { time: answer.makespan().since(Time::ZERO), right, ..BcastResult::of(&answer) })
        }
        BcastRun::Lossy { trouble, seed } => lossy(trouble, seed, costs),
    }
}

/// A message between the first two ranks, there and back.
fn ping_pong(job: &BcastRun, machine: &Machine, bytes: u32) -> Result<BcastResult, String> {
    let (first, second, bytes) = (ROOT, REPLIER, Bytes(u64::from(bytes)));
    let program = PingPong { first, second, bytes, rounds: job.rounds() };
    let (results, _) = simulate(machine, Options::default(), 2, &program).map_err(run_error)?;
    Ok(BcastResult { time: middle_mean(first_of(results)?), ..BcastResult::default() })
}

fn lossy(trouble: Trouble, seed: u32, costs: Costs) -> Result<BcastResult, String> {
    let machine = machine(System::PushPull, trouble.settings(), costs)?;
    let (results, answer) = on(&machine, NODES, seed, &CheckedBroadcasts { messages: MESSAGES })?;
    let right = results.into_iter().map(|right| Ok((right.map_err(run_error)?, MESSAGES)));
    let header = machine.model().ethernet().and_then(|ethernet| ethernet.messaging.header).unwrap_or_default();
    let log = answer.frame_log.as_deref().unwrap_or_default();
    Ok(BcastResult {
        time: answer.makespan().since(Time::ZERO),
        right: right.collect::<Result<_, String>>()?,
        broadcast_while_behind: broadcast_while_behind(log, header),
        ..BcastResult::of(&answer)
    })
}

impl BcastResult {
    /// The losses and retransmissions of a run.
    fn of(answer: &Answer) -> BcastResult {
        let resent_to = |rank: usize| {
            let repeated = answer.messaging.iter().flat_map(|messaging| &messaging.repeated);
            let to_it = repeated.filter(|(from, to, _)| *from == ROOT && to.0 as usize == rank);
            to_it.map(|(_, _, count)| count).sum()
        };
        BcastResult {
            resent: (0..answer.finish.len()).map(resent_to).collect(),
            lost: answer.ethernet.as_ref().map_or_else(Vec::new, |ethernet| ethernet.dropped_for.clone()),
            ..BcastResult::default()
        }
    }
}

/// The machine of `system`, with further settings `changed`.
fn machine(system: System, changed: &[(&str, &str)], costs: Costs) -> Result<Machine, String> {
    let settings = system.settings().iter().chain(changed);
    let settings: Vec<_> = settings.map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
    costs.machine((system.preset(), system.preset()), &settings, &[&CHOSEN])
}

/// The result of each rank.
type Ends<T> = Vec<endpoint::Result<T>>;

/// Runs `program`, with a log of all frames.
fn on<P: Program>(machine: &Machine, nodes: u32, seed: u32, program: &P) -> Result<(Ends<P::Output>, Answer), String> {
    let options = Options { seed: u64::from(seed), packet_log: true, ..Options::default() };
    simulate(machine, options, nodes, program).map_err(run_error)
}

fn first_of<T>(results: Ends<T>) -> Result<T, String> {
    results.into_iter().next().ok_or("no ranks")?.map_err(run_error)
}

fn run_error(error: endpoint::Error) -> String {
    error.to_string()
}

/// The mean without the fastest and the slowest tenth.
fn middle_mean(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let out = times.len() / TRIMMED_SHARE;
    let middle = &times[out..times.len() - out];
    let sum: u64 = middle.iter().map(|time| time.picoseconds()).sum();
    Duration::from_picoseconds(sum / (middle.len() as u64).max(1))
}
