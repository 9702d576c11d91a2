//! Figure 13: the effect of more flit buffers on the Mesh of Clos(3,1).

use super::figure8::{describe, draw_on, extremes, gain_of, gains_of, jobs_on, least_by_size};
use super::job::{LOADS, Load, PAIRS, Platform};
use super::measures::mean;
use super::{Results, StudyOfMoc};
use crate::{Findings, MissingAnswer};

/// Small messages: up to this size. [B]
const SMALL: u32 = 128;

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 13",
    title: "speed-up by more flit buffers on the Mesh of Clos(3,1)",
    claims: &["moc.fig13.buffers"],
    jobs: || jobs_on(Platform::Clustered),
    judge: |_, runs| judge(runs),
    draw: |_, runs| draw_on(runs, Platform::Clustered, "Mesh of Clos(3,1)").map(Some),
};

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let of = |load| gains_of(runs, Platform::Clustered, load);
    let (all, equal, unequal) = (of(LOADS[0])?, of(Load::EqualDist)?, of(Load::UnequalDist)?);
    let with_64 = |bytes| gain_of(runs, Platform::Clustered, LOADS[0], 64, bytes);
    let distances: Vec<f64> = equal.iter().zip(&unequal).map(|(one, other)| (one.2 - other.2).abs()).collect();
    let (mut small, mut loss) = (Vec::new(), Vec::new());
    for (load, gains) in PAIRS.into_iter().zip([&equal, &unequal]) {
        let of_small: Vec<_> = gains.iter().copied().filter(|gain| gain.0 <= SMALL).collect();
        let (_, most) = extremes(&of_small);
        small.push((format!("{}, {} B with {} buffers", load.name(), most.0, most.1), most.2));
        loss.push((load.name().to_string(), gain_of(runs, Platform::Clustered, load, 4, 2048)?));
    }
    let range = |name: &str, gains: &[(u32, u32, f64)]| {
        let (least, most) = extremes(gains);
        format!("{name} from {} to {}", describe(least), describe(most))
    };
    let ours = [range("all-to-all", &all), range("equal-dist", &equal), range("unequal-dist", &unequal)].join("; ");
    Ok(Findings::words(ours)
        .with("all_to_all_least_gain_percent", least_by_size(&all))
        .with_number("all_to_all_more_at_2048_points", with_64(2048)? - with_64(512)?)
        .with_number("apart_points", mean(&distances))
        .with("small_gain_percent", small)
        .with("gain_at_2048_with_4_percent", loss))
}
