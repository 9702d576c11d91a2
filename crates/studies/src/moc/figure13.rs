//! Figure 13: what more flit buffers do on the Mesh of Clos(3,1).

use super::figure8::{draw_on, every_size_gains, extremes, gain_of, gains_of, jobs_on, say};
use super::job::{LOADS, Load, PAIRS, Platform};
use super::measures::mean;
use super::{Results, StudyOfMoc};
use crate::{Gap, Judgement, check};
use report::{fixed, signed_percent};

/// "Almost alike": the mean distance of the two benchmarks' speed-ups, at most. [percentage points]
const ALIKE: f64 = 5.0;
/// Small messages: up to this size. [B]
const SMALL: u32 = 128;
/// "No speed-up" for small messages: the largest, at most. [%]
const NO_GAIN: f64 = 2.0;
/// "Nearly 30 percent" slower at 2048 bytes with 4 buffers: between these. [%]
const LOSS: (f64, f64) = (-40.0, -20.0);

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 13",
    title: "speed-up by more flit buffers on the Mesh of Clos(3,1)",
    claims: &["moc.fig13.buffers"],
    jobs: || jobs_on(Platform::Clustered),
    judge,
    draw: |runs| draw_on(runs, Platform::Clustered, "Mesh of Clos(3,1)").map(Some),
};

fn judge(_claim: &str, runs: &Results) -> Result<Judgement, Gap> {
    let of = |load| gains_of(runs, Platform::Clustered, load);
    let (all, equal, unequal) = (of(LOADS[0])?, of(Load::EqualDist)?, of(Load::UnequalDist)?);
    let mut checks = every_size_gains(&all);
    let with_64 = |bytes| gain_of(runs, Platform::Clustered, LOADS[0], 64, bytes);
    let (middle, large) = (with_64(512)?, with_64(2048)?);
    let says = format!(
        "all-to-all with 64 buffers: {} at 2048 B, less than {} at 512 B",
        signed_percent(large),
        signed_percent(middle)
    );
    checks.push(check(large < middle, says));
    let distances: Vec<f64> = equal.iter().zip(&unequal).map(|(one, other)| (one.2 - other.2).abs()).collect();
    let says = format!(
        "equal-dist and unequal-dist differ by {} points on average, at most {ALIKE}",
        fixed(mean(&distances), 1)
    );
    checks.push(check(mean(&distances) <= ALIKE, says));
    for (load, gains) in PAIRS.into_iter().zip([&equal, &unequal]) {
        let small: Vec<_> = gains.iter().copied().filter(|gain| gain.0 <= SMALL).collect();
        let (_, most) = extremes(&small);
        checks.push(check(
            most.2 <= NO_GAIN,
            format!("{} up to {SMALL} B: at most {}, allowed {NO_GAIN} %", load.name(), say(most)),
        ));
        let loss = gain_of(runs, Platform::Clustered, load, 4, 2048)?;
        let says = format!(
            "{} at 2048 B with 4 buffers: {}, from {} to {} %",
            load.name(),
            signed_percent(loss),
            LOSS.0,
            LOSS.1
        );
        checks.push(check((LOSS.0..=LOSS.1).contains(&loss), says));
    }
    let range = |name: &str, gains: &[(u32, u32, f64)]| {
        let (least, most) = extremes(gains);
        format!("{name} from {} to {}", say(least), say(most))
    };
    let ours = [range("all-to-all", &all), range("equal-dist", &equal), range("unequal-dist", &unequal)].join("; ");
    Ok(Judgement::in_words(ours, checks))
}
