//! Figure 5: ping-pong over distance.

use super::charts::size_axis;
use super::job::{Job, Load, Platform, SIZES};
use super::measures::{over_sizes, seconds};
use super::{Results, StudyOfMoc};
use crate::{Drawing, Gap, Judgement, check};
use report::{Axis, Element, LineChart, Mark, Measure, Series, fixed, legend};

/// The distances that the figure draws. [channels]
const HOPS: [u32; 7] = [2, 3, 4, 5, 6, 7, 8];
/// "A few extra microseconds" from the nearest to the farthest node. [us]
const FEW_EXTRA: f64 = 10.0;
/// "Highly distance dependent": how much longer the farthest takes than the nearest, at least.
const STRONG_FACTOR: f64 = 2.0;

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 5",
    title: "message latency over size and distance",
    claims: &["moc.fig5.distance", "moc.fig5.gcel"],
    jobs,
    judge,
    draw,
};

fn job(platform: Platform, hops: u32, bytes: u32) -> Job {
    Job::new(platform, Load::PingPong { hops }, bytes)
}

fn jobs() -> Vec<Job> {
    let platforms = [Platform::Basic, Platform::Gcel];
    let of = |platform| HOPS.into_iter().flat_map(move |hops| SIZES.map(|bytes| job(platform, hops, bytes)));
    platforms.into_iter().flat_map(of).collect()
}

/// Half the time there and back. [us]
fn latency(runs: &Results, platform: Platform, hops: u32, bytes: u32) -> Result<f64, Gap> {
    Ok(seconds(runs, job(platform, hops, bytes))? / 2.0 * 1e6)
}

fn judge(claim: &str, runs: &Results) -> Result<Judgement, Gap> {
    let ends = |platform, bytes| Ok((latency(runs, platform, 2, bytes)?, latency(runs, platform, 8, bytes)?));
    let mut checks = Vec::new();
    let mut found: Vec<f64> = Vec::new();
    for bytes in SIZES {
        if claim == "moc.fig5.distance" {
            let (near, far) = ends(Platform::Basic, bytes)?;
            let says = format!(
                "{bytes} B: {} \u{b5}s more over eight hops than two, at most {FEW_EXTRA}",
                fixed(far - near, 2)
            );
            checks.push(check(near > 0.0 && far - near <= FEW_EXTRA, says));
            found.push(far - near);
        } else {
            let (near, far) = ends(Platform::Gcel, bytes)?;
            let says = format!(
                "{bytes} B: {} times as long over eight hops as two, at least {STRONG_FACTOR}",
                fixed(far / near, 2)
            );
            checks.push(check(far / near >= STRONG_FACTOR, says));
            found.push(far / near);
        }
    }
    let (least, most) =
        (found.iter().copied().fold(f64::INFINITY, f64::min), found.iter().copied().fold(0.0, f64::max));
    let (least, most) = (fixed(least, 2), fixed(most, 2));
    Ok(Judgement::in_words(
        if claim == "moc.fig5.distance" {
            format!("from two to eight hops {least} to {most} \u{b5}s more, by message size")
        } else {
            format!("from two to eight hops {least} to {most} times as long, by message size")
        },
        checks,
    ))
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let mut panels: Vec<Element> = Vec::new();
    for (platform, name) in [(Platform::Basic, "Mesh of Clos(3,2)"), (Platform::Gcel, "GCel")] {
        let mut series = Vec::new();
        for (index, hops) in HOPS.into_iter().enumerate() {
            let points = over_sizes(|bytes| latency(runs, platform, hops, bytes))?;
            series.push(Series { name: format!("{hops} hops"), mark: Mark::full(index), points });
        }
        let y = Axis::linear("message latency [\u{b5}s]", Measure::Microseconds).reaching(0.0);
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
