//! How long launched ranks take for a program, as it is measured and as it is predicted.

use experiment::{Error, Experiment};
use machines::model::{Interconnect, Machine};
use quantities::{Duration, Time};
use virtual_worlds::stop::Stop;

/// The number of passes over all programs in which their runs are divided, so that slow changes of a computer, such as its temperature,
/// affect all of them and not just the first ones. Ranks are launched anew in each pass.
const PASSES: u32 = 3;

/// How many of `repeat` runs each pass has.
pub fn runs_of_passes(repeat: u32) -> impl Iterator<Item = u32> {
    (0..PASSES.min(repeat)).map(move |pass| repeat / PASSES + u32::from(pass < repeat % PASSES))
}

/// The median of some times; the lower of the middle two if their number is even.
pub fn median_time(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len().saturating_sub(1) / 2).copied()
}

/// The median time of an experiment that is run `repeat` times. On an Ethernet these are as many simulated runs, as in each of them ranks know
/// the round trips of those before; without faults all passes are equal. On other machines all runs are equal.
///
/// # Errors
/// If the machine can't run it, or it has several programs.
pub fn time(experiment: &Experiment, machine: &Machine, repeat: u32) -> Result<Duration, Error> {
    let run = experiment.prepare_on(machine.clone())?;
    let Interconnect::Ethernet(_) = machine.interconnect else {
        return Ok(run.run(Stop::NEVER)?.answer.makespan().since(Time::ZERO));
    };
    let passes = if machine.is_random() { PASSES as usize } else { 1 };
    let mut times = Vec::new();
    for (faults, runs) in (0..).zip(runs_of_passes(repeat.max(1)).take(passes)) {
        times.extend(run.times_as_launched(runs, faults)?);
    }
    Ok(median_time(times).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_a_pass() {
        for repeat in 0..50 {
            assert_eq!(runs_of_passes(repeat).sum::<u32>(), repeat);
        }
        assert_eq!(runs_of_passes(8).collect::<Vec<_>>(), [3, 3, 2]);
    }
}
