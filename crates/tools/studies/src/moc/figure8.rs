//! Figure 8: the effect of more flit buffers on the Mesh of Clos(3,2).

use super::charts::{buffer_keys, by_buffers, gain_axis};
use super::job::{LOADS, Load, MANY_BUFFERS, MocRun, PAIRS, Platform, SIZES};
use super::measures::gain;
use super::{Results, StudyOfMoc};
use crate::{Claim, Drawing, Findings, MissingAnswer};
use report::{legend, signed_percent};

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 8",
    title: "speed-up by more flit buffers on 64 nodes",
    claims: &["moc.fig8.all_to_all", "moc.fig8.pairs"],
    jobs: || jobs_on(Platform::Basic),
    judge,
    draw: |_, runs| draw_on(runs, Platform::Basic, "Mesh of Clos(3,2)").map(Some),
};

/// The three benchmarks with every number of buffers and every size on `platform`.
pub fn jobs_on(platform: Platform) -> Vec<MocRun> {
    let sized = |load| SIZES.into_iter().map(move |bytes| MocRun::new(platform, load, bytes));
    let buffered = |job: MocRun| [1].into_iter().chain(MANY_BUFFERS).map(move |buffers| job.with_buffers(buffers));
    LOADS.into_iter().flat_map(sized).flat_map(buffered).collect()
}

/// How much faster `load` is with `buffers` than with one. [%]
pub fn gain_of(runs: &Results, platform: Platform, load: Load, buffers: u32, bytes: u32) -> Result<f64, MissingAnswer> {
    let base = MocRun::new(platform, load, bytes);
    gain(runs, base.with_buffers(buffers), base)
}

/// Every gain of `load` on `platform`, with its bytes and buffers: size by size, for each from few buffers to many.
pub fn gains_of(runs: &Results, platform: Platform, load: Load) -> Result<Vec<(u32, u32, f64)>, MissingAnswer> {
    let cases = SIZES.into_iter().flat_map(|bytes| MANY_BUFFERS.map(|buffers| (bytes, buffers)));
    cases.map(|(bytes, buffers)| Ok((bytes, buffers, gain_of(runs, platform, load, buffers, bytes)?))).collect()
}

/// The least and the greatest of some gains, with their places.
pub fn extremes(gains: &[(u32, u32, f64)]) -> (Extreme, Extreme) {
    let mut sorted: Vec<Extreme> = gains.to_vec();
    sorted.sort_by(|one, other| one.2.total_cmp(&other.2));
    (sorted.first().copied().unwrap_or_default(), sorted.last().copied().unwrap_or_default())
}

/// A gain with its bytes and buffers.
type Extreme = (u32, u32, f64);

/// A gain with its place, in words.
pub fn describe((bytes, buffers, gain): Extreme) -> String {
    format!("{} at {bytes} B with {buffers} buffers", signed_percent(gain))
}

/// The least gain over the numbers of buffers, for every message size. [%]
pub fn least_by_size(gains: &[Extreme]) -> Vec<(String, f64)> {
    let of_size = |bytes: u32| {
        let of_it: Vec<Extreme> = gains.iter().copied().filter(|gain| gain.0 == bytes).collect();
        let (least, _) = extremes(&of_it);
        (format!("{bytes} B, {} buffers", least.1), least.2)
    };
    SIZES.into_iter().map(of_size).collect()
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    if claim.id == "moc.fig8.all_to_all" {
        let gains = gains_of(runs, Platform::Basic, LOADS[0])?;
        let (least, most) = extremes(&gains);
        let ours = format!("from {} to {}", describe(least), describe(most));
        return Ok(Findings::words(ours).with("least_gain_percent", least_by_size(&gains)));
    }
    let (mut lowest, mut by_doubling, mut found, mut worst) = (Vec::new(), Vec::new(), Vec::new(), (0, 0, 0.0));
    for load in PAIRS {
        let gains = gains_of(runs, Platform::Basic, load)?;
        let (least, most) = extremes(&gains);
        found.push(format!("{} from {} to {}", load.name(), describe(least), describe(most)));
        lowest.push((load.name().to_string(), least.2));
        by_doubling.push((load.name().to_string(), worst_doubling(&gains)));
        if load == Load::UnequalDist {
            worst = least;
        }
    }
    Ok(Findings::words(found.join("; "))
        .with("least_gain_percent", lowest)
        .with("worst_doubling_points", by_doubling)
        .with_number("worst_bytes", worst.0.into())
        .with_number("worst_buffers", worst.1.into()))
}

/// The least that doubling the buffers adds to a gain: negative if it is a step back. [percentage points]
fn worst_doubling(gains: &[Extreme]) -> f64 {
    let same_size = gains.windows(2).filter(|two| two[0].0 == two[1].0);
    same_size.map(|two| two[1].2 - two[0].2).fold(f64::INFINITY, f64::min)
}

/// The figure for `platform`.
pub fn draw_on(runs: &Results, platform: Platform, network: &str) -> Result<Drawing, MissingAnswer> {
    let mut panels = Vec::new();
    for load in LOADS {
        let value = |buffers, bytes| gain_of(runs, platform, load, buffers, bytes);
        panels.push(by_buffers(load.name(), gain_axis(), Some(0.0), value)?);
    }
    Ok(Drawing {
        legend: Some(legend(&buffer_keys())),
        panels,
        caption: format!(
            "By how much each benchmark is faster with 2 to 64 flit buffers at every input of a router than with one, \
             over the message size; 64 nodes, {network}. Below zero it is slower. The upright axes differ, but have 5 % either way at least."
        ),
    })
}
