//! Figure 5: complete exchange over the message size.

use collectives::all_to_all::Complete;
use serde_json::{Value, json};

use super::charts::{many_milliseconds, milliseconds as axis, sizes};
use super::job::{Cm5Run, NODES};
use super::measures::milliseconds;
use super::{Results, StudyOfCm5};
use crate::render::chart;
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Mark, legend};

/// The algorithms of the figure.
pub const ALGORITHMS: [Complete; 4] = [Complete::Linear, Complete::Pairwise, Complete::Recursive, Complete::Balanced];
/// The sizes of the figure. [B]
const SIZES: [u32; 9] = [0, 64, 128, 256, 512, 1024, 1536, 1920, 2048];
/// Up to this size messages are small. [B]
const SMALL: u32 = 128;
/// From this size on they are large. [B]
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

fn job(algorithm: Complete, bytes: u32) -> Cm5Run {
    Cm5Run::Exchange { algorithm, nodes: NODES, bytes }
}

fn jobs() -> Vec<Cm5Run> {
    ALGORITHMS.into_iter().flat_map(|algorithm| SIZES.map(|bytes| job(algorithm, bytes))).collect()
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let height = milliseconds(runs, job(Complete::Linear, SIZES[SIZES.len() - 1]))?;
    let (mut behind, mut apart) = (Vec::new(), Vec::new());
    let (mut balanced_first, mut pairwise_second) = (Vec::new(), Vec::new());
    let mut last = [0.0; 4];
    for bytes in SIZES {
        let [linear, pairwise, recursive, balanced] = ALGORITHMS.map(|one| milliseconds(runs, job(one, bytes)));
        let (linear, pairwise, recursive, balanced) = (linear?, pairwise?, recursive?, balanced?);
        let place = format!("{bytes} B");
        behind.push((place.clone(), linear / pairwise));
        if bytes <= SMALL {
            let (least, most) = (pairwise.min(recursive).min(balanced), pairwise.max(recursive).max(balanced));
            apart.push((place.clone(), (most - least) / height * 100.0));
        }
        if bytes >= LARGE {
            balanced_first.push((place.clone(), balanced / pairwise));
            pairwise_second.push((place, pairwise / recursive));
        }
        last = [linear, pairwise, recursive, balanced];
    }
    let [linear, pairwise, recursive, balanced] = last;
    let ours = json!({
        "linear_2048": linear, "pairwise_2048": pairwise, "recursive_2048": recursive, "balanced_2048": balanced,
    });
    Ok(Findings::numbers(ours, Value::Null)
        .with("linear_over_pairwise", behind)
        .with("small_apart_percent", apart)
        .with("large_balanced_over_pairwise", balanced_first)
        .with("large_pairwise_over_recursive", pairwise_second))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let lines = |algorithms: &[Complete]| {
        let line = |algorithm: &Complete| {
            let point = |bytes| Ok((f64::from(bytes), milliseconds(runs, job(*algorithm, bytes))?));
            Ok((
                algorithm.name().to_string(),
                mark(*algorithm),
                SIZES.into_iter().map(point).collect::<Result<_, _>>()?,
            ))
        };
        algorithms.iter().map(line).collect::<Result<Vec<_>, MissingAnswer>>()
    };
    let ticks = [0, 512, 1024, 1536, 2048];
    let all = chart("all four", sizes(&ticks), many_milliseconds(), lines(&ALGORITHMS)?);
    let three = chart("without linear", sizes(&ticks), axis(), lines(&ALGORITHMS[1..])?);
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
