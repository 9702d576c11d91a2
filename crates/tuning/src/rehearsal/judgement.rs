//! Predictions compared with measurements.

use std::collections::BTreeMap;

use quantities::Duration;
use serde::Serialize;

use super::Prediction;
use super::prediction::reasons;
use crate::launched::median_time;

/// A prediction, and the measured time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The prediction.
    #[serde(flatten)]
    pub prediction: Prediction,
    /// The median of the measured times. [ps]
    pub measured_ps: u64,
    /// The relative error of the prediction, positive if it is too long; nothing if no time was predicted.
    pub error: Option<f64>,
    /// How many runs were measured, and how many of them were left out because a rank lost its processor.
    pub runs: u32,
    /// See `runs`.
    pub left_out: u32,
}

/// A choice of algorithm by predictions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pick {
    /// What the algorithm is for.
    pub choice: String,
    /// The algorithm that was predicted to be the fastest.
    pub picked: String,
    /// The algorithm that was the fastest.
    pub best: String,
    /// By how much longer the picked algorithm takes, as a share of the best one's time.
    pub regret: f64,
    /// Spearman's rank correlation of predicted and measured times of the algorithms; nothing if there are fewer than three, or all are
    /// equal.
    pub rank_correlation: Option<f64>,
}

/// How good predictions were.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The comparisons, in the order of the predictions.
    pub compared: Vec<Comparison>,
    /// The choices among algorithms.
    pub picks: Vec<Pick>,
    /// The median of the absolute errors; nothing where there are none.
    pub median_error: Option<f64>,
    /// The largest absolute error.
    pub worst_error: Option<f64>,
    /// The median of the rank correlations.
    pub median_rank_correlation: Option<f64>,
    /// The median of the regrets.
    pub median_regret: Option<f64>,
    /// The largest regret.
    pub worst_regret: Option<f64>,
}

impl Judgement {
    /// The reasons why some times were not predicted, in the order in which they first occur, each with how
    /// many times were not predicted for it.
    pub fn reasons(&self) -> Vec<(&str, usize)> {
        reasons(self.compared.iter().map(|compared| &compared.prediction))
    }
}

impl Comparison {
    /// The median of the measured times.
    pub fn measured(&self) -> Duration {
        Duration::from_picoseconds(self.measured_ps)
    }

    /// Compares a prediction with the times of some runs, each with whether a rank lost its processor during it: see [`undisturbed`].
    /// Nothing if there are no runs.
    pub fn new(prediction: Prediction, runs: &[(Duration, bool)]) -> Option<Comparison> {
        let kept = undisturbed(runs);
        let left_out = (runs.len() - kept.len()) as u32;
        let measured = median_time(kept)?;
        let share = |predicted: Duration| predicted.seconds() / measured.seconds() - 1.0;
        let error = prediction.predicted().filter(|_| !measured.is_zero()).map(share);
        Some(Comparison { prediction, measured_ps: measured.picoseconds(), error, runs: runs.len() as u32, left_out })
    }
}

/// The times of runs in which no rank lost its processor. If fewer than a third of the runs are left, all of them count: so few say
/// nothing.
pub fn undisturbed(runs: &[(Duration, bool)]) -> Vec<Duration> {
    let whole: Vec<Duration> = runs.iter().filter(|(_, short)| !short).map(|run| run.0).collect();
    if whole.len() * 3 < runs.len() { runs.iter().map(|run| run.0).collect() } else { whole }
}

impl Judgement {
    /// Judges these comparisons.
    pub fn of(compared: Vec<Comparison>) -> Judgement {
        let errors: Vec<f64> = compared.iter().filter_map(|it| it.error).map(f64::abs).collect();
        let mut choices: BTreeMap<&str, Vec<&Comparison>> = BTreeMap::new();
        for each in compared.iter().filter(|it| it.prediction.algorithm.is_some() && it.error.is_some()) {
            choices.entry(&each.prediction.choice).or_default().push(each);
        }
        let picks: Vec<Pick> =
            choices.values().filter(|all| all.len() > 1).filter_map(|all| Pick::among(all)).collect();
        let regrets: Vec<f64> = picks.iter().map(|pick| pick.regret).collect();
        let correlations: Vec<f64> = picks.iter().filter_map(|pick| pick.rank_correlation).collect();
        Judgement {
            median_error: median(&errors),
            worst_error: errors.iter().copied().reduce(f64::max),
            median_rank_correlation: median(&correlations),
            median_regret: median(&regrets),
            worst_regret: regrets.iter().copied().reduce(f64::max),
            compared,
            picks,
        }
    }
}

impl Pick {
    /// The choice among some algorithms for the same task.
    fn among(all: &[&Comparison]) -> Option<Pick> {
        let picked = all.iter().min_by_key(|it| it.prediction.predicted_ps)?;
        let best = all.iter().min_by_key(|it| it.measured_ps)?;
        let name = |it: &Comparison| it.prediction.algorithm.clone().unwrap_or_default();
        let predicted: Vec<f64> =
            all.iter().filter_map(|it| it.prediction.predicted()).map(Duration::seconds).collect();
        let measured: Vec<f64> = all.iter().map(|it| it.measured().seconds()).collect();
        Some(Pick {
            choice: picked.prediction.choice.clone(),
            picked: name(picked),
            best: name(best),
            regret: picked.measured().seconds() / best.measured().seconds() - 1.0,
            rank_correlation: spearman(&predicted, &measured),
        })
    }
}

/// The median; nothing if there are no values.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some((low + high) / 2.0)
}

/// Spearman's rank correlation: Pearson's correlation of the ranks; equal values share the mean of their ranks.
fn spearman(one: &[f64], other: &[f64]) -> Option<f64> {
    if one.len() < 3 || one.len() != other.len() {
        return None;
    }
    let (one, other) = (ranks(one), ranks(other));
    let mean = (one.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let spread = (product(&one, &one) * product(&other, &other)).sqrt();
    (spread > 0.0).then(|| product(&one, &other) / spread)
}

/// The rank of each value, from 0; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let alike = values.iter().filter(|other| *other == value).count() as f64;
        below + (alike - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn microseconds(count: u64) -> Duration {
        Duration::from_microseconds(count)
    }

    fn prediction(algorithm: &str, predicted: u64) -> Prediction {
        Prediction {
            what: format!("broadcast {algorithm}"),
            choice: "broadcast".to_owned(),
            algorithm: Some(algorithm.to_owned()),
            predicted_ps: Some(microseconds(predicted).picoseconds()),
            error: None,
        }
    }

    fn compared(algorithm: &str, predicted: u64, measured: u64) -> Comparison {
        Comparison::new(prediction(algorithm, predicted), &[(microseconds(measured), false)]).unwrap()
    }

    #[test]
    fn the_regret_is_what_the_picked_algorithm_takes_longer_than_the_best() {
        let all = vec![compared("linear", 100, 120), compared("binomial", 110, 100), compared("scatter", 300, 200)];
        let judged = Judgement::of(all);
        let [pick] = &judged.picks[..] else { panic!("{judged:?}") };
        assert_eq!((pick.picked.as_str(), pick.best.as_str()), ("linear", "binomial"));
        assert!((pick.regret - 0.2).abs() < 1e-12);
        assert_eq!(pick.rank_correlation, Some(0.5));
        assert!((judged.worst_error.unwrap() - 0.5).abs() < 1e-12);
        assert!((judged.median_error.unwrap() - 1.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn runs_in_which_a_rank_lost_its_processor_are_left_out_while_a_third_is_left() {
        let runs = |short: usize| -> Vec<(Duration, bool)> {
            (0..9).map(|run| (microseconds(if run < short { 900 } else { 100 }), run < short)).collect()
        };
        let of = |short| Comparison::new(prediction("linear", 100), &runs(short)).unwrap();
        assert_eq!((of(6).measured(), of(6).left_out), (microseconds(100), 6));
        assert_eq!((of(7).measured(), of(7).left_out), (microseconds(900), 0));
        assert!(Comparison::new(prediction("linear", 100), &[]).is_none());
    }

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[9.0, 8.0, 7.0]), Some(-1.0));
        assert_eq!(spearman(&[1.0, 1.0, 1.0], &[9.0, 8.0, 7.0]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), Some(2.5));
    }
}
