//! Figures 3 and 4: lambda and the two times that make it up, over the message size.

use serde_json::{Map, Value, json};

use super::charts::size_axis;
use super::job::{Experiment, PostalRun, SIZES};
use super::measures::{Latency, latency, latency_jobs};
use super::{Results, StudyOfPostal};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, LineChart, Mark, Measure, Series, legend};

/// The sizes with a printed lambda, and its name. [B]
const PRINTED: [(u32, &str); 2] = [(512, "at_512"), (16384, "at_16384")];
/// The packet, where lambda is largest. [B]
const PACKET: u32 = 512;

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 3",
    title: "lambda over the message size",
    claims: &["postal.fig3.lambda"],
    jobs,
    judge,
    draw,
};

fn jobs() -> Vec<PostalRun> {
    let of = |bytes| [Experiment::One, Experiment::Two].map(|experiment| latency_jobs(experiment, true, bytes));
    SIZES.into_iter().flat_map(of).flatten().collect()
}

fn over_sizes(runs: &Results, experiment: Experiment) -> Result<Vec<(u32, Latency)>, MissingAnswer> {
    SIZES.into_iter().map(|bytes| Ok((bytes, latency(runs, experiment, true, bytes)?))).collect()
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let (one, two) = (over_sizes(runs, Experiment::One)?, over_sizes(runs, Experiment::Two)?);
    let (mut ours, mut errors, mut found) = (Map::new(), Map::new(), Vec::new());
    for (bytes, name) in PRINTED {
        let lambda = one.iter().find(|point| point.0 == bytes).map_or(f64::NAN, |point| point.1.lambda);
        ours.insert(name.to_string(), json!(lambda));
        errors.insert(name.to_string(), json!((lambda / claim.printed(name)? - 1.0) * 100.0));
        found.push((name, lambda));
    }
    let changes = one.windows(2).map(|pair| (pair[1].0, pair[1].1.lambda / pair[0].1.lambda));
    let (rising, falling): (Vec<_>, Vec<_>) = changes.partition(|(bytes, _)| *bytes <= PACKET);
    let placed = |changes: Vec<(u32, f64)>| changes.into_iter().map(|(bytes, change)| (format!("{bytes} B"), change));
    let apart = one
        .iter()
        .zip(&two)
        .map(|((bytes, one), (_, two))| (format!("{bytes} B"), (two.lambda / one.lambda - 1.0).abs() * 100.0));
    let findings = Findings::numbers(Value::Object(ours), Value::Object(errors))
        .with("rising", placed(rising))
        .with("falling", placed(falling))
        .with("experiments_apart_percent", apart);
    Ok(found.into_iter().fold(findings, |findings, (name, lambda)| findings.with_number(name, lambda)))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let (one, two) = (over_sizes(runs, Experiment::One)?, over_sizes(runs, Experiment::Two)?);
    let line = |name: &str, mark, points: &[(u32, Latency)], value: &dyn Fn(&Latency) -> f64| Series {
        name: name.to_string(),
        mark,
        points: points.iter().map(|(bytes, latency)| (f64::from(*bytes), value(latency))).collect(),
    };
    let lambdas = vec![
        line("first experiment", Mark::full(0), &one, &|found| found.lambda),
        line("second experiment", Mark::broken(1), &two, &|found| found.lambda),
    ];
    let y = Axis::linear("lambda", Measure::Plain).reaching(1.0);
    let lambda =
        LineChart { title: "lambda".to_string(), x: size_axis(), y, series: lambdas, baseline: Some(1.0) }.draw();
    let times = vec![
        line("receiver, lambda t0", Mark::full(2), &one, &|found| found.lambda * found.send_time),
        line("sender, t0", Mark::full(3), &one, &|found| found.send_time),
    ];
    let y = Axis::logarithmic("time [us]", Measure::Microseconds);
    let title = "time until it is sent and received".to_string();
    let times = LineChart { title, x: size_axis(), y, series: times, baseline: None }.draw();
    let keys = [("first experiment", Mark::full(0)), ("second experiment", Mark::broken(1))];
    let more = [("receiver", Mark::full(2)), ("sender", Mark::full(3))];
    let keys: Vec<_> = keys.iter().chain(&more).map(|(name, mark)| (name.to_string(), *mark)).collect();
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels: vec![lambda, times],
        caption: "lambda on the model of the Delta as both experiments find it, and the times t0 and lambda t0, from \
                  sources with 2 to 16 partners, drawn four times."
            .to_string(),
    }))
}
