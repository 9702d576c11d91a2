//! Figure 7: the larger machine.

use super::charts::{build_times, by_clients, client_keys, insertions};
use super::figure2::{Linearity, largest_cascade};
use super::job::{LhRun, MANY_CLIENTS};
use super::measures::seconds;
use super::{Results, StudyOfLh};
use crate::render::chart;
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Measure, fixed, legend};

/// The bodies. [B]
const BODIES: [u32; 2] = [0, 2048];

/// The study.
pub const STUDY: StudyOfLh = StudyOfLh {
    place: "figure 7",
    title: "64 nodes",
    claims: &["lh.fig7.sixty_four"],
    jobs: || BODIES.into_iter().flat_map(|body| MANY_CLIENTS.map(|clients| job(clients, body))).collect(),
    judge: |_, runs| judge(runs),
    draw,
};

/// The builds of the figure, and of figure 8.
pub const fn job(clients: u32, body: u32) -> LhRun {
    LhRun::new(clients).enlarged().with_body(body)
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut linearity, mut largest) = (Linearity::default(), Vec::new());
    let (mut over_fewer, mut found) = (Vec::new(), Vec::new());
    for body in BODIES {
        let mut before = None;
        for clients in MANY_CLIENTS {
            let (measured, who) = (runs.get(&job(clients, body))?, format!("{clients} clients, {body} B"));
            linearity.add(measured, &who);
            largest.push((who.clone(), largest_cascade(measured) as f64));
            let time = seconds(runs, job(clients, body))?;
            over_fewer.extend(before.replace(time).map(|before| (who, time / before)));
        }
        found.push(format!("{} s with {body} B", fixed(before.unwrap_or(f64::NAN), 1)));
    }
    let most = MANY_CLIENTS[MANY_CLIENTS.len() - 1];
    let ours = format!("{most} clients build the table in {}", found.join(", "));
    Ok(linearity.beside(Findings::words(ours)).with("largest_cascade", largest).with("over_fewer", over_fewer))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut panels = Vec::new();
    for (letter, body) in ["a", "b"].into_iter().zip(BODIES) {
        let lines = by_clients(&MANY_CLIENTS, |clients| build_times(runs, job(clients, body)))?;
        let y = Axis::linear("build time [s]", Measure::Seconds);
        panels.push(chart(&format!("{letter}: bodies of {body} B"), insertions(), y, lines));
    }
    Ok(Some(Drawing {
        legend: Some(legend(&client_keys(&MANY_CLIENTS))),
        panels,
        caption: "The time by which that many inserts were acknowledged, at the splits of servers and at the end; 64 nodes, of which 32 can be \
                  servers, hash of the last letters."
            .to_string(),
    }))
}
