//! Figure 6: the three benchmarks on the Mesh of Clos and on the GCel.

use super::charts::size_axis;
use super::job::{ALL_NODES, LOADS, Load, MocRun, NODES, PAIRS, Platform, SIZES};
use super::measures::{geometric_mean, over_sizes, seconds};
use super::{Results, StudyOfMoc};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, LineChart, Mark, Measure, Series, fixed, legend};

/// The size at which the paper says that contention begins to bind. [B]
const KNEE: u32 = 512;

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 6",
    title: "three benchmarks, two machines",
    claims: &["moc.fig6.faster", "moc.fig6.knee", "moc.fig6.more_nodes"],
    jobs,
    judge,
    draw,
};

/// The machines that the figure compares.
const PLATFORMS: [Platform; 2] = [Platform::Basic, Platform::Gcel];

fn job(platform: Platform, load: Load, nodes: u32, bytes: u32) -> MocRun {
    MocRun::new(platform, load, bytes).on(nodes)
}

fn jobs() -> Vec<MocRun> {
    let mut jobs = Vec::new();
    for (platform, load) in PLATFORMS.into_iter().flat_map(|platform| LOADS.map(|load| (platform, load))) {
        jobs.extend(NODES.into_iter().flat_map(|nodes| SIZES.map(|bytes| job(platform, load, nodes, bytes))));
    }
    jobs
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    match claim.id.as_str() {
        "moc.fig6.faster" => faster(runs),
        "moc.fig6.knee" => knee(runs),
        _ => more_nodes(runs),
    }
}

fn faster(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut means, mut least) = (Vec::new(), Vec::new());
    for (load, nodes) in LOADS.into_iter().flat_map(|load| NODES.map(|nodes| (load, nodes))) {
        let mut factors = Vec::new();
        for bytes in SIZES {
            let gcel = seconds(runs, job(Platform::Gcel, load, nodes, bytes))?;
            factors.push(gcel / seconds(runs, job(Platform::Basic, load, nodes, bytes))?);
        }
        let gains: Vec<f64> = factors.iter().map(|factor| (factor - 1.0) * 100.0).collect();
        let place = format!("{}, {nodes} nodes", load.name());
        means.push((place.clone(), geometric_mean(&gains) / 100.0 + 1.0));
        least.push((place, factors.iter().copied().fold(f64::INFINITY, f64::min)));
    }
    let numbers = || means.iter().map(|(_, mean)| *mean);
    let (low, high) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(0.0, f64::max));
    let ours = format!("{} to {} times as fast on the geometric mean over sizes", fixed(low, 1), fixed(high, 1));
    Ok(Findings::words(ours).with("times_as_fast_on_mean", means).with("times_as_fast_at_least", least))
}

/// How much time each further byte takes between two sizes. [s/B]
fn slope(runs: &Results, load: Load, from: u32, to: u32) -> Result<f64, MissingAnswer> {
    let time = |bytes| seconds(runs, job(Platform::Basic, load, ALL_NODES, bytes));
    Ok((time(to)? - time(from)?) / f64::from(to - from))
}

fn knee(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut steeper, mut off, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for load in PAIRS {
        let before = slope(runs, load, SIZES[0], KNEE)?;
        let after = slope(runs, load, KNEE, SIZES[SIZES.len() - 1])?;
        steeper.push((load.name().to_string(), after / before));
        found.push(format!("{} {}", load.name(), fixed(after / before, 2)));
        let times = over_sizes(|bytes| seconds(runs, job(Platform::Gcel, load, ALL_NODES, bytes)))?;
        off.push((load.name().to_string(), off_line(&times)));
    }
    Ok(Findings::words(format!("slope beyond {KNEE} B over slope before: {}", found.join(", ")))
        .with("steeper", steeper)
        .with("gcel_off_line_percent", off))
}

/// The largest deviation of `points` from the straight line that fits them best in relative terms. [%]
fn off_line(points: &[(f64, f64)]) -> f64 {
    // Least squares of (a + b x - y) / y: every point counts by its relative error.
    let (mut ones, mut xs, mut xxs, mut ys, mut xys) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (x, y) in points {
        let weight = 1.0 / (y * y);
        ones += weight;
        xs += weight * x;
        xxs += weight * x * x;
        ys += weight * y;
        xys += weight * x * y;
    }
    let b = (ones * xys - xs * ys) / (ones * xxs - xs * xs);
    let a = (ys - b * xs) / ones;
    points.iter().map(|(x, y)| ((a + b * x - y) / y).abs() * 100.0).fold(0.0, f64::max)
}

fn more_nodes(runs: &Results) -> Result<Findings, MissingAnswer> {
    let mut over_fewer = Vec::new();
    for (load, bytes) in PAIRS.into_iter().flat_map(|load| SIZES.map(|bytes| (load, bytes))) {
        let time = |nodes| seconds(runs, job(Platform::Basic, load, nodes, bytes));
        let [few, some, many] = [time(4)?, time(16)?, time(64)?];
        over_fewer.push((format!("{}, {bytes} B", load.name()), (some / few).max(many / some)));
    }
    let ours = |holding, of| format!("faster with more nodes in {holding} of {of} cases").into();
    Ok(Findings::counted(ours).with("over_fewer", over_fewer))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mark = |platform, index| if platform == Platform::Gcel { Mark::broken(index) } else { Mark::full(index) };
    let name = |platform: Platform, nodes: u32| match platform {
        Platform::Gcel => format!("GCel, {nodes} nodes"),
        _ => format!("Mesh of Clos, {nodes} nodes"),
    };
    let mut panels = Vec::new();
    for load in LOADS {
        let mut series = Vec::new();
        for (platform, (index, nodes)) in
            PLATFORMS.into_iter().flat_map(|p| NODES.into_iter().enumerate().map(move |n| (p, n)))
        {
            let points = over_sizes(|bytes| seconds(runs, job(platform, load, nodes, bytes)))?;
            series.push(Series { name: name(platform, nodes), mark: mark(platform, index), points });
        }
        let y = Axis::logarithmic("time [s]", Measure::Seconds);
        panels.push(LineChart { title: load.name().to_string(), x: size_axis(), y, series, baseline: None }.draw());
    }
    let keys = PLATFORMS.into_iter().flat_map(|platform| {
        NODES.into_iter().enumerate().map(move |(index, nodes)| (name(platform, nodes), mark(platform, index)))
    });
    Ok(Some(Drawing {
        legend: Some(legend(&keys.collect::<Vec<_>>())),
        panels,
        caption:
            "Time of each benchmark over the message size on 4, 16 and 64 nodes, with logarithmic axes. all-to-all \
                  has 32 messages for every ordered pair of nodes; the other two have 4096 messages whatever the \
                  number of nodes. Full lines: the Mesh of Clos; broken lines: the GCel, simulated as well, which in \
                  the paper is a measurement on the machine."
                .to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use super::off_line;

    #[test]
    fn a_line_is_on_itself_and_a_bend_is_not() {
        assert!(off_line(&[(1.0, 3.0), (2.0, 5.0), (4.0, 9.0)]) < 1e-9);
        assert!(off_line(&[(1.0, 1.0), (2.0, 1.0), (4.0, 9.0)]) > 20.0);
    }
}
