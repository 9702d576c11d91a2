//! Figure 3: four nodes, over the size of the message.

use super::charts::{keys, many_times, mark, sizes};
use super::job::{BcastRun, PUSHED, System};
use super::measures::latency;
use super::{Results, StudyOfBroadcast};
use crate::render::chart;
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Measure, legend};

const NODES: u32 = 4;
/// The sizes. [B]
const SIZES: [u32; 9] = [8, 32, 64, 128, 256, 512, 1024, 2048, 4096];
/// The sizes of messages to late receivers: short ones, and long ones. [B]
const SHORT: [u32; 3] = [8, 256, PUSHED];
const LONG: [u32; 3] = [16 << 10, 64 << 10, 256 << 10];

/// The study.
pub const STUDY: StudyOfBroadcast = StudyOfBroadcast {
    place: "figure 3",
    title: "broadcasts to four nodes",
    claims: &["bcast.fig3.short"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn jobs() -> Vec<BcastRun> {
    let shown = System::ALL.into_iter().flat_map(|system| SIZES.map(|bytes| broadcast(system, bytes)));
    let late = [System::Simple, System::PushPull].into_iter();
    let late = late.flat_map(|system| SHORT.into_iter().chain(LONG).map(move |bytes| BcastRun::Late { system, bytes }));
    shown.chain(late).collect()
}

fn broadcast(system: System, bytes: u32) -> BcastRun {
    BcastRun::Broadcast { system, nodes: NODES, bytes }
}

/// When all late receivers have the message [us], and how many packets were retransmitted for it.
fn late(runs: &Results, system: System, bytes: u32) -> Result<(f64, u64), MissingAnswer> {
    let measured = runs.get(&BcastRun::Late { system, bytes })?;
    Ok((measured.time.microseconds(), measured.resent.iter().sum()))
}

/// The share of late receivers that had the message in the end.
fn delivered(runs: &Results) -> Result<f64, MissingAnswer> {
    let (mut right, mut due) = (0, 0);
    for job in jobs().into_iter().filter(|job| matches!(job, BcastRun::Late { .. })) {
        for (found, expected) in &runs.get(&job)?.right {
            right += found;
            due += expected;
        }
    }
    Ok(f64::from(right) / f64::from(due))
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let mut over_tree = Vec::new();
    for bytes in SIZES {
        let tree = latency(runs, System::Mpich, NODES, bytes)?;
        for system in [System::PushPull, System::Simple] {
            let place = format!("{}, {bytes} B", system.name());
            over_tree.push((place, latency(runs, system, NODES, bytes)? / tree));
        }
    }
    let mut short = Vec::new();
    for bytes in SHORT {
        short.push((format!("{bytes} B"), late(runs, System::Simple, bytes)?.1 as f64));
    }
    let (mut in_vain, mut resent, mut over_simple) = (Vec::new(), Vec::new(), Vec::new());
    for bytes in LONG {
        let (simple, push_pull) = (late(runs, System::Simple, bytes)?, late(runs, System::PushPull, bytes)?);
        in_vain.push((format!("{bytes} B"), simple.1 as f64));
        resent.push((format!("{bytes} B"), push_pull.1 as f64));
        over_simple.push((format!("{bytes} B"), push_pull.0 / simple.0));
    }
    let as_printed = |holding, of| if holding == of { "as printed".into() } else { "not as printed".into() };
    Ok(Findings::counted(as_printed)
        .with("over_tree", over_tree)
        .with("resent_short_simple", short)
        .with("resent_long_simple", in_vain)
        .with("resent_long_push_pull", resent)
        .with("push_pull_over_simple", over_simple)
        .with_number("delivered_share", delivered(runs)?))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut lines = Vec::new();
    for system in System::ALL {
        let point = |bytes| Ok((f64::from(bytes), latency(runs, system, NODES, bytes)?));
        let points = SIZES.into_iter().map(point).collect::<Result<Vec<_>, MissingAnswer>>()?;
        lines.push((format!("{}/{NODES}", system.name()), mark(system), points));
    }
    let ticks: Vec<u32> = SIZES.into_iter().step_by(2).collect();
    let mut again = Vec::new();
    for system in [System::PushPull, System::Simple] {
        let sizes = SHORT.into_iter().chain(LONG);
        let point = |bytes| Ok((f64::from(bytes), late(runs, system, bytes)?.1 as f64));
        let points = sizes.map(point).collect::<Result<Vec<_>, MissingAnswer>>()?;
        again.push((system.name().to_string(), mark(system), points));
    }
    let late_sizes = [SHORT[0], SHORT[1], LONG[0], LONG[2]];
    let packets = Axis::linear("packets sent again", Measure::Plain).reaching(0.0);
    Ok(Some(Drawing {
        legend: Some(legend(&keys())),
        panels: vec![
            chart("four nodes", sizes(&ticks), many_times(), lines),
            chart("eight nodes, receivers 2 ms late", sizes(&late_sizes), packets, again),
        ],
        caption: "Time until a broadcast to four nodes is answered, over the size of the message; and how many packets are sent again, \
                  to single receivers, when all of them are 2 ms late."
            .to_string(),
    }))
}
