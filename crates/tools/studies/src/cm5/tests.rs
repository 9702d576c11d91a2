//! The study as a whole: its claims and its shape, and the runs that are fast enough.

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use collectives::all_to_all::{Complete, Irregular};
use quantities::Duration;

use super::*;
use crate::tests::{Case, Random, each_judge_can_say_no, every_condition_can_fail, fetches_nothing};
use crate::{Kind, Reproduction, Verdict, Watch, conclude};

/// The study with the runs that `wanted` selects.
fn reproduced(wanted: fn(&Cm5Run) -> bool) -> Reproduction {
    let some = |job: &Cm5Run| if wanted(job) { run(job) } else { Err("left out".to_string()) };
    let interrupted = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 2 };
    Reproduction::of(vec![conclude(SUBJECT, paper().unwrap(), &some, &watch).unwrap()])
}

/// Schedules are reproduced exactly: they involve no model of a machine. What the paper says about the networks takes
/// little time to judge.
#[test]
fn the_exact_claims_are_met_and_the_network_is_judged() {
    let done = reproduced(|job| matches!(job, Cm5Run::Empty { .. } | Cm5Run::Flow { .. }));
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
    let short = |job: &Cm5Run| matches!(job, Cm5Run::Broadcast { nodes: 32, .. } | Cm5Run::Empty { .. });
    assert_eq!(reproduced(short).html, reproduced(short).html);
}

/// Every kind of run ends, each in its smallest size.
#[test]
fn every_kind_of_run_ends() {
    let jobs = [
        Cm5Run::Exchange { algorithm: Complete::Recursive, nodes: 8, bytes: 0 },
        Cm5Run::Transform { algorithm: Complete::Pairwise, nodes: 32, size: 64 },
        Cm5Run::Broadcast { how: How::Hardware, nodes: 256, bytes: 64 },
        Cm5Run::Random { algorithm: collectives::all_to_all::Irregular::Greedy, percent: 10, bytes: 256, pattern: 3 },
        Cm5Run::Application {
            application: programs::applications::patterns::Application::ConjugateGradient,
            algorithm: collectives::all_to_all::Irregular::Linear,
            mesh: 0,
        },
    ];
    for job in jobs {
        let measured = run(&job).unwrap_or_else(|why| panic!("{job}: {why}"));
        assert!(!measured.time.is_zero(), "{job}");
    }
}

fn took(milliseconds: f64) -> Cm5Result {
    Cm5Result { time: Duration::from_picoseconds((milliseconds * 1e9).round() as u64) }
}

/// The printed rates of the network, but with that rate through the root. [MB/s]
fn network(job: &Cm5Run, far: f64) -> Cm5Result {
    match *job {
        Cm5Run::Flow { distance: 1, .. } => took(20.48 / 20.0),
        Cm5Run::Flow { .. } => took(20.48 / far),
        _ => took(0.088),
    }
}

/// Exchanges on 32 nodes, with balanced `ahead` of pairwise for large messages. [ms]
fn exchanged(job: &Cm5Run, ahead: f64) -> Cm5Result {
    let Cm5Run::Exchange { algorithm, bytes, .. } = *job else { return took(0.0) };
    let large = if bytes >= 1024 { 1.0 } else { 0.0 };
    let base = 10.0 + f64::from(bytes) / 100.0;
    took(match algorithm {
        Complete::Linear => 5.0 * base,
        Complete::Pairwise => base,
        Complete::Recursive => base + large,
        _ => base - ahead * large,
    })
}

/// Exchanges over machine sizes, as the paper states.
fn over_machines(job: &Cm5Run) -> Cm5Result {
    let Cm5Run::Exchange { algorithm, nodes, bytes } = *job else { return took(0.0) };
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

/// Broadcasts where the recursive one takes over `at` a number of bytes on 256 nodes.
fn overtaken(job: &Cm5Run, at: f64) -> Cm5Result {
    let Cm5Run::Broadcast { how, nodes, bytes } = *job else { return took(0.0) };
    let recursive = if nodes == 256 { at } else { 1_000.0 };
    took(match how {
        How::Linear => 5.0 * recursive,
        How::Recursive => recursive,
        How::Hardware => f64::from(bytes),
    })
}

/// The printed figures.
static PRINTED: LazyLock<Claims> = LazyLock::new(|| paper().unwrap().claims);

/// A printed figure of tables 5, 11 and 12.
fn as_printed(job: &Cm5Run) -> Cm5Result {
    let claim = |id| PRINTED.get(id).unwrap();
    match *job {
        Cm5Run::Transform { .. } => {
            let figures = table5::figures(claim("cm5.table5.fft")).unwrap();
            took(figures.iter().find(|(one, ..)| one == job).unwrap().1 * 1e3)
        }
        Cm5Run::Random { algorithm, percent, bytes, .. } => {
            took(table11::printed_of(&PRINTED, algorithm, percent, bytes))
        }
        Cm5Run::Application { application, algorithm, .. } => {
            let figures = table12::printed(claim("cm5.table12.real")).unwrap();
            let row = figures.iter().find(|(one, _)| *one == application).unwrap().1;
            took(row[table11::ALGORITHMS.iter().position(|one| *one == algorithm).unwrap()])
        }
        _ => took(0.0),
    }
}

fn longer(measured: Cm5Result, times: f64) -> Cm5Result {
    took(measured.time.seconds() * 1e3 * times)
}

const CASES: [Case<Cm5Run, Cm5Result>; 10] = [
    Case { claim: "cm5.sec2.network", sound: |it| network(it, 5.0), spoiled: |it| network(it, 4.5), fails: "far_MBps" },
    Case {
        claim: "cm5.fig5.exchange32",
        sound: |it| exchanged(it, 1.0),
        spoiled: |it| exchanged(it, -0.5),
        fails: "large_balanced_over_pairwise",
    },
    Case {
        claim: "cm5.fig6to8.sizes",
        sound: over_machines,
        spoiled: |it| {
            let spoils = matches!(it, Cm5Run::Exchange { algorithm: Complete::Recursive, nodes: 64, bytes: 0 });
            if spoils { took(2.0) } else { over_machines(it) }
        },
        fails: "empty_recursive_over_others",
    },
    Case {
        claim: "cm5.table5.fft",
        sound: as_printed,
        spoiled: |it| {
            let linear = matches!(it, Cm5Run::Transform { algorithm: Complete::Linear, .. });
            longer(as_printed(it), if linear { 1.3 } else { 1.0 })
        },
        fails: "linear_off_percent",
    },
    Case {
        claim: "cm5.fig10.broadcast",
        sound: |it| overtaken(it, 2_000.0),
        spoiled: |it| overtaken(it, 3_000.0),
        fails: "from_bytes_256",
    },
    Case {
        claim: "cm5.fig10.broadcast",
        sound: |it| overtaken(it, 2_000.0),
        spoiled: |it| overtaken(it, 800.0),
        fails: "from_bytes_256",
    },
    Case {
        claim: "cm5.table11.synthetic",
        sound: as_printed,
        spoiled: |it| longer(as_printed(it), 1.05),
        fails: "held_back_off_percent",
    },
    Case {
        claim: "cm5.sec45.density",
        sound: as_printed,
        spoiled: |it| {
            let greedy = matches!(it, Cm5Run::Random { algorithm: Irregular::Greedy, percent: 10, .. });
            longer(as_printed(it), if greedy { 1.5 } else { 1.0 })
        },
        fails: "sparse_greedy_over_others",
    },
    Case {
        claim: "cm5.sec45.density",
        sound: as_printed,
        spoiled: |it| {
            let linear = matches!(it, Cm5Run::Random { algorithm: Irregular::Linear, percent: 50, .. });
            longer(as_printed(it), if linear { 0.2 } else { 1.0 })
        },
        fails: "linear_over_others",
    },
    Case {
        claim: "cm5.table12.real",
        sound: as_printed,
        spoiled: |it| longer(as_printed(it), 0.8),
        fails: "training_off_percent",
    },
];

#[test]
fn every_judge_can_say_no() {
    each_judge_can_say_no(&STUDIES, paper(), &CASES);
}

/// The run with every number changed at random.
fn changed(measured: Cm5Result, random: &mut Random) -> Cm5Result {
    Cm5Result { time: random.longer(measured.time) }
}

#[test]
fn every_condition_of_a_claim_can_fail() {
    every_condition_can_fail(&STUDIES, paper(), &CASES, changed, &[]);
}
