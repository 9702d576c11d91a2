//! How often a rank's thread was preempted: a time measured meanwhile is not that of its machine alone.

use nix::sys::resource::{UsageWho, getrusage};

/// How often the thread has been preempted since it began, if the system reports it.
pub(crate) fn preemptions() -> Option<u64> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).ok()?;
    u64::try_from(usage.involuntary_context_switches()).ok()
}

#[cfg(test)]
mod tests {
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    /// More threads than processors, none of which yields voluntarily.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "it is waited for the system, and not for ever")]
    fn a_thread_that_has_to_share_its_processor_loses_it() {
        let (before, until) = (preemptions().unwrap(), Instant::now() + Duration::from_secs(20));
        let others = thread::available_parallelism().unwrap().get();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..others {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        spin_loop()
                    }
                });
            }
            while preemptions().unwrap() == before && Instant::now() < until {
                spin_loop()
            }
            is_over.store(true, Ordering::Relaxed);
        });
        assert!(preemptions().unwrap() > before);
    }
}
