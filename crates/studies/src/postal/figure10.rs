//! Figure 10: long broadcasts over alpha.

use serde_json::{Value, json};

use super::charts::over_alpha;
use super::measures::{best, delivered, jobs_over_alpha, times_over_alpha};
use super::{Results, StudyOfPostal};
use crate::{Drawing, Gap, Judgement, check};
use report::{Mark, Measure, fixed};

/// The message. [B]
const BYTES: u32 = 16384;
/// What counts as near a half.
const NEAR_HALF: f64 = 0.53;

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 10",
    title: "a broadcast of 16 KiB over alpha",
    claims: &["postal.fig10.long"],
    jobs: || jobs_over_alpha(BYTES),
    judge: |_, runs| judge(runs),
    draw,
};

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let (alpha, _) = best(&times_over_alpha(runs, BYTES)?);
    let says = format!("the best alpha is {}, at most {NEAR_HALF}", fixed(alpha, 2));
    let checks = vec![check(alpha <= NEAR_HALF, says), delivered(runs, &jobs_over_alpha(BYTES))?];
    Ok(Judgement { ours: json!({ "best_alpha": alpha }), error_percent: Value::Null, checks })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let times = times_over_alpha(runs, BYTES)?;
    let chart = over_alpha("16 KiB on 8 x 8 nodes", "time [\u{b5}s]", Measure::Microseconds, Mark::full(0), times);
    let caption = "Time until every node has the message, the mean over eight random orders of the nodes.";
    Ok(Some(Drawing { legend: None, panels: vec![chart], caption: caption.to_string() }))
}
