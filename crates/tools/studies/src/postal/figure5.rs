//! Figure 5: lambda with sends that do not block.

use serde_json::{Value, json};

use super::charts::size_axis;
use super::job::{Experiment, PostalRun, SIZES};
use super::measures::{latency, latency_jobs};
use super::{Results, StudyOfPostal};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, LineChart, Mark, Measure, Series, legend};

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 5",
    title: "sends that do not block",
    claims: &["postal.fig5.nonblocking"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn jobs() -> Vec<PostalRun> {
    let of = |bytes| [true, false].map(|blocking| latency_jobs(Experiment::One, blocking, bytes));
    SIZES.into_iter().flat_map(of).flatten().collect()
}

fn lambda(runs: &Results, blocking: bool, bytes: u32) -> Result<f64, MissingAnswer> {
    Ok(latency(runs, Experiment::One, blocking, bytes)?.lambda)
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut over_blocking, mut greatest) = (Vec::new(), 0.0_f64);
    for bytes in SIZES {
        let (with, without) = (lambda(runs, true, bytes)?, lambda(runs, false, bytes)?);
        over_blocking.push((format!("{bytes} B"), without / with));
        greatest = greatest.max(without);
    }
    Ok(Findings::numbers(json!({ "greatest_lambda": greatest }), Value::Null).with("over_blocking", over_blocking))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut series = Vec::new();
    let mut keys = Vec::new();
    for (name, blocking, style) in [("csend, blocking", true, 0), ("isend, not blocking", false, 4)] {
        let points = SIZES
            .into_iter()
            .map(|bytes| Ok((f64::from(bytes), lambda(runs, blocking, bytes)?)))
            .collect::<Result<_, _>>()?;
        series.push(Series { name: name.to_string(), mark: Mark::full(style), points });
        keys.push((name.to_string(), Mark::full(style)));
    }
    let y = Axis::linear("lambda", Measure::Plain).reaching(1.0);
    let chart = LineChart { title: "lambda".to_string(), x: size_axis(), y, series, baseline: Some(1.0) }.draw();
    let caption = "lambda by the first experiment, with sends that return when the message is copied out, and at once.";
    Ok(Some(Drawing { legend: Some(legend(&keys)), panels: vec![chart], caption: caption.to_string() }))
}
