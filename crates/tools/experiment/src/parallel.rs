//! Many tasks on all cores, until they are done or somebody interrupts.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How work is monitored and limited.
pub struct Watch<'a> {
    /// Called from any thread with the number of finished pieces, and the index of the last, whenever one is done.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Once true, no further piece begins, and those in progress do not count.
    pub interrupted: &'a AtomicBool,
    /// How many threads work at once.
    pub threads: usize,
}

/// Applies `work` to each of `pieces`, and returns the results in the order of the pieces; none for those that were not
/// done when somebody interrupted. It makes no difference which thread does what.
pub fn map<T: Sync, A: Send>(pieces: &[T], watch: &Watch<'_>, work: impl Fn(&T) -> A + Sync) -> Vec<Option<A>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut answers: Vec<Option<A>> = Vec::new();
    answers.resize_with(pieces.len(), || None);
    let answers = Mutex::new(answers);
    let worker = || {
        while !watch.interrupted.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(place) else { return };
            let answer = work(piece);
            if watch.interrupted.load(Ordering::Relaxed) {
                return; // a piece in progress may have been cut short
            }
            if let Some(slot) = answers.lock().unwrap_or_else(PoisonError::into_inner).get_mut(place) {
                *slot = Some(answer);
            }
            (watch.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, place);
        }
    };
    std::thread::scope(|scope| {
        // This thread works as well. Where the system can't start as many others, there are fewer.
        for _ in 1..watch.threads.min(pieces.len()) {
            let _ = std::thread::Builder::new().spawn_scoped(scope, worker);
        }
        worker();
    });
    answers.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_and_results_keep_their_order() {
        let interrupted = AtomicBool::new(false);
        let most = AtomicUsize::new(0);
        let progress = |done, _| {
            most.fetch_max(done, Ordering::Relaxed);
        };
        for threads in [0, 1, 3, 200] {
            let watch = Watch { progress: &progress, interrupted: &interrupted, threads };
            let squares = map(&[1, 2, 3, 4, 5], &watch, |piece| piece * piece);
            assert_eq!(squares, [1, 4, 9, 16, 25].map(Some));
        }
        assert_eq!(most.into_inner(), 5);
    }

    #[test]
    fn after_an_interrupt_nothing_more_begins() {
        let interrupted = AtomicBool::new(false);
        let progress = |done, _| interrupted.store(done == 2, Ordering::Relaxed);
        let watch = Watch { progress: &progress, interrupted: &interrupted, threads: 1 };
        assert_eq!(map(&[1, 2, 3], &watch, |piece| *piece), [Some(1), Some(2), None]);
    }

    #[test]
    fn a_piece_in_progress_at_an_interrupt_does_not_count() {
        let interrupted = AtomicBool::new(false);
        let watch = Watch { progress: &|_, _| {}, interrupted: &interrupted, threads: 1 };
        let cut_short = |piece: &i32| interrupted.fetch_or(*piece == 2, Ordering::Relaxed);
        assert_eq!(map(&[1, 2, 3], &watch, cut_short), [Some(false), None, None]);
    }
}
