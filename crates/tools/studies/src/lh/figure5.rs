//! Figure 5: how long packets are blocked in the network.

use linear_hash::KeyHash;
use serde_json::json;

use super::charts::{by_clients, client_keys};
use super::figure4::job;
use super::job::{BODIES, CLIENTS, LhRun, label};
use super::measures::{blocking, deviation};
use super::{Results, StudyOfLh};
use crate::render::chart;
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Mark, Measure, legend};

/// The cost of a message to its sender, of which packets may be blocked for at most a tenth. [us]
const MESSAGE: f64 = 325.0;
/// The body from which on blocking must rise with the size. [B]
const FROM: u32 = 256;
const LONGEST: u32 = BODIES[BODIES.len() - 1];
/// The last three bodies, between which it is linear for a lone client. [B]
const LAST: [u32; 3] = [2048, 4096, LONGEST];
const MOST_CLIENTS: u32 = CLIENTS[CLIENTS.len() - 1];

/// The study.
pub const STUDY: StudyOfLh = StudyOfLh {
    place: "figure 5",
    title: "how long packets are blocked",
    claims: &["lh.fig5.contention"],
    jobs,
    judge,
    draw,
};

/// The most clients, with the other hash: shown next to the others.
fn uniform(body: u32) -> LhRun {
    job(MOST_CLIENTS, body).with_hash(KeyHash::Uniform)
}

fn jobs() -> Vec<LhRun> {
    let judged = CLIENTS.into_iter().flat_map(|clients| BODIES.map(|body| job(clients, body)));
    judged.chain(BODIES.map(uniform)).collect()
}

/// How much longer packets are blocked for each additional byte of the body, between two sizes. [us/B]
fn slope(runs: &Results, clients: u32, from: u32, to: u32) -> Result<f64, MissingAnswer> {
    Ok((blocking(runs, job(clients, to))? - blocking(runs, job(clients, from))?) / f64::from(to - from))
}

/// How much longer packets are blocked with a body than with the previous one. [us]
fn rises(runs: &Results) -> Result<Vec<(String, f64)>, MissingAnswer> {
    let mut rises = Vec::new();
    for clients in CLIENTS {
        for two in BODIES.windows(2).filter(|two| two[0] >= FROM) {
            let rise = blocking(runs, job(clients, two[1]))? - blocking(runs, job(clients, two[0]))?;
            rises.push((format!("{clients} clients, {} B", two[1]), rise));
        }
    }
    Ok(rises)
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let highest = blocking(runs, job(MOST_CLIENTS, LONGEST))?;
    let (mut most, mut steeper) = (0.0_f64, Vec::new());
    for clients in CLIENTS {
        for body in BODIES {
            most = most.max(blocking(runs, job(clients, body))?);
        }
        if clients > 1 {
            let more = slope(runs, clients, FROM, LONGEST)? - slope(runs, clients - 1, FROM, LONGEST)?;
            steeper.push((format!("{clients} clients"), more * 1e3));
        }
    }
    let [shorter, long, longest] = LAST;
    let bent = deviation(slope(runs, 1, long, longest)?, slope(runs, 1, shorter, long)?);
    let mut bends = Vec::new();
    for clients in CLIENTS.into_iter().skip(1) {
        let steeper = slope(runs, clients, long, longest)? / slope(runs, clients, shorter, long)?;
        bends.push((format!("{clients} clients"), steeper));
    }
    let error_percent = json!(deviation(highest, claim.printed("highest_us")?).round());
    Ok(Findings::numbers(json!((highest * 10.0).round() / 10.0), error_percent)
        .with_number("highest_us", highest)
        .with_number("over_tenth", highest / (MESSAGE / 10.0))
        .with_number("all_over_highest", most / highest)
        .with("rise_us", rises(runs)?)
        .with_number("bent_percent", bent)
        .with("steepening", bends)
        .with("steeper_ns", steeper))
}

fn draw(claims: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let printed = claims.get(STUDY.claims[0])?.printed("highest_us")?;
    let mut lines = by_clients(&CLIENTS, |clients| {
        BODIES.into_iter().map(|body| Ok((f64::from(body), blocking(runs, job(clients, body))?))).collect()
    })?;
    let point = |body| Ok((f64::from(body), blocking(runs, uniform(body))?));
    let points = BODIES.into_iter().map(point).collect::<Result<Vec<_>, MissingAnswer>>()?;
    lines.push((
        format!("{MOST_CLIENTS} clients, {}", label(KeyHash::Uniform)),
        Mark::broken(CLIENTS.len() - 1),
        points,
    ));
    lines.push(("printed".to_string(), Mark::full(CLIENTS.len()), vec![(f64::from(LONGEST), printed)]));
    let mut keys = client_keys(&CLIENTS);
    keys.extend(lines.iter().skip(CLIENTS.len()).map(|(name, mark, _)| (name.clone(), *mark)));
    let level = Axis::linear("body [B]", Measure::Bytes).at(&[0.0, 2048.0, 4096.0, 6144.0, 8192.0]);
    let upright = Axis::linear("blocked [us]", Measure::Microseconds);
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels: vec![chart("mean time a packet is blocked", level, upright, lines)],
        caption: "The time that the header of a packet waits for channels that others hold, summed over its path; the mean over all \
                  packets until the table is built; 16 nodes, hash of the last letters, with which most splits are over early. Broken \
                  line: the uniform hash. The paper does not say over which packets it averages: other readings are in \
                  experiments/lh/parameters.md."
            .to_string(),
    }))
}
