//! Figure 4: the size of the bodies.

use programs::linear_hash::KeyHash;

use super::charts::{bodies, build_times, by_clients, chart, client_keys, insertions};
use super::figure2::{is_linear, job as without_bodies};
use super::job::{BODIES, CLIENTS, Job};
use super::measures::{milliseconds_per_insert, seconds};
use super::{Results, StudyOfLh};
use crate::{Drawing, Gap, Judgement, check};
use report::{Axis, Measure, fixed, legend};

/// The bodies of figure 4a. [B]
const LONG: u32 = 2048;
/// "Not much above": a build with such bodies takes at most so many times as long as one without any.
const NOT_MUCH: f64 = 1.5;
/// The last body that rides on the packet that sets up a message, and the first that does not. [B]
const STEP: (u32, u32) = (128, 256);
/// The bodies beside that step, which go the same way as their neighbours. [B]
const BESIDE: [(u32, u32); 2] = [(64, 128), (256, 512)];
/// A byte more costs so many times as much over the step as beside it, with one client.
const STEEPER: f64 = 1.5;
/// "Flat": up to this body [B] an insert takes at most so much longer, from the step on. [%]
const FLAT_UNTIL: u32 = 1024;
const FLAT_WITHIN: f64 = 15.0;
/// Between the two longest bodies each byte takes at least this share of what the bandwidth allows.
const BOUND: f64 = 0.8;
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
pub const fn job(clients: u32, body: u32) -> Job {
    Job::new(KeyHash::Uniform, clients).with_body(body)
}

fn jobs() -> Vec<Job> {
    let of = |clients| {
        let builds = [without_bodies(clients), without_bodies(clients).with_body(LONG)];
        builds.into_iter().chain(BODIES.map(|body| job(clients, body)))
    };
    CLIENTS.into_iter().flat_map(of).collect()
}

fn judge(claim: &str, runs: &Results) -> Result<Judgement, Gap> {
    match claim {
        "lh.fig4a.blobs" => blobs(runs),
        _ => step(runs),
    }
}

fn blobs(runs: &Results) -> Result<Judgement, Gap> {
    let (mut checks, mut found) = (Vec::new(), Vec::new());
    for clients in CLIENTS {
        let long = without_bodies(clients).with_body(LONG);
        checks.extend(is_linear(runs.get(&long)?, &format!("{clients} clients")));
        let times = seconds(runs, long)? / seconds(runs, without_bodies(clients))?;
        let says =
            format!("{clients} clients: {} times as long as without bodies, at most {NOT_MUCH}", fixed(times, 2));
        checks.push(check(times <= NOT_MUCH, says));
        found.push(format!("{clients}: {}", fixed(times, 2)));
    }
    Ok(Judgement::in_words(format!("times as long as without bodies, with clients {}", found.join(", ")), checks))
}

/// By how much an insert takes longer with the second of two bodies. [us]
fn rise(runs: &Results, clients: u32, (from, to): (u32, u32)) -> Result<f64, Gap> {
    let time = |body| milliseconds_per_insert(runs, job(clients, body));
    Ok((time(to)? - time(from)?) * 1e3)
}

fn step(runs: &Results) -> Result<Judgement, Gap> {
    let mut checks = Vec::new();
    let (from, to) = STEP;
    let lone = rise(runs, 1, STEP)?;
    let of_byte = |bodies: (u32, u32)| Ok(rise(runs, 1, bodies)? * 1e3 / f64::from(bodies.1 - bodies.0));
    for beside in BESIDE {
        let (steep, other) = (of_byte(STEP)?, of_byte(beside)?);
        let says = format!(
            "1 client: a byte more takes {} ns from {from} to {to} B, at least {STEEPER} times the {} from {} to {}",
            fixed(steep, 1),
            fixed(other, 1),
            beside.0,
            beside.1
        );
        checks.push(check(steep >= STEEPER * other, says));
    }
    for clients in CLIENTS.into_iter().skip(1) {
        let (less, rise) = (rise(runs, clients - 1, STEP)?, rise(runs, clients, STEP)?);
        let says = format!(
            "the step is smaller with {clients} clients ({} \u{b5}s) than with {} ({})",
            fixed(rise, 1),
            clients - 1,
            fixed(less, 1)
        );
        checks.push(check(rise < less, says));
    }
    for clients in CLIENTS {
        let before = milliseconds_per_insert(runs, job(clients, to))?;
        let more = (milliseconds_per_insert(runs, job(clients, FLAT_UNTIL))? / before - 1.0) * 100.0;
        let says = format!(
            "{clients} clients: {} % longer with {FLAT_UNTIL} than with {to} B, at most {FLAT_WITHIN}",
            fixed(more, 1)
        );
        checks.push(check(more <= FLAT_WITHIN, says));
    }
    let longest = (BODIES[BODIES.len() - 2], BODIES[BODIES.len() - 1]);
    let wire = f64::from(longest.1 - longest.0) / BANDWIDTH;
    let share = rise(runs, 1, longest)? / wire;
    let says = format!(
        "1 client: a byte more takes {} times what the bandwidth allows between {} and {} B, at least {BOUND}",
        fixed(share, 2),
        longest.0,
        longest.1
    );
    checks.push(check(share >= BOUND, says));
    Ok(Judgement::in_words(
        format!("a step of {} \u{b5}s for one client from {from} to {to} B", fixed(lone, 0)),
        checks,
    ))
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
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
        caption: "16 nodes. a: as figure 2a, with bodies of 2 KiB; hash of the last letters. b: the build time by the inserts over the size \
                  of the bodies, with a uniform hash; both axes are logarithmic. A message of up to 248 bytes rides on the packet \
                  that sets it up; from 256 bytes on a body needs packets of its own."
            .to_string(),
    }))
}
