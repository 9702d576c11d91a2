//! Figure 5: how long packets are blocked in the network.

use programs::linear_hash::KeyHash;
use serde_json::json;

use super::charts::{by_clients, chart, client_keys};
use super::figure4::job;
use super::job::{BODIES, CLIENTS, Job, label};
use super::measures::{blocking, off};
use super::{Results, StudyOfLh};
use crate::{Check, Drawing, Gap, Judgement, check};
use report::{Axis, Mark, Measure, fixed, legend};

/// The most that is printed: the longest bodies, the most clients. [us]
const PRINTED: f64 = 31.0;
/// How far ours may be off. [%]
const WITHIN: f64 = 30.0;
/// What a message costs its sender, ten times what packets are blocked at most. [us]
const MESSAGE: f64 = 325.0;
/// From which body on blocking must rise with the size. [B]
const FROM: u32 = 256;
const LONGEST: u32 = BODIES[BODIES.len() - 1];
/// The last three bodies, between which it is linear for a lone client. [B]
const LAST: [u32; 3] = [2048, 4096, LONGEST];
/// How far a byte more may cost otherwise between the last two than between the two before. [%]
const STRAIGHT_WITHIN: f64 = 50.0;
const MOST_CLIENTS: u32 = CLIENTS[CLIENTS.len() - 1];

/// The study.
pub const STUDY: StudyOfLh = StudyOfLh {
    place: "figure 5",
    title: "how long packets are blocked",
    claims: &["lh.fig5.contention"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

/// The most clients, with the other hash: shown beside the others.
fn lettered(body: u32) -> Job {
    Job { hash: KeyHash::LastLetters, ..job(MOST_CLIENTS, body) }
}

fn jobs() -> Vec<Job> {
    let judged = CLIENTS.into_iter().flat_map(|clients| BODIES.map(|body| job(clients, body)));
    judged.chain(BODIES.map(lettered)).collect()
}

/// How much longer packets are blocked for each byte more of the body, between two of them. [us/B]
fn slope(runs: &Results, clients: u32, from: u32, to: u32) -> Result<f64, Gap> {
    Ok((blocking(runs, job(clients, to))? - blocking(runs, job(clients, from))?) / f64::from(to - from))
}

/// That blocking grows with the body.
fn grows(runs: &Results, clients: u32) -> Result<Vec<Check>, Gap> {
    let two = BODIES.windows(2).filter(|two| two[0] >= FROM);
    two.map(|two| {
        let (less, more) = (blocking(runs, job(clients, two[0]))?, blocking(runs, job(clients, two[1]))?);
        let (less_text, more_text) = (fixed(less, 2), fixed(more, 2));
        let says =
            format!("{clients} clients: {less_text} \u{b5}s with {} B, less than {more_text} with {}", two[0], two[1]);
        Ok(check(less < more, says))
    })
    .collect()
}

/// That it grows linearly for a lone client, and faster for more.
fn shape(runs: &Results) -> Result<Vec<Check>, Gap> {
    let [shorter, long, longest] = LAST;
    let off = off(slope(runs, 1, long, longest)?, slope(runs, 1, shorter, long)?);
    let says = format!(
        "1 client: a byte more costs {} % more from {long} to {longest} B than from {shorter} to {long}, within {STRAIGHT_WITHIN}",
        fixed(off, 0)
    );
    let mut checks = vec![check(off.abs() <= STRAIGHT_WITHIN, says)];
    for clients in CLIENTS.into_iter().skip(1) {
        let (less, more) = (slope(runs, clients - 1, FROM, longest)?, slope(runs, clients, FROM, longest)?);
        let says = format!(
            "{clients} clients: {} ns a byte from {FROM} to {longest} B, more than the {} of {}",
            fixed(more * 1e3, 2),
            fixed(less * 1e3, 2),
            clients - 1
        );
        checks.push(check(less < more, says));
    }
    Ok(checks)
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let highest = blocking(runs, job(MOST_CLIENTS, LONGEST))?;
    let says = format!(
        "{MOST_CLIENTS} clients, {LONGEST} B: {} \u{b5}s, printed {PRINTED}, within {WITHIN} %",
        fixed(highest, 1)
    );
    let mut checks = vec![check(off(highest, PRINTED).abs() <= WITHIN, says)];
    let mut most: f64 = 0.0;
    for clients in CLIENTS {
        for body in BODIES {
            most = most.max(blocking(runs, job(clients, body))?);
        }
        checks.extend(grows(runs, clients)?);
    }
    checks.push(check(most <= highest, format!("that is the highest of all: {} \u{b5}s", fixed(most, 1))));
    checks.extend(shape(runs)?);
    let tenth = MESSAGE / 10.0 * (1.0 + WITHIN / 100.0);
    let says = format!("at most a tenth of the {MESSAGE} \u{b5}s of a message, within {WITHIN} %: {}", fixed(tenth, 1));
    checks.push(check(highest <= tenth, says));
    let ours = (highest * 10.0).round() / 10.0;
    Ok(Judgement { ours: json!(ours), error_percent: json!(off(highest, PRINTED).round()), checks })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let mut lines = by_clients(&CLIENTS, |clients| {
        BODIES.into_iter().map(|body| Ok((f64::from(body), blocking(runs, job(clients, body))?))).collect()
    })?;
    let point = |body| Ok((f64::from(body), blocking(runs, lettered(body))?));
    let points = BODIES.into_iter().map(point).collect::<Result<Vec<_>, Gap>>()?;
    lines.push((
        format!("{MOST_CLIENTS} clients, {}", label(KeyHash::LastLetters)),
        Mark::broken(CLIENTS.len() - 1),
        points,
    ));
    lines.push(("printed".to_string(), Mark::full(CLIENTS.len()), vec![(f64::from(LONGEST), PRINTED)]));
    let mut keys = client_keys(&CLIENTS);
    keys.extend(lines.iter().skip(CLIENTS.len()).map(|(name, mark, _)| (name.clone(), *mark)));
    let level = Axis::linear("body [B]", Measure::Bytes).at(&[0.0, 2048.0, 4096.0, 6144.0, 8192.0]);
    let upright = Axis::linear("blocked [\u{b5}s]", Measure::Microseconds);
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels: vec![chart("mean time a packet is blocked", level, upright, lines)],
        caption: "The time that the header of a packet waits for channels that others hold, summed over its way, on the mean over all \
                  packets until the table is built; 16 nodes. Full lines: the uniform hash. Broken line: the hash of the last letters, \
                  with which most splits are over early. The paper doesn't say whose average its is: other readings are in \
                  experiments/lh/parameters.md."
            .to_string(),
    }))
}
