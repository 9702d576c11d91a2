//! Figures 3 and 4: lambda and the two times it is made of, over the message size.

use serde_json::{Value, json};

use super::charts::size_axis;
use super::job::{Experiment, Job, SIZES};
use super::measures::{Latency, latency, latency_jobs};
use super::{Results, StudyOfPostal};
use crate::{Drawing, Gap, Judgement, check};
use report::{Axis, LineChart, Mark, Measure, Series, fixed, legend};

/// Size, what is printed, and how far ours may lie from it: least, most.
const PUBLISHED: [(u32, f64, f64, f64); 2] = [(512, 1.8, 1.75, 1.85), (16384, 1.05, 1.0, 1.1)];
/// The packet, where lambda is largest. [B]
const PACKET: u32 = 512;
/// How far apart the two experiments may be. [%]
const AGREE: f64 = 3.0;

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 3",
    title: "lambda over the message size",
    claims: &["postal.fig3.lambda"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn jobs() -> Vec<Job> {
    let of = |bytes| [Experiment::One, Experiment::Two].map(|experiment| latency_jobs(experiment, true, bytes));
    SIZES.into_iter().flat_map(of).flatten().collect()
}

fn over_sizes(runs: &Results, experiment: Experiment) -> Result<Vec<(u32, Latency)>, Gap> {
    SIZES.into_iter().map(|bytes| Ok((bytes, latency(runs, experiment, true, bytes)?))).collect()
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let (one, two) = (over_sizes(runs, Experiment::One)?, over_sizes(runs, Experiment::Two)?);
    let (mut ours, mut errors, mut checks) = (serde_json::Map::new(), serde_json::Map::new(), Vec::new());
    for (bytes, published, least, most) in PUBLISHED {
        let lambda = one.iter().find(|point| point.0 == bytes).map_or(f64::NAN, |point| point.1.lambda);
        let says = format!("{} at {bytes} B, from {least} to {most}", fixed(lambda, 3));
        checks.push(check((least..=most).contains(&lambda), says));
        ours.insert(format!("at_{bytes}"), json!(lambda));
        errors.insert(format!("at_{bytes}"), json!((lambda / published - 1.0) * 100.0));
    }
    for pair in one.windows(2) {
        let [(_, before), (bytes, after)] = pair else { continue };
        let (rises, word) = (*bytes <= PACKET, if *bytes <= PACKET { "rises" } else { "falls" });
        let says = format!("{word} to {} at {bytes} B", fixed(after.lambda, 3));
        checks.push(check((after.lambda > before.lambda) == rises, says));
    }
    let apart = |(one, two): (&(u32, Latency), &(u32, Latency))| (two.1.lambda / one.1.lambda - 1.0).abs() * 100.0;
    let most = one.iter().zip(&two).map(apart).fold(0.0, f64::max);
    checks.push(check(most <= AGREE, format!("the experiments are at most {} % apart", fixed(most, 2))));
    Ok(Judgement { ours: Value::Object(ours), error_percent: Value::Object(errors), checks })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
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
    let y = Axis::logarithmic("time [\u{b5}s]", Measure::Microseconds);
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
