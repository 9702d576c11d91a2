//! Figure 7: all-to-all and equal-dist on a linear scale.

use super::charts::load_mark;
use super::job::{LOADS, Load, MocRun, NODES, Platform, SIZES};
use super::measures::{over_sizes, seconds};
use super::{Results, StudyOfMoc};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, LineChart, Measure, Series, fixed, legend};

/// The benchmark that the others are compared with.
const ALL_TO_ALL: Load = LOADS[0];

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 7",
    title: "how steeply time rises with the message size",
    claims: &["moc.fig7.slope"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn job(load: Load, nodes: u32, bytes: u32) -> MocRun {
    MocRun::new(Platform::Basic, load, bytes).on(nodes)
}

fn jobs() -> Vec<MocRun> {
    let of = |load| NODES.into_iter().flat_map(move |nodes| SIZES.map(|bytes| job(load, nodes, bytes)));
    [ALL_TO_ALL, Load::EqualDist, Load::UnequalDist].into_iter().flat_map(of).collect()
}

/// The times of the smallest messages and of the largest. [ms]
fn ends(runs: &Results, load: Load, nodes: u32) -> Result<(f64, f64), MissingAnswer> {
    let time = |bytes| Ok(seconds(runs, job(load, nodes, bytes))? * 1e3);
    Ok((time(SIZES[0])?, time(SIZES[SIZES.len() - 1])?))
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut rises, mut grows, mut unequal_grows, mut found) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for nodes in NODES {
        let [all, equal, unequal] =
            [ALL_TO_ALL, Load::EqualDist, Load::UnequalDist].map(|load| ends(runs, load, nodes));
        let (all, equal, unequal) = (all?, equal?, unequal?);
        let growth = |(smallest, largest): (f64, f64)| largest / smallest;
        // For each message that a node sends.
        let rise = |(smallest, largest): (f64, f64), load| (largest - smallest) / job(load, nodes, 0).messages() as f64;
        let place = || format!("{nodes} nodes");
        rises.push((place(), rise(equal, Load::EqualDist) / rise(all, ALL_TO_ALL)));
        grows.push((place(), growth(equal) / growth(all)));
        unequal_grows.push((place(), growth(unequal) / growth(all)));
        found.push(format!("{nodes} nodes {} against {}", fixed(growth(equal), 2), fixed(growth(all), 2)));
    }
    let ours = format!("time at 2048 B over that at 32 B, equal-dist against all-to-all: {}", found.join(", "));
    Ok(Findings::words(ours)
        .with("rise_over_all_to_all", rises)
        .with("growth_over_all_to_all", grows)
        .with("unequal_growth_over_all_to_all", unequal_grows))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let loads = [ALL_TO_ALL, Load::EqualDist];
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
        caption: "Time over the message size on linear axes. The paper draws 4 nodes and says the same of 16 and 64. On 4 \
                  nodes equal-dist has 1024 messages for each node and all-to-all 96; on 16 nodes it is 256 and 480, on \
                  64 nodes 64 and 2016. So rises are compared for each message, and growths relative to the smallest \
                  messages."
            .to_string(),
    }))
}
