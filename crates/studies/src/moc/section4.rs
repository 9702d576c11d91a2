//! Section 4.2: how long packets are blocked.

use serde_json::{Value, json};

use super::charts::{load_mark, size_axis};
use super::job::{Job, LOADS, Load, Platform, SIZES};
use super::measures::{blocking, over_sizes};
use super::{Results, StudyOfMoc};
use crate::{Check, Drawing, Gap, Judgement, check};
use report::{Axis, LineChart, Measure, Series, fixed, legend};

/// The message size of the printed numbers. [B]
const BYTES: u32 = 2048;
/// What the paper prints. [us]
const PUBLISHED: [(Load, f64); 3] = [(LOADS[0], 2.0), (Load::EqualDist, 44.0), (Load::UnequalDist, 61.0)];
/// How far from it a number may lie. [%]
const WITHIN: f64 = 25.0;

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "section 4.2",
    title: "mean effective blocking of a packet",
    claims: &["moc.sec4.blocking"],
    jobs,
    judge,
    draw,
};

fn job(load: Load, bytes: u32) -> Job {
    Job::new(Platform::Basic, load, bytes)
}

fn jobs() -> Vec<Job> {
    LOADS.into_iter().flat_map(|load| SIZES.map(|bytes| job(load, bytes))).collect()
}

fn judge(_claim: &str, runs: &Results) -> Result<Judgement, Gap> {
    let (mut ours, mut errors, mut checks) = (serde_json::Map::new(), serde_json::Map::new(), Vec::new());
    for (load, published) in PUBLISHED {
        let blocked = blocking(runs, job(load, BYTES))?;
        let (error, check) = compare(load.name(), blocked, published);
        checks.push(check);
        ours.insert(load.key(), json!(blocked));
        errors.insert(load.key(), json!(error));
    }
    Ok(Judgement { ours: Value::Object(ours), error_percent: Value::Object(errors), checks })
}

/// How far a blocking is from the published one [%], and whether that is near enough: a measured time of nothing at all is not near two
/// microseconds, although both are little beside the others.
fn compare(name: &str, blocked: f64, published: f64) -> (f64, Check) {
    let error = (blocked / published - 1.0) * 100.0;
    let says = format!("{name}: {} \u{b5}s, within {WITHIN} % of {published}", fixed(blocked, 1));
    (error, check(error.abs() <= WITHIN, says))
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let mut series = Vec::new();
    for load in LOADS {
        let points = over_sizes(|bytes| blocking(runs, job(load, bytes)))?;
        series.push(Series { name: load.name().to_string(), mark: load_mark(load), points });
    }
    let y = Axis::linear("mean effective blocking [\u{b5}s]", Measure::Microseconds).reaching(0.0);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_to_nothing_is_not_as_good_as_two() {
        let holds = |blocked| compare("all-to-all", blocked, 2.0).1.holds;
        assert_eq!(
            [0.0, 0.04, 1.4, 1.5, 2.0, 2.5, 2.6, 5.9].map(holds),
            [false, false, false, true, true, true, false, false]
        );
    }
}
