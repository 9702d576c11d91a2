//! Figure 12: Mesh of Clos(3,1) against Mesh of Clos(3,2).

use serde_json::{Map, Value, json};

use super::charts::{load_mark, size_axis};
use super::job::{LOADS, Load, MocRun, Platform, SIZES};
use super::measures::{gain, over_sizes};
use super::{Results, StudyOfMoc};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, LineChart, Measure, Series, legend};

/// The benchmarks, and the names of their largest gains. [%]
const BENCHMARKS: [(Load, &str); 3] =
    [(Load::UnequalDist, "unequal_dist"), (Load::EqualDist, "equal_dist"), (LOADS[0], "all_to_all")];

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 12",
    title: "Mesh of Clos(3,1) against Mesh of Clos(3,2)",
    claims: &["moc.fig12.speedup"],
    jobs,
    judge,
    draw,
};

fn jobs() -> Vec<MocRun> {
    let of = |load| {
        SIZES.map(|bytes| [Platform::Basic, Platform::Clustered].map(|platform| MocRun::new(platform, load, bytes)))
    };
    LOADS.into_iter().flat_map(of).flatten().collect()
}

/// How much faster the clustered network is. [%]
fn gain_of(runs: &Results, load: Load, bytes: u32) -> Result<f64, MissingAnswer> {
    gain(runs, MocRun::new(Platform::Clustered, load, bytes), MocRun::new(Platform::Basic, load, bytes))
}

/// The largest gain over message sizes, and the size. [%], [B]
fn largest(runs: &Results, load: Load) -> Result<(f64, u32), MissingAnswer> {
    let mut largest = (f64::NEG_INFINITY, 0);
    for bytes in SIZES {
        let gain = gain_of(runs, load, bytes)?;
        if gain > largest.0 {
            largest = (gain, bytes);
        }
    }
    Ok(largest)
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut ours, mut errors) = (Map::new(), Map::new());
    let (mut found, mut places) = (Vec::new(), Vec::new());
    for (load, name) in BENCHMARKS {
        let (gain, bytes) = largest(runs, load)?;
        ours.insert(name.to_string(), json!(gain));
        found.push((name, gain));
        if let Ok(printed) = claim.printed(name) {
            errors.insert(name.to_string(), json!((gain / printed - 1.0) * 100.0));
            places.push((load.name().to_string(), f64::from(bytes)));
        }
    }
    let findings = Findings::numbers(Value::Object(ours), Value::Object(errors)).with("largest_at_bytes", places);
    Ok(found.into_iter().fold(findings, |findings, (name, gain)| findings.with_number(name, gain)))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut series = Vec::new();
    for load in LOADS {
        let points = over_sizes(|bytes| gain_of(runs, load, bytes))?;
        series.push(Series { name: load.name().to_string(), mark: load_mark(load), points });
    }
    let y = Axis::linear("speed-up against MoC(3,2) [%]", Measure::Percent);
    let title = "MoC(3,1) against MoC(3,2)".to_string();
    let chart = LineChart { title, x: size_axis(), y, series, baseline: Some(0.0) }.draw();
    let keys: Vec<_> = LOADS.iter().map(|load| (load.name().to_string(), load_mark(*load))).collect();
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels: vec![chart],
        caption:
            "By how much each benchmark is faster on the Mesh of Clos(3,1) than on the Mesh of Clos(3,2), over the \
                  message size; 64 nodes, one flit buffer, each node with its fixed mesh layer."
                .to_string(),
    }))
}
