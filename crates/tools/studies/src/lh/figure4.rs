//! Figure 4: the size of the bodies.

use super::charts::{bodies, build_times, by_clients, client_keys, insertions};
use super::figure2::{Linearity, job as without_bodies};
use super::job::{BODIES, CLIENTS, LhRun};
use super::measures::{milliseconds_per_insert, seconds};
use super::{Results, StudyOfLh};
use crate::render::chart;
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Measure, fixed, legend};

/// The bodies of figure 4a. [B]
const LONG: u32 = 2048;
/// The last body that rides on the packet that sets up a message, and the first that does not. [B]
const STEP: (u32, u32) = (128, 256);
/// The bodies next to that step, which use the same protocol as their neighbours. [B]
const BESIDE: [(u32, u32); 2] = [(64, 128), (256, 512)];
/// "Flat": from the step up to this body an insert must take hardly longer. [B]
const FLAT_UNTIL: u32 = 1024;
/// The bandwidth. [B/us]
const BANDWIDTH: f64 = 27.0;

/// The study.
pub const STUDY: StudyOfLh = StudyOfLh {
    place: "figure 4",
    title: "the size of the bodies",
    claims: &["lh.fig4a.blobs", "lh.fig4b.step"],
    jobs,
    judge,
    draw,
};

/// The builds of figure 4b, and of figure 5.
pub const fn job(clients: u32, body: u32) -> LhRun {
    LhRun::new(clients).with_body(body)
}

fn jobs() -> Vec<LhRun> {
    let of = |clients| {
        let builds = [without_bodies(clients), without_bodies(clients).with_body(LONG)];
        builds.into_iter().chain(BODIES.map(|body| job(clients, body)))
    };
    CLIENTS.into_iter().flat_map(of).collect()
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    match claim.id.as_str() {
        "lh.fig4a.blobs" => blobs(runs),
        _ => step(runs),
    }
}

fn blobs(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut linearity, mut as_long, mut found) = (Linearity::default(), Vec::new(), Vec::new());
    for clients in CLIENTS {
        let (long, who) = (without_bodies(clients).with_body(LONG), format!("{clients} clients"));
        linearity.add(runs.get(&long)?, &who);
        let times = seconds(runs, long)? / seconds(runs, without_bodies(clients))?;
        as_long.push((who, times));
        found.push(format!("{clients}: {}", fixed(times, 2)));
    }
    let ours = format!("times as long as without bodies, with clients {}", found.join(", "));
    Ok(linearity.beside(Findings::words(ours)).with("over_without_bodies", as_long))
}

/// How much longer an insert takes with the second of two bodies. [us]
fn rise(runs: &Results, clients: u32, (from, to): (u32, u32)) -> Result<f64, MissingAnswer> {
    let time = |body| milliseconds_per_insert(runs, job(clients, body));
    Ok((time(to)? - time(from)?) * 1e3)
}

fn step(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (from, to) = STEP;
    let of_byte = |bodies: (u32, u32)| Ok(rise(runs, 1, bodies)? / f64::from(bodies.1 - bodies.0));
    let (mut over_beside, mut change, mut longer) = (Vec::new(), Vec::new(), Vec::new());
    for beside in BESIDE {
        over_beside.push((format!("{} to {} B", beside.0, beside.1), of_byte(STEP)? / of_byte(beside)?));
    }
    let jump =
        (milliseconds_per_insert(runs, job(1, to))? / milliseconds_per_insert(runs, job(1, from))? - 1.0) * 100.0;
    for clients in CLIENTS.into_iter().skip(1) {
        change.push((format!("{clients} clients"), rise(runs, clients, STEP)? - rise(runs, clients - 1, STEP)?));
    }
    for clients in CLIENTS {
        let time = |body| milliseconds_per_insert(runs, job(clients, body));
        longer.push((format!("{clients} clients"), (time(FLAT_UNTIL)? / time(to)? - 1.0) * 100.0));
    }
    let longest = (BODIES[BODIES.len() - 2], BODIES[BODIES.len() - 1]);
    let lone = fixed(rise(runs, 1, STEP)?, 0);
    Ok(Findings::words(format!("a step of {lone} us for one client from {from} to {to} B"))
        .with_number("step_percent", jump)
        .with("step_over_beside", over_beside)
        .with("step_change_us", change)
        .with("flat_longer_percent", longer)
        .with_number("over_bandwidth", of_byte(longest)? * BANDWIDTH))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let builds = by_clients(&CLIENTS, |clients| build_times(runs, without_bodies(clients).with_body(LONG)))?;
    let times = by_clients(&CLIENTS, |clients| {
        let point = |body| Ok((f64::from(body), milliseconds_per_insert(runs, job(clients, body))?));
        BODIES.into_iter().map(point).collect()
    })?;
    let time = Axis::linear("build time [s]", Measure::Seconds);
    let insert = Axis::logarithmic("time of an insert [ms]", Measure::Plain);
    Ok(Some(Drawing {
        legend: Some(legend(&client_keys(&CLIENTS))),
        panels: vec![
            chart("a: build time, 2 KiB bodies", insertions(), time, builds),
            chart("b: time of an insert", bodies(), insert, times),
        ],
        caption: "16 nodes, hash of the last letters. a: as figure 2a, with bodies of 2 KiB. b: the build time by the inserts over the size \
                  of the bodies; both axes are logarithmic. A message of up to 248 bytes rides on the packet \
                  that sets it up; from 256 bytes on a body needs packets of its own."
            .to_string(),
    }))
}
