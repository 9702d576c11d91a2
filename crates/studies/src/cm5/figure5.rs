//! Figure 5: complete exchange over the message size.

use programs::all_to_all::Complete;
use serde_json::{Value, json};

use super::charts::{many_milliseconds, milliseconds as axis, sizes, times};
use super::job::{Job, NODES};
use super::measures::milliseconds;
use super::{Results, StudyOfCm5};
use crate::{Drawing, Gap, Judgement, check};
use report::{Mark, fixed, legend};

/// The algorithms of the figure.
pub const ALGORITHMS: [Complete; 4] = [Complete::Linear, Complete::Pairwise, Complete::Recursive, Complete::Balanced];
/// The sizes of the figure. [B]
const SIZES: [u32; 9] = [0, 64, 128, 256, 512, 1024, 1536, 1920, 2048];
/// "Far behind": how many times as long linear exchange takes as pairwise, at least.
const FAR_BEHIND: f64 = 3.0;
/// Up to here messages are small [B], and times as good as equal: within that share of the figure's height [%].
const SMALL: (u32, f64) = (128, 2.0);
/// From here on they are large. [B]
const LARGE: u32 = 1024;

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "figure 5",
    title: "complete exchange over the message size",
    claims: &["cm5.fig5.exchange32"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

/// An algorithm's mark in all figures.
pub fn mark(algorithm: Complete) -> Mark {
    Mark::full(ALGORITHMS.iter().position(|other| *other == algorithm).unwrap_or(ALGORITHMS.len()))
}

fn job(algorithm: Complete, bytes: u32) -> Job {
    Job::Exchange { algorithm, nodes: NODES, bytes }
}

fn jobs() -> Vec<Job> {
    ALGORITHMS.into_iter().flat_map(|algorithm| SIZES.map(|bytes| job(algorithm, bytes))).collect()
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let time = |algorithm, bytes| milliseconds(runs, job(algorithm, bytes));
    let three = [Complete::Pairwise, Complete::Recursive, Complete::Balanced];
    let height = time(Complete::Linear, SIZES[SIZES.len() - 1])?;
    let mut checks = Vec::new();
    for bytes in SIZES {
        let behind = time(Complete::Linear, bytes)? / time(Complete::Pairwise, bytes)?;
        let says =
            format!("{bytes} B: linear takes {} times as long as pairwise, at least {FAR_BEHIND}", fixed(behind, 1));
        checks.push(check(behind >= FAR_BEHIND, says));
        let mut found = Vec::new();
        for algorithm in three {
            found.push(time(algorithm, bytes)?);
        }
        if bytes <= SMALL.0 {
            let (least, most) =
                found.iter().fold((f64::MAX, 0.0f64), |(low, high), time| (low.min(*time), high.max(*time)));
            let apart = (most - least) / height * 100.0;
            let says = format!(
                "{bytes} B: the others are {} % of the figure's height apart, at most {}",
                fixed(apart, 2),
                SMALL.1
            );
            checks.push(check(apart <= SMALL.1, says));
        }
        if bytes >= LARGE {
            let holds = found[2] < found[0] && found[0] < found[1];
            let [pairwise, recursive, balanced] = [0, 1, 2].map(|index| fixed(found[index], 2));
            let says =
                format!("{bytes} B: balanced {balanced}, pairwise {pairwise}, recursive {recursive} ms, in that order");
            checks.push(check(holds, says));
        }
    }
    let [pairwise, recursive, balanced] = [0, 1, 2].map(|index| time(three[index], 2048));
    let ours = json!({
        "linear_2048": height, "pairwise_2048": pairwise?, "recursive_2048": recursive?, "balanced_2048": balanced?,
    });
    Ok(Judgement { ours, error_percent: Value::Null, checks })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let lines = |algorithms: &[Complete]| {
        let line = |algorithm: &Complete| {
            let point = |bytes| Ok((f64::from(bytes), milliseconds(runs, job(*algorithm, bytes))?));
            Ok((
                algorithm.name().to_string(),
                mark(*algorithm),
                SIZES.into_iter().map(point).collect::<Result<_, _>>()?,
            ))
        };
        algorithms.iter().map(line).collect::<Result<Vec<_>, Gap>>()
    };
    let ticks = [0, 512, 1024, 1536, 2048];
    let all = times("all four", sizes(&ticks), many_milliseconds(), lines(&ALGORITHMS)?);
    let three = times("without linear", sizes(&ticks), axis(), lines(&ALGORITHMS[1..])?);
    let keys: Vec<_> = ALGORITHMS.map(|algorithm| (algorithm.name().to_string(), mark(algorithm))).to_vec();
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels: vec![all, three],
        caption:
            "Time of a complete exchange among 32 nodes over the size of a message. The first chart's upright axis is \
                  logarithmic."
                .to_string(),
    }))
}
