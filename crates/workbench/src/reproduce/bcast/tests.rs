//! The study as a whole: its claims and its shape. It is quick enough to be run as it is.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::reproduce::tests::fetches_nothing;
use crate::reproduce::{Reproduction, Verdict, Watch, conclude};

fn reproduced(run: &(dyn Fn(&Job) -> Result<Measured, String> + Sync)) -> Reproduction {
    let interrupted = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 2 };
    Reproduction::of(vec![conclude(&STUDIES, paper(), run, &watch)])
}

#[test]
fn every_claim_is_met_and_every_figure_drawn() {
    let done = reproduced(&run);
    for outcome in &done.outcomes {
        assert_eq!(outcome.verdict, Verdict::Met, "{}: {}", outcome.id, outcome.note);
    }
    fetches_nothing(&done.html);
    assert!(!done.html.contains("Not drawn"));
}

#[test]
fn the_same_runs_make_the_same_report() {
    let some = |job: &Job| match job {
        Job::Lossy { seed: 1 | 2, .. } | Job::PingPong { bytes: 8 } => run(job),
        _ => Err("left out".to_string()),
    };
    assert_eq!(reproduced(&some).html, reproduced(&some).html);
}
