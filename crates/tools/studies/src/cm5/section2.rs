//! Section 2: the performance of the machine's networks.

use serde_json::json;

use super::job::{Cm5Run, FLOW_BYTES, MANY_NODES, NODES};
use super::measures::{deviation, each, mean_of, milliseconds};
use super::{Results, StudyOfCm5};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Cell, Table, fixed};

/// Rates: their name, that of the printed number, the distance of the nodes, and their number. [MB/s]
const RATES: [(&str, &str, u32, u32); 3] = [
    ("within a cluster of four", "near_MBps", NODES, 1),
    ("through the root of 32", "far_MBps", NODES, 16),
    ("through the root of 256", "far_MBps", MANY_NODES, 64),
];
/// Bytes of a packet, and how many of them are payload. [B]
const PACKET: (u64, u64) = (20, 16);

/// The study.
pub const STUDY: StudyOfCm5 =
    StudyOfCm5 { place: "section 2", title: "the network", claims: &["cm5.sec2.network"], jobs, judge, draw };

fn empties() -> impl Iterator<Item = Cm5Run> {
    (1..NODES).map(|to| Cm5Run::Empty { to })
}

fn jobs() -> Vec<Cm5Run> {
    empties().chain(RATES.map(|(_, _, nodes, distance)| Cm5Run::Flow { nodes, distance })).collect()
}

/// The rate of each node when all send over that `distance` at once, headers included. [MB/s]
fn rate(runs: &Results, nodes: u32, distance: u32) -> Result<f64, MissingAnswer> {
    let (whole, payload) = PACKET;
    let bytes = f64::from(FLOW_BYTES) * whole as f64 / payload as f64;
    Ok(bytes / 1e3 / milliseconds(runs, Cm5Run::Flow { nodes, distance })?)
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let times: Vec<f64> = each(runs, empties())?.into_iter().map(|time| time * 1e3).collect();
    let empty = mean_of(&times).value;
    let mut ours = serde_json::Map::from_iter([("empty_us".to_string(), json!(empty))]);
    let mut errors =
        serde_json::Map::from_iter([("empty_us".to_string(), json!(deviation(empty, claim.printed("empty_us")?)))]);
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for ((place, printed, nodes, distance), name) in RATES.into_iter().zip(["near_MBps", "far_MBps", "far_256_MBps"]) {
        let rate = rate(runs, nodes, distance)?;
        ours.insert(name.to_string(), json!(rate));
        errors.insert(name.to_string(), json!(deviation(rate, claim.printed(printed)?)));
        let found = if printed == "near_MBps" { &mut near } else { &mut far };
        found.push((place.to_string(), rate));
    }
    Ok(Findings::numbers(ours.into(), errors.into())
        .with_number("empty_us", empty)
        .with("near_MBps", near)
        .with("far_MBps", far))
}

fn draw(claims: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let claim = claims.get(STUDY.claims[0])?;
    let mut table = Table::with_head(&["what", "printed", "ours"]);
    let empty = mean_of(&each(runs, empties())?).value * 1e3;
    let mut row = |what: String, printed: String, ours: String| {
        table.rows.push(vec![Cell::Words(what), Cell::Number(printed), Cell::Number(ours)]);
    };
    row(
        "an empty message, from the start of its send to the end of its receive [us]".into(),
        fixed(claim.printed("empty_us")?, 0),
        fixed(empty, 2),
    );
    for (place, printed, nodes, distance) in RATES {
        let printed = fixed(claim.printed(printed)?, 0);
        row(format!("each node's rate {place} [MB/s]"), printed, fixed(rate(runs, nodes, distance)?, 2));
    }
    let caption = format!(
        "An empty message is the mean from node 0 to each of the others. For the rates all nodes send {FLOW_BYTES} bytes at \
         once, with no costs at the nodes; headers count, and the time ends with the last node."
    );
    Ok(Some(Drawing { legend: None, panels: vec![table.draw()], caption }))
}
