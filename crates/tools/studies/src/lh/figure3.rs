//! Figure 3: the mean time of an insert over the course of the build.

use serde_json::json;

use super::charts::{by_clients, client_keys, insertions};
use super::figure2::job;
use super::job::{CLIENTS, LhRun};
use super::measures::deviation;
use super::simulate::LhResult;
use super::{Results, StudyOfLh};
use crate::render::chart;
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Measure, legend};

/// The first inserts, which figure 3b has, too few for a mean in figure 3a. [inserts]
const FIRST: usize = 20_000;
/// The number of consecutive inserts over which the time of one is averaged.
const WINDOW: usize = 1_000;
/// There are enough servers when an insert takes at most this much longer than the mean of the second half of the
/// build. [%]
const SETTLED: f64 = 20.0;
/// The number of clients that needs the most servers.
const MOST_CLIENTS: u32 = CLIENTS[CLIENTS.len() - 1];

/// The study.
pub const STUDY: StudyOfLh = StudyOfLh {
    place: "figure 3",
    title: "the mean time of an insert",
    claims: &["lh.fig3a.latency", "lh.fig3b.eight_thousand"],
    jobs: || CLIENTS.map(job).to_vec(),
    judge,
    draw,
};

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    match claim.id.as_str() {
        "lh.fig3a.latency" => latency(claim, runs),
        _ => enough(runs),
    }
}

fn latency(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let worst = runs.get(&job(1))?.means().map(|(_, mean)| mean).fold(0.0, f64::max);
    let error_percent = json!(deviation(worst, claim.printed("worst_mean_ms")?));
    Ok(Findings::numbers(json!((worst * 1e3).round() / 1e3), error_percent).with_number("worst_mean_ms", worst))
}

/// The number of inserts after which one takes about as long as it does later.
fn settled(measured: &LhResult) -> usize {
    let windows = measured.parts(WINDOW);
    let later = windows.get(windows.len() / 2..).unwrap_or_default();
    let most = later.iter().sum::<f64>() / later.len().max(1) as f64 * (1.0 + SETTLED / 100.0);
    (windows.iter().take_while(|time| **time > most).count() + 1) * WINDOW
}

fn enough(runs: &Results) -> Result<Findings, MissingAnswer> {
    let settled = settled(runs.get(&job(MOST_CLIENTS))?);
    Ok(Findings::words(format!("after {settled} insertions")).with_number("inserts", settled as f64))
}

/// The mean time of an insert at the splits and at the end: insertions in thousands, and milliseconds.
fn at_splits(runs: &Results, job: LhRun) -> Result<Vec<(f64, f64)>, MissingAnswer> {
    let LhResult { inserts, time, splits, .. } = runs.get(&job)?;
    let splits = splits.iter().filter(|split| split.inserts < *inserts);
    let moments = splits.map(|split| (split.inserts, split.at.seconds())).chain([(*inserts, time.seconds())]);
    Ok(moments.map(|(inserts, at)| (inserts as f64 / 1e3, at * 1e3 / inserts as f64)).collect())
}

/// The same for every thousandth of the first.
fn at_first(runs: &Results, job: LhRun) -> Result<Vec<(f64, f64)>, MissingAnswer> {
    let means = runs.get(&job)?.means();
    let some = means.take_while(|(inserts, _)| *inserts <= FIRST).filter(|(inserts, _)| inserts.is_multiple_of(WINDOW));
    Ok(some.map(|(inserts, mean)| (inserts as f64 / 1e3, mean)).collect())
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let time = || Axis::linear("time of an insert [ms]", Measure::Plain).reaching(0.0);
    let whole = by_clients(&CLIENTS, |clients| at_splits(runs, job(clients)))?;
    let first = by_clients(&CLIENTS, |clients| at_first(runs, job(clients)))?;
    Ok(Some(Drawing {
        legend: Some(legend(&client_keys(&CLIENTS))),
        panels: vec![
            chart("a: the whole build", insertions(), time(), whole),
            chart("b: the first inserts", insertions(), time(), first),
        ],
        caption: "The build time so far by the inserts so far, on 16 nodes without bodies, with the hash of the last letters. a: at the \
                  splits of servers and at the end. b: after every thousand inserts. Servers and clients do not compute: what remains is two messages of \
                  325 us."
            .to_string(),
    }))
}
