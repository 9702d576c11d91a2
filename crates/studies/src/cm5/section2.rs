//! Section 2: what the machine's networks can do.

use serde_json::json;

use super::job::{FLOW_BYTES, Job, MANY_NODES, NODES};
use super::measures::{each, mean_of, milliseconds, off};
use super::{Results, StudyOfCm5};
use crate::{Drawing, Gap, Judgement, check};
use report::{Cell, Table, fixed};

/// An empty message. [us]
const EMPTY: f64 = 88.0;
/// How far ours may be off. [%]
const EMPTY_OFF: f64 = 3.0;
/// Rates: how far apart the nodes are, of how many, and what each of them can send. [MB/s]
const RATES: [(&str, u32, u32, f64); 3] = [
    ("within a cluster of four", NODES, 1, 20.0),
    ("through the root of 32", NODES, 16, 5.0),
    ("through the root of 256", MANY_NODES, 64, 5.0),
];
/// How far ours may be off. [%]
const RATE_OFF: f64 = 5.0;
/// Bytes of a packet, and how many of them are the message's. [B]
const PACKET: (u64, u64) = (20, 16);

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "section 2",
    title: "the network",
    claims: &["cm5.sec2.network"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn empties() -> impl Iterator<Item = Job> {
    (1..NODES).map(|to| Job::Empty { to })
}

fn jobs() -> Vec<Job> {
    empties().chain(RATES.map(|(_, nodes, distance, _)| Job::Flow { nodes, distance })).collect()
}

/// What each node sends when all send `distance` away at once, headers included. [MB/s]
fn rate(runs: &Results, nodes: u32, distance: u32) -> Result<f64, Gap> {
    let (whole, payload) = PACKET;
    let bytes = f64::from(FLOW_BYTES) * whole as f64 / payload as f64;
    Ok(bytes / 1e3 / milliseconds(runs, Job::Flow { nodes, distance })?)
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let times: Vec<f64> = each(runs, empties())?.into_iter().map(|time| time * 1e3).collect();
    let empty = mean_of(&times).value;
    let (least, most) =
        times.iter().fold((f64::MAX, 0.0f64), |(least, most), time| (least.min(*time), most.max(*time)));
    let says = format!(
        "an empty message takes {} \u{b5}s on the mean over all receivers, from {} to {}; printed {EMPTY}, within {EMPTY_OFF} %",
        fixed(empty, 2),
        fixed(least, 1),
        fixed(most, 1)
    );
    let mut checks = vec![check(off(empty, EMPTY).abs() <= EMPTY_OFF, says)];
    let mut errors = serde_json::Map::from_iter([("empty_us".to_string(), json!(off(empty, EMPTY)))]);
    let mut ours = serde_json::Map::from_iter([("empty_us".to_string(), json!(empty))]);
    for ((place, nodes, distance, printed), name) in RATES.into_iter().zip(["near_MBps", "far_MBps", "far_256_MBps"]) {
        let rate = rate(runs, nodes, distance)?;
        let says = format!("{place}: {} MB/s for each node, printed {printed}, within {RATE_OFF} %", fixed(rate, 2));
        checks.push(check(off(rate, printed).abs() <= RATE_OFF, says));
        ours.insert(name.to_string(), json!(rate));
        errors.insert(name.to_string(), json!(off(rate, printed)));
    }
    Ok(Judgement { ours: ours.into(), error_percent: errors.into(), checks })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let mut table = Table::with_head(&["what", "printed", "ours"]);
    let empty = mean_of(&each(runs, empties())?).value * 1e3;
    let mut row = |what: String, printed: String, ours: String| {
        table.rows.push(vec![Cell::Words(what), Cell::Number(printed), Cell::Number(ours)]);
    };
    row(
        "an empty message, from the start of its send to the end of its receive [\u{b5}s]".into(),
        fixed(EMPTY, 0),
        fixed(empty, 2),
    );
    for (place, nodes, distance, printed) in RATES {
        row(format!("each node's rate {place} [MB/s]"), fixed(printed, 0), fixed(rate(runs, nodes, distance)?, 2));
    }
    let caption = format!(
        "An empty message is the mean from node 0 to each of the others. For the rates all nodes send {FLOW_BYTES} bytes at \
         once, nodes costing nothing; headers count, and the last node's end is the end."
    );
    Ok(Some(Drawing { legend: None, panels: vec![table.draw()], caption }))
}
