//! Figures 10 and 11: broadcast.

use serde_json::{Value, json};

use super::charts::{machines, many_milliseconds, milliseconds as axis, sizes};
use super::job::{Cm5Run, How, MANY_NODES, NODES};
use super::measures::milliseconds;
use super::{Results, StudyOfCm5};
use crate::render::chart;
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Mark, legend};

/// The message sizes. [B]
const SIZES: [u32; 13] = [16, 64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 2560, 3072, 4096];
/// The machines of figure 11.
const MACHINES: [u32; 7] = [4, 8, 16, 32, 64, 128, 256];
/// The message sizes of figure 11. [B]
const DRAWN: [u32; 4] = [256, 1024, 2048, 4096];
/// The machines on which two broadcasts cross, and the name of the size where they do. [B]
const CROSSINGS: [(u32, &str); 2] = [(NODES, "from_bytes_32"), (MANY_NODES, "from_bytes_256")];

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "figures 10 and 11",
    title: "broadcast",
    claims: &["cm5.fig10.broadcast"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn jobs() -> Vec<Cm5Run> {
    let over_sizes = |how, nodes| SIZES.map(|bytes| Cm5Run::Broadcast { how, nodes, bytes });
    let mut jobs = over_sizes(How::Linear, NODES).to_vec();
    for how in [How::Recursive, How::Hardware] {
        jobs.extend([NODES, MANY_NODES].into_iter().flat_map(|nodes| over_sizes(how, nodes)));
        jobs.extend(MACHINES.into_iter().flat_map(|nodes| DRAWN.map(|bytes| Cm5Run::Broadcast { how, nodes, bytes })));
    }
    jobs
}

fn time(runs: &Results, how: How, nodes: u32, bytes: u32) -> Result<f64, MissingAnswer> {
    milliseconds(runs, Cm5Run::Broadcast { how, nodes, bytes })
}

/// The size from which on recursive broadcast is always faster than the control network: between two sizes that
/// were run, where straight lines cross. [B]
fn crossing(runs: &Results, nodes: u32) -> Result<f64, MissingAnswer> {
    let ahead = |bytes| Ok(time(runs, How::Hardware, nodes, bytes)? - time(runs, How::Recursive, nodes, bytes)?);
    let points = SIZES
        .into_iter()
        .map(|bytes| Ok((f64::from(bytes), ahead(bytes)?)))
        .collect::<Result<Vec<_>, MissingAnswer>>()?;
    let last = points.iter().rposition(|point| point.1 <= 0.0);
    Ok(match last.map(|index| (points[index], points.get(index + 1))) {
        None => 0.0,
        Some((_, None)) => f64::INFINITY,
        Some((below, Some(above))) => below.0 + (above.0 - below.0) * below.1 / (below.1 - above.1),
    })
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let mut behind = Vec::new();
    for bytes in SIZES {
        let linear = time(runs, How::Linear, NODES, bytes)?;
        behind.push((format!("{bytes} B"), linear / time(runs, How::Recursive, NODES, bytes)?));
    }
    let (mut ours, mut crossings, mut shortest) = (serde_json::Map::new(), Vec::new(), Vec::new());
    for (nodes, name) in CROSSINGS {
        let found = crossing(runs, nodes)?;
        ours.insert(name.to_string(), json!(found));
        crossings.push((name, found));
        let [hardware, recursive] = [How::Hardware, How::Recursive].map(|how| time(runs, how, nodes, SIZES[0]));
        shortest.push((format!("{nodes} nodes"), hardware? / recursive?));
    }
    let mut flat = Vec::new();
    for bytes in DRAWN {
        let times = MACHINES.map(|nodes| time(runs, How::Hardware, nodes, bytes));
        let times = times.into_iter().collect::<Result<Vec<f64>, MissingAnswer>>()?;
        let [least, most] = [f64::min, f64::max].map(|end| times.iter().copied().reduce(end).unwrap_or(f64::NAN));
        flat.push((format!("{bytes} B"), (most / least - 1.0) * 100.0));
    }
    let findings = Findings::numbers(ours.into(), Value::Null)
        .with("hardware_apart_percent", flat)
        .with("linear_over_recursive", behind)
        .with("shortest_hardware_over_recursive", shortest);
    Ok(crossings.into_iter().fold(findings, |findings, (name, bytes)| findings.with_number(name, bytes)))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let over_sizes = |how: How, nodes, mark: Mark| {
        let point = |bytes| Ok((f64::from(bytes), time(runs, how, nodes, bytes)?));
        Ok((how.name().to_string(), mark, SIZES.into_iter().map(point).collect::<Result<Vec<_>, MissingAnswer>>()?))
    };
    let (recursive, hardware) = (Mark::full(1), Mark::broken(2));
    let ticks = [0, 1024, 2048, 3072, 4096];
    let few = vec![
        over_sizes(How::Linear, NODES, Mark::full(0))?,
        over_sizes(How::Recursive, NODES, recursive)?,
        over_sizes(How::Hardware, NODES, hardware)?,
    ];
    let many =
        vec![over_sizes(How::Recursive, MANY_NODES, recursive)?, over_sizes(How::Hardware, MANY_NODES, hardware)?];
    let mut panels = vec![
        chart("figure 10: 32 nodes", sizes(&ticks), many_milliseconds(), few),
        chart("256 nodes", sizes(&ticks), axis(), many),
    ];
    for bytes in DRAWN {
        let over_machines = |how: How, mark| {
            let point = |nodes| Ok((f64::from(nodes), time(runs, how, nodes, bytes)?));
            Ok((
                how.name().to_string(),
                mark,
                MACHINES.into_iter().map(point).collect::<Result<Vec<_>, MissingAnswer>>()?,
            ))
        };
        let lines = vec![over_machines(How::Recursive, recursive)?, over_machines(How::Hardware, hardware)?];
        panels.push(chart(&format!("figure 11: {bytes} B"), machines(&MACHINES), axis(), lines));
    }
    let keys = [(How::Linear, Mark::full(0)), (How::Recursive, recursive), (How::Hardware, hardware)];
    let keys: Vec<_> = keys.map(|(how, mark)| (how.name().to_string(), mark)).to_vec();
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels,
        caption: "Time until every node has the message, over its size and over the number of nodes. The upright axes \
                  differ; the first is logarithmic."
            .to_string(),
    }))
}
