//! Figures 11 to 13: short broadcasts over alpha, predicted and run.

use programs::postal::{Alpha, Lambda, times_over_alpha as predicted};
use serde_json::json;

use super::charts::over_alpha;
use super::job::ALPHAS;
use super::measures::{best, delivered, jobs_over_alpha, times_over_alpha};
use super::{Results, StudyOfPostal};
use crate::{Drawing, Gap, Judgement, check};
use report::{Mark, Measure, fixed};

/// The message: a packet. [B]
const BYTES: u32 = 512;
/// The nodes.
const NODES: u64 = 64;
/// lambda at that size, as printed, in tenths.
const LAMBDA: u64 = 18;
/// Where the best alpha must lie.
const BEST: (f64, f64) = (0.56, 0.60);
/// How much faster than the binomial tree it must be: the ratio of the times, less one. [%]
const FASTER: (f64, f64) = (15.0, 25.0);
/// Where all alphas are near the best, and how near. [%]
const FLAT: (f64, f64, f64) = (0.56, 0.66, 6.0);
/// What is printed: the best alpha, and how much faster it is. [%]
const PUBLISHED: (f64, f64) = (0.58, 21.0);
/// Half a step of alpha: figures with two digits are equal within it.
const HALF_STEP: f64 = 0.005;

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 13",
    title: "a broadcast of 512 bytes over alpha",
    claims: &["postal.fig13.short"],
    jobs: || jobs_over_alpha(BYTES),
    judge: |_, runs| judge(runs),
    draw,
};

fn between(value: f64, (least, most): (f64, f64)) -> bool {
    (least - HALF_STEP..=most + HALF_STEP).contains(&value)
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let times = times_over_alpha(runs, BYTES)?;
    let (alpha, time) = best(&times);
    let binomial = times.first().map_or(f64::NAN, |first| first.1);
    let faster = (binomial / time - 1.0) * 100.0;
    let slowest = times.iter().filter(|point| between(point.0, (FLAT.0, FLAT.1))).map(|point| point.1 / time - 1.0);
    let slowest = slowest.fold(0.0, f64::max) * 100.0;
    let checks = vec![
        check(between(alpha, BEST), format!("the best alpha is {}, from {} to {}", fixed(alpha, 2), BEST.0, BEST.1)),
        check(
            (FASTER.0..=FASTER.1).contains(&faster),
            format!("{} % faster than with 0.5, from {} to {} %", fixed(faster, 1), FASTER.0, FASTER.1),
        ),
        check(
            slowest <= FLAT.2,
            format!("from {} to {} at most {} % slower than the best", FLAT.0, FLAT.1, fixed(slowest, 1)),
        ),
        delivered(runs, &jobs_over_alpha(BYTES))?,
    ];
    Ok(Judgement {
        ours: json!({"alpha": alpha, "faster_percent": faster}),
        error_percent: json!({
            "alpha": (alpha / PUBLISHED.0 - 1.0) * 100.0,
            "faster_percent": (faster / PUBLISHED.1 - 1.0) * 100.0,
        }),
        checks,
    })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let lambda = Lambda::new(LAMBDA, 10).unwrap_or(Lambda::ONE);
    let alphas = ALPHAS.filter_map(|alpha| Alpha::new(f64::from(alpha) / 100.0).ok());
    let steps = predicted(lambda, NODES, alphas).iter().map(|(alpha, time)| (alpha.as_f64(), time.as_f64())).collect();
    let prediction = over_alpha("predicted, lambda = 1.8", "time [t0]", Measure::Plain, Mark::full(1), steps);
    let times = times_over_alpha(runs, BYTES)?;
    let measured = over_alpha("512 B on 8 x 8 nodes", "time [\u{b5}s]", Measure::Microseconds, Mark::full(0), times);
    Ok(Some(Drawing {
        legend: None,
        panels: vec![prediction, measured],
        caption:
            "Time until every node has the message: what the postal model predicts, and the mean over eight random \
                  orders of the nodes on the model of the Delta."
                .to_string(),
    }))
}
