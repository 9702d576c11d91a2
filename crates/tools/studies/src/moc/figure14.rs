//! Figure 14: ways to choose the mesh layer on the Mesh of Clos(3,1).

use super::job::{LOADS, Layer, Load, MANY_BUFFERS, MocRun, Platform, ROUNDS_OF_STRATEGIES, SIZES};
use super::measures::{gain, geometric_mean, mean};
use super::{Results, StudyOfMoc};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, BarChart, BarSeries, Mark, Measure, bar_legend, signed_percent};

/// The ways that the figure compares with the fixed layer.
const STRATEGIES: [Layer; 4] = [Layer::Random, Layer::RoundRobin, Layer::IdleFixed, Layer::IdleRandom];
/// A large buffer space: from this many buffers.
const LARGE: u32 = 32;

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "figure 14",
    title: "adaptive choice of the mesh layer",
    claims: &["moc.fig14.adaptive"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

/// The benchmarks, with fewer rounds of all-to-all.
const SHORTER_LOADS: [Load; 3] = [Load::AllToAll { rounds: ROUNDS_OF_STRATEGIES }, LOADS[1], LOADS[2]];

fn all_buffers() -> impl Iterator<Item = u32> {
    [1].into_iter().chain(MANY_BUFFERS)
}

fn job(load: Load, bytes: u32, buffers: u32, layer: Layer) -> MocRun {
    MocRun { layer, ..MocRun::new(Platform::Clustered, load, bytes).with_buffers(buffers) }
}

fn jobs() -> Vec<MocRun> {
    let layers = || [Layer::Fixed].into_iter().chain(STRATEGIES);
    let mut jobs = Vec::new();
    for (load, bytes) in SHORTER_LOADS.into_iter().flat_map(|load| SIZES.map(|bytes| (load, bytes))) {
        jobs.extend(all_buffers().flat_map(|buffers| layers().map(move |layer| job(load, bytes, buffers, layer))));
    }
    jobs
}

/// By how much `layer` is faster than the fixed layer, for each number of buffers: geometric means over sizes. [%]
fn gains(runs: &Results, load: Load, layer: Layer) -> Result<Vec<f64>, MissingAnswer> {
    let of_size =
        |bytes, buffers| gain(runs, job(load, bytes, buffers, layer), job(load, bytes, buffers, Layer::Fixed));
    let of_buffers = |buffers| {
        let gains: Vec<f64> =
            SIZES.into_iter().map(|bytes| of_size(bytes, buffers)).collect::<Result<_, MissingAnswer>>()?;
        Ok(geometric_mean(&gains))
    };
    all_buffers().map(of_buffers).collect()
}

/// The gains of one benchmark, by strategy.
struct GainComparison {
    load: Load,
    by_strategy: Vec<Vec<f64>>,
}

fn compare(runs: &Results) -> Result<Vec<GainComparison>, MissingAnswer> {
    let of = |load| {
        let by_strategy =
            STRATEGIES.into_iter().map(|layer| gains(runs, load, layer)).collect::<Result<_, MissingAnswer>>()?;
        Ok(GainComparison { load, by_strategy })
    };
    SHORTER_LOADS.into_iter().map(of).collect()
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let compared = compare(runs)?;
    let all: Vec<f64> = compared.iter().flat_map(|one| one.by_strategy.concat()).collect();
    let faster = all.iter().filter(|gain| **gain > 0.0).count();
    let strategy =
        |index: usize| -> Vec<f64> { compared.iter().flat_map(|one| one.by_strategy[index].clone()).collect() };
    let means = STRATEGIES.iter().enumerate().map(|(index, layer)| (layer.name().to_string(), mean(&strategy(index))));
    let means: Vec<(String, f64)> = means.collect();
    let each = means.iter().map(|(name, mean)| format!("{name} {}", signed_percent(*mean)));
    let findings = Findings::words(format!("on average {}", each.collect::<Vec<_>>().join(", ")))
        .with_number("faster_share_percent", faster as f64 / all.len() as f64 * 100.0)
        .with("mean_gain_percent", means)
        .with("random_ahead_points", compared.iter().map(random_ahead));
    Ok(likeness(findings, &strategy(1), &strategy(2), &strategy(3)))
}

/// By how much Random leads the slowest of the others; negative if it is the slowest itself.
fn random_ahead(one: &GainComparison) -> (String, f64) {
    let means: Vec<f64> = one.by_strategy.iter().map(|gains| mean(gains)).collect();
    let others = means[1..].iter().copied().fold(f64::INFINITY, f64::min);
    (one.load.name().to_string(), means[0] - others)
}

/// `findings` with the differences of RoundRobin and IdleFixed, and of IdleRnd and IdleFixed with few buffers and with
/// many.
fn likeness(findings: Findings, round_robin: &[f64], idle_fixed: &[f64], idle_random: &[f64]) -> Findings {
    let distance =
        |one: &[f64], other: &[f64]| mean(&one.iter().zip(other).map(|(a, b)| (a - b).abs()).collect::<Vec<_>>());
    let buffers: Vec<u32> = SHORTER_LOADS.iter().flat_map(|_| all_buffers()).collect();
    let only = |values: &[f64], large: bool| -> Vec<f64> {
        let of_them = values.iter().zip(&buffers).filter(|(_, buffers)| (**buffers >= LARGE) == large);
        of_them.map(|(value, _)| *value).collect()
    };
    findings
        .with_number("round_robin_apart_points", distance(round_robin, idle_fixed))
        .with_number("idle_random_apart_points", distance(&only(idle_random, false), &only(idle_fixed, false)))
        .with_number("idle_random_ahead_points", mean(&only(idle_random, true)) - mean(&only(idle_fixed, true)))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut panels = Vec::new();
    for one in compare(runs)? {
        let series = STRATEGIES.iter().zip(one.by_strategy).enumerate().map(|(index, (layer, values))| BarSeries {
            name: layer.name().to_string(),
            mark: Mark::full(index),
            values,
        });
        panels.push(
            BarChart {
                title: one.load.name().to_string(),
                groups_label: "flit buffers".to_string(),
                groups: all_buffers().map(|buffers| buffers.to_string()).collect(),
                y: Axis::linear("speed-up against the fixed layer [%]", Measure::Percent),
                series: series.collect(),
            }
            .draw(),
        );
    }
    let keys: Vec<_> =
        STRATEGIES.iter().enumerate().map(|(index, layer)| (layer.name().to_string(), Mark::full(index))).collect();
    Ok(Some(Drawing {
        legend: Some(bar_legend(&keys)),
        panels,
        caption: format!(
            "By how much each way to choose the mesh layer is faster than each node's fixed layer, for every number of \
             flit buffers: the geometric mean over message sizes of 32 to 2048 B; 64 nodes, Mesh of Clos(3,1). \
             all-to-all has {ROUNDS_OF_STRATEGIES} rounds here, with either."
        ),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::{Setup, run_with};
    use super::*;

    /// A node's router has as many channels up as nodes, and a packet keeps one up for no longer than it is at the
    /// front of its input. So three others leave one idle, unless a header asks before the tail ahead of it is through:
    /// if a router takes no less time than a flit, one strategy is the other.
    #[test]
    fn an_idle_layer_is_always_found_unless_a_header_asks_before_the_tail_ahead_is_through() {
        let took = |routing_delay: &str, buffers, layer| {
            let settings = [("channels.flit_time", "155 ns"), ("routers.routing_delay", routing_delay)];
            let settings = settings.map(|(field, value)| (field.to_string(), value.to_string())).to_vec();
            let setup = Setup { settings, messages: Some(512), ..Setup::default() };
            let job = MocRun { raw: true, ..job(Load::UnequalDist, 2048, buffers, layer) };
            run_with(&setup, &job).unwrap().answer.makespan()
        };
        for (routing_delay, buffers) in [("155 ns", 1), ("155 ns", 64), ("400 ns", 64), ("20 ns", 1)] {
            let [one, other, third] = [Layer::IdleFixed, Layer::IdleRandom, Layer::RoundRobin]
                .map(|layer| took(routing_delay, buffers, layer));
            assert_eq!((one, one), (other, third), "{routing_delay}, {buffers} buffers");
        }
        let [fixed, random] = [Layer::IdleFixed, Layer::IdleRandom].map(|layer| took("20 ns", 64, layer));
        assert_ne!(fixed, random, "the premise is needed");
    }
}
