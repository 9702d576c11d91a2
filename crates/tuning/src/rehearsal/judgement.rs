//! Predictions compared with measurements.

use std::collections::BTreeMap;

use quantities::Duration;
use serde::Serialize;

use super::measured::Runs;
use super::prediction::reasons;
use super::{MeasuredProgram, Prediction};

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
    /// The standard error of the measured median, as a share of it; nothing if there was only one pass.
    pub standard_error: Option<f64>,
    /// How many runs were measured.
    pub runs: usize,
    /// How many of them were left out, because a rank lost its processor or the computer was in another state.
    pub left_out: usize,
    /// The runs themselves, pass by pass.
    pub passes: Runs,
}

/// A program that was measured for the fit, and again while the predicted programs were: how well the computer repeats itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeated {
    /// A description in words.
    pub what: String,
    /// The median of its times in the fit. [ps]
    pub before_ps: u64,
    /// The median of its times afterwards. [ps]
    pub again_ps: u64,
    /// By how much the former exceeds the latter, as a share of the latter: the error of a prediction that is what was measured before.
    pub error: f64,
}

impl Repeated {
    /// Compares the runs of a program with later ones; nothing if there are none.
    pub fn new((question, before): &MeasuredProgram, again: &Runs) -> Option<Repeated> {
        let (before, again) = (before.median()?, again.median().filter(|time| !time.is_zero())?);
        let (before_ps, again_ps) = (before.picoseconds(), again.picoseconds());
        Some(Repeated {
            what: question.what.clone(),
            before_ps,
            again_ps,
            error: before.seconds() / again.seconds() - 1.0,
        })
    }
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
    /// The programs that were measured twice.
    pub repeated: Vec<Repeated>,
    /// The choices among algorithms.
    pub picks: Vec<Pick>,
    /// The median of the absolute errors; nothing where there are none.
    pub median_error: Option<f64>,
    /// The largest absolute error.
    pub worst_error: Option<f64>,
    /// The median of the absolute errors of the programs that were measured twice, if the earlier times are taken as predictions.
    pub median_repeated: Option<f64>,
    /// The largest of these.
    pub worst_repeated: Option<f64>,
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

    /// Compares a prediction with measured runs; nothing if there are no runs.
    pub fn new(prediction: Prediction, passes: Runs) -> Option<Comparison> {
        let measured = passes.median()?;
        let share = |predicted: Duration| predicted.seconds() / measured.seconds() - 1.0;
        let error = prediction.predicted().filter(|_| !measured.is_zero()).map(share);
        Some(Comparison {
            prediction,
            measured_ps: measured.picoseconds(),
            error,
            standard_error: passes.standard_error(),
            runs: passes.count(),
            left_out: passes.left_out(),
            passes,
        })
    }
}

impl Judgement {
    /// Judges these comparisons.
    pub fn of(compared: Vec<Comparison>, repeated: Vec<Repeated>) -> Judgement {
        let repeated_errors: Vec<f64> = repeated.iter().map(|it| it.error.abs()).collect();
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
            median_repeated: median(&repeated_errors),
            worst_repeated: repeated_errors.iter().copied().reduce(f64::max),
            median_rank_correlation: median(&correlations),
            median_regret: median(&regrets),
            worst_regret: regrets.iter().copied().reduce(f64::max),
            compared,
            repeated,
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
    use crate::rehearsal::Pass;

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
        let mut runs = Runs::default();
        runs.push(Pass { times_ps: vec![microseconds(measured).picoseconds()], ..Pass::default() });
        Comparison::new(prediction(algorithm, predicted), runs).unwrap()
    }

    #[test]
    fn the_regret_is_what_the_picked_algorithm_takes_longer_than_the_best() {
        let all = vec![compared("linear", 100, 120), compared("binomial", 110, 100), compared("scatter", 300, 200)];
        let judged = Judgement::of(all, Vec::new());
        let [pick] = &judged.picks[..] else { panic!("{judged:?}") };
        assert_eq!((pick.picked.as_str(), pick.best.as_str()), ("linear", "binomial"));
        assert!((pick.regret - 0.2).abs() < 1e-12);
        assert_eq!(pick.rank_correlation, Some(0.5));
        assert!((judged.worst_error.unwrap() - 0.5).abs() < 1e-12);
        assert!((judged.median_error.unwrap() - 1.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn without_runs_there_is_no_comparison() {
        assert!(Comparison::new(prediction("linear", 100), Runs::default()).is_none());
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
