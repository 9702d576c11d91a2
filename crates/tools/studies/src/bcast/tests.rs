//! The study as a whole: its claims and its shape. It is fast enough to run in full.

use std::sync::atomic::AtomicBool;

use quantities::Duration;

use super::*;
use crate::tests::{Case, Random, each_judge_can_say_no, every_condition_can_fail, fetches_nothing};
use crate::{Reproduction, Watch, conclude};

fn reproduced(run: &(dyn Fn(&BcastRun) -> Result<BcastResult, String> + Sync)) -> Reproduction {
    let interrupted = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 2 };
    Reproduction::of(vec![conclude(SUBJECT, paper().unwrap(), run, &watch).unwrap()])
}

#[test]
fn all_but_two_conditions_are_met_and_every_figure_drawn() {
    let done = reproduced(&run);
    let missed = done.outcomes.iter().flat_map(|outcome| {
        let missed = outcome.conditions.iter().filter(|condition| !condition.verdict.is_met());
        missed.map(|condition| format!("{} {}", outcome.id, condition.quantity))
    });
    let missed: Vec<String> = missed.collect();
    assert_eq!(missed, ["bcast.fig5.latency_4096 faster_percent", "bcast.sec4.memory saved_at_128_percent"]);
    fetches_nothing(&done.html);
    assert!(!done.html.contains("Not drawn"));
}

#[test]
fn the_same_runs_make_the_same_report() {
    let some = |job: &BcastRun| match job {
        BcastRun::Lossy { seed: 1 | 2, .. } | BcastRun::PingPong { bytes: 8 } => run(job),
        _ => Err("left out".to_string()),
    };
    assert_eq!(reproduced(&some).html, reproduced(&some).html);
}

fn took(microseconds: f64) -> BcastResult {
    BcastResult { time: Duration::from_picoseconds((microseconds * 1e6).round() as u64), ..BcastResult::default() }
}

/// Everything as printed, or as it must be where nothing is printed.
fn as_printed(job: &BcastRun) -> BcastResult {
    match *job {
        BcastRun::Within { bytes } => {
            let rate = if bytes == 4_000 { 350.9 } else { 200.0 };
            took(2.0 * f64::max(7.5, f64::from(bytes) / rate))
        }
        BcastRun::PingPong { bytes } => took(2.0 * f64::max(30.1, f64::from(bytes) / 12.1)),
        BcastRun::Broadcast { system, nodes, bytes } => {
            let (two, all) = match (system, bytes) {
                (System::Mpich, 4096) => (1_280.0, 1_971.0),
                (System::Mpich, _) => (245.0, 355.0),
                (_, 4096) => (1_229.0, 1_380.0),
                _ => (122.4, 142.0),
            };
            took(two + (all - two) * f64::from(nodes - 2) / 6.0)
        }
        BcastRun::Late { system, bytes } => {
            let again = u64::from(system == System::Simple && bytes > 860);
            let time = if system == System::Simple { 2_000.0 } else { 1_000.0 };
            BcastResult { right: vec![(1, 1); 8], resent: vec![again; 8], ..took(time) }
        }
        BcastRun::Lossy { .. } => {
            let lost = vec![0, 1, 0, 0, 0, 0, 0, 0];
            BcastResult { right: vec![(10, 10); 8], resent: lost.clone(), lost, ..took(1.0) }
        }
    }
}

/// The same, except that some broadcasts take `times` as long.
fn slower(job: &BcastRun, times: f64, system: System, nodes: u32) -> BcastResult {
    let measured = as_printed(job);
    let is_it = matches!(*job, BcastRun::Broadcast { system: one, nodes: of, .. } if one == system && of == nodes);
    if is_it { took(measured.time.microseconds() * times) } else { measured }
}

fn is_lossy(job: &BcastRun) -> bool {
    matches!(job, BcastRun::Lossy { trouble: Trouble::Little, seed: 7 })
}

const CASES: [Case<BcastRun, BcastResult>; 13] = [
    Case {
        claim: "bcast.sec2.p2p",
        sound: as_printed,
        spoiled: |it| took(as_printed(it).time.microseconds() * 1.1),
        fails: "latency_us",
    },
    Case {
        claim: "bcast.sec2.intranode",
        sound: as_printed,
        spoiled: |it| if *it == (BcastRun::Within { bytes: 8_000 }) { took(2.0 * 20.0) } else { as_printed(it) },
        fails: "over_peak",
    },
    Case {
        claim: "bcast.sec3.loss",
        sound: as_printed,
        spoiled: |it| BcastResult { right: vec![(10 - u32::from(is_lossy(it)), 10); 8], ..as_printed(it) },
        fails: "right_share",
    },
    Case {
        claim: "bcast.sec3.loss",
        sound: as_printed,
        spoiled: |it| BcastResult { broadcast_while_behind: u32::from(is_lossy(it)), ..as_printed(it) },
        fails: "broadcast_while_behind",
    },
    Case {
        claim: "bcast.sec3.loss",
        sound: as_printed,
        spoiled: |it| BcastResult { resent: vec![0; 8], ..as_printed(it) },
        fails: "otherwise",
    },
    Case {
        claim: "bcast.sec3.loss",
        sound: as_printed,
        spoiled: |it| BcastResult { right: Vec::new(), ..as_printed(it) },
        fails: "right_share",
    },
    Case {
        claim: "bcast.sec3.loss",
        sound: as_printed,
        spoiled: |it| BcastResult { lost: vec![0; 8], ..as_printed(it) },
        fails: "frames_lost",
    },
    Case {
        claim: "bcast.sec3.loss",
        sound: as_printed,
        spoiled: |it| BcastResult { resent: vec![1; 8], ..as_printed(it) },
        fails: "spared",
    },
    Case {
        claim: "bcast.fig3.short",
        sound: as_printed,
        spoiled: |it| slower(it, 3.0, System::PushPull, 4),
        fails: "over_tree",
    },
    Case {
        claim: "bcast.fig3.short",
        sound: as_printed,
        spoiled: |it| BcastResult { right: vec![(0, 1); 8], ..as_printed(it) },
        fails: "delivered_share",
    },
    Case {
        claim: "bcast.fig3.short",
        sound: as_printed,
        spoiled: |it| BcastResult { resent: vec![0; 8], ..as_printed(it) },
        fails: "resent_long_simple",
    },
    Case {
        claim: "bcast.fig4.latency_256",
        sound: as_printed,
        spoiled: |it| slower(it, 1.3, System::Mpich, 8),
        fails: "mpich_growth_percent",
    },
    Case {
        claim: "bcast.fig5.latency_4096",
        sound: as_printed,
        spoiled: |it| slower(it, 0.9, System::PushPull, 2),
        fails: "growth_percent",
    },
];

#[test]
fn every_judge_can_say_no() {
    each_judge_can_say_no(&STUDIES, paper(), &CASES);
}

/// The run with every number changed at random.
fn changed(measured: BcastResult, random: &mut Random) -> BcastResult {
    let BcastResult { time, right, resent, lost, broadcast_while_behind } = measured;
    let some = |random: &mut Random, counts: Vec<u64>| counts.iter().map(|_| random.below(2)).collect();
    BcastResult {
        time: random.longer(time),
        right: right.into_iter().map(|(_, of)| (of - random.below(2) as u32, of)).collect(),
        resent: some(random, resent),
        lost: some(random, lost),
        broadcast_while_behind: broadcast_while_behind + random.below(2) as u32,
    }
}

#[test]
fn every_condition_of_a_claim_can_fail() {
    every_condition_can_fail(&STUDIES, paper(), &CASES, changed, &[]);
}
