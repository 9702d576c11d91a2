//! Figure 10: the routers at which headers are blocked.

use super::job::{Load, MANY_BUFFERS, MocRun, Platform};
use super::measures::{blocking_by_router, change, mean};
use super::{Results, StudyOfMoc};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, BarChart, BarSeries, Measure, bar_legend, signed_percent};

use super::charts::{buffer_keys, buffer_mark};

/// The message size of the figure. [B]
const BYTES: u32 = 128;
/// The first router of the mesh's bottom row.
const BOTTOM_ROW: usize = 12;
/// Routers of the mesh.
const ROUTERS: usize = 16;

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 10",
    title: "where headers are blocked",
    claims: &["moc.fig10.hot_spots"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn job(buffers: u32) -> MocRun {
    MocRun::new(Platform::Basic, Load::UnequalDist, BYTES).with_buffers(buffers)
}

fn jobs() -> Vec<MocRun> {
    [1].into_iter().chain(MANY_BUFFERS).map(job).collect()
}

/// The change of the mean blocking at each router by `buffers`. [%]
pub(super) fn changes(runs: &Results, buffers: u32) -> Result<Vec<f64>, MissingAnswer> {
    let (many, one) = (blocking_by_router(runs, job(buffers))?, blocking_by_router(runs, job(1))?);
    Ok(many.iter().zip(&one).map(|(many, one)| change(*many, *one)).collect())
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut risen, mut bottom_row, mut means) = (Vec::new(), Vec::new(), Vec::new());
    for buffers in MANY_BUFFERS {
        let changes = changes(runs, buffers)?;
        let (upper, bottom) = changes.split_at(BOTTOM_ROW.min(changes.len()));
        let more = upper.iter().filter(|change| **change > 0.0).count();
        risen.push((format!("{buffers} buffers"), more as f64 / upper.len() as f64));
        bottom_row.push((format!("{buffers} buffers"), mean(bottom)));
        means.push(mean(&changes));
    }
    let best = (0..means.len()).min_by(|one, other| means[*one].total_cmp(&means[*other])).unwrap_or(0);
    let worst = (0..means.len()).max_by(|one, other| means[*one].total_cmp(&means[*other])).unwrap_or(0);
    let each =
        MANY_BUFFERS.iter().zip(&means).map(|(buffers, mean)| format!("{buffers} buffers {}", signed_percent(*mean)));
    Ok(Findings::words(format!("mean change over routers: {}", each.collect::<Vec<_>>().join(", ")))
        .with("risen_share", risen)
        .with("bottom_row_percent", bottom_row)
        .with_number("worst_buffers", MANY_BUFFERS[worst].into())
        .with_number("best_buffers", MANY_BUFFERS[best].into()))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut series = Vec::new();
    for (index, buffers) in MANY_BUFFERS.into_iter().enumerate() {
        let values = changes(runs, buffers)?;
        series.push(BarSeries { name: format!("{buffers} flit buffers"), mark: buffer_mark(index), values });
    }
    let halves =
        [("routers of the two upper rows", 0..ROUTERS / 2), ("routers of the two lower rows", ROUTERS / 2..ROUTERS)];
    let panels = halves.into_iter().map(|(title, routers)| {
        let of_half = |series: &BarSeries| BarSeries {
            values: series.values.iter().skip(routers.start).take(routers.len()).copied().collect(),
            ..series.clone()
        };
        BarChart {
            title: title.to_string(),
            groups_label: "router of the mesh".to_string(),
            groups: routers.clone().map(|router| router.to_string()).collect(),
            y: Axis::linear("change of mean header blocking [%]", Measure::Percent),
            series: series.iter().map(of_half).collect(),
        }
        .draw()
    });
    Ok(Some(Drawing {
        legend: Some(bar_legend(&buffer_keys())),
        panels: panels.collect(),
        caption:
            "Mean time that a header is blocked at each router of the mesh against one flit buffer; unequal-dist, \
                  64 nodes, 128-byte messages, Mesh of Clos(3,2). Routers are numbered by rows from the top left; the \
                  bottom row is 12 to 15."
                .to_string(),
    }))
}
