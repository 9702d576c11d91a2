//! Figure 5: ping-pong over distance.

use super::charts::size_axis;
use super::job::{Load, MocRun, Platform, SIZES};
use super::measures::{over_sizes, seconds};
use super::{Results, StudyOfMoc};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Element, LineChart, Mark, Measure, Series, fixed, legend};

/// The distances that the figure draws. [channels]
const HOPS: [u32; 7] = [2, 3, 4, 5, 6, 7, 8];

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 5",
    title: "message latency over size and distance",
    claims: &["moc.fig5.distance", "moc.fig5.gcel"],
    jobs,
    judge,
    draw,
};

fn job(platform: Platform, hops: u32, bytes: u32) -> MocRun {
    MocRun::new(platform, Load::PingPong { hops }, bytes)
}

fn jobs() -> Vec<MocRun> {
    let platforms = [Platform::Basic, Platform::Gcel];
    let of = |platform| HOPS.into_iter().flat_map(move |hops| SIZES.map(|bytes| job(platform, hops, bytes)));
    platforms.into_iter().flat_map(of).collect()
}

/// Half the round-trip time. [us]
fn latency(runs: &Results, platform: Platform, hops: u32, bytes: u32) -> Result<f64, MissingAnswer> {
    Ok(seconds(runs, job(platform, hops, bytes))? / 2.0 * 1e6)
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let platform = if claim.id == "moc.fig5.distance" { Platform::Basic } else { Platform::Gcel };
    let (mut nearest, mut extra, mut as_long) = (Vec::new(), Vec::new(), Vec::new());
    for bytes in SIZES {
        let (near, far) = (latency(runs, platform, 2, bytes)?, latency(runs, platform, 8, bytes)?);
        nearest.push((format!("{bytes} B"), near));
        extra.push((format!("{bytes} B"), far - near));
        as_long.push((format!("{bytes} B"), far / near));
    }
    let ends = |found: &[(String, f64)]| {
        let numbers = || found.iter().map(|(_, number)| *number);
        [numbers().fold(f64::INFINITY, f64::min), numbers().fold(0.0, f64::max)].map(|end| fixed(end, 2)).join(" to ")
    };
    if platform == Platform::Basic {
        let ours = format!("from two to eight hops {} us more, by message size", ends(&extra));
        return Ok(Findings::words(ours).with("near_us", nearest).with("extra_us", extra));
    }
    let ours = format!("from two to eight hops {} times as long, by message size", ends(&as_long));
    Ok(Findings::words(ours).with("far_over_near", as_long))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut panels: Vec<Element> = Vec::new();
    for (platform, name) in [(Platform::Basic, "Mesh of Clos(3,2)"), (Platform::Gcel, "GCel")] {
        let mut series = Vec::new();
        for (index, hops) in HOPS.into_iter().enumerate() {
            let points = over_sizes(|bytes| latency(runs, platform, hops, bytes))?;
            series.push(Series { name: format!("{hops} hops"), mark: Mark::full(index), points });
        }
        let y = Axis::linear("message latency [us]", Measure::Microseconds).reaching(0.0);
        panels.push(LineChart { title: name.to_string(), x: size_axis(), y, series, baseline: None }.draw());
    }
    let keys: Vec<_> =
        HOPS.iter().enumerate().map(|(index, hops)| (format!("{hops} hops"), Mark::full(index))).collect();
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels,
        caption: "Half the time of a ping-pong between two nodes that are two to eight hops apart, over the message \
                  size. A hop of the Mesh of Clos is a channel, those of the two nodes included; one of the GCel is a \
                  link of its grid. The two charts have different upright axes."
            .to_string(),
    }))
}
