//! Section 2: a message from one node to another.

use serde_json::json;

use super::charts::sizes;
use super::job::BcastRun;
use super::measures::{deviation, one_way, one_way_within};
use super::{Results, StudyOfBroadcast};
use crate::render::{ChartLine, chart};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Mark, Measure, compact};

/// The shortest message. [B]
const SHORT: u32 = 8;
/// The sizes. The peak is the best of them. [B]
const SIZES: [u32; 9] = [SHORT, 64, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20];

/// The study.
pub const STUDY: StudyOfBroadcast = StudyOfBroadcast {
    place: "section 2",
    title: "a message from node to node",
    claims: &["bcast.sec2.p2p", "bcast.sec2.intranode"],
    jobs,
    judge: |claim, runs| if claim.id == "bcast.sec2.p2p" { judge(claim, runs) } else { judge_within(claim, runs) },
    draw,
};

/// The sizes within a node: the peak is to be that of the one in the middle. [B]
const WITHIN: [u32; 7] = [SHORT, 500, 1_000, 2_000, PEAK_AT, 8_000, 16_000];
/// The size with the printed peak within a node. [B]
const PEAK_AT: u32 = 4_000;

fn jobs() -> Vec<BcastRun> {
    let within = WITHIN.map(|bytes| BcastRun::Within { bytes });
    SIZES.map(|bytes| BcastRun::PingPong { bytes }).into_iter().chain(within).collect()
}

fn judge_within(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let latency = one_way_within(runs, SHORT)?;
    let rate = |bytes| Ok(f64::from(bytes) / one_way_within(runs, bytes)?);
    let peak = rate(PEAK_AT)?;
    let others = WITHIN.into_iter().filter(|bytes| *bytes != PEAK_AT);
    let others = others.map(|bytes| Ok((format!("{bytes} B"), rate(bytes)? / peak)));
    let others = others.collect::<Result<Vec<_>, MissingAnswer>>()?;
    let errors = json!({
        "latency_us": deviation(latency, claim.printed("latency_us")?),
        "bandwidth_MBps": deviation(peak, claim.printed("bandwidth_MBps")?),
    });
    Ok(Findings::numbers(json!({"latency_us": latency, "bandwidth_MBps": peak}), errors)
        .with_number("latency_us", latency)
        .with_number("bandwidth_MBps", peak)
        .with("over_peak", others))
}

/// The bandwidth. [MB/s]
fn bandwidth(runs: &Results, bytes: u32) -> Result<f64, MissingAnswer> {
    Ok(f64::from(bytes) / one_way(runs, bytes)?)
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let latency = one_way(runs, SHORT)?;
    let mut peak: f64 = 0.0;
    for bytes in SIZES {
        peak = peak.max(bandwidth(runs, bytes)?);
    }
    let errors = json!({
        "latency_us": deviation(latency, claim.printed("latency_us")?),
        "bandwidth_MBps": deviation(peak, claim.printed("bandwidth_MBps")?),
    });
    Ok(Findings::numbers(json!({"latency_us": latency, "bandwidth_MBps": peak}), errors)
        .with_number("latency_us", latency)
        .with_number("bandwidth_MBps", peak))
}

fn draw(claims: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let claim = claims.get("bcast.sec2.p2p")?;
    let (latency, bandwidth_printed) = (claim.printed("latency_us")?, claim.printed("bandwidth_MBps")?);
    let line = |of: &dyn Fn(&Results, u32) -> Result<f64, MissingAnswer>| -> Result<ChartLine, MissingAnswer> {
        let point = |bytes| Ok((f64::from(bytes), of(runs, bytes)?));
        Ok((
            "ours".to_string(),
            Mark::full(0),
            SIZES.into_iter().map(point).collect::<Result<Vec<_>, MissingAnswer>>()?,
        ))
    };
    let printed = |points: &[(u32, f64)]| {
        let points = points.iter().map(|(bytes, value)| (f64::from(*bytes), *value)).collect();
        ("printed".to_string(), Mark::broken(1), points)
    };
    let ticks: Vec<u32> = SIZES.into_iter().step_by(4).collect();
    let times = Axis::logarithmic("one way [us]", Measure::Microseconds);
    let rates = Axis::linear("bandwidth [MB/s]", Measure::Plain).reaching(0.0);
    let peak = [(SIZES[0], bandwidth_printed), (SIZES[SIZES.len() - 1], bandwidth_printed)];
    let panels = vec![
        chart("time", sizes(&ticks), times, vec![line(&one_way)?, printed(&[(SHORT, latency)])]),
        chart("bandwidth", sizes(&ticks), rates, vec![line(&bandwidth)?, printed(&peak)]),
    ];
    let printed_key =
        format!("printed: {} us for 8 B, a peak of {} MB/s", compact(latency), compact(bandwidth_printed));
    Ok(Some(Drawing {
        legend: Some(report::legend(&[
            ("ours".to_string(), Mark::full(0)),
            (printed_key, Mark::broken(1)),
        ])),
        panels,
        caption: "Half of a ping-pong between two nodes of dp-smp-8, over the size of the message. Longer ones than 860 B are \
                  pulled."
            .to_string(),
    }))
}
