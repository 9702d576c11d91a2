//! Figure 8: up to which number more clients help.

use super::charts::{clients, speed_ups};
use super::figure7::job;
use super::job::{LhRun, MANY_CLIENTS};
use super::measures::speed_up;
use super::{Results, StudyOfLh};
use crate::render::chart;
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Mark, legend};

/// The bodies. [B]
const BODIES: [u32; 4] = [0, 512, 2048, 8192];
/// The divisors of the cost of a message.
const CHEAPER: [u32; 3] = [1, 3, 9];
/// More clients help as long as twice as many are at least this many times as fast.
const HELPS: f64 = 1.4;
/// Bodies that count as large. [B]
const LARGE: [u32; 2] = [2048, 8192];
/// A body that does not. [B]
const SMALL: u32 = 512;
const MOST: u32 = MANY_CLIENTS[MANY_CLIENTS.len() - 1];

/// The study.
pub const STUDY: StudyOfLh = StudyOfLh {
    place: "figure 8",
    title: "up to how many clients help",
    claims: &["lh.fig8.scaling"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn cheaper(clients: u32, body: u32, cheaper: u32) -> LhRun {
    LhRun { cheaper, ..job(clients, body) }
}

fn jobs() -> Vec<LhRun> {
    let settings = BODIES.into_iter().flat_map(|body| CHEAPER.map(|part| (body, part)));
    settings.flat_map(|(body, part)| MANY_CLIENTS.map(|clients| cheaper(clients, body, part))).collect()
}

/// The number of clients up to which doubling them helps.
fn holds_up_to(runs: &Results, body: u32) -> Result<u32, MissingAnswer> {
    for two in MANY_CLIENTS.windows(2) {
        if speed_up(runs, job(two[1], body))? < HELPS * speed_up(runs, job(two[0], body))? {
            return Ok(two[0]);
        }
    }
    Ok(MOST)
}

/// The speed-up with a large body and cheaper messages, over that with messages that cost three times as much.
fn lowered(runs: &Results, body: u32) -> Result<[(String, f64); 2], MissingAnswer> {
    let [normal, third, ninth] = CHEAPER.map(|part| speed_up(runs, cheaper(MOST, body, part)));
    let (normal, third, ninth) = (normal?, third?, ninth?);
    Ok([(format!("{body} B, a third"), third / normal), (format!("{body} B, a ninth"), ninth / third)])
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut up_to, mut found, mut less) = (Vec::new(), Vec::new(), Vec::new());
    for body in BODIES {
        let clients = holds_up_to(runs, body)?;
        up_to.push((format!("{body} B"), f64::from(clients)));
        found.push(format!("{clients} with {body} B"));
    }
    for body in LARGE {
        less.extend(lowered(runs, body)?);
    }
    let [normal, _, ninth] = CHEAPER.map(|part| speed_up(runs, cheaper(MOST, SMALL, part)));
    let kept = ninth? / normal?;
    Ok(Findings::words(format!("more clients help up to {}", found.join(", ")))
        .with("holds_up_to", up_to)
        .with("cheaper_speed_up_over", less)
        .with_number("small_cheaper_speed_up_over", kept))
}

fn name(cheaper: u32) -> String {
    if cheaper == 1 { "unchanged".to_string() } else { format!("1/{cheaper} of the cost of a message") }
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let marks = CHEAPER.into_iter().enumerate().map(|(index, part)| (part, Mark::full(index)));
    let mut panels = Vec::new();
    for (letter, body) in ["a", "b", "c", "d"].into_iter().zip(BODIES) {
        let mut lines = Vec::new();
        for (part, mark) in marks.clone() {
            let point = |clients| Ok((f64::from(clients), speed_up(runs, cheaper(clients, body, part))?));
            let points = MANY_CLIENTS.into_iter().map(point).collect::<Result<Vec<_>, MissingAnswer>>()?;
            lines.push((name(part), mark, points));
        }
        panels.push(chart(&format!("{letter}: bodies of {body} B"), clients(&MANY_CLIENTS), speed_ups(), lines));
    }
    let keys: Vec<_> = marks.map(|(part, mark)| (name(part), mark)).collect();
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels,
        caption: "How much faster the build is than with one client on the same machine: with the 325 us of a message, and with a third \
                  and a ninth of them; 64 nodes, hash of the last letters."
            .to_string(),
    }))
}
