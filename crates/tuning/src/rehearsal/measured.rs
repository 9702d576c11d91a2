//! The measured runs of a program.

use quantities::Duration;
use serde::{Deserialize, Serialize};

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
    /// Whether these show that the computer was in another state than usually.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_other_state: bool,
}

impl Pass {
    fn runs(&self) -> impl Iterator<Item = (Duration, bool)> {
        let run = |(number, &time)| (Duration::from_picoseconds(time), self.disturbed.contains(&number));
        self.times_ps.iter().enumerate().map(run)
    }
}

/// How long the reference program usually takes, by all of its runs beside the runs of programs.
pub fn usual_reference<'a>(all: impl IntoIterator<Item = &'a Runs>) -> Option<Duration> {
    let passes = all.into_iter().flat_map(|runs| &runs.passes);
    median_time(
        passes
            .flat_map(|pass| pass.reference_ps.iter().flatten())
            .map(|&time| Duration::from_picoseconds(time))
            .collect(),
    )
}

impl Runs {
    /// Adds the runs of a later pass.
    pub fn push(&mut self, pass: Pass) {
        self.passes.push(pass);
    }

    /// Leaves out the passes in which the reference program took longer or shorter than usual by more than `tolerance`, a share of its
    /// usual time.
    pub fn leave_out_other_states(&mut self, usual: Duration, tolerance: f64) {
        let is_other = |&time: &u64| (time as f64 / usual.picoseconds() as f64 - 1.0).abs() > tolerance;
        for pass in &mut self.passes {
            pass.in_other_state = pass.reference_ps.iter().flatten().any(is_other);
        }
    }

    /// How many passes were made while the computer was in its usual state.
    pub fn usual_passes(&self) -> usize {
        self.passes.iter().filter(|pass| !pass.in_other_state).count()
    }

    /// How many runs there are.
    pub fn count(&self) -> usize {
        self.passes.iter().map(|pass| pass.times_ps.len()).sum()
    }

    /// How many of them are left out of the median.
    pub fn left_out(&self) -> usize {
        self.count() - self.passes.iter().flat_map(|pass| self.kept(pass)).count()
    }

    /// The median of the times of undisturbed runs; nothing if the computer was in another state in all of them.
    pub fn median(&self) -> Option<Duration> {
        median_time(self.passes.iter().flat_map(|pass| self.kept(pass)).collect())
    }

    /// The standard error of the median, as a share of it, by how much the medians of the passes differ; nothing if there is only one pass.
    ///
    /// ```text
    ///   standard error = sqrt(sum (m_p - mean m)^2 / (P - 1) / P) / mean m         m_p: the median of pass p of P
    /// ```
    pub fn standard_error(&self) -> Option<f64> {
        let medians = self.passes.iter().filter_map(|pass| median_time(self.kept(pass)));
        let medians: Vec<f64> = medians.map(Duration::seconds).collect();
        let count = medians.len() as f64;
        let mean = medians.iter().sum::<f64>() / count;
        let squares: f64 = medians.iter().map(|median| (median - mean).powi(2)).sum();
        (medians.len() > 1 && mean > 0.0).then(|| (squares / (count - 1.0) / count).sqrt() / mean)
    }

    /// The times of a pass that count: those of undisturbed runs in the usual state of the computer. If a rank lost its processor in more than
    /// two thirds of the runs in that state, these count, too: so few say nothing.
    fn kept(&self, pass: &Pass) -> Vec<Duration> {
        if pass.in_other_state {
            return Vec::new();
        }
        let usual = self.passes.iter().filter(|pass| !pass.in_other_state).flat_map(Pass::runs);
        let (count, left) = usual.fold((0, 0), |(count, left), run| (count + 1, left + usize::from(!run.1)));
        let too_few = left * 3 < count;
        pass.runs().filter(|(_, is_disturbed)| too_few || !is_disturbed).map(|run| run.0).collect()
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
        assert_eq!(of(7), (Duration::from_microseconds(900), 0));
        assert_eq!(Runs::default().median(), None);
    }

    #[test]
    fn the_standard_error_is_that_of_the_medians_of_passes() {
        let pass = |time: u64| Pass { times_ps: vec![time, time, 10 * time], ..Pass::default() };
        let runs = Runs { passes: [90, 100, 110].map(pass).to_vec() };
        assert!((runs.standard_error().unwrap() - 0.1 / 3_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Runs { passes: vec![pass(90)] }.standard_error(), None);
        assert_eq!(with_disturbed(2).standard_error(), Some(0.0));
    }

    #[test]
    fn passes_are_left_out_in_which_the_reference_took_longer_than_usual() {
        let pass = |time: u64, reference: [u64; 2]| Pass {
            times_ps: vec![time; 2],
            reference_ps: Some(reference),
            ..Pass::default()
        };
        let mut runs =
            Runs { passes: vec![pass(100, [50, 51]), pass(130, [50, 65]), pass(131, [64, 66]), pass(102, [52, 49])] };
        let usual = usual_reference([&runs]).unwrap();
        assert_eq!(usual, Duration::from_picoseconds(51));
        runs.leave_out_other_states(usual, 0.1);
        assert_eq!((runs.median(), runs.left_out()), (Some(Duration::from_picoseconds(100)), 4));
        assert_eq!(runs.usual_passes(), 2);
        runs.leave_out_other_states(Duration::from_picoseconds(80), 0.1);
        assert_eq!((runs.median(), runs.left_out()), (None, 8));
        assert_eq!(usual_reference([&with_disturbed(0)]), None);
    }
}
