//! Figures 11 to 13: short broadcasts over alpha, predicted and run.

use collectives::postal::{Alpha, Lambda, times_over_alpha as predicted};
use serde_json::json;

use super::charts::over_alpha;
use super::job::ALPHAS;
use super::measures::{best, delivered, jobs_over_alpha, times_over_alpha};
use super::{Results, StudyOfPostal};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Mark, Measure, fixed};

/// The message: a packet. [B]
const BYTES: u32 = 512;
/// The nodes.
const NODES: u64 = 64;
/// lambda at that size, as printed, in tenths.
const LAMBDA: u64 = 18;

/// The range in which all alphas are near the best.
const FLAT: std::ops::RangeInclusive<f64> = 0.56..=0.66;

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figure 13",
    title: "a broadcast of 512 bytes over alpha",
    claims: &["postal.fig13.short"],
    jobs: || jobs_over_alpha(BYTES),
    judge,
    draw,
};

/// The alphas with the least time by the postal model, at a lambda in tenths: the least and the greatest.
fn predicted_alphas(tenths: u64) -> [f64; 2] {
    let lambda = Lambda::new(tenths, 10).unwrap_or(Lambda::ONE);
    let alphas = ALPHAS.filter_map(|alpha| Alpha::new(f64::from(alpha) / 100.0).ok());
    let times = predicted(lambda, NODES, alphas);
    let least = times.iter().map(|(_, time)| *time).min();
    let best: Vec<f64> =
        times.iter().filter(|(_, time)| Some(*time) == least).map(|(alpha, _)| alpha.as_f64()).collect();
    [best.first(), best.last()].map(|end| end.copied().unwrap_or(f64::NAN))
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let times = times_over_alpha(runs, BYTES)?;
    let (alpha, time) = best(&times);
    let binomial = times.first().map_or(f64::NAN, |first| first.1);
    let faster = (binomial / time - 1.0) * 100.0;
    let flat = times.iter().filter(|point| FLAT.contains(&point.0));
    let slower = flat.map(|point| (format!("alpha {}", fixed(point.0, 2)), (point.1 / time - 1.0) * 100.0));
    let errors = json!({
        "alpha": (alpha / claim.printed("alpha")? - 1.0) * 100.0,
        "faster_percent": (faster / claim.printed("faster_percent")? - 1.0) * 100.0,
    });
    Ok(Findings::numbers(json!({"alpha": alpha, "faster_percent": faster}), errors)
        .with_number("alpha", alpha)
        .with_number("faster_percent", faster)
        .with("slower_percent", slower)
        .with(
            "predicted_alphas",
            ["the least", "the greatest"].map(str::to_string).into_iter().zip(predicted_alphas(LAMBDA)),
        )
        .with_number("delivered_share", delivered(runs, &jobs_over_alpha(BYTES))?))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let lambda = Lambda::new(LAMBDA, 10).unwrap_or(Lambda::ONE);
    let alphas = ALPHAS.filter_map(|alpha| Alpha::new(f64::from(alpha) / 100.0).ok());
    let steps = predicted(lambda, NODES, alphas).iter().map(|(alpha, time)| (alpha.as_f64(), time.as_f64())).collect();
    let prediction = over_alpha("predicted, lambda = 1.8", "time [t0]", Measure::Plain, Mark::full(1), steps);
    let times = times_over_alpha(runs, BYTES)?;
    let measured = over_alpha("512 B on 8 x 8 nodes", "time [us]", Measure::Microseconds, Mark::full(0), times);
    Ok(Some(Drawing {
        legend: None,
        panels: vec![prediction, measured],
        caption:
            "Time until every node has the message: what the postal model predicts, and the mean over eight random \
                  orders of the nodes on the model of the Delta."
                .to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_alphas_are_predicted_depends_on_lambda() {
        assert_eq!(predicted_alphas(LAMBDA), [0.56, 0.59]);
        assert_ne!(predicted_alphas(10), [0.56, 0.59]);
    }
}
