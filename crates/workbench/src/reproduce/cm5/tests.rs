//! The study as a whole: its claims and its shape, and the runs that are quick enough.

use std::sync::atomic::AtomicBool;

use programs::exchange::Complete;

use super::*;
use crate::reproduce::tests::fetches_nothing;
use crate::reproduce::{Kind, Reproduction, Verdict, Watch, conclude};

/// The study with the runs that `wanted` says.
fn reproduced(wanted: fn(&Job) -> bool) -> Reproduction {
    let some = |job: &Job| if wanted(job) { run(job) } else { Err("left out".to_string()) };
    let interrupted = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 2 };
    Reproduction::of(vec![conclude(&STUDIES, paper(), &some, &watch)])
}

/// Schedules come out exactly: no model of a machine takes part. What the paper says of the networks needs little time to
/// be judged.
#[test]
fn the_exact_claims_are_met_and_the_network_is_judged() {
    let done = reproduced(|job| matches!(job, Job::Empty { .. } | Job::Flow { .. }));
    for outcome in done.outcomes.iter().filter(|outcome| outcome.kind == Kind::Exact) {
        assert_eq!(outcome.verdict, Verdict::Met, "{}: {}", outcome.id, outcome.note);
    }
    let network = done.outcomes.iter().find(|outcome| outcome.id == "cm5.sec2.network").unwrap();
    assert_ne!(network.verdict, Verdict::NotRun, "{}", network.note);
    fetches_nothing(&done.html);
    assert!(done.html.contains("0 &lt;-&gt; 4"), "the tables are printed");
}

#[test]
fn the_same_runs_make_the_same_report() {
    let short = |job: &Job| matches!(job, Job::Broadcast { nodes: 32, .. } | Job::Empty { .. });
    assert_eq!(reproduced(short).html, reproduced(short).html);
}

/// Every kind of run ends, each in its smallest size.
#[test]
fn every_kind_of_run_ends() {
    let jobs = [
        Job::Exchange { algorithm: Complete::Recursive, nodes: 8, bytes: 0 },
        Job::Transform { algorithm: Complete::Pairwise, nodes: 32, size: 64 },
        Job::Broadcast { how: How::Hardware, nodes: 256, bytes: 64 },
        Job::Random { algorithm: programs::exchange::Irregular::Greedy, percent: 10, bytes: 256, pattern: 3 },
        Job::Application {
            application: programs::applications::patterns::Application::ConjugateGradient,
            algorithm: programs::exchange::Irregular::Linear,
            mesh: 0,
        },
    ];
    for job in jobs {
        let measured = run(&job).unwrap_or_else(|why| panic!("{job}: {why}"));
        assert!(!measured.time.is_zero(), "{job}");
    }
}
