//! The measured runs of a program.

use std::collections::BTreeMap;

use quantities::Duration;
use serde::{Deserialize, Serialize};

use super::States;
use crate::launched::median_time;

/// The runs of a program, pass by pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Runs {
    passes: Vec<Pass>,
}

/// The runs of one pass, between which the ranks were not launched anew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pass {
    /// The time of each run. [ps]
    pub times_ps: Vec<u64>,
    /// Which of these runs, from 0, were disturbed: one of their ranks lost its processor to another process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<usize>,
    /// The times of the reference program just before and just after, if there is one. [ps]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_ps: Option<[u64; 2]>,
    /// The state of the computer that is nearest to these, from 0, of those in which the description was fitted.
    #[serde(default, skip_serializing_if = "is_first")]
    pub state: usize,
    /// Whether these show that the computer was in none of those states all the time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_other_state: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_first(state: &usize) -> bool {
    *state == 0
}

/// Of which runs something is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All.
    All,
    /// Those that count: in a state of the computer in which the description was fitted, and without a rank that lost
    /// its processor.
    ThatCount,
}

/// The runs of a program in one state of the computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InState {
    /// The state, from 0.
    pub state: usize,
    /// How many runs there are.
    pub runs: usize,
    /// The median of their times.
    pub median: Duration,
}

/// The mean of a time in each state, weighted by how many runs there were in it; nothing if there were none, or the
/// time in one of the states is not known.
pub fn weighted(all: &[InState], time: impl Fn(&InState) -> Option<Duration>) -> Option<Duration> {
    let mut sum = 0_u128;
    for each in all {
        sum += u128::from(time(each)?.picoseconds()) * each.runs as u128;
    }
    let runs: u128 = all.iter().map(|each| each.runs as u128).sum();
    let mean = (sum + runs / 2).checked_div(runs)?;
    Some(Duration::from_picoseconds(mean.try_into().unwrap_or(u64::MAX)))
}

impl Pass {
    fn runs(&self) -> impl Iterator<Item = (Duration, bool)> {
        let run = |(number, &time)| (Duration::from_picoseconds(time), self.disturbed.contains(&number));
        self.times_ps.iter().enumerate().map(run)
    }
}

impl Runs {
    /// Adds the runs of a later pass.
    pub fn push(&mut self, pass: Pass) {
        self.passes.push(pass);
    }

    /// The times of the reference program beside these runs.
    pub fn references(&self) -> impl Iterator<Item = Duration> {
        self.passes.iter().flat_map(|pass| pass.reference_ps.into_iter().flatten()).map(Duration::from_picoseconds)
    }

    /// Says of each pass in which of these states the computer was. A pass without times of the reference counts in the
    /// first.
    #[must_use]
    pub fn assigned(&self, states: &States) -> Runs {
        let assigned = |pass: &Pass| {
            let of = pass.reference_ps.map(|pair| states.of(pair.map(Duration::from_picoseconds)));
            let (state, is_in) = of.unwrap_or((0, true));
            Pass { state, in_other_state: !is_in, ..pass.clone() }
        };
        Runs { passes: self.passes.iter().map(assigned).collect() }
    }

    /// How many passes were made while the computer was in one of the states.
    pub fn passes_that_count(&self) -> usize {
        self.passes.iter().filter(|pass| !pass.in_other_state).count()
    }

    /// The passes that were made while the computer was in this state.
    #[must_use]
    pub fn in_state(&self, state: usize) -> Runs {
        let is_in = |pass: &&Pass| !pass.in_other_state && pass.state == state;
        Runs { passes: self.passes.iter().filter(is_in).cloned().collect() }
    }

    /// How many runs there are.
    pub fn count(&self) -> usize {
        self.passes.iter().map(|pass| pass.times_ps.len()).sum()
    }

    /// How many of them do not count.
    pub fn left_out(&self) -> usize {
        self.count() - self.in_states(Extent::ThatCount).iter().map(|each| each.runs).sum::<usize>()
    }

    /// The runs in each state of the computer, in the order of the states. If a rank lost its processor in more than
    /// two thirds of the runs in these states, none of them count: so few say nothing.
    pub fn in_states(&self, extent: Extent) -> Vec<InState> {
        let kept = |pass: &&Pass| extent == Extent::All || !(pass.in_other_state || self.too_many_are_disturbed());
        let mut times = BTreeMap::<usize, Vec<Duration>>::new();
        for pass in self.passes.iter().filter(kept) {
            let runs = pass.runs().filter(|(_, is_disturbed)| extent == Extent::All || !is_disturbed);
            times.entry(pass.state).or_default().extend(runs.map(|run| run.0));
        }
        let of = |(state, times): (usize, Vec<Duration>)| {
            Some(InState { state, runs: times.len(), median: median_time(times)? })
        };
        times.into_iter().filter_map(of).collect()
    }

    /// The median of the times to which a description is fitted: of undisturbed runs, or of all if those are too few;
    /// nothing if the computer was in none of its states in all of them.
    pub fn median(&self) -> Option<Duration> {
        median_time(self.passes.iter().flat_map(|pass| self.fitted(pass)).collect())
    }

    /// The standard error of the median, as a share of it, by how much the medians of the passes differ; nothing if
    /// there is only one pass.
    ///
    /// ```text
    ///   standard error = sqrt(sum (m_p - mean m)^2 / (P - 1) / P) / mean m         m_p: the median of pass p of P
    /// ```
    pub fn standard_error(&self) -> Option<f64> {
        let medians = self.passes.iter().filter_map(|pass| median_time(self.fitted(pass)));
        let medians: Vec<f64> = medians.map(Duration::seconds).collect();
        let count = medians.len() as f64;
        let mean = medians.iter().sum::<f64>() / count;
        let squares: f64 = medians.iter().map(|median| (median - mean).powi(2)).sum();
        (medians.len() > 1 && mean > 0.0).then(|| (squares / (count - 1.0) / count).sqrt() / mean)
    }

    /// The times of a pass to which a description is fitted.
    fn fitted(&self, pass: &Pass) -> Vec<Duration> {
        if pass.in_other_state {
            return Vec::new();
        }
        let all = self.too_many_are_disturbed();
        pass.runs().filter(|(_, is_disturbed)| all || !is_disturbed).map(|run| run.0).collect()
    }

    /// Whether a rank lost its processor in more than two thirds of the runs in the states of the computer.
    fn too_many_are_disturbed(&self) -> bool {
        let runs = self.passes.iter().filter(|pass| !pass.in_other_state).flat_map(Pass::runs);
        let (count, disturbed) = runs.fold((0, 0), |sum, run| (sum.0 + 1, sum.1 + usize::from(run.1)));
        (count - disturbed) * 3 < count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of 100 us, or of 900 us where a run was disturbed.
    fn with_disturbed(disturbed: usize) -> Runs {
        let pass = |first: usize| {
            let is_disturbed = |run: &usize| first + run < disturbed;
            let time = |run: usize| if is_disturbed(&run) { 900_000_000 } else { 100_000_000 };
            let disturbed = (0..3).filter(is_disturbed).collect();
            Pass { times_ps: (0..3).map(time).collect(), disturbed, ..Pass::default() }
        };
        Runs { passes: [0, 3, 6].map(pass).to_vec() }
    }

    #[test]
    fn disturbed_runs_are_left_out_while_a_third_is_left() {
        let of = |disturbed| (with_disturbed(disturbed).median().unwrap(), with_disturbed(disturbed).left_out());
        assert_eq!(of(6), (Duration::from_microseconds(100), 6));
        assert_eq!(Runs::default().median(), None);
        // The description is fitted to all of them for want of better, and none of them count in a comparison.
        assert_eq!(of(7), (Duration::from_microseconds(900), 9));
    }

    #[test]
    fn the_standard_error_is_that_of_the_medians_of_passes() {
        let pass = |time: u64| Pass { times_ps: vec![time, time, 10 * time], ..Pass::default() };
        let runs = Runs { passes: [90, 100, 110].map(pass).to_vec() };
        assert!((runs.standard_error().unwrap() - 0.1 / 3_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Runs { passes: vec![pass(90)] }.standard_error(), None);
        assert_eq!(with_disturbed(2).standard_error(), Some(0.0));
    }

    /// Runs of this time beside these times of the reference. [us]
    fn beside(time: u64, reference: [u64; 2]) -> Pass {
        let ps = |time: u64| Duration::from_microseconds(time).picoseconds();
        Pass { times_ps: vec![ps(time); 2], reference_ps: Some(reference.map(ps)), ..Pass::default() }
    }

    #[test]
    fn a_pass_counts_if_the_reference_took_the_time_of_one_state_before_and_after() {
        let runs = Runs {
            passes: vec![
                beside(100, [50, 51]),
                beside(131, [52, 65]),
                beside(140, [64, 66]),
                beside(102, [52, 49]),
                beside(120, [66, 65]),
                beside(104, [51, 50]),
            ],
        };
        let states = States::beside(std::slice::from_ref(&runs), 0.1).unwrap();
        let runs = runs.assigned(&states);
        let in_state = |state, runs, time| InState { state, runs, median: Duration::from_microseconds(time) };
        assert_eq!(runs.in_states(Extent::ThatCount), [in_state(0, 6, 102), in_state(1, 4, 120)]);
        assert_eq!((runs.left_out(), runs.passes_that_count()), (2, 5));
        assert_eq!(runs.in_states(Extent::All), [in_state(0, 6, 102), in_state(1, 6, 131)]);
        assert_eq!(runs.in_state(1).median(), Some(Duration::from_microseconds(120)));
    }

    #[test]
    fn a_time_over_several_states_is_weighted_by_the_runs_in_each() {
        let in_state = |state, runs, time| InState { state, runs, median: Duration::from_picoseconds(time) };
        let all = [in_state(0, 6, 100), in_state(1, 2, 141)];
        assert_eq!(weighted(&all, |each| Some(each.median)), Some(Duration::from_picoseconds(110)));
        assert_eq!(weighted(&all, |each| (each.state == 0).then_some(each.median)), None);
        assert_eq!(weighted(&[], |each| Some(each.median)), None);
        let one = [in_state(0, 7, 99)];
        assert_eq!(weighted(&one, |each| Some(each.median)), Some(Duration::from_picoseconds(99)));
    }
}
