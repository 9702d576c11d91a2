//! The study as a whole: its claims and its shape, and the runs that are fast enough.

use std::sync::atomic::AtomicBool;

use collectives::postal::{Lambda, broadcast_time};
use quantities::Duration;

use super::*;
use crate::tests::{Case, Random, each_judge_can_say_no, every_condition_can_fail, fetches_nothing};
use crate::{Kind, Reproduction, Verdict, Watch, conclude};

/// What the paper proves is reproduced exactly: it involves no model of a machine.
#[test]
fn the_exact_claims_are_met() {
    let exact = |job: &PostalRun| match job {
        PostalRun::Tree { .. } | PostalRun::Combine { .. } => run(job),
        PostalRun::Latency { .. } | PostalRun::Broadcast { .. } => Err("needs the Delta".to_string()),
    };
    let interrupted = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 2 };
    let done = Reproduction::of(vec![conclude(SUBJECT, paper().unwrap(), &exact, &watch).unwrap()]);
    for outcome in done.outcomes.iter().filter(|outcome| outcome.kind == Kind::Exact) {
        assert_eq!(outcome.verdict, Verdict::Met, "{}: {}", outcome.id, outcome.note);
    }
    fetches_nothing(&done.html);
}

/// A correct run that took that many microseconds.
fn took(microseconds: f64) -> PostalResult {
    PostalResult { time: Duration::from_picoseconds((microseconds * 1e6).round() as u64), right: true }
}

/// The same run, unless it is `lost`: then a node lacks what it should have.
fn losing(measured: PostalResult, lost: bool) -> PostalResult {
    PostalResult { right: !lost, ..measured }
}

/// An experiment with a t0 of 100 us and that lambda.
fn latency(job: &PostalRun, lambda: fn(u32) -> f64) -> PostalResult {
    let PostalRun::Latency { experiment, bytes, partners, .. } = *job else { return took(0.0) };
    let each = if experiment == Experiment::One { 100.0 } else { 200.0 };
    took(200.0 * lambda(bytes) + each * f64::from(partners - 1))
}

/// lambda as printed: it rises to 1.8 at 512 bytes and falls to 1.05.
fn lambda(bytes: u32) -> f64 {
    let steps = f64::from(bytes.ilog2()) - 9.0;
    if steps <= 0.0 { 1.8 + 0.1 * steps } else { 1.8 - 0.15 * steps }
}

/// A broadcast that is best with an alpha of `best` hundredths, in microseconds.
fn best_with(job: &PostalRun, best: u32) -> PostalResult {
    let PostalRun::Broadcast { alpha, .. } = *job else { return took(0.0) };
    let apart = f64::from(alpha.abs_diff(best));
    took(if alpha < best { 100.0 + 0.33 * apart * apart } else { 100.0 + 0.5 * apart })
}

/// Whether it is one of the broadcasts of a figure.
fn is_one(job: &PostalRun) -> bool {
    matches!(job, PostalRun::Broadcast { alpha: 50 | 60, nodes: Nodes::Permuted(3), .. })
}

fn ordered(job: &PostalRun, permuted: f64) -> PostalResult {
    took(if matches!(job, PostalRun::Broadcast { nodes: Nodes::RowMajor, .. }) { 100.0 } else { permuted })
}

fn steps(job: &PostalRun, binomial: f64) -> PostalResult {
    took(if matches!(job, PostalRun::Tree { optimal: true, .. }) { 5.0 } else { binomial })
}

fn rounds(job: &PostalRun) -> PostalResult {
    let PostalRun::Combine { tenths, nodes, .. } = *job else { return took(0.0) };
    took(broadcast_time(Lambda::new(u64::from(tenths), 10).unwrap(), u64::from(nodes)).as_f64())
}

/// A combine for which delayed sends are better below that lambda, in tenths, and delayed receives above.
fn crossing(job: &PostalRun, tenths_of_lambda: u32) -> PostalResult {
    let PostalRun::Combine { tenths, delayed, .. } = *job else { return took(0.0) };
    took(if (delayed == DelayedOperation::Sends) == (tenths < tenths_of_lambda) { 10.0 } else { 11.0 })
}

type Spoiled = Case<PostalRun, PostalResult>;
const CASES: [Spoiled; 11] = [
    Case {
        claim: "postal.fig2.tree",
        sound: |it| steps(it, 6.0),
        spoiled: |it| steps(it, 7.0),
        fails: "binomial_tree",
    },
    Case {
        claim: "postal.fig2.tree",
        sound: |it| steps(it, 6.0),
        spoiled: |it| losing(steps(it, 6.0), matches!(it, PostalRun::Tree { optimal: true, .. })),
        fails: "delivered",
    },
    Case {
        claim: "postal.fig3.lambda",
        sound: |it| latency(it, lambda),
        spoiled: |it| latency(it, |bytes| if bytes == 512 { 1.9 } else { lambda(bytes) }),
        fails: "at_512",
    },
    Case {
        claim: "postal.fig5.nonblocking",
        sound: |it| {
            latency(it, if matches!(it, PostalRun::Latency { blocking: true, .. }) { |_| 1.5 } else { |_| 1.6 })
        },
        spoiled: |it| latency(it, lambda),
        fails: "over_blocking",
    },
    Case {
        claim: "postal.fig10.long",
        sound: |it| best_with(it, 50),
        spoiled: |it| best_with(it, 58),
        fails: "best_alpha",
    },
    Case {
        claim: "postal.fig10.long",
        sound: |it| best_with(it, 50),
        spoiled: |it| losing(best_with(it, 50), is_one(it)),
        fails: "delivered_share",
    },
    Case {
        claim: "postal.fig13.short",
        sound: |it| best_with(it, 58),
        spoiled: |it| losing(best_with(it, 58), is_one(it)),
        fails: "delivered_share",
    },
    Case {
        claim: "postal.fig14.congestion",
        sound: |it| ordered(it, 110.0),
        spoiled: |it| losing(ordered(it, 110.0), is_one(it)),
        fails: "delivered_share",
    },
    Case {
        claim: "postal.fig14.congestion",
        sound: |it| ordered(it, 110.0),
        spoiled: |it| ordered(it, 101.0),
        fails: "faster_percent",
    },
    Case {
        claim: "postal.sec3.combine",
        sound: rounds,
        spoiled: |it| losing(rounds(it), matches!(it, PostalRun::Combine { nodes: 7, .. })),
        fails: "rounds_late",
    },
    Case {
        claim: "postal.sec3.delay",
        sound: |it| crossing(it, 15),
        spoiled: |it| crossing(it, 17),
        fails: "sends_over_receives_above",
    },
];

#[test]
fn every_judge_can_say_no() {
    each_judge_can_say_no(&STUDIES, paper(), &CASES);
}

/// The run with every number changed at random.
fn changed(measured: PostalResult, random: &mut Random) -> PostalResult {
    PostalResult { time: random.longer(measured.time), right: random.below(2) == 0 }
}

#[test]
fn every_condition_of_a_claim_can_fail() {
    every_condition_can_fail(
        &STUDIES,
        paper(),
        &CASES,
        changed,
        &["postal.fig13.short predicted_alphas", "postal.fig2.tree reached"],
    );
}
