//! Figures 6 to 8: complete exchange over the size of the machine.

use programs::all_to_all::Complete;
use serde_json::{Value, json};

use super::charts::{machines, many_milliseconds, times};
use super::figure5::mark;
use super::job::Job;
use super::measures::milliseconds;
use super::{Results, StudyOfCm5};
use crate::{Check, Drawing, Gap, Judgement, check};
use report::{fixed, legend};

/// The machines. Those of up to 32 nodes are the first nodes of the smaller preset, the others of the larger.
const NODES: [u32; 7] = [4, 8, 16, 32, 64, 128, 256];
/// The sizes of the messages, and the figure that each is in. [B]
const SIZES: [(u32, u32); 4] = [(0, 6), (256, 6), (512, 7), (1920, 8)];
/// Machines that count as small, up to here, and as large, from here on.
const SMALL: u32 = 16;
const LARGE: u32 = 256;
/// The algorithms of the figures.
const ALGORITHMS: [Complete; 3] = [Complete::Pairwise, Complete::Recursive, Complete::Balanced];

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "figures 6 to 8",
    title: "complete exchange over the machine size",
    claims: &["cm5.fig6to8.sizes"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn job(algorithm: Complete, nodes: u32, bytes: u32) -> Job {
    Job::Exchange { algorithm, nodes, bytes }
}

fn jobs() -> Vec<Job> {
    let of = |algorithm| NODES.into_iter().flat_map(move |nodes| SIZES.map(|(bytes, _)| job(algorithm, nodes, bytes)));
    ALGORITHMS.into_iter().flat_map(of).collect()
}

/// The times of the three, in milliseconds.
struct Times {
    pairwise: f64,
    recursive: f64,
    balanced: f64,
}

fn times_of(runs: &Results, nodes: u32, bytes: u32) -> Result<Times, Gap> {
    let time = |algorithm| milliseconds(runs, job(algorithm, nodes, bytes));
    let [pairwise, recursive, balanced] = ALGORITHMS.map(time);
    Ok(Times { pairwise: pairwise?, recursive: recursive?, balanced: balanced? })
}

/// What must hold for messages of that size on so many nodes.
fn checks_of(nodes: u32, bytes: u32, times: &Times) -> Vec<Check> {
    let Times { pairwise, recursive, balanced } = *times;
    let exchanging = pairwise.min(balanced);
    let says = |what: &str| {
        let [pairwise, recursive, balanced] = [pairwise, recursive, balanced].map(|time| fixed(time, 2));
        format!("{bytes} B, {nodes} nodes: {what} (pairwise {pairwise}, recursive {recursive}, balanced {balanced} ms)")
    };
    let mut checks = Vec::new();
    match bytes {
        0 => checks.push(check(recursive < exchanging, says("recursive is the fastest"))),
        256 => {
            if nodes <= SMALL {
                checks.push(check(pairwise < recursive, says("pairwise is faster than recursive")));
            }
            if nodes >= LARGE {
                checks.push(check(recursive < pairwise, says("recursive is faster than pairwise")));
            }
            if nodes > SMALL {
                checks.push(check(balanced < pairwise.min(recursive), says("balanced is the fastest")));
            }
        }
        _ if nodes <= SMALL => {
            checks.push(check(
                pairwise.max(balanced) < recursive,
                says("balanced and pairwise are faster than recursive"),
            ));
        }
        _ if nodes >= LARGE => checks.push(check(recursive < exchanging, says("recursive is the fastest"))),
        _ => {}
    }
    checks
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let mut checks = Vec::new();
    for (bytes, _) in SIZES {
        for nodes in NODES {
            checks.extend(checks_of(nodes, bytes, &times_of(runs, nodes, bytes)?));
        }
    }
    let holding = checks.iter().filter(|check| check.holds).count();
    Ok(Judgement { ours: json!({"as_stated": holding, "of": checks.len()}), error_percent: Value::Null, checks })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let mut panels = Vec::new();
    for (bytes, figure) in SIZES {
        let line = |algorithm: Complete| {
            let point = |nodes| Ok((f64::from(nodes), milliseconds(runs, job(algorithm, nodes, bytes))?));
            let points = NODES.into_iter().map(point).collect::<Result<Vec<_>, Gap>>()?;
            Ok((algorithm.name().to_string(), mark(algorithm), points))
        };
        let lines = ALGORITHMS.into_iter().map(line).collect::<Result<Vec<_>, Gap>>()?;
        let title = format!("figure {figure}: messages of {bytes} B");
        panels.push(times(&title, machines(&NODES), many_milliseconds(), lines));
    }
    let keys: Vec<_> = ALGORITHMS.map(|algorithm| (algorithm.name().to_string(), mark(algorithm))).to_vec();
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels,
        caption: "Time of a complete exchange over the number of nodes. Both axes are logarithmic.".to_string(),
    }))
}
