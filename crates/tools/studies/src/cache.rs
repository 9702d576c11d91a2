//! Answers kept from one reproduction to the next, so that unchanged runs are not repeated.
//!
//! An answer depends on the run and on the simulator. The run is identified by its paper and by every field of its job;
//! the simulator, by [`VERSION`].

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::runs::StudyRun;

/// A hash of the sources of everything on which an answer depends: engines, programs, presets, jobs.
pub const VERSION: &str = env!("MAQUETTE_SIMULATED_BY");

/// Where answers are kept.
pub trait RunCache: Sync {
    /// The answer to `run` as JSON, if there is one of this [`VERSION`].
    fn find(&self, run: &str) -> Option<String>;
    /// Keeps the answer to `run`. If that fails, the run is repeated the next time.
    fn keep(&self, run: &str, answer: &str);
}

/// The answer to a `job` of `paper`: the kept one, or that of `run`, which is then kept. Failures are not kept, nor are
/// answers that depend on the wall time of a run.
///
/// # Errors
/// Those of `run`.
pub fn once<J: StudyRun + Debug, A: Serialize + DeserializeOwned>(
    cache: Option<&dyn RunCache>,
    paper: &str,
    job: &J,
    run: &(dyn Fn(&J) -> Result<A, String> + Sync),
) -> Result<A, String> {
    let Some(cache) = cache.filter(|_| !job.is_exclusive()) else { return run(job) };
    let name = format!("{paper} {job:?}");
    if let Some(answer) = cache.find(&name).and_then(|cached| serde_json::from_str(&cached).ok()) {
        return Ok(answer);
    }
    let answer = run(job)?;
    if let Ok(text) = serde_json::to_string(&answer) {
        cache.keep(&name, &text);
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::{bcast, cm5, moc, plan, postal};

    #[derive(Default)]
    struct Memory(Mutex<BTreeMap<String, String>>);

    impl RunCache for Memory {
        fn find(&self, run: &str) -> Option<String> {
            self.0.lock().unwrap().get(run).cloned()
        }
        fn keep(&self, run: &str, answer: &str) {
            self.0.lock().unwrap().insert(run.to_string(), answer.to_string());
        }
    }

    /// How often `job` runs when its answer is asked for three times, of one paper and then of another.
    fn runs(job: u32) -> u32 {
        let memory = Memory::default();
        let count = AtomicU32::new(0);
        let run = |job: &u32| {
            count.fetch_add(1, Ordering::Relaxed);
            if *job == 13 { Err("unlucky".to_string()) } else { Ok(0.1 + f64::from(*job)) }
        };
        let answers = ["moc", "moc", "cm5"].map(|paper| once(Some(&memory), paper, &job, &run));
        assert!(answers.iter().all(|answer| *answer == answers[0]));
        count.into_inner()
    }

    #[test]
    fn a_run_is_made_once_for_each_paper() {
        assert_eq!(runs(7), 2);
    }

    #[test]
    fn failures_and_wall_times_are_not_cached() {
        assert_eq!(runs(13), 3);
        assert_eq!(runs(20), 3, "runs that are divisible by ten are about wall time");
    }

    /// The answers of a paper's fastest runs are the same after having been kept.
    fn answers_survive_the_cache<J: StudyRun + Debug, A: Serialize + DeserializeOwned + Debug>(
        jobs: Vec<J>,
        run: fn(&J) -> Result<A, String>,
    ) {
        let memory = Memory::default();
        let mut jobs = plan(jobs);
        jobs.sort_by(|one, other| one.cost().total_cmp(&other.cost()));
        for job in jobs.iter().filter(|job| !job.is_exclusive()).take(3) {
            let first = once(Some(&memory), "paper", job, &run).unwrap();
            let again: A = once(Some(&memory), "paper", job, &|_| Err("run again".to_string())).unwrap();
            assert_eq!(format!("{first:?}"), format!("{again:?}"), "{job}");
        }
    }

    #[test]
    fn answers_come_back_as_they_were() {
        answers_survive_the_cache(moc::STUDIES.iter().flat_map(|study| (study.jobs)()).collect(), moc::run);
        answers_survive_the_cache(postal::STUDIES.iter().flat_map(|study| (study.jobs)()).collect(), postal::run);
        answers_survive_the_cache(cm5::STUDIES.iter().flat_map(|study| (study.jobs)()).collect(), cm5::run);
        answers_survive_the_cache(bcast::STUDIES.iter().flat_map(|study| (study.jobs)()).collect(), bcast::run);
    }
}
