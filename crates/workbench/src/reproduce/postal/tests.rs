//! The study as a whole: its claims and its shape, and the runs that are quick enough.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::reproduce::{Reproduction, Verdict, Watch, conclude, parse};

#[test]
fn every_claim_has_exactly_one_study() {
    let listed = parse(CLAIMS).unwrap();
    assert_eq!(listed.len(), 13);
    for claim in &listed {
        let treated = STUDIES.iter().filter(|study| study.claims.contains(&claim.id.as_str())).count();
        assert_eq!(treated, 1, "{}", claim.id);
    }
    let known: BTreeSet<&str> = listed.iter().map(|claim| claim.id.as_str()).collect();
    assert!(STUDIES.iter().flat_map(|study| study.claims).all(|id| known.contains(id)));
}

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
    for outcome in done.outcomes.iter().filter(|outcome| outcome.kind == crate::reproduce::Kind::Exact) {
        assert_eq!(outcome.verdict, Verdict::Met, "{}: {}", outcome.id, outcome.note);
    }
    for forbidden in ["http:", "https:", "<script", "@import", "url(", " src="] {
        assert!(!done.html.contains(forbidden), "{forbidden}");
    }
}
