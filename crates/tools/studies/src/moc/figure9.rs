//! Figure 9: how soon packets leave, and how long receivers wait.

use super::job::{Load, MANY_BUFFERS, MocRun, Platform};
use super::measures::{change, receive_idle, send_away};
use super::{Results, StudyOfMoc};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, BarChart, BarSeries, Mark, Measure, bar_legend, signed_percent};

/// The message sizes of the figure. [B]
const DRAWN: [u32; 2] = [128, 2048];
/// The numbers of buffers with which 2048-byte messages save more than they lose.
const WORTH_IT: [u32; 3] = [4, 32, 64];
/// The only number with which 128-byte messages do.
const SHORT_WORTH_IT: u32 = 2;

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 9",
    title: "time to send a packet away and time that receivers idle",
    claims: &["moc.fig9.send_away"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn job(bytes: u32) -> MocRun {
    MocRun::new(Platform::Basic, Load::UnequalDist, bytes)
}

fn jobs() -> Vec<MocRun> {
    let of = |bytes| [1].into_iter().chain(MANY_BUFFERS).map(move |buffers| job(bytes).with_buffers(buffers));
    DRAWN.into_iter().flat_map(of).collect()
}

/// The change of the send-away time and of the idle time by `buffers`. [%]
pub(super) fn changes(runs: &Results, bytes: u32, buffers: u32) -> Result<(f64, f64), MissingAnswer> {
    let (many, one) = (job(bytes).with_buffers(buffers), job(bytes));
    let away = change(send_away(runs, many)?, send_away(runs, one)?);
    Ok((away, change(receive_idle(runs, many)?, receive_idle(runs, one)?)))
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut sooner, mut longer, mut found, mut worth) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for bytes in DRAWN {
        let both: Vec<(f64, f64)> =
            MANY_BUFFERS.iter().map(|buffers| changes(runs, bytes, *buffers)).collect::<Result<_, _>>()?;
        sooner.push((format!("{bytes} B"), both.iter().filter(|(away, _)| *away < 0.0).count() as f64));
        longer.push((format!("{bytes} B"), both.iter().filter(|(_, idle)| *idle > 0.0).count() as f64));
        let (away, idle) = both[both.len() - 1];
        let (away, idle) = (signed_percent(away), signed_percent(idle));
        found.push(format!("{bytes} B with 64 buffers: send-away {away}, idle {idle}"));
    }
    let saved = |bytes, buffers| changes(runs, bytes, buffers).map(|(away, idle)| -away - idle);
    for buffers in WORTH_IT {
        worth.push((format!("2048 B, {buffers} buffers"), saved(2048, buffers)?));
    }
    let mut lost = Vec::new();
    for buffers in MANY_BUFFERS.into_iter().filter(|buffers| *buffers != SHORT_WORTH_IT) {
        lost.push((format!("128 B, {buffers} buffers"), saved(128, buffers)?));
    }
    Ok(Findings::words(found.join("; "))
        .with("leave_sooner", sooner)
        .with("idle_longer", longer)
        .with("saved_more_points", worth)
        .with_number("short_saved_more_points", saved(128, SHORT_WORTH_IT)?)
        .with("short_lost_more_points", lost))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let names = ["time to send a packet away", "time that a node idles to receive"];
    let mut panels = Vec::new();
    for bytes in DRAWN {
        let both: Vec<(f64, f64)> =
            MANY_BUFFERS.iter().map(|buffers| changes(runs, bytes, *buffers)).collect::<Result<_, _>>()?;
        let (away, idle) = both.into_iter().unzip();
        let series = [away, idle].into_iter().enumerate().map(|(index, values)| BarSeries {
            name: names[index].to_string(),
            mark: Mark::full(index),
            values,
        });
        panels.push(
            BarChart {
                title: format!("messages of {bytes} B"),
                groups_label: "flit buffers".to_string(),
                groups: MANY_BUFFERS.iter().map(u32::to_string).collect(),
                y: Axis::linear("change against one buffer [%]", Measure::Percent),
                series: series.collect(),
            }
            .draw(),
        );
    }
    Ok(Some(Drawing {
        legend: Some(bar_legend(&[(names[0].to_string(), Mark::full(0)), (names[1].to_string(), Mark::full(1))])),
        panels,
        caption:
            "unequal-dist on 64 nodes of the Mesh of Clos(3,2). To send a packet away takes from the moment it is \
                  ready until its tail has left the node; a node idles from asking for a message until it has arrived."
                .to_string(),
    }))
}
