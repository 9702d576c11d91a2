//! Figure 7: the larger machine.

use programs::linear_hash::KeyHash;

use super::charts::{build_times, by_clients, chart, client_keys, insertions};
use super::figure2::{has_cascade, is_linear};
use super::job::{Job, MANY_CLIENTS};
use super::measures::seconds;
use super::{Results, StudyOfLh};
use crate::{Drawing, Gap, Judgement, check};
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
pub const fn job(clients: u32, body: u32) -> Job {
    Job::new(KeyHash::LastLetters, clients).enlarged().with_body(body)
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let (mut checks, mut found) = (Vec::new(), Vec::new());
    for body in BODIES {
        let mut before = f64::INFINITY;
        for clients in MANY_CLIENTS {
            let measured = runs.get(&job(clients, body))?;
            let who = format!("{clients} clients, {body} B");
            checks.extend(is_linear(measured, &who));
            checks.push(has_cascade(measured, &who));
            let time = seconds(runs, job(clients, body))?;
            let says = format!("{who}: {} s, less than with fewer clients", fixed(time, 1));
            checks.push(check(time < before, says));
            before = time;
        }
        found.push(format!("{} s with {body} B", fixed(before, 1)));
    }
    let most = MANY_CLIENTS[MANY_CLIENTS.len() - 1];
    Ok(Judgement::in_words(format!("{most} clients build the table in {}", found.join(", ")), checks))
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let mut panels = Vec::new();
    for (letter, body) in ["a", "b"].into_iter().zip(BODIES) {
        let lines = by_clients(&MANY_CLIENTS, |clients| build_times(runs, job(clients, body)))?;
        let y = Axis::linear("build time [s]", Measure::Seconds);
        panels.push(chart(&format!("{letter}: bodies of {body} B"), insertions(), y, lines));
    }
    Ok(Some(Drawing {
        legend: Some(legend(&client_keys(&MANY_CLIENTS))),
        panels,
        caption: "The time by which so many inserts were acknowledged, at the splits of servers and at the end; 64 nodes, of which 32 can be \
                  servers, hash of the last letters."
            .to_string(),
    }))
}
