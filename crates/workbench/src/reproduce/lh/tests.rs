//! The study as a whole: its claims and its shape, with words few enough.

use std::sync::atomic::AtomicBool;

use programs::linear_hash::{Key, KeyHash};

use super::*;
use crate::reproduce::tests::fetches_nothing;
use crate::reproduce::{Reproduction, Verdict, Watch, conclude};
use crate::words;

/// Words for a build that takes no time to speak of: one of the list in so many.
const ONE_IN: usize = 180;

fn few_words() -> Vec<Key> {
    words::dutch().into_iter().step_by(ONE_IN).collect()
}

/// The study with those runs that `wanted` says, of few words.
fn reproduced(wanted: fn(&Job) -> bool) -> Reproduction {
    let words = few_words();
    let some = |job: &Job| if wanted(job) { simulate::build(job, words.clone()) } else { Err("left out".to_string()) };
    let interrupted = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 2 };
    Reproduction::of(vec![conclude(&STUDIES, paper(), &some, &watch)])
}

/// Few words make a small table, which says nothing of the printed figures, but everything is judged and drawn.
#[test]
fn every_claim_is_judged_and_every_figure_drawn() {
    let done = reproduced(|_| true);
    for outcome in &done.outcomes {
        assert_ne!(outcome.verdict, Verdict::NotRun, "{}: {}", outcome.id, outcome.note);
        assert!(!outcome.note.contains("failed"), "{}: {}", outcome.id, outcome.note);
    }
    let forwards = done.outcomes.iter().find(|outcome| outcome.id == "lh.sec3.two_forwards").unwrap();
    assert_eq!(forwards.verdict, Verdict::Met, "{}", forwards.note);
    fetches_nothing(&done.html);
    assert!(!done.html.contains("Not drawn"));
}

#[test]
fn the_same_runs_make_the_same_report() {
    let one_client = |job: &Job| job.clients == 1 && job.body == 0;
    assert_eq!(reproduced(one_client).html, reproduced(one_client).html);
}

/// An insert of a lone client is two messages, one after the other.
#[test]
fn a_lone_client_waits_for_two_messages() {
    let measured = simulate::build(&Job::new(KeyHash::Uniform, 1), few_words()).unwrap();
    let insert = measured.time.microseconds() / measured.inserts as f64;
    assert!((650.0..700.0).contains(&insert), "{insert} us");
}

#[test]
fn cheaper_messages_make_builds_faster() {
    let job = Job::new(KeyHash::LastLetters, 4).enlarged().with_body(512);
    let time = |job: &Job| simulate::build(job, few_words()).unwrap().time;
    assert!(time(&Job { cheaper: 9, ..job }) < time(&Job { cheaper: 3, ..job }));
    assert!(time(&Job { cheaper: 3, ..job }) < time(&job));
    assert!(time(&job) < time(&Job { server_time: 10_000, ..job }));
}
