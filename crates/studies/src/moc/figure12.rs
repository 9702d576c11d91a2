//! Figure 12: Mesh of Clos(3,1) against Mesh of Clos(3,2).

use serde_json::{Value, json};

use super::charts::{load_mark, size_axis};
use super::job::{Job, LOADS, Load, Platform, SIZES};
use super::measures::{gain, over_sizes};
use super::{Results, StudyOfMoc};
use crate::{Drawing, Gap, Judgement, check};
use report::{Axis, LineChart, Measure, Series, fixed, legend};

/// What the paper prints, and how far ours may lie from it: benchmark, published, least, most. [%]
const PUBLISHED: [(Load, f64, f64, f64); 2] =
    [(Load::UnequalDist, 60.0, 45.0, 75.0), (Load::EqualDist, 40.0, 30.0, 50.0)];
/// "Little improvement" of all-to-all: less than this. [%]
const LITTLE: f64 = 15.0;
/// The large gains begin at this size. [B]
const LARGE_FROM: u32 = 512;

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 12",
    title: "Mesh of Clos(3,1) against Mesh of Clos(3,2)",
    claims: &["moc.fig12.speedup"],
    jobs,
    judge,
    draw,
};

fn jobs() -> Vec<Job> {
    let of = |load| {
        SIZES.map(|bytes| [Platform::Basic, Platform::Clustered].map(|platform| Job::new(platform, load, bytes)))
    };
    LOADS.into_iter().flat_map(of).flatten().collect()
}

/// How much faster the clustered network is. [%]
fn gain_of(runs: &Results, load: Load, bytes: u32) -> Result<f64, Gap> {
    gain(runs, Job::new(Platform::Clustered, load, bytes), Job::new(Platform::Basic, load, bytes))
}

/// The largest gain over message sizes, and at which. [%], [B]
fn largest(runs: &Results, load: Load) -> Result<(f64, u32), Gap> {
    let mut largest = (f64::NEG_INFINITY, 0);
    for bytes in SIZES {
        let gain = gain_of(runs, load, bytes)?;
        if gain > largest.0 {
            largest = (gain, bytes);
        }
    }
    Ok(largest)
}

fn judge(_claim: &str, runs: &Results) -> Result<Judgement, Gap> {
    let (mut ours, mut errors, mut checks) = (serde_json::Map::new(), serde_json::Map::new(), Vec::new());
    for (load, published, least, most) in PUBLISHED {
        let (gain, bytes) = largest(runs, load)?;
        let says = format!("{}: largest gain {} % at {bytes} B, from {least} to {most} %", load.name(), fixed(gain, 1));
        checks.push(check((least..=most).contains(&gain), says));
        let says = format!("{}: the largest gain is at {bytes} B, at least {LARGE_FROM}", load.name());
        checks.push(check(bytes >= LARGE_FROM, says));
        ours.insert(load.key(), json!(gain));
        errors.insert(load.key(), json!((gain / published - 1.0) * 100.0));
    }
    let (gain, bytes) = largest(runs, LOADS[0])?;
    checks.push(check(
        gain < LITTLE,
        format!("all-to-all: largest gain {} % at {bytes} B, under {LITTLE} %", fixed(gain, 1)),
    ));
    ours.insert(LOADS[0].key(), json!(gain));
    Ok(Judgement { ours: Value::Object(ours), error_percent: Value::Object(errors), checks })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
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
