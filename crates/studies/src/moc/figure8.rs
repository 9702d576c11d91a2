//! Figure 8: what more flit buffers do on the Mesh of Clos(3,2).

use super::charts::{buffer_keys, by_buffers, gain_axis};
use super::job::{Job, LOADS, Load, MANY_BUFFERS, PAIRS, Platform, SIZES};
use super::measures::gain;
use super::{Results, StudyOfMoc};
use crate::{Check, Drawing, Gap, Judgement, check};
use report::{legend, signed_percent};

/// A configuration slows down when it is slower than one buffer by more than this. [%]
const SLOWER: f64 = 1.0;
/// Doubling the buffers is a step back when the speed-up falls by more than this. [percentage points]
const STEP_BACK: f64 = 1.0;
/// Where the paper finds the largest slow-down of unequal-dist: bytes, buffers.
const WORST: (u32, u32) = (128, 64);

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 8",
    title: "speed-up by more flit buffers on 64 nodes",
    claims: &["moc.fig8.all_to_all", "moc.fig8.pairs"],
    jobs: || jobs_on(Platform::Basic),
    judge,
    draw: |runs| draw_on(runs, Platform::Basic, "Mesh of Clos(3,2)").map(Some),
};

/// The three benchmarks with every number of buffers and every size on `platform`.
pub fn jobs_on(platform: Platform) -> Vec<Job> {
    let sized = |load| SIZES.into_iter().map(move |bytes| Job::new(platform, load, bytes));
    let buffered = |job: Job| [1].into_iter().chain(MANY_BUFFERS).map(move |buffers| job.with_buffers(buffers));
    LOADS.into_iter().flat_map(sized).flat_map(buffered).collect()
}

/// How much faster `load` is with `buffers` than with one. [%]
pub fn gain_of(runs: &Results, platform: Platform, load: Load, buffers: u32, bytes: u32) -> Result<f64, Gap> {
    let base = Job::new(platform, load, bytes);
    gain(runs, base.with_buffers(buffers), base)
}

/// Every gain of `load` on `platform`, with its bytes and buffers: the sizes in turn, the buffers of each from few to
/// many.
pub fn gains_of(runs: &Results, platform: Platform, load: Load) -> Result<Vec<(u32, u32, f64)>, Gap> {
    let cases = SIZES.into_iter().flat_map(|bytes| MANY_BUFFERS.map(|buffers| (bytes, buffers)));
    cases.map(|(bytes, buffers)| Ok((bytes, buffers, gain_of(runs, platform, load, buffers, bytes)?))).collect()
}

/// The least and the greatest of some gains, where they are.
pub fn extremes(gains: &[(u32, u32, f64)]) -> (Extreme, Extreme) {
    let mut sorted: Vec<Extreme> = gains.to_vec();
    sorted.sort_by(|one, other| one.2.total_cmp(&other.2));
    (sorted.first().copied().unwrap_or_default(), sorted.last().copied().unwrap_or_default())
}

/// A gain with its bytes and buffers.
type Extreme = (u32, u32, f64);

/// A gain with its place, in words.
pub fn say((bytes, buffers, gain): Extreme) -> String {
    format!("{} at {bytes} B with {buffers} buffers", signed_percent(gain))
}

/// That more buffers make all-to-all faster for every message size.
pub fn every_size_gains(gains: &[Extreme]) -> Vec<Check> {
    let of_size = |bytes: u32| {
        let of_it: Vec<Extreme> = gains.iter().copied().filter(|gain| gain.0 == bytes).collect();
        let (least, _) = extremes(&of_it);
        check(least.2 > 0.0, format!("{bytes} B: the least gain over 2 to 64 buffers is {}, more than 0", say(least)))
    };
    SIZES.into_iter().map(of_size).collect()
}

fn judge(claim: &str, runs: &Results) -> Result<Judgement, Gap> {
    if claim == "moc.fig8.all_to_all" {
        let gains = gains_of(runs, Platform::Basic, LOADS[0])?;
        let (least, most) = extremes(&gains);
        return Ok(Judgement::in_words(format!("from {} to {}", say(least), say(most)), every_size_gains(&gains)));
    }
    let mut checks = Vec::new();
    let mut found = Vec::new();
    for load in PAIRS {
        let gains = gains_of(runs, Platform::Basic, load)?;
        checks.extend(irregular(load, &gains));
        let (least, most) = extremes(&gains);
        found.push(format!("{} from {} to {}", load.name(), say(least), say(most)));
        if load == Load::UnequalDist {
            let says = format!(
                "unequal-dist is slowest against one buffer at {} B with {} buffers: {}",
                WORST.0,
                WORST.1,
                say(least)
            );
            checks.push(check((least.0, least.1) == WORST, says));
        }
    }
    Ok(Judgement::in_words(found.join("; "), checks))
}

/// That some configuration is slower than one buffer, and that some doubling of the buffers is a step back.
fn irregular(load: Load, gains: &[Extreme]) -> Vec<Check> {
    let slower = gains.iter().filter(|gain| gain.2 < -SLOWER).count();
    let back = gains.windows(2).filter(|two| two[0].0 == two[1].0 && two[1].2 < two[0].2 - STEP_BACK).count();
    let name = load.name();
    vec![
        check(
            slower > 0,
            format!("{name}: {slower} of {} configurations slower by more than {SLOWER} %, at least one", gains.len()),
        ),
        check(
            back > 0,
            format!("{name}: {back} doublings of the buffers lose more than {STEP_BACK} point, at least one"),
        ),
    ]
}

/// The figure for `platform`.
pub fn draw_on(runs: &Results, platform: Platform, network: &str) -> Result<Drawing, Gap> {
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
             over the message size; 64 nodes, {network}. Below the line of zero it is slower. The upright axes differ."
        ),
    })
}
