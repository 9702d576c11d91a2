//! How long launched ranks take for a program, as it is measured and as it is predicted.

use std::sync::Arc;

use experiment::{Error, Experiment};
use machines::model::Machine;
use quantities::{Duration, Time};
use virtual_worlds::stop::Stop;

/// How often each program runs on launched ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetitions {
    /// The runs of a program that count.
    pub runs: u32,
    /// The runs before these in each pass, which do not count: what a computer does for the first time takes longer.
    pub warm_up: u32,
    /// The passes over all programs in which these are divided, so that slow changes of a computer, such as its
    /// temperature, affect all programs and not just the first ones. Ranks are launched anew in each pass.
    pub passes: u32,
}

impl Repetitions {
    /// One run.
    pub const ONCE: Repetitions = Repetitions { runs: 1, warm_up: 0, passes: 1 };

    /// How many runs that count each pass has.
    pub fn runs_of_passes(self) -> impl Iterator<Item = u32> {
        let Repetitions { runs, passes, .. } = self;
        (0..passes.min(runs)).map(move |pass| runs / passes + u32::from(pass < runs % passes))
    }
}

/// The most passes that are simulated, each with other faults: more of them hardly change a median that has no drift.
const SIMULATED_PASSES: u32 = 3;

/// The median of some times; the lower of the middle two if their number is even.
pub fn median_time(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len().saturating_sub(1) / 2).copied()
}

/// The median time of an experiment that is run repeatedly. On an Ethernet these are as many simulated runs, as in each
/// of them ranks know the round trips of those before; without faults all passes are equal. On other machines all runs
/// are equal.
///
/// # Errors
/// If the machine can't run it, or it has several programs.
pub fn time(experiment: &Experiment, machine: &Machine, repetitions: Repetitions) -> Result<Duration, Error> {
    let run = experiment.prepare_on(&Arc::new(machine.clone()))?;
    if machine.model().ethernet().is_none() {
        return Ok(run.run(Stop::NEVER)?.answer.makespan().since(Time::ZERO));
    }
    let passes = if machine.is_random() { repetitions.passes.min(SIMULATED_PASSES) as usize } else { 1 };
    let mut times = Vec::new();
    for (faults, runs) in (0..).zip(repetitions.runs_of_passes().take(passes)) {
        let warm_up = repetitions.warm_up;
        times.extend(run.times_as_launched(warm_up + runs, faults)?.into_iter().skip(warm_up as usize));
    }
    Ok(median_time(times).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_a_pass() {
        for (runs, passes) in (0..50).flat_map(|runs| (1..12).map(move |passes| (runs, passes))) {
            assert_eq!(Repetitions { runs, warm_up: 2, passes }.runs_of_passes().sum::<u32>(), runs);
        }
        assert_eq!(Repetitions { runs: 8, warm_up: 0, passes: 3 }.runs_of_passes().collect::<Vec<_>>(), [3, 3, 2]);
    }
}
