//! Section 4.2: how long packets are blocked.

use serde_json::{Map, Value, json};

use super::charts::{load_mark, size_axis};
use super::job::{LOADS, Load, MocRun, Platform, SIZES};
use super::measures::{blocking, over_sizes};
use super::{Results, StudyOfMoc};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, LineChart, Measure, Series, legend};

/// The message size of the printed numbers. [B]
const BYTES: u32 = 2048;
/// The benchmarks, and the names of their times. [us]
const BENCHMARKS: [(Load, &str); 3] =
    [(LOADS[0], "all_to_all"), (Load::EqualDist, "equal_dist"), (Load::UnequalDist, "unequal_dist")];

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "section 4.2",
    title: "mean effective blocking of a packet",
    claims: &["moc.sec4.blocking"],
    jobs,
    judge,
    draw,
};

fn job(load: Load, bytes: u32) -> MocRun {
    MocRun::new(Platform::Basic, load, bytes)
}

fn jobs() -> Vec<MocRun> {
    LOADS.into_iter().flat_map(|load| SIZES.map(|bytes| job(load, bytes))).collect()
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut ours, mut errors, mut found) = (Map::new(), Map::new(), Vec::new());
    for (load, name) in BENCHMARKS {
        let blocked = blocking(runs, job(load, BYTES))?;
        ours.insert(name.to_string(), json!(blocked));
        errors.insert(name.to_string(), json!((blocked / claim.printed(name)? - 1.0) * 100.0));
        found.push((name, blocked));
    }
    let findings = Findings::numbers(Value::Object(ours), Value::Object(errors));
    Ok(found.into_iter().fold(findings, |findings, (name, blocked)| findings.with_number(name, blocked)))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut series = Vec::new();
    for load in LOADS {
        let points = over_sizes(|bytes| blocking(runs, job(load, bytes)))?;
        series.push(Series { name: load.name().to_string(), mark: load_mark(load), points });
    }
    let y = Axis::linear("mean effective blocking [us]", Measure::Microseconds).reaching(0.0);
    let chart = LineChart { title: "MoC(3,2), 64 nodes".to_string(), x: size_axis(), y, series, baseline: None }.draw();
    let keys: Vec<_> = LOADS.iter().map(|load| (load.name().to_string(), load_mark(*load))).collect();
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels: vec![chart],
        caption:
            "How long the header of a packet was blocked at routers while it was at the front of its buffer, summed \
                  over its path, the mean over all packets; Mesh of Clos(3,2), 64 nodes, one flit buffer. The paper \
                  prints the three values at 2048 B and has no such figure."
                .to_string(),
    }))
}
