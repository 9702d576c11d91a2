//! Predictions compared with measurements.

use std::collections::BTreeMap;

use quantities::Duration;
use serde::Serialize;

use super::measured::{Extent, InState, Runs, weighted};
use super::prediction::reasons;
use super::{MeasuredProgram, Prediction};

/// A predicted time beside a measured one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The predicted time; where the computer has several states, weighted by how often each was met beside these runs.
    /// [ps]
    pub predicted_ps: Option<u64>,
    /// The median of the measured times; where the computer has several states, the mean of that in each, weighted
    /// likewise. [ps]
    pub measured_ps: u64,
    /// The relative error of the prediction, positive if it is too long; nothing if no time was predicted.
    pub error: Option<f64>,
}

impl Compared {
    /// Compares a prediction with these runs; nothing if there are none.
    fn new(prediction: &Prediction, states: &[InState]) -> Option<Compared> {
        let measured = weighted(states, |each| Some(each.median))?;
        let predicted = prediction.over(states);
        let share = |predicted: Duration| predicted.seconds() / measured.seconds() - 1.0;
        let error = predicted.filter(|_| !measured.is_zero()).map(share);
        let predicted_ps = predicted.map(Duration::picoseconds);
        Some(Compared { predicted_ps, measured_ps: measured.picoseconds(), error })
    }
}

/// A prediction, and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The prediction.
    #[serde(flatten)]
    pub prediction: Prediction,
    /// Compared with all runs.
    pub all_runs: Compared,
    /// Compared with those that count; nothing if none do.
    pub runs_that_count: Option<Compared>,
    /// The standard error of the median of those, as a share of it; nothing if there was only one pass, or there were
    /// several states.
    pub standard_error: Option<f64>,
    /// How many runs were measured.
    pub runs: usize,
    /// How many of them do not count, because a rank lost its processor or the computer was in another state than those
    /// of the fit.
    pub left_out: usize,
    /// The runs themselves, pass by pass.
    pub passes: Runs,
}

/// A program that was measured for the fit, and again while the predicted programs were: how well the computer repeats
/// itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeated {
    /// A description in words.
    pub what: String,
    /// The median of its times in the fit. [ps]
    pub before_ps: u64,
    /// The median of its times afterwards. [ps]
    pub again_ps: u64,
    /// By how much the former exceeds the latter, as a share of the latter: the error of a prediction that is what was
    /// measured before.
    pub error: f64,
}

impl Repeated {
    /// Compares the runs of a program with later ones in the same states; nothing if there are none.
    pub fn new((question, before): &MeasuredProgram, again: &Runs) -> Option<Repeated> {
        let first = before.in_states(Extent::ThatCount);
        let before_in = |state: usize| first.iter().find(|each| each.state == state).map(|each| each.median);
        let mut later = again.in_states(Extent::ThatCount);
        later.retain(|each| before_in(each.state).is_some());
        let before = weighted(&later, |each| before_in(each.state))?;
        let again = weighted(&later, |each| Some(each.median)).filter(|time| !time.is_zero())?;
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
    /// Spearman's rank correlation of predicted and measured times of the algorithms; nothing if there are fewer than
    /// three, or all are equal.
    pub rank_correlation: Option<f64>,
}

/// How good predictions were, by some of the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quality {
    /// How many predictions were compared with these runs.
    pub predictions: usize,
    /// The median of the absolute errors; nothing where there are none.
    pub median_error: Option<f64>,
    /// The largest absolute error.
    pub worst_error: Option<f64>,
    /// The median of the regrets.
    pub median_regret: Option<f64>,
    /// The largest regret.
    pub worst_regret: Option<f64>,
    /// The median of the rank correlations.
    pub median_rank_correlation: Option<f64>,
    /// The choices among algorithms.
    pub picks: Vec<Pick>,
}

/// How good predictions were.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// Whether so many of the runs count that they decide how good the predictions were: two thirds.
    pub is_decided: bool,
    /// How many runs of what was predicted were measured.
    pub runs: usize,
    /// How many of them do not count.
    pub left_out: usize,
    /// The share of those that do; nothing if there were none.
    pub share_that_counts: Option<f64>,
    /// How many predicted programs have no run that counts.
    pub never_compared: usize,
    /// How good the predictions were by all runs.
    pub all_runs: Quality,
    /// And by those that count.
    pub runs_that_count: Quality,
    /// The comparisons, in the order of the predictions.
    pub compared: Vec<Comparison>,
    /// The programs that were measured twice.
    pub repeated: Vec<Repeated>,
    /// The median of the absolute errors of the programs that were measured twice, if the earlier times are taken as
    /// predictions.
    pub median_repeated: Option<f64>,
    /// The largest of these.
    pub worst_repeated: Option<f64>,
}

/// Of so many runs, one may be left out: of a rehearsal with more, too little is known.
const LEFT_OUT_OF: usize = 3;

impl Comparison {
    /// The time measured by all runs, or by those that count.
    pub fn by(&self, extent: Extent) -> Option<&Compared> {
        match extent {
            Extent::All => Some(&self.all_runs),
            Extent::ThatCount => self.runs_that_count.as_ref(),
        }
    }

    /// Compares a prediction with measured runs; nothing if there are no runs.
    pub fn new(prediction: Prediction, passes: Runs) -> Option<Comparison> {
        let all_runs = Compared::new(&prediction, &passes.in_states(Extent::All))?;
        let counting = passes.in_states(Extent::ThatCount);
        let standard_error = if counting.len() == 1 { passes.standard_error() } else { None };
        Some(Comparison {
            all_runs,
            runs_that_count: Compared::new(&prediction, &counting),
            prediction,
            standard_error,
            runs: passes.count(),
            left_out: passes.left_out(),
            passes,
        })
    }
}

impl Quality {
    /// How good these predictions were by these runs.
    fn of(all: &[Comparison], extent: Extent) -> Quality {
        let mut errors = Vec::new();
        let mut choices: BTreeMap<&str, Vec<&Comparison>> = BTreeMap::new();
        for each in all {
            let Some(error) = each.by(extent).and_then(|compared| compared.error) else { continue };
            errors.push(error.abs());
            if each.prediction.algorithm.is_some() {
                choices.entry(&each.prediction.choice).or_default().push(each);
            }
        }
        let several = choices.values().filter(|all| all.len() > 1);
        let picks: Vec<Pick> = several.filter_map(|all| Pick::among(all, extent)).collect();
        let regrets: Vec<f64> = picks.iter().map(|pick| pick.regret).collect();
        let correlations: Vec<f64> = picks.iter().filter_map(|pick| pick.rank_correlation).collect();
        Quality {
            predictions: errors.len(),
            median_error: median(&errors),
            worst_error: greatest(&errors),
            median_regret: median(&regrets),
            worst_regret: greatest(&regrets),
            median_rank_correlation: median(&correlations),
            picks,
        }
    }
}

impl Judgement {
    /// Judges these comparisons.
    pub fn of(compared: Vec<Comparison>, repeated: Vec<Repeated>) -> Judgement {
        let errors: Vec<f64> = repeated.iter().map(|it| it.error.abs()).collect();
        let (runs, left_out) = compared.iter().fold((0, 0), |sum, it| (sum.0 + it.runs, sum.1 + it.left_out));
        Judgement {
            is_decided: left_out * LEFT_OUT_OF <= runs,
            runs,
            left_out,
            share_that_counts: (runs > 0).then(|| (runs - left_out) as f64 / runs as f64),
            never_compared: compared.iter().filter(|it| it.runs_that_count.is_none()).count(),
            all_runs: Quality::of(&compared, Extent::All),
            runs_that_count: Quality::of(&compared, Extent::ThatCount),
            median_repeated: median(&errors),
            worst_repeated: greatest(&errors),
            compared,
            repeated,
        }
    }

    /// How good the predictions were by all runs, or by those that count.
    pub fn by(&self, extent: Extent) -> &Quality {
        match extent {
            Extent::All => &self.all_runs,
            Extent::ThatCount => &self.runs_that_count,
        }
    }

    /// The reasons why some times were not predicted, in the order in which they first occur, each with how
    /// many times were not predicted for it.
    pub fn reasons(&self) -> Vec<(&str, usize)> {
        reasons(self.compared.iter().map(|compared| &compared.prediction))
    }
}

/// An algorithm for a task, and its times in the states that all algorithms for it have met.
struct Candidate<'a> {
    algorithm: &'a str,
    predicted: Duration,
    measured: Duration,
}

/// The algorithms of a choice. Since one that ran while the computer was quick is not better for that, states that some
/// of them have not met do not count, and the others count alike for all.
fn candidates<'a>(all: &[&'a Comparison], extent: Extent) -> Vec<Candidate<'a>> {
    let states: Vec<Vec<InState>> = all.iter().map(|it| it.passes.in_states(extent)).collect();
    let of = |state: usize| states.iter().filter_map(move |own| own.iter().find(|each| each.state == state));
    let mut common = states.first().cloned().unwrap_or_default();
    common.retain(|each| of(each.state).count() == all.len());
    common.iter_mut().for_each(|each| each.runs = of(each.state).map(|own| own.runs).sum());
    let candidate = |(it, own): (&&'a Comparison, &Vec<InState>)| {
        let in_state = |each: &InState| Some(own.iter().find(|own| own.state == each.state)?.median);
        Some(Candidate {
            algorithm: it.prediction.algorithm.as_deref().unwrap_or_default(),
            predicted: it.prediction.over(&common)?,
            measured: weighted(&common, in_state)?,
        })
    };
    all.iter().zip(&states).filter_map(candidate).collect()
}

impl Pick {
    /// The choice among some algorithms for the same task; nothing if they have no state of the computer in common.
    fn among(all: &[&Comparison], extent: Extent) -> Option<Pick> {
        let candidates = candidates(all, extent);
        let picked = candidates.iter().min_by_key(|it| it.predicted)?;
        let best = candidates.iter().min_by_key(|it| it.measured)?;
        let predicted: Vec<f64> = candidates.iter().map(|it| it.predicted.seconds()).collect();
        let measured: Vec<f64> = candidates.iter().map(|it| it.measured.seconds()).collect();
        Some(Pick {
            choice: all.first()?.prediction.choice.clone(),
            picked: picked.algorithm.to_owned(),
            best: best.algorithm.to_owned(),
            regret: picked.measured.seconds() / best.measured.seconds() - 1.0,
            rank_correlation: spearman(&predicted, &measured),
        })
    }
}

/// The greatest; nothing if there are no values.
fn greatest(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::max)
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

    fn prediction(algorithm: &str, predicted: u64, in_states: &[u64]) -> Prediction {
        Prediction {
            what: format!("broadcast {algorithm}"),
            choice: "broadcast".to_owned(),
            algorithm: Some(algorithm.to_owned()),
            predicted_ps: Some(microseconds(predicted).picoseconds()),
            in_states_ps: in_states.iter().map(|&time| microseconds(time).picoseconds()).collect(),
            error: None,
        }
    }

    fn pass(measured: &[u64], state: usize, in_other_state: bool) -> Pass {
        let times_ps = measured.iter().map(|&time| microseconds(time).picoseconds()).collect();
        Pass { times_ps, state, in_other_state, ..Pass::default() }
    }

    fn runs(passes: impl IntoIterator<Item = Pass>) -> Runs {
        let mut runs = Runs::default();
        passes.into_iter().for_each(|pass| runs.push(pass));
        runs
    }

    fn compared(algorithm: &str, predicted: u64, measured: u64) -> Comparison {
        Comparison::new(prediction(algorithm, predicted, &[]), runs([pass(&[measured], 0, false)])).unwrap()
    }

    fn is_near(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found - expected).abs() < 1e-9)
    }

    #[test]
    fn the_regret_is_what_the_picked_algorithm_takes_longer_than_the_best() {
        let all = vec![compared("linear", 100, 120), compared("binomial", 110, 100), compared("scatter", 300, 200)];
        let judged = Judgement::of(all, Vec::new()).runs_that_count;
        let [pick] = &judged.picks[..] else { panic!("{judged:?}") };
        assert_eq!((pick.picked.as_str(), pick.best.as_str()), ("linear", "binomial"));
        assert!((pick.regret - 0.2).abs() < 1e-12);
        assert_eq!(pick.rank_correlation, Some(0.5));
        assert!(is_near(judged.worst_error, 0.5) && is_near(judged.median_error, 1.0 / 6.0));
    }

    #[test]
    fn without_runs_there_is_no_comparison() {
        assert!(Comparison::new(prediction("linear", 100, &[]), Runs::default()).is_none());
    }

    #[test]
    fn the_error_is_said_of_all_runs_and_of_those_that_count() {
        let passes = runs([pass(&[100, 100], 0, false), pass(&[200, 200, 200], 0, true)]);
        let usual = Comparison::new(prediction("linear", 110, &[]), passes).unwrap();
        let other = Comparison::new(prediction("binomial", 110, &[]), runs([pass(&[220], 0, true)])).unwrap();
        assert_eq!((usual.left_out, other.left_out, &other.runs_that_count), (3, 1, &None));
        let judged = Judgement::of(vec![usual, other], Vec::new());
        assert!(is_near(judged.runs_that_count.worst_error, 0.1) && judged.runs_that_count.predictions == 1);
        assert!(is_near(judged.all_runs.worst_error, 0.5) && judged.all_runs.predictions == 2);
        assert!(is_near(judged.share_that_counts, 2.0 / 6.0));
        assert_eq!((judged.never_compared, judged.is_decided), (1, false));
    }

    #[test]
    fn a_rehearsal_is_decided_until_more_than_a_third_of_its_runs_are_left_out() {
        let with = |left_out: usize| {
            let passes = runs([pass(&[100; 4], 0, false), pass(&vec![100; left_out], 0, true)]);
            Judgement::of(vec![Comparison::new(prediction("linear", 100, &[]), passes).unwrap()], Vec::new()).is_decided
        };
        assert_eq!((with(2), with(3)), (true, false));
    }

    /// Three quarters of the runs were in the slow state, in which all takes twice as long.
    #[test]
    fn states_are_weighted_by_how_often_they_were_met() {
        let passes = runs([pass(&[100], 0, false), pass(&[200, 200, 200], 1, false)]);
        let compared = Comparison::new(prediction("linear", 0, &[110, 210]), passes).unwrap();
        let all = &compared.all_runs;
        assert_eq!((all.predicted_ps, all.measured_ps), (Some(185_000_000), 175_000_000));
        assert_eq!(compared.runs_that_count.as_ref(), Some(all));
    }

    /// Binomial is quicker in either state, and linear ran more often in the quick one.
    #[test]
    fn algorithms_are_compared_in_the_same_states() {
        let linear = runs([pass(&[100, 100, 100], 0, false), pass(&[200], 1, false)]);
        let binomial = runs([pass(&[90], 0, false), pass(&[180, 180, 180], 1, false)]);
        let slow = runs([pass(&[190], 1, false)]);
        let of = |algorithm, runs| Comparison::new(prediction(algorithm, 1, &[100, 200]), runs).unwrap();
        let among = |all: Vec<Comparison>| Judgement::of(all, Vec::new()).runs_that_count.picks;
        let [pick] = &among(vec![of("linear", linear.clone()), of("binomial", binomial.clone())])[..] else { panic!() };
        assert_eq!((pick.best.as_str(), is_near(Some(pick.regret), 1.0 / 9.0)), ("binomial", true));
        let quick = runs([pass(&[100], 0, false)]);
        assert_eq!(among(vec![of("linear", quick), of("binomial", slow)]), [], "they have no state in common");
    }

    #[test]
    fn what_is_measured_twice_is_compared_in_the_same_states() {
        let before = runs([pass(&[100], 0, false), pass(&[150], 1, false)]);
        let again = runs([pass(&[110], 0, false), pass(&[400], 2, false)]);
        let question = crate::rehearsal::Question {
            experiment: experiment::Experiment::of(
                serde_json::from_value(serde_json::json!({ "ping-pong": { "bytes": 64 } })).unwrap(),
                experiment::MachineChoice::default(),
            ),
            ranks: 2,
            what: "ping-pong".to_owned(),
            choice: "ping-pong".to_owned(),
            algorithm: None,
        };
        let repeated = Repeated::new(&(question, before), &again).unwrap();
        assert_eq!((repeated.before_ps, repeated.again_ps), (100_000_000, 110_000_000));
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
