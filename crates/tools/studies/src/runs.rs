//! Many runs, each once, on all cores.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use experiment::parallel;

/// Something that can be run.
pub trait StudyRun: Clone + Ord + Display + Send + Sync {
    /// Its approximate work, in units that only have to agree among jobs.
    fn cost(&self) -> f64;
    /// Whether its wall time is measured, so that nothing may run beside it.
    fn is_exclusive(&self) -> bool;
}

/// The progress of the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// Runs that have ended.
    pub done: usize,
    /// Runs in all.
    pub total: usize,
    /// The share of the work that has been done, from 0 to 1.
    pub share: f64,
    /// The run that ended last, if one has.
    pub last: Option<&'a str>,
}

/// Where the runs report their progress, and learn whether to stop.
pub struct Watch<'a> {
    /// Called from any thread whenever a run has ended.
    pub progress: &'a (dyn Fn(Progress<'_>) + Sync),
    /// Once true, no further run begins.
    pub interrupted: &'a AtomicBool,
    /// How many runs may go on at once.
    pub threads: usize,
}

/// The results of the finished runs.
#[derive(Clone, Debug)]
pub struct Runs<J, A> {
    ended: BTreeMap<J, Result<A, String>>,
}

/// Why a run's answer is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingAnswer {
    /// It was not run: which.
    NotRun(String),
    /// It failed: which, and why.
    Failed(String, String),
}

impl<J: StudyRun, A> Runs<J, A> {
    /// Runs that were made elsewhere, with their results.
    pub fn of(ended: impl IntoIterator<Item = (J, A)>) -> Runs<J, A> {
        Runs { ended: ended.into_iter().map(|(job, answer)| (job, Ok(answer))).collect() }
    }

    /// The result of `job`.
    ///
    /// # Errors
    /// If it was not run, or failed.
    pub fn get(&self, job: &J) -> Result<&A, MissingAnswer> {
        match self.ended.get(job) {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(why)) => Err(MissingAnswer::Failed(job.to_string(), why.clone())),
            None => Err(MissingAnswer::NotRun(job.to_string())),
        }
    }
    /// The first run that failed, and why; none if all went well.
    pub fn failure(&self) -> Option<(String, String)> {
        let failed = |(job, result): (&J, &Result<A, String>)| Some((job.to_string(), result.as_ref().err()?.clone()));
        self.ended.iter().find_map(failed)
    }
    /// How many runs ended.
    pub fn len(&self) -> usize {
        self.ended.len()
    }
    /// Whether none did.
    pub fn is_empty(&self) -> bool {
        self.ended.is_empty()
    }
}

/// Each of `jobs` once, however often it is listed.
pub fn plan<J: StudyRun>(jobs: impl IntoIterator<Item = J>) -> Vec<J> {
    let distinct: std::collections::BTreeSet<J> = jobs.into_iter().collect();
    distinct.into_iter().collect()
}

/// Runs all of `jobs` by `run`: those that may run beside others on `watch.threads` threads, the longest first, then
/// the rest one by one. The results do not depend on which thread ran what.
pub fn run_all<J: StudyRun, A: Send>(
    jobs: &[J],
    run: &(dyn Fn(&J) -> Result<A, String> + Sync),
    watch: &Watch<'_>,
) -> Runs<J, A> {
    let all: f64 = jobs.iter().map(StudyRun::cost).sum();
    let (mut exclusive, mut concurrent): (Vec<&J>, Vec<&J>) = jobs.iter().partition(|job| job.is_exclusive());
    for queue in [&mut concurrent, &mut exclusive] {
        queue.sort_by(|one, other| other.cost().total_cmp(&one.cost()));
    }
    let ended = Mutex::new((0, 0.0));
    let report_progress = |job: Option<&J>| {
        let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
        let (done, work) = &mut *ended;
        *done += usize::from(job.is_some());
        *work += job.map_or(0.0, StudyRun::cost);
        let share = if all > 0.0 { *work / all } else { 1.0 };
        let last = job.map(ToString::to_string);
        (watch.progress)(Progress { done: *done, total: jobs.len(), share, last: last.as_deref() });
    };
    report_progress(None);
    let mut runs = Runs { ended: BTreeMap::new() };
    for (queue, threads) in [(concurrent, watch.threads), (exclusive, 1)] {
        let progress = |_, place: usize| report_progress(queue.get(place).copied());
        let watch = parallel::Watch { progress: &progress, interrupted: watch.interrupted, threads };
        let answers = parallel::map(&queue, &watch, |job| run(job));
        let answered = queue.into_iter().zip(answers).filter_map(|(job, answer)| Some((job.clone(), answer?)));
        runs.ended.extend(answered);
    }
    runs
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    impl StudyRun for u32 {
        fn cost(&self) -> f64 {
            f64::from(*self)
        }
        fn is_exclusive(&self) -> bool {
            self.is_multiple_of(10)
        }
    }

    fn square(job: &u32) -> Result<u32, String> {
        if *job == 13 { Err("unlucky".to_string()) } else { Ok(job * job) }
    }

    fn watch<'a>(progress: &'a (dyn Fn(Progress<'_>) + Sync), interrupted: &'a AtomicBool) -> Watch<'a> {
        Watch { progress, interrupted, threads: 3 }
    }

    #[test]
    fn every_job_runs_once_and_is_found_again() {
        let count = AtomicUsize::new(0);
        let counted = |job: &u32| {
            count.fetch_add(1, Ordering::Relaxed);
            square(job)
        };
        let jobs = plan([3, 20, 3, 13, 7, 10, 7]);
        let interrupted = AtomicBool::new(false);
        let runs = run_all(&jobs, &counted, &watch(&|_| {}, &interrupted));
        assert_eq!(count.into_inner(), 5);
        assert_eq!(runs.len(), 5);
        assert_eq!(runs.get(&20), Ok(&400));
        assert_eq!(runs.get(&13), Err(MissingAnswer::Failed("13".to_string(), "unlucky".to_string())));
        assert_eq!(runs.get(&4), Err(MissingAnswer::NotRun("4".to_string())));
    }

    #[test]
    fn after_an_interrupt_what_was_done_is_kept() {
        let interrupted = AtomicBool::new(false);
        let stop = |progress: Progress<'_>| interrupted.store(progress.done >= 1, Ordering::Relaxed);
        let one = Watch { threads: 1, ..watch(&stop, &interrupted) };
        let runs = run_all(&plan([1, 2, 3]), &square, &one);
        assert_eq!(runs.len(), 1);
        assert_eq!(runs.get(&3), Ok(&9), "the longest goes first");
    }

    #[test]
    fn progress_ends_at_the_whole_work() {
        let last = Mutex::new(0.0);
        let interrupted = AtomicBool::new(false);
        let note = |progress: Progress<'_>| {
            let mut last = last.lock().unwrap();
            *last = progress.share.max(*last);
        };
        run_all(&plan([1, 2, 30]), &square, &watch(&note, &interrupted));
        assert!((last.into_inner().unwrap() - 1.0).abs() < 1e-12);
    }
}
