//! Sections 3.2 and 3.3: delayed receives against delayed sends, where lambda is not an integer.

use serde_json::json;

use super::job::{DelayedOperation, PostalRun};
use super::{Results, StudyOfPostal};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, LineChart, Mark, Measure, Series, legend};

/// The number of nodes: enough for the asymptotic growth to show.
const NODES: u32 = 1024;
/// The lambdas, in tenths.
const TENTHS: std::ops::RangeInclusive<u32> = 11..=18;
/// The last of them for which delayed sends must be the faster.
const SENDS_UP_TO: u32 = 14;
/// The next one, for which they may be equal: both take an integral number of rounds.
const NEXT: u32 = 15;

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "section 3.3",
    title: "delayed sends against delayed receives",
    claims: &["postal.sec3.delay"],
    jobs: || {
        TENTHS
            .flat_map(|tenths| {
                [DelayedOperation::Sends, DelayedOperation::Receives].map(|delayed| job(tenths, delayed))
            })
            .collect()
    },
    judge: |_, runs| judge(runs),
    draw,
};

fn job(tenths: u32, delayed: DelayedOperation) -> PostalRun {
    PostalRun::Combine { tenths, nodes: NODES, delayed }
}

/// The time of a combine. [t0]
fn time(runs: &Results, tenths: u32, delayed: DelayedOperation) -> Result<f64, MissingAnswer> {
    Ok(runs.get(&job(tenths, delayed))?.time.microseconds())
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut below, mut between, mut above) = (Vec::new(), Vec::new(), Vec::new());
    for tenths in TENTHS {
        let of_receives =
            time(runs, tenths, DelayedOperation::Sends)? / time(runs, tenths, DelayedOperation::Receives)?;
        let place = format!("lambda 1.{}", tenths - 10);
        match tenths {
            ..=SENDS_UP_TO => below.push((place, of_receives)),
            NEXT => between.push((place, of_receives)),
            _ => above.push((place, of_receives)),
        }
    }
    Ok(Findings::counted(|holding, of| json!({"as_stated": holding, "of": of}))
        .with("sends_over_receives_below", below)
        .with("sends_over_receives_between", between)
        .with("sends_over_receives_above", above))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let (mut series, mut keys) = (Vec::new(), Vec::new());
    for (name, delayed, style) in
        [("delayed sends", DelayedOperation::Sends, 0), ("delayed receives", DelayedOperation::Receives, 1)]
    {
        let points = TENTHS.map(|tenths| Ok((f64::from(tenths) / 10.0, time(runs, tenths, delayed)?)));
        series.push(Series {
            name: name.to_string(),
            mark: Mark::full(style),
            points: points.collect::<Result<_, _>>()?,
        });
        keys.push((name.to_string(), Mark::full(style)));
    }
    let (x, y) = (Axis::linear("lambda", Measure::Plain), Axis::linear("time [t0]", Measure::Plain));
    let chart = LineChart { title: "1024 nodes".to_string(), x, y, series, baseline: None }.draw();
    let caption = "Time of a global combine in the postal model: delayed sends are the faster below 1.44.";
    Ok(Some(Drawing { legend: Some(legend(&keys)), panels: vec![chart], caption: caption.to_string() }))
}
