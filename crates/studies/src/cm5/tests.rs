//! The study as a whole: its claims and its shape, and the runs that are quick enough.

use std::sync::atomic::AtomicBool;

use programs::all_to_all::{Complete, Irregular};
use quantities::Duration;

use super::*;
use crate::tests::{Case, each_judge_can_say_no, fetches_nothing};
use crate::{Kind, Reproduction, Verdict, Watch, conclude};

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
        Job::Random { algorithm: programs::all_to_all::Irregular::Greedy, percent: 10, bytes: 256, pattern: 3 },
        Job::Application {
            application: programs::applications::patterns::Application::ConjugateGradient,
            algorithm: programs::all_to_all::Irregular::Linear,
            mesh: 0,
        },
    ];
    for job in jobs {
        let measured = run(&job).unwrap_or_else(|why| panic!("{job}: {why}"));
        assert!(!measured.time.is_zero(), "{job}");
    }
}

fn took(milliseconds: f64) -> Measured {
    Measured { time: Duration::from_picoseconds((milliseconds * 1e9).round() as u64) }
}

/// What is printed of the network, with that rate through the root. [MB/s]
fn network(job: &Job, far: f64) -> Measured {
    match *job {
        Job::Flow { distance: 1, .. } => took(20.48 / 20.0),
        Job::Flow { .. } => took(20.48 / far),
        _ => took(0.088),
    }
}

/// Exchanges on 32 nodes, of which balanced is ahead of pairwise by so much where messages are large. [ms]
fn exchanged(job: &Job, ahead: f64) -> Measured {
    let Job::Exchange { algorithm, bytes, .. } = *job else { return took(0.0) };
    let large = if bytes >= 1024 { 1.0 } else { 0.0 };
    let base = 10.0 + f64::from(bytes) / 100.0;
    took(match algorithm {
        Complete::Linear => 5.0 * base,
        Complete::Pairwise => base,
        Complete::Recursive => base + large,
        _ => base - ahead * large,
    })
}

/// Exchanges over machine sizes, as stated.
fn over_machines(job: &Job) -> Measured {
    let Job::Exchange { algorithm, nodes, bytes } = *job else { return took(0.0) };
    let [pairwise, recursive, balanced] = match (bytes, nodes <= 16) {
        (0, _) => [2.0, 1.0, 2.0],
        (_, true) => [1.0, 2.0, 1.0],
        (256, false) => [3.0, 2.0, 1.0],
        (_, false) => [2.0, 1.0, 2.0],
    };
    took(match algorithm {
        Complete::Pairwise => pairwise,
        Complete::Recursive => recursive,
        _ => balanced,
    })
}

/// Broadcasts of which the recursive one takes over at so many bytes on 256 nodes.
fn overtaken(job: &Job, at: f64) -> Measured {
    let Job::Broadcast { how, nodes, bytes } = *job else { return took(0.0) };
    let recursive = if nodes == 256 { at } else { 1_000.0 };
    took(match how {
        How::Linear => 5.0 * recursive,
        How::Recursive => recursive,
        How::Hardware => f64::from(bytes),
    })
}

/// A printed figure of tables 5, 11 and 12.
fn as_printed(job: &Job) -> Measured {
    let of_row = |printed: [f64; 4], algorithm| {
        let place = table11::ALGORITHMS.iter().position(|one| *one == algorithm).unwrap();
        took(printed[place])
    };
    match *job {
        Job::Transform { .. } => took(table5::figures().find(|(one, _)| one == job).unwrap().1 * 1e3),
        Job::Random { algorithm, percent, bytes, .. } => of_row(table11::printed(percent, bytes), algorithm),
        Job::Application { application, algorithm, .. } => of_row(table12::printed(application), algorithm),
        _ => took(0.0),
    }
}

fn longer(measured: Measured, times: f64) -> Measured {
    took(measured.time.seconds() * 1e3 * times)
}

const CASES: [Case<Job, Measured>; 9] = [
    Case {
        claim: "cm5.sec2.network",
        sound: |it| network(it, 5.0),
        spoiled: |it| network(it, 4.5),
        fails: "through the root of 256: 4.50 MB/s",
    },
    Case {
        claim: "cm5.fig5.exchange32",
        sound: |it| exchanged(it, 1.0),
        spoiled: |it| exchanged(it, -0.5),
        fails: "1024 B: balanced 20.74, pairwise 20.24, recursive 21.24 ms",
    },
    Case {
        claim: "cm5.fig6to8.sizes",
        sound: over_machines,
        spoiled: |it| {
            let spoils = matches!(it, Job::Exchange { algorithm: Complete::Recursive, nodes: 64, bytes: 0 });
            if spoils { took(2.0) } else { over_machines(it) }
        },
        fails: "0 B, 64 nodes: recursive is the fastest",
    },
    Case {
        claim: "cm5.table5.fft",
        sound: as_printed,
        spoiled: |it| {
            let linear = matches!(it, Job::Transform { algorithm: Complete::Linear, .. });
            longer(as_printed(it), if linear { 1.3 } else { 1.0 })
        },
        fails: "linear is 30.0 % off",
    },
    Case {
        claim: "cm5.fig10.broadcast",
        sound: |it| overtaken(it, 2_000.0),
        spoiled: |it| overtaken(it, 3_000.0),
        fails: "256 nodes: recursive is faster at all sizes from 3000 B on",
    },
    Case {
        claim: "cm5.fig10.broadcast",
        sound: |it| overtaken(it, 2_000.0),
        spoiled: |it| overtaken(it, 800.0),
        fails: "256 nodes: 800 B is about 2048",
    },
    Case {
        claim: "cm5.table11.synthetic",
        sound: as_printed,
        spoiled: |it| longer(as_printed(it), 1.05),
        fails: "the 32 figures are 5.00 % off",
    },
    Case {
        claim: "cm5.sec45.density",
        sound: as_printed,
        spoiled: |it| {
            let greedy = matches!(it, Job::Random { algorithm: Irregular::Greedy, percent: 10, .. });
            longer(as_printed(it), if greedy { 1.5 } else { 1.0 })
        },
        fails: "10 % of 256 B",
    },
    Case {
        claim: "cm5.table12.real",
        sound: as_printed,
        spoiled: |it| longer(as_printed(it), 0.8),
        fails: "the 20 figures are 20.0 % off",
    },
];

#[test]
fn every_judge_can_say_no() {
    each_judge_can_say_no(&STUDIES, &paper(), &CASES);
}
