//! Figures 10 and 11: broadcast.

use serde_json::{Value, json};

use super::charts::{machines, many_milliseconds, milliseconds as axis, sizes, times};
use super::job::{How, Job, MANY_NODES, NODES};
use super::measures::milliseconds;
use super::{Results, StudyOfCm5};
use crate::{Drawing, Gap, Judgement, check};
use report::{Mark, fixed, legend};

/// The message sizes. [B]
const SIZES: [u32; 13] = [16, 64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 2560, 3072, 4096];
/// The machines of figure 11.
const MACHINES: [u32; 7] = [4, 8, 16, 32, 64, 128, 256];
/// The message sizes of figure 11. [B]
const DRAWN: [u32; 4] = [256, 1024, 2048, 4096];
/// "Far behind": how many times as long linear broadcast takes as recursive, at least.
const FAR_BEHIND: f64 = 3.0;
/// Above which size recursive broadcast is the faster, as printed. [B]
const PUBLISHED: [(u32, u32); 2] = [(NODES, 1024), (MANY_NODES, 2048)];
/// "About" that size: between half and twice as much.
const ABOUT: f64 = 2.0;

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "figures 10 and 11",
    title: "broadcast",
    claims: &["cm5.fig10.broadcast"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn jobs() -> Vec<Job> {
    let over_sizes = |how, nodes| SIZES.map(|bytes| Job::Broadcast { how, nodes, bytes });
    let mut jobs = over_sizes(How::Linear, NODES).to_vec();
    for how in [How::Recursive, How::Hardware] {
        jobs.extend([NODES, MANY_NODES].into_iter().flat_map(|nodes| over_sizes(how, nodes)));
        jobs.extend(MACHINES.into_iter().flat_map(|nodes| DRAWN.map(|bytes| Job::Broadcast { how, nodes, bytes })));
    }
    jobs
}

fn time(runs: &Results, how: How, nodes: u32, bytes: u32) -> Result<f64, Gap> {
    milliseconds(runs, Job::Broadcast { how, nodes, bytes })
}

/// The size from which on recursive broadcast is faster than the control network at all sizes: between two sizes that
/// were run, where straight lines cross. [B]
fn crossing(runs: &Results, nodes: u32) -> Result<f64, Gap> {
    let ahead = |bytes| Ok(time(runs, How::Hardware, nodes, bytes)? - time(runs, How::Recursive, nodes, bytes)?);
    let points =
        SIZES.into_iter().map(|bytes| Ok((f64::from(bytes), ahead(bytes)?))).collect::<Result<Vec<_>, Gap>>()?;
    let last = points.iter().rposition(|point| point.1 <= 0.0);
    Ok(match last.map(|index| (points[index], points.get(index + 1))) {
        None => 0.0,
        Some((_, None)) => f64::INFINITY,
        Some((below, Some(above))) => below.0 + (above.0 - below.0) * below.1 / (below.1 - above.1),
    })
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let mut checks = Vec::new();
    let mut ours = serde_json::Map::new();
    let mut least = f64::MAX;
    for bytes in SIZES {
        least = least.min(time(runs, How::Linear, NODES, bytes)? / time(runs, How::Recursive, NODES, bytes)?);
    }
    let says = format!("linear takes at least {} times as long as recursive, at least {FAR_BEHIND}", fixed(least, 1));
    checks.push(check(least >= FAR_BEHIND, says));
    for (nodes, printed) in PUBLISHED {
        let found = crossing(runs, nodes)?;
        let says =
            format!("{nodes} nodes: recursive is faster at all sizes from {} B on, printed {printed}", fixed(found, 0));
        checks.push(check(found <= f64::from(printed), says));
        let says = format!("{nodes} nodes: {} B is about {printed}, within a factor of {ABOUT}", fixed(found, 0));
        checks.push(check(found * ABOUT >= f64::from(printed) && found <= ABOUT * f64::from(printed), says));
        ours.insert(format!("from_bytes_{nodes}"), json!(found));
    }
    let smallest = SIZES[0];
    for (nodes, _) in PUBLISHED {
        let (hardware, recursive) =
            (time(runs, How::Hardware, nodes, smallest)?, time(runs, How::Recursive, nodes, smallest)?);
        let says = format!(
            "{nodes} nodes, {smallest} B: {} ms by the control network, {} recursive",
            fixed(hardware, 3),
            fixed(recursive, 3)
        );
        checks.push(check(hardware < recursive, says));
    }
    Ok(Judgement { ours: ours.into(), error_percent: Value::Null, checks })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let over_sizes = |how: How, nodes, mark: Mark| {
        let point = |bytes| Ok((f64::from(bytes), time(runs, how, nodes, bytes)?));
        Ok((how.name().to_string(), mark, SIZES.into_iter().map(point).collect::<Result<Vec<_>, Gap>>()?))
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
        times("figure 10: 32 nodes", sizes(&ticks), many_milliseconds(), few),
        times("256 nodes", sizes(&ticks), axis(), many),
    ];
    for bytes in DRAWN {
        let over_machines = |how: How, mark| {
            let point = |nodes| Ok((f64::from(nodes), time(runs, how, nodes, bytes)?));
            Ok((how.name().to_string(), mark, MACHINES.into_iter().map(point).collect::<Result<Vec<_>, Gap>>()?))
        };
        let lines = vec![over_machines(How::Recursive, recursive)?, over_machines(How::Hardware, hardware)?];
        panels.push(times(&format!("figure 11: {bytes} B"), machines(&MACHINES), axis(), lines));
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
