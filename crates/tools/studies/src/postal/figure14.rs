//! Figure 14: a broadcast whose messages do not contend.

use serde_json::json;

use super::Results;
use super::StudyOfPostal;
use super::job::{Nodes, PostalRun};
use super::measures::{broadcast_jobs, broadcast_time, delivered};
use crate::{Claim, Findings, MissingAnswer};

/// The message. [B]
const BYTES: u32 = 65536;
/// The binomial tree: lambda is nearly 1 at this size.
const ALPHA: u32 = 50;

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 14",
    title: "an order of nodes without contention",
    claims: &["postal.fig14.congestion"],
    jobs,
    judge,
    draw: |_, _| Ok(None),
};

const ROW_MAJOR: PostalRun = PostalRun::Broadcast { bytes: BYTES, alpha: ALPHA, nodes: Nodes::RowMajor };

fn jobs() -> Vec<PostalRun> {
    let mut jobs = broadcast_jobs(BYTES, ALPHA);
    jobs.push(ROW_MAJOR);
    jobs
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let permuted = broadcast_time(runs, BYTES, ALPHA)?;
    let in_order = runs.get(&ROW_MAJOR)?.time.microseconds();
    let faster = (permuted / in_order - 1.0) * 100.0;
    let error_percent = json!((faster / claim.printed("faster_percent")? - 1.0) * 100.0);
    Ok(Findings::numbers(json!(faster), error_percent)
        .with_number("faster_percent", faster)
        .with_number("delivered_share", delivered(runs, &jobs())?))
}
