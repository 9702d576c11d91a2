//! The study as a whole: its claims and its shape, and the runs that are quick enough.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::reproduce::tests::fetches_nothing;
use crate::reproduce::{Kind, Reproduction, Verdict, Watch, conclude};

/// What the paper proves comes out exactly: no model of a machine takes part.
#[test]
fn the_exact_claims_are_met() {
    let exact = |job: &Job| match job {
        Job::Tree { .. } | Job::Combine { .. } => run(job),
        Job::Latency { .. } | Job::Broadcast { .. } => Err("needs the Delta".to_string()),
    };
    let interrupted = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 2 };
    let done = Reproduction::of(vec![conclude(&STUDIES, paper(), &exact, &watch)]);
    for outcome in done.outcomes.iter().filter(|outcome| outcome.kind == Kind::Exact) {
        assert_eq!(outcome.verdict, Verdict::Met, "{}: {}", outcome.id, outcome.note);
    }
    fetches_nothing(&done.html);
}
