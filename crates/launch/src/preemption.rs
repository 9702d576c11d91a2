//! How often a rank's thread lost its processor to another: what it measured then is not its machine's time alone.

use nix::sys::resource::{UsageWho, getrusage};

/// How often that has happened since the thread began, if the system tells.
pub(crate) fn preemptions() -> Option<u64> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).ok()?;
    u64::try_from(usage.involuntary_context_switches()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_counted_and_never_fewer() {
        let before = preemptions().unwrap();
        assert!(preemptions().unwrap() >= before);
    }
}
