//! The origin of the nodes' costs: scans against the four printed numbers to which they were fitted.
//!
//! Nothing is random in these runs.

use experiment::parallel;
use report::fixed;

use super::job::{Job, NODES, System};
use super::measures::deviation;
use super::paper;
use super::simulate::run_with;
use crate::costs::Costs;
use crate::{Claim, Watch};

/// A setting: field and value.
type Setting = (&'static str, &'static str);

/// The grid of the messaging: each line is a cost that takes one of its values.
const MESSAGING: [&[Setting]; 4] = [
    &[("send", "5 us"), ("send", "6 us"), ("send", "7 us")],
    &[("receive", "9.5 us"), ("receive", "10.5 us"), ("receive", "11.5 us")],
    &[("broadcast_each", "1 us"), ("broadcast_each", "1.75 us"), ("broadcast_each", "2.5 us")],
    &[("header", "12 B"), ("header", "26 B")],
];
/// The grid of MPICH over TCP.
const MPICH: [&[Setting]; 2] = [
    &[("call_send", "22 us"), ("call_send", "45 us"), ("call_send", "90 us")],
    &[("receive", "15 us"), ("receive", "20 us"), ("receive", "25 us")],
];

/// Some costs, and their results.
#[derive(Clone, Debug)]
pub struct Found {
    /// The costs.
    pub settings: Vec<Setting>,
    /// The sum of the absolute deviations from the printed numbers. [%]
    pub deviation: f64,
    /// The numbers, in words.
    pub says: String,
}

/// The costs of both grids, each with those nearest to the printed numbers first.
///
/// # Errors
/// Why one cannot be run.
pub fn search(watch: &Watch<'_>) -> Result<[Vec<Found>; 2], String> {
    let claims = paper().map_err(|error| error.to_string())?.claims;
    let claim = |id| claims.get(id).map_err(|gap| format!("{gap:?}"));
    let (message, broadcast) = (claim("bcast.sec2.p2p")?, claim("bcast.fig4.latency_256")?);
    let messaging = |settings: &[Setting]| {
        let time = |job| run_with(&job, settings, Costs::Chosen).map(|measured| measured.time.microseconds());
        let long = 1 << 20;
        let (latency, rate) = (time(Job::PingPong { bytes: 8 })? / 2.0, time(Job::PingPong { bytes: long })? / 2.0);
        let growth = growth(System::PushPull, settings)?;
        judged(
            settings,
            &[
                (message, "latency_us", latency),
                (message, "bandwidth_MBps", f64::from(long) / rate),
                (broadcast, "growth_percent", growth),
            ],
        )
    };
    let mpich = |settings: &[Setting]| {
        judged(settings, &[(broadcast, "mpich_growth_percent", growth(System::Mpich, settings)?)])
    };
    Ok([ranked(&MESSAGING, watch, &messaging)?, ranked(&MPICH, watch, &mpich)?])
}

/// How much longer a broadcast of 256 bytes to all nodes takes than one to two. [%]
fn growth(system: System, settings: &[Setting]) -> Result<f64, String> {
    let time = |nodes| run_with(&Job::Broadcast { system, nodes, bytes: 256 }, settings, Costs::Chosen);
    Ok(deviation(time(NODES)?.time.microseconds(), time(2)?.time.microseconds()))
}

fn judged(settings: &[Setting], numbers: &[(&Claim, &str, f64)]) -> Result<Found, String> {
    let (mut sum, mut says) = (0.0, Vec::new());
    for (claim, name, ours) in numbers {
        let printed = claim.printed(name).map_err(|gap| format!("{gap:?}"))?;
        sum += deviation(*ours, printed).abs();
        says.push(format!("{name} {} of {printed}", fixed(*ours, 2)));
    }
    Ok(Found { settings: settings.to_vec(), deviation: sum, says: says.join(", ") })
}

/// The results of every combination of `grid`, the best first.
fn ranked(
    grid: &[&[Setting]],
    watch: &Watch<'_>,
    of: &(dyn Fn(&[Setting]) -> Result<Found, String> + Sync),
) -> Result<Vec<Found>, String> {
    let mut all: Vec<Vec<Setting>> = vec![Vec::new()];
    for values in grid {
        let with = |before: &Vec<Setting>, value: &Setting| before.iter().copied().chain([*value]).collect();
        all = all.iter().flat_map(|before| values.iter().map(move |value| with(before, value))).collect();
    }
    let progress = |_, _| {};
    let watch = parallel::Watch { progress: &progress, interrupted: watch.interrupted, threads: watch.threads };
    // With some costs a run never ends: they are listed last.
    let ended = |settings: &Vec<Setting>| {
        of(settings).unwrap_or_else(|why| Found { settings: settings.clone(), deviation: f64::INFINITY, says: why })
    };
    let found = parallel::map(&all, &watch, ended);
    let mut found: Vec<Found> = found.into_iter().collect::<Option<_>>().ok_or("interrupted")?;
    found.sort_by(|one, other| one.deviation.total_cmp(&other.deviation));
    Ok(found)
}
