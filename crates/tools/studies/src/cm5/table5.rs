//! Table 5: the two-dimensional Fourier transform.

use collectives::all_to_all::Complete;
use serde_json::json;

use super::charts::with_deviation;
use super::job::{Cm5Run, MANY_NODES, NODES};
use super::measures::{deviation, mean_deviation, milliseconds, table_cell};
use super::{Results, StudyOfCm5};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Cell, Table, fixed};

/// The arrays, in numbers a side.
const SIZES: [u32; 4] = [256, 512, 1024, 2048];
/// The columns.
const ALGORITHMS: [Complete; 4] = [Complete::Linear, Complete::Pairwise, Complete::Recursive, Complete::Balanced];
/// The machines, and the names of their rows: one array per row, one algorithm per column. [s]
const MACHINES: [(u32, &str); 2] = [(NODES, "p32"), (MANY_NODES, "p256")];

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "table 5",
    title: "the two-dimensional Fourier transform",
    claims: &["cm5.table5.fft"],
    jobs,
    judge,
    draw,
};

/// What the two costs of the transform were fitted to, and what was held back for the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureUse {
    /// Every other figure of pairwise, recursive and balanced exchange, like the colours of a chessboard.
    Training,
    /// The others of these.
    HeldBack,
    /// Those of linear exchange, which are held back, too.
    Linear,
}

/// The figures of the table: the run, the printed time [s], and the use of each.
pub fn figures(claim: &Claim) -> Result<Vec<(Cm5Run, f64, FigureUse)>, MissingAnswer> {
    let mut figures = Vec::new();
    for (nodes, name) in MACHINES {
        for (row, (size, printed)) in SIZES.into_iter().zip(claim.printed_rows(name)?).enumerate() {
            for (column, (algorithm, printed)) in ALGORITHMS.into_iter().zip(printed).enumerate() {
                let part = match algorithm {
                    Complete::Linear => FigureUse::Linear,
                    _ if (row + column).is_multiple_of(2) => FigureUse::HeldBack,
                    _ => FigureUse::Training,
                };
                figures.push((Cm5Run::Transform { algorithm, nodes, size }, printed, part));
            }
        }
    }
    Ok(figures)
}

fn jobs() -> Vec<Cm5Run> {
    let of = |nodes, size| ALGORITHMS.map(|algorithm| Cm5Run::Transform { algorithm, nodes, size });
    MACHINES.into_iter().flat_map(|(nodes, _)| SIZES.into_iter().flat_map(move |size| of(nodes, size))).collect()
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let mut found = Vec::new();
    for (job, printed, part) in figures(claim)? {
        found.push((milliseconds(runs, job)? / 1e3, printed, part));
    }
    let cells_of = |wanted: &dyn Fn(FigureUse) -> bool| -> Vec<crate::Cell> {
        let places = MACHINES.into_iter().flat_map(|(nodes, _)| {
            SIZES
                .into_iter()
                .flat_map(move |size| ALGORITHMS.map(|it| format!("{size} squared, {nodes} nodes, {}", it.name())))
        });
        let cells = found.iter().zip(places).filter(|((_, _, part), _)| wanted(*part));
        cells.map(|((ours, printed, _), place)| table_cell(place, (*ours, *printed))).collect()
    };
    let off_of = |wanted: &dyn Fn(FigureUse) -> bool| {
        mean_deviation(cells_of(wanted).into_iter().map(|cell| (cell.ours, cell.printed)))
    };
    let mut ours = serde_json::Map::new();
    for (index, (_, name)) in MACHINES.into_iter().enumerate() {
        let each = ALGORITHMS.len();
        let rows = found.chunks(each).skip(index * SIZES.len()).take(SIZES.len());
        let rows = rows.map(|row| row.iter().map(|(ours, ..)| (ours * 1e4).round() / 1e4).collect::<Vec<f64>>());
        ours.insert(name.to_string(), json!(rows.collect::<Vec<_>>()));
    }
    let error_percent = json!({
        "linear": off_of(&|part| part == FigureUse::Linear),
        "others": off_of(&|part| part != FigureUse::Linear),
    });
    Ok(Findings::numbers(ours.into(), error_percent)
        .with_mean_deviation("training_off_percent", &cells_of(&|part| part == FigureUse::Training))
        .with_mean_deviation("held_back_off_percent", &cells_of(&|part| part == FigureUse::HeldBack))
        .with_mean_deviation("linear_off_percent", &cells_of(&|part| part == FigureUse::Linear)))
}

fn draw(claims: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let claim = claims.get(STUDY.claims[0])?;
    let mut head = vec!["nodes", "array"];
    let names = ALGORITHMS.map(|algorithm| [format!("{}, printed", algorithm.name()), "ours".to_string()]).concat();
    head.extend(names.iter().map(String::as_str));
    let mut table = Table::with_head(&head);
    for (nodes, name) in MACHINES {
        for (size, row) in SIZES.into_iter().zip(claim.printed_rows(name)?) {
            let mut cells = vec![Cell::Number(nodes.to_string()), Cell::Short(format!("{size}x{size}"))];
            for (algorithm, printed) in ALGORITHMS.into_iter().zip(row) {
                let ours = milliseconds(runs, Cm5Run::Transform { algorithm, nodes, size })? / 1e3;
                cells.extend([fixed(printed, 3), with_deviation(ours, deviation(ours, printed), 3)].map(Cell::Number));
            }
            table.rows.push(cells);
        }
    }
    let caption = "Seconds for the transform of an array of 8-byte complex numbers, and by how much ours is off. What a \
                   floating-point operation and the packing of a block take was fitted to half of the figures of the last \
                   three.";
    Ok(Some(Drawing { legend: None, panels: vec![table.draw()], caption: caption.to_string() }))
}
