//! Figure 7: all-to-all and equal-dist on a linear scale.

use super::charts::load_mark;
use super::job::{Job, LOADS, Load, NODES, Platform, SIZES};
use super::measures::{over_sizes, seconds};
use super::{Results, StudyOfMoc};
use crate::report::{Axis, LineChart, Measure, Series, fixed, legend};
use crate::reproduce::{Drawing, Gap, Judgement, check};

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 7",
    title: "how steeply time rises with the message size",
    claims: &["moc.fig7.slope"],
    jobs,
    judge,
    draw,
};

fn job(load: Load, nodes: u32, bytes: u32) -> Job {
    Job::new(Platform::Basic, load, bytes).on(nodes)
}

fn jobs() -> Vec<Job> {
    let of = |load| NODES.into_iter().flat_map(move |nodes| SIZES.map(|bytes| job(load, nodes, bytes)));
    [LOADS[0], Load::EqualDist].into_iter().flat_map(of).collect()
}

/// How much longer the benchmark takes for each further byte of a message, between the smallest size and the largest,
/// for each message that a node sends: the two benchmarks send very different numbers of them. [ns/B]
fn slope(runs: &Results, load: Load, nodes: u32) -> Result<f64, Gap> {
    let (small, large) = (SIZES[0], SIZES[SIZES.len() - 1]);
    let rise = seconds(runs, job(load, nodes, large))? - seconds(runs, job(load, nodes, small))?;
    let messages = job(load, nodes, large).messages() as f64 / f64::from(nodes);
    Ok(rise * 1e9 / f64::from(large - small) / messages)
}

fn judge(_claim: &str, runs: &Results) -> Result<Judgement, Gap> {
    let mut checks = Vec::new();
    let mut found = Vec::new();
    for nodes in NODES {
        let (all, equal) = (slope(runs, LOADS[0], nodes)?, slope(runs, Load::EqualDist, nodes)?);
        let says = format!(
            "{nodes} nodes: {} ns a byte for each message of equal-dist > {} of all-to-all",
            fixed(equal, 1),
            fixed(all, 1)
        );
        checks.push(check(equal > all, says));
        found.push(format!("{nodes} nodes {}", fixed(equal / all, 2)));
    }
    Ok(Judgement::in_words(format!("slope of equal-dist over that of all-to-all: {}", found.join(", ")), checks))
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let loads = [LOADS[0], Load::EqualDist];
    let mut panels = Vec::new();
    for nodes in NODES {
        let mut series = Vec::new();
        for load in loads {
            let points = over_sizes(|bytes| seconds(runs, job(load, nodes, bytes)).map(|time| time * 1e3))?;
            series.push(Series { name: load.name().to_string(), mark: load_mark(load), points });
        }
        let x = Axis::linear("message size [B]", Measure::Bytes).at(&[0.0, 512.0, 1024.0, 1536.0, 2048.0]);
        let y = Axis::linear("time [ms]", Measure::Plain).reaching(0.0);
        panels.push(LineChart { title: format!("{nodes} nodes"), x, y, series, baseline: None }.draw());
    }
    let keys: Vec<_> = loads.iter().map(|load| (load.name().to_string(), load_mark(*load))).collect();
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels,
        caption: "Time over the message size on linear axes. The paper draws 4 nodes and says the same of 16 and 64. \
                  Per node, equal-dist has 1024, 256 and 64 messages on 4, 16 and 64 nodes, all-to-all 96, 480 and \
                  2016: slopes are therefore compared per message."
            .to_string(),
    }))
}
