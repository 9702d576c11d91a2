//! Table 5: the two-dimensional Fourier transform.

use programs::all_to_all::Complete;
use serde_json::json;

use super::charts::beside;
use super::job::{Job, MANY_NODES, NODES};
use super::measures::{mean_off, milliseconds, off};
use super::{Results, StudyOfCm5};
use crate::{Drawing, Gap, Judgement, check};
use report::{Cell, Table, fixed};

/// The arrays, in numbers a side.
const SIZES: [u32; 4] = [256, 512, 1024, 2048];
/// The columns.
const ALGORITHMS: [Complete; 4] = [Complete::Linear, Complete::Pairwise, Complete::Recursive, Complete::Balanced];
/// What is printed, in seconds: for 32 and for 256 nodes, a row an array.
const PRINTED: [(u32, [[f64; 4]; 4]); 2] = [
    (
        NODES,
        [
            [0.215, 0.152, 0.112, 0.114],
            [0.845, 0.470, 0.467, 0.470],
            [3.135, 2.007, 2.480, 2.005],
            [14.780, 9.032, 9.245, 8.509],
        ],
    ),
    (
        MANY_NODES,
        [
            [4.340, 0.076, 0.077, 0.076],
            [4.750, 0.120, 0.120, 0.120],
            [5.968, 0.314, 0.313, 0.312],
            [18.087, 1.738, 2.160, 1.668],
        ],
    ),
];
/// How far ours may be off on the mean: linear, and the other three. [%]
const LINEAR_OFF: f64 = 25.0;
const OTHERS_OFF: f64 = 10.0;

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "table 5",
    title: "the two-dimensional Fourier transform",
    claims: &["cm5.table5.fft"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

/// A figure of the table: its run, and what is printed. [s]
pub fn figures() -> impl Iterator<Item = (Job, f64)> {
    PRINTED.into_iter().flat_map(|(nodes, rows)| {
        SIZES.into_iter().zip(rows).flat_map(move |(size, row)| {
            ALGORITHMS
                .into_iter()
                .zip(row)
                .map(move |(algorithm, printed)| (Job::Transform { algorithm, nodes, size }, printed))
        })
    })
}

fn jobs() -> Vec<Job> {
    figures().map(|(job, _)| job).collect()
}

/// Ours beside what is printed, of linear exchange or of the others. [s]
fn pairs(runs: &Results, linear: bool) -> Result<Vec<(f64, f64)>, Gap> {
    let wanted = figures().filter(
        |(job, _)| matches!(job, Job::Transform { algorithm, .. } if (*algorithm == Complete::Linear) == linear),
    );
    wanted.map(|(job, printed)| Ok((milliseconds(runs, job)? / 1e3, printed))).collect()
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let (linear, others) = (mean_off(pairs(runs, true)?), mean_off(pairs(runs, false)?));
    let checks = vec![
        check(
            others <= OTHERS_OFF,
            format!(
                "pairwise, recursive and balanced are {} % off on the mean, at most {OTHERS_OFF}",
                fixed(others, 1)
            ),
        ),
        check(linear <= LINEAR_OFF, format!("linear is {} % off on the mean, at most {LINEAR_OFF}", fixed(linear, 1))),
    ];
    let mut ours = serde_json::Map::new();
    for (nodes, rows) in PRINTED {
        let mut table = Vec::new();
        for (size, _) in SIZES.into_iter().zip(rows) {
            let time = |algorithm| milliseconds(runs, Job::Transform { algorithm, nodes, size });
            let row = ALGORITHMS.into_iter().map(time).collect::<Result<Vec<_>, Gap>>()?;
            table.push(row.into_iter().map(|time| (time / 1e3 * 1e4).round() / 1e4).collect::<Vec<f64>>());
        }
        ours.insert(format!("p{nodes}"), json!(table));
    }
    let error_percent = json!({ "linear": linear, "others": others });
    Ok(Judgement { ours: ours.into(), error_percent, checks })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let mut head = vec!["nodes", "array"];
    let names = ALGORITHMS.map(|algorithm| [format!("{}, printed", algorithm.name()), "ours".to_string()]).concat();
    head.extend(names.iter().map(String::as_str));
    let mut table = Table::with_head(&head);
    for (nodes, rows) in PRINTED {
        for (size, row) in SIZES.into_iter().zip(rows) {
            let mut cells = vec![Cell::Number(nodes.to_string()), Cell::Short(format!("{size}x{size}"))];
            for (algorithm, printed) in ALGORITHMS.into_iter().zip(row) {
                let ours = milliseconds(runs, Job::Transform { algorithm, nodes, size })? / 1e3;
                cells.extend([fixed(printed, 3), beside(ours, off(ours, printed), 3)].map(Cell::Number));
            }
            table.rows.push(cells);
        }
    }
    let caption = "Seconds for the transform of an array of 8-byte complex numbers, and by how much ours is off. What a \
                   floating-point operation and the packing of a block take was fitted to half of the figures of the last \
                   three.";
    Ok(Some(Drawing { legend: None, panels: vec![table.draw()], caption: caption.to_string() }))
}
