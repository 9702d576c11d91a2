//! Figure 11: the raw network, whose nodes cost nothing.

use super::charts::{buffer_keys, by_buffers, gain_axis};
use super::job::{Load, MANY_BUFFERS, MocRun, Platform, SIZES};
use super::measures::{blocking, correlation, gain};
use super::{Results, StudyOfMoc};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Measure, fixed, legend};

/// A configuration is not slower when it loses no more than this against one buffer. [%]
const NOT_SLOWER: f64 = 1.0;

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 11",
    title: "the raw network, without the costs of nodes",
    claims: &["moc.fig11.raw"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn job(bytes: u32, buffers: u32) -> MocRun {
    MocRun { raw: true, ..MocRun::new(Platform::Basic, Load::UnequalDist, bytes).with_buffers(buffers) }
}

fn jobs() -> Vec<MocRun> {
    let of = |bytes| [1].into_iter().chain(MANY_BUFFERS).map(move |buffers| job(bytes, buffers));
    SIZES.into_iter().flat_map(of).collect()
}

/// How much longer a packet is blocked with `buffers` than with one, as a share of the whole run's length with one
/// buffer per packet: comparable over sizes.
fn blocking_ratio(runs: &Results, bytes: u32, buffers: u32) -> Result<f64, MissingAnswer> {
    Ok(blocking(runs, job(bytes, buffers))? / blocking(runs, job(bytes, 1))?.max(1e-9))
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut gains, mut ratios) = (Vec::new(), Vec::new());
    for (bytes, buffers) in SIZES.into_iter().flat_map(|bytes| MANY_BUFFERS.map(|buffers| (bytes, buffers))) {
        gains.push(gain(runs, job(bytes, buffers), job(bytes, 1))?);
        ratios.push(blocking_ratio(runs, bytes, buffers)?);
    }
    let kept = gains.iter().filter(|gain| **gain >= -NOT_SLOWER).count();
    let share = kept as f64 / gains.len() as f64 * 100.0;
    let fit = correlation(&gains, &ratios);
    let ours = format!("{} % of configurations not slower; correlation {}", fixed(share, 0), fixed(fit, 2));
    Ok(Findings::words(ours).with_number("not_slower_percent", share).with_number("correlation", fit))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let gains = by_buffers("speed-up", gain_axis(), Some(0.0), |buffers, bytes| {
        gain(runs, job(bytes, buffers), job(bytes, 1))
    })?;
    let y = Axis::linear("mean effective blocking of a packet [us]", Measure::Microseconds).reaching(0.0);
    let blocking = by_buffers("blocking", y, None, |buffers, bytes| blocking(runs, job(bytes, buffers)))?;
    Ok(Some(Drawing {
        legend: Some(legend(&buffer_keys())),
        panels: vec![gains, blocking],
        caption: "unequal-dist on 64 nodes of the Mesh of Clos(3,2) where messages cost the nodes nothing: only flit \
                  times and routing delays are left. Left: speed-up against one flit buffer. Right: how long the header \
                  of a packet was blocked at routers of the mesh, summed over its path; the mean over all packets."
            .to_string(),
    }))
}
