//! Figure 10: long broadcasts over alpha.

use serde_json::{Value, json};

use super::charts::over_alpha;
use super::measures::{best, delivered, jobs_over_alpha, times_over_alpha};
use super::{Results, StudyOfPostal};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Mark, Measure};

/// The message. [B]
const BYTES: u32 = 16384;

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 10",
    title: "a broadcast of 16 KiB over alpha",
    claims: &["postal.fig10.long"],
    jobs: || jobs_over_alpha(BYTES),
    judge: |_, runs| judge(runs),
    draw,
};

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (alpha, _) = best(&times_over_alpha(runs, BYTES)?);
    Ok(Findings::numbers(json!({ "best_alpha": alpha }), Value::Null)
        .with_number("best_alpha", alpha)
        .with_number("delivered_share", delivered(runs, &jobs_over_alpha(BYTES))?))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let times = times_over_alpha(runs, BYTES)?;
    let chart = over_alpha("16 KiB on 8 x 8 nodes", "time [us]", Measure::Microseconds, Mark::full(0), times);
    let caption = "Time until every node has the message, the mean over eight random orders of the nodes.";
    Ok(Some(Drawing { legend: None, panels: vec![chart], caption: caption.to_string() }))
}
