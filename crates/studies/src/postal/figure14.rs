//! Figure 14: a broadcast whose messages do not meet.

use serde_json::{Value, json};

use super::Results;
use super::StudyOfPostal;
use super::job::{Job, Nodes};
use super::measures::{broadcast_jobs, broadcast_time, delivered};
use crate::{Gap, Judgement, check};
use report::fixed;

/// The message. [B]
const BYTES: u32 = 65536;
/// The binomial tree: lambda is all but 1 at this size.
const ALPHA: u32 = 50;
/// How much faster the row-major order must be: the ratio of the times, less one. [%]
const FASTER: (f64, f64) = (5.0, 15.0);
/// What is printed. [%]
const PUBLISHED: f64 = 10.0;

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 14",
    title: "an order of nodes without contention",
    claims: &["postal.fig14.congestion"],
    jobs,
    judge: |_, runs| judge(runs),
    draw: |_| Ok(None),
};

const ROW_MAJOR: Job = Job::Broadcast { bytes: BYTES, alpha: ALPHA, nodes: Nodes::RowMajor };

fn jobs() -> Vec<Job> {
    let mut jobs = broadcast_jobs(BYTES, ALPHA);
    jobs.push(ROW_MAJOR);
    jobs
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let permuted = broadcast_time(runs, BYTES, ALPHA)?;
    let in_order = runs.get(&ROW_MAJOR)?.time.microseconds();
    let faster = (permuted / in_order - 1.0) * 100.0;
    let says = format!(
        "{} ms in row-major order, {} ms permuted: {} % faster, from {} to {} %",
        fixed(in_order / 1e3, 2),
        fixed(permuted / 1e3, 2),
        fixed(faster, 1),
        FASTER.0,
        FASTER.1
    );
    let checks = vec![check((FASTER.0..=FASTER.1).contains(&faster), says), delivered(runs, &jobs())?];
    let error_percent: Value = json!((faster / PUBLISHED - 1.0) * 100.0);
    Ok(Judgement { ours: json!(faster), error_percent, checks })
}
