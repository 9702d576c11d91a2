//! The study as a whole: its claims and its shape, with few enough words.

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use linear_hash::Key;
use quantities::{Duration, Time};

use super::*;
use crate::costs::Costs;
use crate::tests::{Case, Random, each_judge_can_say_no, every_condition_can_fail, fetches_nothing};
use crate::{Reproduction, Verdict, Watch, conclude};
use experiment::words;
use linear_hash::build::Split;

/// Words for a build that takes next to no time: one in this many of the list.
const ONE_IN: usize = 180;

fn few_words() -> Vec<Key> {
    words::dutch().into_iter().step_by(ONE_IN).collect()
}

/// The study with the runs that `wanted` selects, on few words.
fn reproduced(wanted: fn(&LhRun) -> bool) -> Reproduction {
    let words = few_words();
    let some = |job: &LhRun| {
        if wanted(job) {
            simulate::build(job, words.clone(), job.capacity(), Costs::Chosen)
        } else {
            Err("left out".to_string())
        }
    };
    let interrupted = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 2 };
    Reproduction::of(vec![conclude(SUBJECT, paper().unwrap(), &some, &watch).unwrap()])
}

/// Few words make a small table, which says nothing about the printed figures, but everything is judged and drawn.
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
    let one_client = |job: &LhRun| job.clients == 1 && job.body == 0;
    assert_eq!(reproduced(one_client).html, reproduced(one_client).html);
}

/// An insert of a lone client is two messages, one after another.
#[test]
fn a_lone_client_waits_for_two_messages() {
    let job = LhRun::new(1);
    let measured = simulate::build(&job, few_words(), job.capacity(), Costs::Chosen).unwrap();
    let insert = measured.time.microseconds() / measured.inserts as f64;
    assert!((650.0..700.0).contains(&insert), "{insert} us");
}

#[test]
fn cheaper_messages_make_builds_faster() {
    let job = LhRun::new(4).enlarged().with_body(512);
    let time = |job: &LhRun| simulate::build(job, few_words(), job.capacity(), Costs::Chosen).unwrap().time;
    assert!(time(&LhRun { cheaper: 9, ..job }) < time(&LhRun { cheaper: 3, ..job }));
    assert!(time(&LhRun { cheaper: 3, ..job }) < time(&job));
    assert!(time(&job) < time(&LhRun { server_time: 10_000, ..job }));
}

/// Inserts of a made-up build: as many whole steps of its course as the words fill.
const MADE_UP: u32 = 180_500;

fn duration(microseconds: f64) -> Duration {
    Duration::from_picoseconds((microseconds * 1e6).round() as u64)
}

/// A build in which the time of an insert depends on the number of inserts before. [us]
fn build(each: impl Fn(usize) -> f64) -> LhResult {
    let mut at = 0.0;
    let steps = MADE_UP as usize / simulate::STEP;
    let course = (0..steps).map(|step| {
        at += each(step * simulate::STEP) * simulate::STEP as f64;
        duration(at)
    });
    let course: Vec<Duration> = course.collect();
    let time = course[steps - 1];
    LhResult {
        inserts: MADE_UP as usize,
        time,
        course,
        splits: splits(&[1_000, 2_000, 3_000, 180_000]),
        ..LhResult::default()
    }
}

fn splits(inserts: &[usize]) -> Vec<Split> {
    inserts.iter().map(|inserts| Split { at: Time::ZERO, inserts: *inserts, server: 0 }).collect()
}

/// A build whose inserts all take the same time. [us]
fn even(each: f64) -> LhResult {
    build(|_| each)
}

fn shared(job: &LhRun, up_to: u32) -> LhResult {
    let slower = if job.clients > 1 && job.body != 512 { f64::from(job.cheaper) } else { 1.0 };
    even(650.0 / f64::from(job.clients.min(up_to)) * slower)
}

/// A speed-up that holds up to a number of clients, as printed.
fn scaled(job: &LhRun, up_to: u32) -> LhResult {
    shared(job, if job.body == 8192 { 4 } else { up_to })
}

/// Inserts that take longer the more there were before.
fn slowing(before: usize) -> f64 {
    600.0 + before as f64 / 100.0
}

/// The printed figures.
static PRINTED: LazyLock<Claims> = LazyLock::new(|| paper().unwrap().claims);

/// The printed numbers of table 1.
fn counted(job: &LhRun) -> LhResult {
    let of = |name| PRINTED.get("lh.table1").unwrap().printed_row(name).unwrap()[job.clients as usize - 1];
    LhResult { adjustments: of("iams") as u64, messages_per_insert: of("messages_per_insert"), ..even(650.0) }
}

/// An insert with a body, and a step past 128 bytes that several clients share. [us]
fn stepped(job: &LhRun, step: f64) -> LhResult {
    let step = if job.body > 128 { step / f64::from(job.clients) } else { 0.0 };
    even(650.0 + f64::from(job.body) / 27.0 + step)
}

/// Blocking that grows with the body, with several clients ever more, and with the clients, up to a number of them.
fn blocked(job: &LhRun, clients: u32) -> LhResult {
    let body = f64::from(job.body) / 8_192.0;
    let bent = if job.clients > 1 { 0.8 + 0.2 * body } else { 1.0 };
    let share = body * bent * f64::from(job.clients.min(clients)) / 5.0;
    LhResult { blocking: duration(31.0 * share), ..even(650.0) }
}

/// An insert where servers compute, each `times` as long as its job says.
fn served(job: &LhRun, times: f64) -> LhResult {
    even(f64::max(650.0 / f64::from(job.clients), f64::from(job.server_time) * times))
}

const CASES: [Case<LhRun, LhResult>; 15] = [
    Case {
        claim: "lh.sec3.two_forwards",
        sound: |_| LhResult { most_forwards: 2, ..even(650.0) },
        spoiled: |it| LhResult { most_forwards: it.clients.min(3), ..even(650.0) },
        fails: "times_sent_on_in_builds",
    },
    Case { claim: "lh.sec3.two_forwards", sound: |_| even(650.0), spoiled: |_| LhResult::default(), fails: "inserts" },
    Case { claim: "lh.fig2a.linear", sound: |it| shared(it, 5), spoiled: |_| build(slowing), fails: "growth_percent" },
    Case {
        claim: "lh.fig2a.linear",
        sound: |it| shared(it, 5),
        spoiled: |_| LhResult::default(),
        fails: "off_line_percent",
    },
    Case {
        claim: "lh.fig2a.cascades",
        sound: |_| even(650.0),
        spoiled: |_| LhResult { splits: splits(&[30_000, 60_000, 90_000, 120_000, 170_000]), ..even(650.0) },
        fails: "early_or_late_share",
    },
    Case { claim: "lh.fig2b.speedup", sound: |it| shared(it, 5), spoiled: |it| shared(it, 3), fails: "speed_up_share" },
    Case { claim: "lh.fig3a.latency", sound: |_| even(650.0), spoiled: |_| even(700.0), fails: "worst_mean_ms" },
    Case {
        claim: "lh.fig3b.eight_thousand",
        sound: |_| build(|before| if before < 8_000 { 300.0 } else { 150.0 }),
        spoiled: |_| build(|before| if before < 20_000 { 300.0 } else { 150.0 }),
        fails: "inserts",
    },
    Case {
        claim: "lh.table1",
        sound: counted,
        spoiled: |it| LhResult { adjustments: 3 * counted(it).adjustments, ..counted(it) },
        fails: "iams",
    },
    Case {
        claim: "lh.fig4a.blobs",
        sound: |_| even(650.0),
        spoiled: |it| even(if it.body > 0 { 1_300.0 } else { 650.0 }),
        fails: "over_without_bodies",
    },
    Case {
        claim: "lh.fig4b.step",
        sound: |it| stepped(it, 80.0),
        spoiled: |it| stepped(it, 0.0),
        fails: "step_over_beside",
    },
    Case { claim: "lh.fig5.contention", sound: |it| blocked(it, 5), spoiled: |it| blocked(it, 4), fails: "steeper_ns" },
    Case {
        claim: "lh.fig6.server_overhead",
        sound: |it| served(it, 1.0),
        spoiled: |it| served(it, if it.server_time == 50_000 { 2.0 } else { 1.0 }),
        fails: "off_proportion_percent",
    },
    Case { claim: "lh.fig7.sixty_four", sound: |it| shared(it, 32), spoiled: |it| shared(it, 16), fails: "over_fewer" },
    Case { claim: "lh.fig8.scaling", sound: |it| scaled(it, 8), spoiled: |it| scaled(it, 16), fails: "holds_up_to" },
];

#[test]
fn every_judge_can_say_no() {
    each_judge_can_say_no(&STUDIES, paper(), &CASES);
}

/// The run with every number changed at random.
fn changed(measured: LhResult, random: &mut Random) -> LhResult {
    let mut at = 0.0;
    let course = measured.course.windows(2).map(|two| {
        at += (two[1].microseconds() - two[0].microseconds()) * random.factor();
        duration(at)
    });
    let course: Vec<Duration> = course.collect();
    let splits: Vec<usize> = (0..random.below(4) as usize).map(|_| random.below(170_000) as usize).collect();
    LhResult {
        inserts: measured.inserts * random.below(2) as usize,
        time: random.longer(measured.time),
        course,
        splits: self::splits(&splits),
        messages_per_insert: measured.messages_per_insert * random.factor(),
        adjustments: (measured.adjustments as f64 * random.factor()) as u64,
        most_forwards: random.below(5) as u32,
        blocking: random.longer(measured.blocking),
    }
}

#[test]
fn every_condition_of_a_claim_can_fail() {
    every_condition_can_fail(&STUDIES, paper(), &CASES, changed, &["lh.sec3.two_forwards times_sent_on"]);
}
